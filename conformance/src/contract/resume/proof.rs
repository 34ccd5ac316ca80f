//! What a history proves, or disproves, of a runner that says it can reopen conversations.

use super::super::declaration::Reopened;
use super::super::finding::{Decided, Finding};
use super::super::grace::{CROSSING, DUE, machine_was_late};
use super::super::identity::opening::{
    advertises_load, advertises_resume, agent_left, initialize, is_not_listed, names_another_session,
    of_attempt, opened, openings, written,
};
use super::super::watch::{cited, free_after};
use super::word::{Word, word};
use super::{continues, exact_ref, never_new, outcome, resumes};
use crate::history::Event;
use crate::history::views::{LaunchView, Views};

/// What the history shows of reopening.
pub(crate) fn reopened(views: &Views<'_>) -> Reopened {
    if resumes(views).next().is_none() {
        return Reopened::default();
    }
    Reopened {
        twice: twice(views),
        missing_refused: resumes(views)
            .find_map(|(launch, reference)| missing_refused(views, launch, reference)),
        disproved: disproved(views),
    }
}

fn decided(said: impl Into<String>, events: &[&Event]) -> Decided {
    Decided {
        said: said.into(),
        events: events.iter().map(|event| event.sequence).collect(),
    }
}

fn asked_for_a_new_one(launch: &LaunchView<'_>) -> bool {
    launch
        .messages
        .iter()
        .any(|message| message.to_agent() && message.method() == Some("session/new"))
}

fn twice(views: &Views<'_>) -> Option<Decided> {
    let real: Vec<(&str, &Event, &Event)> = resumes(views)
        .filter(|(launch, reference)| had_a_turn(views, launch, reference) && !asked_for_a_new_one(launch))
        .filter_map(|(launch, reference)| {
            let opened = opened(launch)?;
            let record = written(launch).find(|version| version.field("nativeRef") == Some(reference))?;
            let certain = !names_another_session(opened.answer, reference);
            (certain && record.event.at >= opened.answer.event.at).then_some((
                reference,
                opened.answer.event,
                record.event,
            ))
        })
        .collect();
    let (index, (reference, ..)) = real
        .iter()
        .enumerate()
        .find(|(index, (reference, ..))| real[..*index].iter().any(|(other, ..)| other == reference))?;
    let events: Vec<&Event> = real[..=index]
        .iter()
        .filter(|(other, ..)| other == reference)
        .flat_map(|(_, answer, record)| [*answer, *record])
        .collect();
    Some(decided(
        "a conversation that had a turn was reopened, and once more",
        &events,
    ))
}

/// Whether this history opened that conversation before and saw a turn of it end.
fn had_a_turn(views: &Views<'_>, launch: &LaunchView<'_>, reference: &str) -> bool {
    views
        .launches
        .iter()
        .filter(|earlier| earlier.number < launch.number)
        .flat_map(|earlier| &earlier.prompts)
        .any(|prompt| prompt.session() == Some(reference) && prompt.answered_at().is_some())
}

fn missing_refused(views: &Views<'_>, launch: &LaunchView<'_>, reference: &str) -> Option<Decided> {
    let pinned = &views.history.header.declared.missing;
    let last = openings(launch).filter_map(|call| call.answers.first()).last();
    let all_say_missing = last.is_some()
        && openings(launch).all(|call| {
            call.error()
                .is_some_and(|error| word(error, reference, pinned) != Word::Other)
        });
    let answer = if all_say_missing {
        last?
    } else {
        // Nothing was called, or all was refused: the agent's list is its word.
        let none_opened = !openings(launch).any(|call| call.succeeded() || call.answers.is_empty());
        let listed = launch
            .requests
            .iter()
            .filter(|exchange| exchange.method() == "session/list")
            .filter_map(|exchange| exchange.answers.first())
            .next_back()?;
        (none_opened && is_not_listed(launch, reference, u64::MAX)).then_some(listed)?
    };
    let named = of_attempt(launch).any(|version| version.field("nativeRef").is_some());
    let refused = !named && !asked_for_a_new_one(launch) && launch.watched_after(answer.event.at) >= CROSSING;
    refused.then(|| {
        decided(
            "a missing one was refused: no session/new, no nativeRef",
            &cited(launch, &[answer.event]),
        )
    })
}

fn disproved(views: &Views<'_>) -> Option<Decided> {
    let broken = [
        exact_ref(views),
        never_new(views),
        outcome::record_same_ref(views),
        continues(views),
    ]
    .into_iter()
    .find_map(|finding| match finding {
        Finding::Broken(decided) => Some(decided),
        _ => None,
    });
    broken
        .or_else(|| resumes(views).find_map(|(launch, _)| named_after_refusal(launch)))
        .or_else(|| resumes(views).find_map(|(launch, reference)| never_asked(views, launch, reference)))
}

/// The agent opened nothing, and the record names a conversation.
fn named_after_refusal(launch: &LaunchView<'_>) -> Option<Decided> {
    let failure = super::failure(launch)?;
    let record = of_attempt(launch).find(|version| version.field("nativeRef").is_some())?;
    let events: Vec<&Event> = failure.events.iter().copied().chain([record.event]).collect();
    Some(decided(
        format!("{}, and the record names a conversation", failure.said),
        &events,
    ))
}

/// The agent advertises how to reopen, and the runner never asked for it.
fn never_asked(views: &Views<'_>, launch: &LaunchView<'_>, reference: &str) -> Option<Decided> {
    let asked = initialize(launch)?;
    let answer = asked.answers.first()?;
    let at = answer.event.at;
    let watched = free_after(launch, at);
    let waits = launch.requests.iter().any(|request| request.answers.is_empty());
    let excused = !(advertises_load(answer) || advertises_resume(answer))
        || super::super::identity::opening::other_version(asked).is_some()
        || openings(launch).next().is_some()
        || waits
        || is_not_listed(launch, reference, u64::MAX)
        || agent_left(launch, answer.agent, 0, at.saturating_add(DUE)).is_some()
        || watched < DUE
        || machine_was_late(views, at, launch.end_of_free_run(), watched);
    (!excused).then(|| {
        decided(
            "the agent advertises how to reopen a conversation, and the runner never asked it to",
            &cited(launch, &[answer.event]),
        )
    })
}
