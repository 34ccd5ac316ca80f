//! Without a terminal: `input.no-tty-lines` and `input.no-tty-plain`.

use super::arrival::{could_submit_for, judged};
use super::origin::{Origin, Origins, text_of};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{DUE, machine_was_late};
use crate::contract::quote::quoted;
use crate::contract::watch::{cited, free_until};
use crate::history::views::{LaunchView, Views, milliseconds};
use crate::history::{Event, Fact, Pane, Wire};

const ESCAPE: u8 = 0x1b;

/// Launches whose runner has no terminal.
fn piped<'v, 'h>(views: &'v Views<'h>) -> impl Iterator<Item = &'v LaunchView<'h>> {
    views
        .launches
        .iter()
        .filter(|launch| launch.facts.transport == "pipe")
}

pub(super) fn no_tty_lines(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in piped(views) {
        let origins = Origins::new(launch);
        // One line alone is a message in any case.
        let several = judged(launch).count() > 1;
        for (index, block, entered) in judged(launch) {
            let text = quoted(&text_of(block));
            let prompts = origins.of_block(index);
            let mut events = vec![block.sent, entered];
            events.extend(prompts.iter().map(|(prompt, _)| prompt.exchange.request.event));
            match prompts.as_slice() {
                [(_, Origin::Exact(_))] if several => {
                    tally.held("each line became one prompt", &events);
                }
                [(_, Origin::Exact(_))] => {}
                [] => {
                    let waited = could_submit_for(launch, block).unwrap_or(0);
                    if waited < DUE {
                        continue;
                    }
                    let said = format!("the line {text} was not submitted in {}", milliseconds(waited));
                    let events = cited(launch, &events);
                    if machine_was_late(views, entered.at, free_until(launch), waited) {
                        tally.inconclusive(said, &events);
                    } else {
                        tally.broken(said, &events);
                    }
                }
                [(prompt, Origin::Merged(lines)), ..] => tally.broken(
                    format!(
                        "{} lines arrived as one prompt, {}",
                        lines.len(),
                        quoted(&prompt.text().unwrap_or_default())
                    ),
                    &events,
                ),
                [(prompt, _), ..] => tally.broken(
                    format!(
                        "the line {text} arrived as {} prompt(s), the first {}",
                        prompts.len(),
                        quoted(&prompt.text().unwrap_or_default())
                    ),
                    &events,
                ),
            }
        }
    }
    tally.finding()
}

pub(super) fn no_tty_plain(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in piped(views) {
        // What somebody else put there is not of the runner's making.
        if launch.events.iter().any(|event| brings_escapes(event)) {
            continue;
        }
        let mut written: Option<(&Event, usize)> = None;
        for event in launch.events.iter().copied() {
            let Fact::Pane(Pane::Output { bytes }) = &event.fact else {
                continue;
            };
            if bytes.0.contains(&ESCAPE) {
                tally.broken(
                    format!("without a terminal it wrote {}", quoted(&bytes.text())),
                    &[event],
                );
            }
            let before = written.map_or(0, |(_, length)| length);
            written = Some((event, before + bytes.0.len()));
        }
        if let Some((last, length)) = written
            && !launch.agents.is_empty()
        {
            tally.held(
                format!("{length} bytes without an escape code"),
                &[launch.event, last],
            );
        }
    }
    tally.finding()
}

fn brings_escapes(event: &Event) -> bool {
    match &event.fact {
        Fact::Wire(Wire::FromAgent { line, .. }) => {
            let text = line.text();
            text.contains("\\u001b") || text.contains("\\u001B")
        }
        Fact::Wire(Wire::FromAgentRaw { bytes, .. }) | Fact::Pane(Pane::Input { bytes }) => {
            bytes.0.contains(&ESCAPE)
        }
        Fact::Wire(Wire::Stderr { .. }) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };

    const LINES: &str = "input.no-tty-lines";
    const PLAIN: &str = "input.no-tty-plain";

    fn piped() -> HistoryBuilder {
        HistoryBuilder::empty()
            .launch(|facts| facts.transport = "pipe".into())
            .agent_started()
            .opened()
            .record("conv-1")
    }

    fn two_lines() -> HistoryBuilder {
        piped().block("one").block("two")
    }

    fn prompts(history: HistoryBuilder, texts: &[&str]) -> HistoryBuilder {
        texts.iter().fold(history, |history, text| {
            history.prompt_text_only(text).end_turn("end_turn")
        })
    }

    #[test]
    fn each_line_is_a_message() {
        assert_held(LINES, &prompts(two_lines(), &["one", "two"]).watch_seconds(1));
        assert_broken(LINES, &prompts(two_lines(), &["one\ntwo"]).watch_seconds(5));
        assert_broken(LINES, &prompts(two_lines(), &["one two"]).watch_seconds(5));
        assert_broken(LINES, &prompts(two_lines(), &["one"]).watch_seconds(5));
        assert_broken(
            LINES,
            &prompts(two_lines(), &["one", "one", "two"]).watch_seconds(5),
        );
        assert_not_exercised(LINES, &two_lines().watch_seconds(1));
        assert_not_exercised(LINES, &prompts(piped().block("one"), &["one"]).watch_seconds(5));
        let on_a_terminal = HistoryBuilder::ready().block("one").block("two");
        assert_not_exercised(LINES, &prompts(on_a_terminal, &["one two"]).watch_seconds(5));
    }

    #[test]
    fn nothing_but_text_is_written() {
        assert_held(PLAIN, &piped().shows("ready"));
        assert_broken(PLAIN, &piped().shows("\u{1b}[1mready\u{1b}[0m"));
        assert_not_exercised(PLAIN, &piped());
        assert_not_exercised(PLAIN, &HistoryBuilder::ready().shows("\u{1b}[1mready"));
        let the_agents = piped().agent_writes(r#"{"text":"\u001b[1m"}"#).shows("\u{1b}[1m");
        assert_not_exercised(PLAIN, &the_agents);
    }
}
