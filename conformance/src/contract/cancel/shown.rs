//! What the pane says of a cancel.

use super::super::finding::{Finding, Tally};
use super::super::grace::{CROSSING, machine_was_late};
use super::cited;
use super::sending::in_flight;
use crate::history::views::{LaunchView, Message, Screen, Views, milliseconds};
use crate::history::{Event, Fact, Pane};

pub(super) fn requested_shown(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for cancel in launch.cancels() {
            let Some(prompt) = in_flight(launch, cancel.event.at) else {
                continue;
            };
            // It is on record by then that this turn's cancel was requested (reading 10).
            let is_another = |earlier: &Message<'_>| {
                earlier.event.at > prompt.at() && earlier.event.sequence < cancel.event.sequence
            };
            if launch.cancels().any(is_another) {
                continue;
            }
            let Some(order) = launch
                .abort_orders()
                .into_iter()
                .rev()
                .find(|order| order.at <= cancel.event.at)
            else {
                continue;
            };
            if order.at < prompt.at() {
                continue;
            }
            // An agent that answers at once leaves no time to be told before its answer.
            let until = prompt
                .answered_at()
                .unwrap_or(u64::MAX)
                .min(launch.end_of_free_run());
            let held_back = until.saturating_sub(cancel.event.at) >= CROSSING;
            let until = if held_back {
                until
            } else {
                until.saturating_add(CROSSING)
            };
            let by_post = launch.all_posts.iter().find(|post| {
                post.at() >= order.at
                    && post.at() <= until
                    && !post.kind.is_non_exit_stop()
                    && speaks_of_cancel(&post.name())
            });
            let in_pane = shown_cancel(launch, order.at, until);
            match (in_pane, by_post) {
                (Some(shown), _) => tally.held(
                    format!(
                        "the pane said so {} after the order",
                        milliseconds(shown.at - order.at)
                    ),
                    &[order, shown],
                ),
                (None, Some(post)) => {
                    tally.held(format!("{} was posted", post.name()), &[order, post.started])
                }
                (None, None) if held_back => {
                    let said = "neither the pane nor a post said that a cancel was requested, before the agent answered";
                    let events = prompt.answer().map_or_else(
                        || cited(launch, &[order, cancel.event]),
                        |answer| vec![order, cancel.event, answer.event],
                    );
                    if machine_was_late(views, order.at, until, until.saturating_sub(order.at)) {
                        tally.inconclusive(said, &events);
                    } else {
                        tally.broken(said, &events);
                    }
                }
                (None, None) => {}
            }
        }
    }
    tally.finding()
}

/// New pane output after the order with a word for cancelling in it, not counting the echo of `/abort` itself, nor what a
/// program draws again as it stood there before.
fn shown_cancel<'h>(launch: &LaunchView<'h>, from: u64, until: u64) -> Option<&'h Event> {
    let mut screen = Screen::new(launch.facts.size);
    let mut before: Option<Vec<(usize, String)>> = None;
    let mut seen = String::new();
    for event in launch.output_between(0, until) {
        let Fact::Pane(Pane::Output { bytes }) = &event.fact else {
            continue;
        };
        if event.at < from {
            screen.feed(&bytes.0);
            continue;
        }
        let before = before.get_or_insert_with(|| lines_about_cancelling(&screen));
        screen.feed(&bytes.0);
        seen.push_str(&bytes.text());
        if !speaks_of_cancel(&seen.replace("/abort", "")) {
            continue;
        }
        let now = lines_about_cancelling(&screen);
        if !now.is_empty() && now.iter().all(|line| before.contains(line)) {
            continue;
        }
        return Some(event);
    }
    None
}

/// The lines of the screen that speak of cancelling, each with its row.
fn lines_about_cancelling(screen: &Screen) -> Vec<(usize, String)> {
    let lines = screen.lines().into_iter().enumerate();
    lines
        .filter(|(_, line)| speaks_of_cancel(&line.replace("/abort", "")))
        .collect()
}

/// Any common word for asking an agent to stop, whatever the rest of the sentence is.
fn speaks_of_cancel(text: &str) -> bool {
    const WORDS: [&str; 7] = [
        "cancel",
        "abort",
        "interrupt",
        "stop",
        "halt",
        "annul",
        "terminat",
    ];
    let text = text.to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

pub(super) fn no_spend_claim(views: &Views<'_>) -> Finding {
    const CLAIMS: [&str; 6] = [
        "no tokens",
        "not billed",
        "billing stopped",
        "spend stopped",
        "provider stopped",
        "no further cost",
    ];
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some(cancel) = launch.cancels().next() else {
            continue;
        };
        // What the runner says when it sends it may be seen a little before the agent has read it.
        let from = cancel.event.at.saturating_sub(CROSSING);
        let mut shown = String::new();
        for event in launch.output_between(from, launch.end_of_free_run()) {
            if let Fact::Pane(Pane::Output { bytes }) = &event.fact {
                shown.push_str(&bytes.text().to_lowercase());
                if let Some(claim) = CLAIMS.iter().find(|claim| shown.contains(*claim)) {
                    tally.broken(
                        format!("after a cancel the pane says {claim:?}"),
                        &[cancel.event, event],
                    );
                    break;
                }
            }
        }
        tally.held(
            "nothing in the pane claims that the provider stopped",
            &cited(launch, &[cancel.event]),
        );
    }
    tally.finding()
}
