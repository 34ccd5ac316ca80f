//! A message in the middle of a turn is reported as queued, never as steering: `input.mid-turn-queued`.

use super::arrival::{LARGE, judged};
use super::mid_turn::turn_at;
use super::origin::{Origins, text_of};
use crate::contract::endpoint_faults::posts_are_all_seen;
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, machine_was_late};
use crate::contract::quote::quoted;
use crate::contract::watch::{cited, free_until};
use crate::history::views::{LaunchView, Post, Prompt, Screen, Views, milliseconds};
use crate::history::{Event, Fact, Pane};

pub(super) fn queued(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        for (index, block, entered) in judged(launch) {
            // A large message may be refused instead.
            let Some(turn) = turn_at(launch, entered).filter(|_| block.text.len() < LARGE) else {
                continue;
            };
            let of_block = origins.of_block(index);
            let until = of_block
                .first()
                .map_or(u64::MAX, |(prompt, _)| prompt.at().saturating_add(CROSSING))
                .min(free_until(launch));
            // A message that went out in the middle of the turn did not wait: input.mid-turn-waits says so.
            let went_out = of_block
                .first()
                .is_some_and(|(prompt, _)| turn.in_flight_at(prompt.at()));
            if !went_out {
                let over = turn.answered_at().unwrap_or(u64::MAX).min(until);
                let watch = Watch {
                    from: block.sent.at,
                    until,
                    waited: over.saturating_sub(entered.at),
                    text: text_of(block),
                };
                judge_report(views, launch, turn, entered, &watch, &mut tally);
            }
        }
    }
    tally.finding()
}

/// The time in which a waiting message is reported, and its text, which says nothing about it.
struct Watch {
    from: u64,
    until: u64,
    /// How long the message had to wait for the turn's end.
    waited: u64,
    text: String,
}

fn judge_report<'h>(
    views: &Views<'h>,
    launch: &LaunchView<'h>,
    turn: &Prompt<'h>,
    entered: &'h Event,
    watch: &Watch,
    tally: &mut Tally,
) {
    let request = turn.exchange.request.event;
    if let Some((event, said)) = steering(launch, watch) {
        tally.broken(
            format!("a waiting message was reported as steering: {}", quoted(&said)),
            &[request, entered, event],
        );
    } else if let Some((event, how)) = reported(launch, watch) {
        tally.held(how, &[request, entered, event]);
    } else if posts_are_all_seen(views, launch)
        && !says_waiting(&watch.text)
        && !still_on_screen(launch, watch)
    {
        let said = format!(
            "neither the pane nor a post said in {} that {} waits",
            milliseconds(watch.until.saturating_sub(entered.at)),
            quoted(&watch.text)
        );
        if machine_was_late(views, entered.at, watch.until, watch.waited) {
            tally.inconclusive(said, &[request, entered]);
        } else {
            tally.broken(said, &cited(launch, &[request, entered]));
        }
    }
}

/// Any common word for a message that has to wait, whatever the rest of the sentence is.
fn says_waiting(text: &str) -> bool {
    const WORDS: [&str; 18] = [
        "queue",
        "queuing",
        "wait",
        "pending",
        "next turn",
        "following turn",
        "turn end",
        "turn has ended",
        "turn is over",
        "turn finishes",
        "after this turn",
        "after the ",
        "defer",
        "postpone",
        "later",
        "backlog",
        "held",
        "hold",
    ];
    let text = text.to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

/// The first pane output or post in the watch that says that the message waits.
fn reported<'h>(launch: &LaunchView<'h>, watch: &Watch) -> Option<(&'h Event, String)> {
    let by_post = launch
        .all_posts
        .iter()
        .filter(|post| (watch.from..=watch.until).contains(&post.at()))
        .find(|post| says_waiting(&words_of(post)));
    if let Some(post) = by_post {
        return Some((post.started, format!("{} was posted", post.name())));
    }
    shown_lines(launch, watch)
        .into_iter()
        .find(|(_, line)| says_waiting(line))
        .map(|(event, _)| (event, "the pane said that the message waits".to_owned()))
}

/// What the pane showed in the watch, line by line and without the message's own text, each line with the output that
/// ended it.
fn shown_lines<'h>(launch: &LaunchView<'h>, watch: &Watch) -> Vec<(&'h Event, String)> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut newest = None;
    for event in launch.output_between(watch.from, watch.until) {
        if let Fact::Pane(Pane::Output { bytes }) = &event.fact {
            newest = Some(event);
            for piece in bytes.0.split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(piece);
                if piece.ends_with(b"\n") {
                    lines.push((event, without(&String::from_utf8_lossy(&line), &watch.text)));
                    line.clear();
                }
            }
        }
    }
    lines.extend(newest.map(|event| (event, without(&String::from_utf8_lossy(&line), &watch.text))));
    lines
}

/// A program that redraws only what changed may write no more than a figure beside a word that is there already.
fn still_on_screen(launch: &LaunchView<'_>, watch: &Watch) -> bool {
    let mut screen = Screen::new(launch.facts.size);
    for event in launch.output_between(0, watch.until) {
        if let Fact::Pane(Pane::Output { bytes }) = &event.fact {
            screen.feed(&bytes.0);
        }
    }
    says_waiting(&without(&screen.lines().join("\n"), &watch.text))
}

/// What was shown, without the message's own lines where those have such words in them.
fn without(shown: &str, text: &str) -> String {
    let mut shown = shown.to_owned();
    for line in text.lines().map(str::trim_end) {
        if (says_waiting(line) || names_steering(line)) && shown.contains(line) {
            shown = shown.replace(line, "");
        }
    }
    shown
}

/// The words of a post that are the runner's own.
fn words_of(post: &Post<'_>) -> String {
    const NAMES: [&str; 6] = [
        "sessionName",
        "nodeId",
        "runtime",
        "generation",
        "occurredAt",
        "turnId",
    ];
    let fields = post.body.as_ref().and_then(serde_json::Value::as_object);
    fields
        .into_iter()
        .flatten()
        .filter(|(name, _)| !NAMES.contains(&name.as_str()))
        .map(|(name, value)| format!("{name} {value} "))
        .collect()
}

/// A line of the pane or a post in the watch that says that the message steers the turn.
fn steering<'h>(launch: &LaunchView<'h>, watch: &Watch) -> Option<(&'h Event, String)> {
    let by_post = launch
        .all_posts
        .iter()
        .filter(|post| (watch.from..=watch.until).contains(&post.at()))
        .find(|post| claims_steering(&words_of(post)));
    if let Some(post) = by_post {
        return Some((post.started, post.name()));
    }
    // The agent's own words in the pane are not the runner's.
    let agent_says_so = launch
        .messages
        .iter()
        .filter(|message| !message.to_agent())
        .any(|message| {
            message
                .body
                .as_ref()
                .is_some_and(|body| names_steering(&body.to_string()))
        });
    if agent_says_so {
        return None;
    }
    shown_lines(launch, watch)
        .into_iter()
        .find(|(_, line)| claims_steering(line))
        .map(|(event, line)| (event, line.trim().to_owned()))
}

fn names_steering(text: &str) -> bool {
    text.to_lowercase().contains("steer")
}

/// Speaks of steering, and not to deny it.
fn claims_steering(text: &str) -> bool {
    const DENIALS: [&str; 6] = ["not ", "n't", "never", "without", "instead", "no "];
    let text = text.to_lowercase();
    names_steering(&text) && !says_waiting(&text) && !DENIALS.iter().any(|denial| text.contains(denial))
}

#[cfg(test)]
mod tests {
    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };
    use crate::history::Fact;

    fn working() -> HistoryBuilder {
        HistoryBuilder::ready().prompt("work")
    }

    fn submitted_after(waiting: HistoryBuilder, text: &str) -> HistoryBuilder {
        waiting.after_ms(500).end_turn("end_turn").prompt_text_only(text)
    }

    #[test]
    fn queued() {
        const CLAUSE: &str = "input.mid-turn-queued";
        let waiting = || working().block("next");
        assert_held(CLAUSE, &submitted_after(waiting().shows("queued (1)"), "next"));
        assert_held(
            CLAUSE,
            &submitted_after(waiting().post("active", "queued"), "next"),
        );
        assert_broken(CLAUSE, &submitted_after(waiting().shows("next"), "next"));
        let steered = waiting().post("UserPromptSubmit", "steering");
        assert_broken(CLAUSE, &submitted_after(steered, "next"));
        for claim in ["steering the current turn: next", "steered with: next"] {
            let shown = waiting().shows(claim).shows("queued");
            assert_broken(CLAUSE, &submitted_after(shown, "next"));
        }
        let denied = waiting().shows("queued for the next turn (not steering this one)");
        assert_held(CLAUSE, &submitted_after(denied, "next"));
        assert_not_exercised(CLAUSE, &working().end_turn("end_turn").prompt("next"));
        assert_not_exercised(CLAUSE, &waiting().end_turn("end_turn").prompt_text_only("next"));
    }

    #[test]
    fn the_echo_of_the_message_says_nothing() {
        const CLAUSE: &str = "input.mid-turn-queued";
        let echoed = || {
            working()
                .block("wait for it\nplease")
                .shows("wait for it\r\nplease")
        };
        assert_not_exercised(CLAUSE, &submitted_after(echoed(), "wait for it\nplease"));
        let told = echoed().shows("queued");
        assert_held(CLAUSE, &submitted_after(told, "wait for it\nplease"));
    }

    #[test]
    fn a_word_that_stays_on_the_screen_is_enough() {
        const CLAUSE: &str = "input.mid-turn-queued";
        let redrawn = working().shows("queued: 0").block("next").shows("\x1b[A\x1b[9C1");
        assert_not_exercised(CLAUSE, &submitted_after(redrawn, "next"));
    }

    #[test]
    fn nothing_is_missed_in_an_outage_or_on_a_late_machine() {
        const CLAUSE: &str = "input.mid-turn-queued";
        let outage = working().endpoint("refuse").block("next");
        assert_not_exercised(CLAUSE, &submitted_after(outage, "next"));
        let late = working().block("next").fact(Fact::Lag { late_ms: 200 });
        let finding = judge(CLAUSE, &submitted_after(late, "next"));
        assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
    }
}
