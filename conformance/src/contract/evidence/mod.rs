//! §10: what counts as evidence, and how a judge looks for a text in the pane.

mod secrets;
pub(super) mod shown_text;
mod written;

use self::shown_text::ShownText;
use super::clause::{Clause, Group, Level::*};
use super::finding::{Finding, Tally};
use super::grace::{DUE, machine_was_late};
use super::quote::quoted;
use super::watch::{cited, free_until};
use crate::history::views::{Block, LaunchView, Prompt, Views, milliseconds};
use crate::history::{Event, Fact, Pane, Step};

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "evidence.prompt-mirrored",
        level: Must,
        basis: "§10",
        text: "each accepted prompt is mirrored in the pane",
        judge: prompt_mirrored,
    },
    Clause {
        id: "evidence.verify",
        level: Info,
        basis: "§10",
        text: "rig send --verify's reading would find it",
        judge: verify,
    },
    Clause {
        id: "evidence.no-secrets",
        level: Should,
        basis: "read",
        text: "the token is not in the pane, and not in the agent's arguments",
        judge: secrets::no_secrets,
    },
];

fn prompt_mirrored(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for (prompt, block) in typed_prompts(launch) {
            let submitted = prompt.exchange.request.event;
            let text = String::from_utf8_lossy(block.text);
            let wanted = wanted(&text);
            if wanted.iter().all(ShownText::is_empty) {
                continue;
            }
            let end = free_until(launch);
            let until = submitted.at.saturating_add(DUE).min(end);
            let from = mirror_counts_from(launch, block);
            if let Some(shown) = wanted
                .iter()
                .find_map(|wanted| wanted.first_shown(launch, from, until))
            {
                tally.held(
                    format!("the pane showed {}", quoted(&text)),
                    &[block.sent, submitted, shown],
                );
                continue;
            }
            if end.saturating_sub(submitted.at) < DUE {
                continue;
            }
            let events = cited(launch, &[block.sent, submitted]);
            let said = format!(
                "{} was submitted, and the pane did not show it in {}",
                quoted(&text),
                milliseconds(DUE)
            );
            if machine_was_late(views, submitted.at, until, DUE) {
                tally.inconclusive(said, &events);
            } else {
                tally.broken(said, &events);
            }
        }
    }
    tally.finding()
}

/// What of a message must be seen: all of a short one. Of a long one the beginning is enough, as much as
/// `rig send --verify` looks for, or the end: a pane that shows a full screen may have room for no more.
fn wanted(text: &str) -> Vec<ShownText> {
    const LONG: usize = 200;
    const ENOUGH: usize = 40;
    /// More than a pane of few rows can be expected to hold beside everything else.
    const MANY_ROWS: usize = 10;
    if ShownText::length(text) > LONG || text.lines().count() > MANY_ROWS {
        vec![
            ShownText::first_of(text, ENOUGH),
            ShownText::last_of(text, ENOUGH),
        ]
    } else {
        vec![ShownText::first_of(text, LONG)]
    }
}

/// Prompts that hold the text of a typed message, each with its message.
fn typed_prompts<'v, 'h>(launch: &'v LaunchView<'h>) -> Vec<(&'v Prompt<'h>, &'v Block<'h>)> {
    let mut waiting: Vec<(String, &Block<'_>)> = launch
        .messages_to_prompt()
        .map(|block| (comparable(&String::from_utf8_lossy(block.text)), block))
        .collect();
    let mut pairs = Vec::new();
    for prompt in &launch.prompts {
        let Some(text) = prompt.text().map(|text| comparable(&text)) else {
            continue;
        };
        let typed = waiting
            .iter()
            .position(|(message, block)| *message == text && block.sent.at <= prompt.at());
        if let Some(index) = typed {
            pairs.push((prompt, waiting.remove(index).1));
        }
    }
    pairs
}

/// Whether the text arrived whole is input.exact-text's to judge: here line ends and outer blanks don't matter.
fn comparable(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()
}

/// From when on the message's text in the pane is the runner's doing: since its first byte, for a runner may echo what
/// is typed; but while the terminal itself echoes, only since that ended, or since Enter.
fn mirror_counts_from(launch: &LaunchView<'_>, block: &Block<'_>) -> u64 {
    let sent = block.sent.at;
    let echoes = launch.events.iter().filter_map(|event| match &event.fact {
        Fact::Pane(Pane::Settings(settings)) => Some((event.at, settings.echo)),
        _ => None,
    });
    let has_terminal = launch.facts.transport != "pipe";
    let echoed = echoes
        .clone()
        .take_while(|(at, _)| *at <= sent)
        .last()
        .map_or(has_terminal, |(_, echo)| echo);
    if !echoed {
        return sent;
    }
    let entered = block.entered.map_or(sent, |entered| entered.at);
    let turned_off = echoes
        .filter(|(at, echo)| *at > sent && !echo)
        .map(|(at, _)| at)
        .next();
    turned_off.map_or(entered, |at| at.min(entered))
}

fn verify(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for event in &launch.events {
            let Fact::Step(Step::Verified { block: number, found }) = event.fact else {
                continue;
            };
            let sent = launch.blocks.iter().find(|block| block.number == number);
            let events: Vec<&Event> = sent.map(|block| block.sent).into_iter().chain([*event]).collect();
            if found {
                tally.held(format!("message {number} was found"), &events);
            } else {
                tally.broken(format!("message {number} was not found in the pane"), &events);
            }
        }
    }
    tally.finding()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::history_builder::{HistoryBuilder, assert_broken, assert_held, assert_not_exercised};
    use crate::history::{Delivery, Fact, Step};

    const MIRRORED: &str = "evidence.prompt-mirrored";

    /// A message that was submitted and accepted; what the pane shows is the test's.
    fn submitted(text: &str) -> HistoryBuilder {
        HistoryBuilder::ready()
            .block(text)
            .prompt_text_only(text)
            .accepted()
    }

    #[test]
    fn prompt_mirrored() {
        assert_held(MIRRORED, &HistoryBuilder::ready().prompt("two\nlines"));
        assert_broken(MIRRORED, &submitted("work").shows("ok").watch_seconds(5));
        assert_broken(
            MIRRORED,
            &submitted("two\nlines").shows("you ▸ two").watch_seconds(5),
        );
        assert_not_exercised(MIRRORED, &submitted("work").watch_seconds(1));
        assert_not_exercised(MIRRORED, &HistoryBuilder::ready().watch_seconds(9));
        // Not what was typed: a first input, or a message that reached the agent changed.
        assert_not_exercised(
            MIRRORED,
            &HistoryBuilder::ready().prompt_text_only("first").watch_seconds(9),
        );
    }

    #[test]
    fn of_many_rows_the_first_or_the_last_are_enough() {
        let rows: Vec<String> = (1..=60).map(|row| format!("row {row}")).collect();
        let text = rows.join("\n");
        let tail = rows[45..].join("\r\n");
        assert_held(MIRRORED, &submitted(&text).shows(&tail).watch_seconds(5));
        let middle = rows[20..40].join("\r\n");
        assert_broken(MIRRORED, &submitted(&text).shows(&middle).watch_seconds(5));
    }

    #[test]
    fn each_of_two_equal_messages_needs_its_own_mirror() {
        let twice = HistoryBuilder::ready()
            .prompt("again")
            .end_turn("end_turn")
            .block("again")
            .prompt_text_only("again");
        assert_held(MIRRORED, &twice.clone().shows("you ▸ again"));
        assert_broken(MIRRORED, &twice.watch_seconds(5));
    }

    #[test]
    fn a_mirror_may_look_different() {
        assert_held(
            MIRRORED,
            &submitted("a\tb\x07c\x1b[1md").shows("you ▸ a  bc^[[1md"),
        );
        assert_held(MIRRORED, &submitted("one\ntwo").shows("┃ one\r\n┃ two"));
        assert_held(MIRRORED, &submitted("one\r\ntwo ").shows("you ▸ one⏎two"));
        let long = "word ".repeat(60);
        assert_held(
            MIRRORED,
            &submitted(&long).shows(&format!("you ▸ {}…", &long[..60])),
        );
        assert_broken(
            MIRRORED,
            &submitted(&long)
                .shows(&format!("you ▸ {}…", &long[..30]))
                .watch_seconds(5),
        );
        let in_pieces = submitted("work").shows("you ▸ w  k\x1b[3Dor");
        assert_held(MIRRORED, &in_pieces);
    }

    #[test]
    fn the_terminal_s_own_echo_is_no_mirror() {
        let echoed = |history: HistoryBuilder| {
            history
                .fact(Fact::Step(Step::Sent {
                    block: 1,
                    text: "early".into(),
                    delivery: Delivery::Raw,
                }))
                .shows("early")
                .fact(Fact::Step(Step::Entered { block: 1 }))
        };
        let opened = |history: HistoryBuilder| history.terminal_ready().opened().prompt_text_only("early");
        let cooked = HistoryBuilder::empty()
            .launch(|_| {})
            .settings(true, true)
            .agent_started();
        assert_broken(MIRRORED, &opened(echoed(cooked.clone())).watch_seconds(5));
        assert_held(MIRRORED, &opened(echoed(cooked)).shows("you ▸ early"));
        // A raw terminal echoes nothing: the runner does.
        assert_held(
            MIRRORED,
            &echoed(HistoryBuilder::ready())
                .prompt_text_only("early")
                .watch_seconds(5),
        );
    }

    #[test]
    fn a_late_machine_decides_nothing() {
        let late = submitted("work")
            .after_ms(3_000)
            .fact(Fact::Lag { late_ms: 2_000 });
        let finding = super::super::history_builder::judge(MIRRORED, &late.watch_seconds(5));
        assert!(matches!(finding, super::Finding::Inconclusive(_)), "{finding:?}");
    }

    #[test]
    fn a_prompt_that_is_no_text_is_left_alone() {
        let image = HistoryBuilder::ready().block("work").asks_agent(
            "session/prompt",
            json!({"sessionId": "conv-1", "prompt": [{"type": "image"}]}),
        );
        assert_not_exercised(MIRRORED, &image.watch_seconds(9));
    }

    #[test]
    fn verify() {
        let looked = |found| {
            HistoryBuilder::ready()
                .prompt("work")
                .fact(Fact::Step(Step::Verified { block: 1, found }))
        };
        assert_held("evidence.verify", &looked(true));
        assert_broken("evidence.verify", &looked(false));
        assert_not_exercised("evidence.verify", &HistoryBuilder::ready().prompt("work"));
    }
}
