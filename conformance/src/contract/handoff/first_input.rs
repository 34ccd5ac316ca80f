//! The seat's first startup turn, handed over in a file.

use super::super::finding::{Finding, Tally};
use super::super::grace::{CROSSING, DUE};
use super::super::identity::absence::judge_missed;
use super::super::identity::opening::{agent_left, may_be_left, opened};
use super::super::quote::quoted;
use super::super::watch::{cited, possible_orders};
use crate::history::views::{Ending, LaunchView, Prompt, Views, milliseconds};

/// A longer one may be refused whole, like any message.
const LARGEST: usize = 1 << 20;

/// The first input's text, unless a runner may do with it what it likes: a blank one is no message, and a bare /abort
/// can't be sent.
fn handed_over<'h>(launch: &LaunchView<'h>) -> Option<&'h str> {
    launch.facts.first_input.as_deref().filter(|text| {
        let bare = text.trim();
        !bare.is_empty() && bare != "/abort" && text.len() <= LARGEST
    })
}

/// Whether these are the same text. The final newline is free (reading 27), and a CR may arrive as LF.
fn same(sent: &str, text: &str) -> bool {
    let plain = |text: &str| {
        let lines = text.replace("\r\n", "\n").replace('\r', "\n");
        lines.trim_end_matches('\n').to_owned()
    };
    plain(sent) == plain(text)
}

/// The prompts that hold this text.
fn prompts_with<'v, 'h>(launch: &'v LaunchView<'h>, text: &str) -> Vec<&'v Prompt<'h>> {
    launch
        .prompts
        .iter()
        .filter(|prompt| prompt.text().is_some_and(|sent| same(&sent, text)))
        .collect()
}

/// How many messages with this very text were put into the terminal.
fn typed(launch: &LaunchView<'_>, text: &str) -> usize {
    launch
        .blocks
        .iter()
        .filter(|block| same(&String::from_utf8_lossy(block.text), text))
        .count()
}

pub(super) fn first_input(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in views.launches.iter().filter(|launch| !launch.is_resume()) {
        if let Some(text) = handed_over(launch) {
            judge_first_input(views, launch, text, &mut tally);
        }
    }
    tally.finding()
}

fn judge_first_input(views: &Views<'_>, launch: &LaunchView<'_>, text: &str, tally: &mut Tally) {
    let Some(opened) = opened(launch) else { return };
    let answer = opened.answer.event;
    // What waits when a cancel is asked for may be dropped (reading 9).
    let dropped = |until: u64| possible_orders(launch).iter().any(|order| order.at <= until);
    let Some(first) = launch.prompts.first() else {
        let due = answer.at.saturating_add(DUE);
        let excused = dropped(u64::MAX)
            || may_be_left(launch, &opened)
            || launch.requests.iter().any(|asked| asked.answers.is_empty())
            || agent_left(launch, opened.answer.agent, 0, due).is_some();
        if !excused {
            let said = "the conversation was opened, and the first input became no prompt";
            judge_missed(views, launch, answer.at, said, &[launch.event, answer], tally);
        }
        return;
    };
    let asked = first.exchange.request.event;
    let sent = first.text().unwrap_or_default();
    if !same(&sent, text) {
        if !dropped(first.at()) {
            tally.broken(
                format!(
                    "the first prompt is {}; the first input is {}",
                    quoted(&sent),
                    quoted(text)
                ),
                &[launch.event, asked],
            );
        }
        return;
    }
    let all = prompts_with(launch, text);
    let more = all.len().saturating_sub(1) > typed(launch, text);
    // A prompt that the agent refused may be tried again.
    let refused = matches!(first.ending(), Some(Ending::Error));
    if more && !refused {
        let again: Vec<_> = all.iter().map(|prompt| prompt.exchange.request.event).collect();
        tally.broken(
            format!("the first input was submitted {} times", all.len()),
            &again,
        );
    } else if !more && launch.watched_after(first.at()) >= CROSSING {
        tally.held(
            "the first input is the first prompt, and none after it",
            &cited(launch, &[launch.event, asked]),
        );
    }
}

pub(super) fn first_input_not_on_resume(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in views.launches.iter().filter(|launch| launch.is_resume()) {
        let (Some(text), Some(opened)) = (handed_over(launch), opened(launch)) else {
            continue;
        };
        let answer = opened.answer.event;
        let again = prompts_with(launch, text);
        if again.len() > typed(launch, text) {
            let events: Vec<_> = again.iter().map(|prompt| prompt.exchange.request.event).collect();
            tally.broken(
                "the first input was submitted again in a reopened conversation",
                &events,
            );
            continue;
        }
        // What is typed comes after it, so the first prompt with another text shows that it does not come.
        let other = launch.prompts.iter().find(|prompt| prompt.at() >= answer.at);
        let watched = launch.watched_after(answer.at);
        if let Some(other) = other {
            tally.held(
                "the first prompt of the reopened conversation is another one",
                &[launch.event, answer, other.exchange.request.event],
            );
        } else if watched >= DUE {
            tally.held(
                format!(
                    "it was not submitted in the {} after the reopening",
                    milliseconds(watched)
                ),
                &cited(launch, &[launch.event, answer]),
            );
        }
    }
    tally.finding()
}
