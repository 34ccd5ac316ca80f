//! What the record says of a reopening: the same reference, missing, or nothing.

use serde_json::Value;

use super::super::finding::{Finding, Tally};
use super::super::grace::{CROSSING, DUE};
use super::super::identity::absence::judge_missed;
use super::super::identity::opening::{
    Failure, Opened, agent_left, failure, is_not_listed, judge_absence, names_another_session, of_attempt,
    opened, openings, written,
};
use super::super::quote::quoted;
use super::super::watch::cited;
use super::resumes;
use super::word::{Word, word};
use crate::history::views::{Exchange, LaunchView, RecordVersion, Views, milliseconds};
use crate::history::{Event, MissingAnswer};

/// Answers that the runner's profile pins as its agent's word for missing.
fn pinned<'h>(views: &Views<'h>) -> &'h [MissingAnswer] {
    &views.history.header.declared.missing
}

pub(super) fn record_same_ref(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for (launch, reference) in resumes(views) {
        let Some(opened) = opened(launch) else { continue };
        let answer = opened.answer.event;
        let mut records = written(launch)
            .filter(|version| version.event.at >= answer.at)
            .peekable();
        // One that leaves another attempt's record is judged by identity.stale-record.
        if records.peek().is_none() && written(launch).next().is_none() && !launch.facts.stale_record {
            judge_absence(views, launch, &opened, &mut tally);
        }
        for version in records {
            judge_reopened(launch, &opened, version, (reference, pinned(views)), &mut tally);
        }
    }
    tally.finding()
}

fn judge_reopened(
    launch: &LaunchView<'_>,
    opened: &Opened<'_, '_>,
    version: &RecordVersion<'_>,
    (reference, pinned): (&str, &[MissingAnswer]),
    tally: &mut Tally,
) {
    let events = [opened.answer.event, version.event];
    let doubtful = names_another_session(opened.answer, reference);
    match version.field("nativeRef") {
        // Reading 14: such an answer gives no id to go by; recording the reference is free.
        Some(native_ref) if native_ref == reference && doubtful => {}
        Some(native_ref) if native_ref == reference => {
            tally.held(
                format!("reopened, and nativeRef is {}", quoted(reference)),
                &events,
            );
        }
        Some(native_ref) => tally.broken(
            format!(
                "nativeRef is {}; reopened was {}",
                quoted(native_ref),
                quoted(reference)
            ),
            &events,
        ),
        None if version.field("error").is_some() => {
            let agents_word = is_not_listed(launch, reference, version.event.at)
                || refusals(launch).any(|(_, error)| word(error, reference, pinned) != Word::Other);
            if !agents_word && !doubtful {
                tally.broken(
                    "the agent reopened the conversation, and the record says missing",
                    &events,
                );
            }
        }
        None => {}
    }
}

/// Reopenings that were answered with an error, in order.
fn refusals<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = (&'v Exchange<'h>, &'v Value)> {
    openings(launch).filter_map(|call| Some((call, call.error()?)))
}

pub(super) fn missing_on_agents_word(views: &Views<'_>) -> Finding {
    let pinned = pinned(views);
    let mut tally = Tally::default();
    for (launch, reference) in resumes(views) {
        if openings(launch).any(Exchange::succeeded) {
            continue;
        }
        let record = written(launch).find(|version| version.field("error") == Some("missing"));
        if let Some(version) = record {
            let by_list = || list_answer(launch, reference, version.event.at);
            let said = agents_word(launch, reference, pinned, true).or_else(by_list);
            if let Some((answer, _)) = said.filter(|(answer, _)| answer.at <= version.event.at) {
                tally.held(
                    "the agent said that it does not exist, and the record says missing",
                    &[answer, version.event],
                );
            }
        } else if let Some((answer, agent)) = agents_word(launch, reference, pinned, false)
            && !never_had_a_turn(views, launch, reference)
        {
            judge_no_word(views, launch, answer, agent, &mut tally);
        }
    }
    tally.finding()
}

/// The answer by which the agent said that the conversation does not exist, and which agent it was. Every reopening
/// must have been answered so, or one may outweigh the other.
fn agents_word<'h>(
    launch: &LaunchView<'h>,
    reference: &str,
    pinned: &[MissingAnswer],
    unclear_too: bool,
) -> Option<(&'h Event, u32)> {
    let mut said = None;
    for call in openings(launch) {
        let answer = call.answers.first()?;
        match word(call.error()?, reference, pinned) {
            Word::Missing => {}
            Word::Unclear if unclear_too => {}
            Word::Unclear | Word::Other => return None,
        }
        said = Some((answer.event, answer.agent));
    }
    said
}

fn list_answer<'h>(launch: &LaunchView<'h>, reference: &str, until: u64) -> Option<(&'h Event, u32)> {
    let answer = launch
        .requests
        .iter()
        .filter(|exchange| exchange.method() == "session/list")
        .filter_map(|exchange| exchange.answers.first())
        .rfind(|answer| answer.event.at <= until)?;
    is_not_listed(launch, reference, until).then_some((answer.event, answer.agent))
}

/// Whether this history itself opened the conversation and never sent it a prompt (reading 33).
fn never_had_a_turn(views: &Views<'_>, launch: &LaunchView<'_>, reference: &str) -> bool {
    let earlier = || {
        views
            .launches
            .iter()
            .filter(|earlier| earlier.number < launch.number)
    };
    earlier().any(|earlier| earlier.conversation().is_some_and(|(id, _)| id == reference))
        && !earlier()
            .flat_map(|earlier| &earlier.prompts)
            .any(|prompt| prompt.session() == Some(reference))
}

fn judge_no_word(views: &Views<'_>, launch: &LaunchView<'_>, answer: &Event, agent: u32, tally: &mut Tally) {
    if let Some(version) =
        written(launch).find(|version| version.event.at >= answer.at && version.body.is_some())
    {
        let said = version.field("nativeRef").map_or_else(
            || "does not say missing".into(),
            |native_ref| format!("names {}", quoted(native_ref)),
        );
        tally.broken(
            format!("the agent said that it does not exist, and the record {said}"),
            &[answer, version.event],
        );
        return;
    }
    let left = agent_left(launch, agent, answer.at, answer.at.saturating_add(DUE)).is_some();
    // One that leaves another attempt's record is judged by identity.stale-record.
    if launch.facts.record_path_given && !launch.facts.stale_record && !left {
        let said = "the agent said that it does not exist, and no record followed";
        judge_missed(views, launch, answer.at, said, &[answer], tally);
    }
}

pub(super) fn unconfirmed_otherwise(views: &Views<'_>) -> Finding {
    let pinned = pinned(views);
    let mut tally = Tally::default();
    for (launch, reference) in resumes(views).filter(|(launch, _)| launch.facts.record_path_given) {
        if let Some(failure) = failure(launch) {
            let word_given = refusals(launch).any(|(_, error)| word(error, reference, pinned) != Word::Other);
            judge_failure(launch, &failure, reference, word_given, &mut tally);
        }
    }
    tally.finding()
}

fn judge_failure(
    launch: &LaunchView<'_>,
    failure: &Failure<'_>,
    reference: &str,
    word_given: bool,
    tally: &mut Tally,
) {
    let may_say_missing = |version: &RecordVersion<'_>| {
        version.field("nativeRef").is_none()
            && (word_given || is_not_listed(launch, reference, version.event.at))
    };
    let record = of_attempt(launch).find(|version| !may_say_missing(version));
    let watched = launch.watched_after(failure.at);
    match record {
        Some(version) => {
            let events: Vec<&Event> = failure.events.iter().copied().chain([version.event]).collect();
            let said = match version.field("nativeRef") {
                Some(native_ref) => format!("names {}", quoted(native_ref)),
                None => format!("says {}", quoted(version.field("error").unwrap_or_default())),
            };
            tally.broken(format!("{}, and the record {said}", failure.said), &events);
        }
        None if watched >= CROSSING && !word_given && of_attempt(launch).next().is_none() => tally.held(
            format!(
                "{}, and no record was written in {}",
                failure.said,
                milliseconds(watched)
            ),
            &cited(launch, &failure.events),
        ),
        None => {}
    }
}
