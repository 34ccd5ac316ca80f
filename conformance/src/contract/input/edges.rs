//! The moments around a message: `input.nothing-before-enter`, `input.before-ready` and `input.empty-enter`.

use super::arrival::{could_submit_for, is_plain, judged};
use super::origin::{Origin, Origins, text_of};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE};
use crate::contract::quote::quoted;
use crate::contract::watch::{cited, free_until};
use crate::history::views::{Block, LaunchView, Prompt, Views, milliseconds};
use crate::history::{Event, Fact, Step};

pub(super) fn nothing_before_enter(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        for (index, block) in launch.blocks.iter().enumerate() {
            if !block.is_abort() && !block.is_blank() && is_plain(launch, index) {
                judge_wait(launch, &origins, index, block, &mut tally);
            }
        }
    }
    tally.finding()
}

fn judge_wait<'h>(
    launch: &LaunchView<'h>,
    origins: &Origins<'_, 'h>,
    index: usize,
    block: &Block<'h>,
    tally: &mut Tally,
) {
    let until = block
        .entered
        .or_else(|| next_input(launch, block.sent))
        .map_or_else(|| free_until(launch), |event| event.at);
    let early = origins.of_block(index).into_iter().find(|(prompt, origin)| {
        matches!(origin, Origin::Exact(_) | Origin::Altered(_) | Origin::Piece(_)) && prompt.at() < until
    });
    let could_go_out = launch
        .conversation()
        .is_some_and(|(_, opened)| opened.at <= block.sent.at)
        && !launch
            .prompts
            .iter()
            .any(|prompt| prompt.in_flight_at(block.sent.at));
    let waited = until.saturating_sub(block.sent.at);
    match early {
        Some((prompt, _)) => {
            let mut events = vec![block.sent, prompt.exchange.request.event];
            events.extend(block.entered);
            tally.broken(
                format!(
                    "{} went out as a prompt {} before Enter",
                    quoted(&text_of(block)),
                    milliseconds(until - prompt.at())
                ),
                &events,
            );
        }
        None if could_go_out && waited >= 2 * CROSSING => {
            let events = match block.entered {
                Some(entered) => vec![block.sent, entered],
                None => cited(launch, &[block.sent]),
            };
            tally.held(
                format!("no prompt in the {} without Enter", milliseconds(waited)),
                &events,
            );
        }
        None => {}
    }
}

/// The next thing put into the terminal after that event.
fn next_input<'h>(launch: &LaunchView<'h>, after: &Event) -> Option<&'h Event> {
    launch.events.iter().copied().find(|event| {
        event.sequence > after.sequence
            && matches!(
                event.fact,
                Fact::Step(Step::Sent { .. } | Step::Entered { .. } | Step::Typed { .. } | Step::Interrupted)
            )
    })
}

pub(super) fn before_ready(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some((_, opened)) = launch.conversation() else {
            continue;
        };
        let origins = Origins::new(launch);
        for (index, block, entered) in judged(launch) {
            if entered.at.saturating_add(CROSSING) > opened.at {
                continue;
            }
            let prompts = origins.of_block(index);
            let mut events = vec![entered, opened];
            events.extend(prompts.iter().map(|(prompt, _)| prompt.exchange.request.event));
            let text = quoted(&text_of(block));
            match prompts.as_slice() {
                [] => {
                    let waited = could_submit_for(launch, block).unwrap_or(0);
                    if waited >= DUE {
                        tally.broken(
                            format!(
                                "{text}, entered before the handshake, was not submitted in {} after it",
                                milliseconds(waited)
                            ),
                            &cited(launch, &events),
                        );
                    }
                }
                prompts if prompts.iter().any(|(prompt, _)| prompt.at() < opened.at) => tally.broken(
                    format!("{text} was submitted before the conversation was open"),
                    &events,
                ),
                [(_, Origin::Exact(_) | Origin::Altered(_))] => tally.held(
                    "a message entered before the handshake was submitted once after it",
                    &events,
                ),
                prompts
                    if prompts
                        .iter()
                        .any(|(_, origin)| matches!(origin, Origin::Again(_))) =>
                {
                    tally.broken(format!("{text} was submitted {} times", prompts.len()), &events)
                }
                _ => {}
            }
        }
    }
    tally.finding()
}

pub(super) fn empty_enter(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        // What becomes of a block of blanks is free (reading 24), an empty prompt among others.
        let blanks = launch
            .blocks
            .iter()
            .any(|block| block.is_blank() && !block.text.is_empty());
        for enter in bare_enters(launch) {
            let empty = launch
                .prompts
                .iter()
                .find(|prompt| prompt.at().saturating_add(CROSSING) >= enter.at && is_empty(prompt));
            let watched = next_input(launch, enter)
                .filter(|next| !is_enter_of(next, enter))
                .map_or_else(|| free_until(launch), |next| next.at.min(free_until(launch)))
                .saturating_sub(enter.at);
            let could_go_out = launch
                .conversation()
                .is_some_and(|(_, opened)| opened.at <= enter.at)
                && !launch.prompts.iter().any(|prompt| prompt.in_flight_at(enter.at));
            match empty {
                Some(prompt) if !blanks => tally.broken(
                    "after a bare Enter an empty prompt was submitted",
                    &[enter, prompt.exchange.request.event],
                ),
                None if could_go_out && watched >= CROSSING => tally.held(
                    format!("a bare Enter submitted nothing in {}", milliseconds(watched)),
                    &cited(launch, &[enter]),
                ),
                _ => {}
            }
        }
    }
    tally.finding()
}

/// Enter steps with nothing in the line before them.
fn bare_enters<'h>(launch: &LaunchView<'h>) -> Vec<&'h Event> {
    let mut line_is_empty = true;
    let mut bare = Vec::new();
    for event in &launch.events {
        match &event.fact {
            Fact::Step(Step::Sent { text, .. }) if !text.0.is_empty() => line_is_empty = false,
            Fact::Step(Step::Entered { .. }) => {
                if line_is_empty {
                    bare.push(*event);
                }
                line_is_empty = true;
            }
            Fact::Step(Step::Typed { bytes }) => {
                let only_enter =
                    !bytes.0.is_empty() && bytes.0.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
                if only_enter && line_is_empty {
                    bare.push(*event);
                }
                line_is_empty = if only_enter {
                    true
                } else {
                    line_is_empty && bytes.0.is_empty()
                };
            }
            _ => {}
        }
    }
    bare
}

/// One Enter may be noted as its own step and as the message's end.
fn is_enter_of(next: &Event, enter: &Event) -> bool {
    matches!(next.fact, Fact::Step(Step::Entered { .. })) && next.at == enter.at
}

/// A prompt without any content but blanks.
fn is_empty(prompt: &Prompt<'_>) -> bool {
    match prompt.text() {
        Some(text) => text.trim().is_empty(),
        None => prompt
            .exchange
            .request
            .at("/params/prompt")
            .and_then(serde_json::Value::as_array)
            .is_none_or(Vec::is_empty),
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Bytes, Delivery, Fact, Step};

    fn sent(history: HistoryBuilder, text: &str) -> HistoryBuilder {
        history.fact(Fact::Step(Step::Sent {
            block: 9,
            text: text.into(),
            delivery: Delivery::Paste,
        }))
    }

    fn entered(history: HistoryBuilder) -> HistoryBuilder {
        history.fact(Fact::Step(Step::Entered { block: 9 }))
    }

    fn typed(history: HistoryBuilder, keys: &str) -> HistoryBuilder {
        history.fact(Fact::Step(Step::Typed {
            bytes: Bytes::from(keys),
        }))
    }

    #[test]
    fn nothing_before_enter() {
        const CLAUSE: &str = "input.nothing-before-enter";
        let pasted = || sent(HistoryBuilder::ready(), "two\nlines");
        let late_enter = entered(pasted().after_ms(1_000)).prompt_text_only("two\nlines");
        assert_held(CLAUSE, &late_enter);
        assert_held(CLAUSE, &pasted().watch_seconds(1));
        let early = pasted().prompt_text_only("two\nlines").after_ms(1_000);
        assert_broken(CLAUSE, &entered(early.clone()));
        assert_broken(CLAUSE, &early.watch_seconds(1));
        let a_line = pasted().prompt_text_only("two").after_ms(1_000);
        assert_broken(CLAUSE, &entered(a_line));
        let at_once = entered(pasted().after_ms(200)).prompt_text_only("two\nlines");
        assert_not_exercised(CLAUSE, &at_once);
        let mid_turn = sent(HistoryBuilder::ready().prompt("work"), "next").after_ms(1_000);
        assert_not_exercised(CLAUSE, &entered(mid_turn));
    }

    #[test]
    fn an_equal_message_before_is_not_this_one() {
        let equal = sent(HistoryBuilder::ready().prompt("go").end_turn("end_turn"), "go").after_ms(1_000);
        assert_held(
            "input.nothing-before-enter",
            &entered(equal).prompt_text_only("go"),
        );
    }

    #[test]
    fn before_ready() {
        const CLAUSE: &str = "input.before-ready";
        let waiting = || {
            HistoryBuilder::launched()
                .block("early")
                .after_ms(500)
                .opened()
                .record("conv-1")
        };
        assert_held(CLAUSE, &waiting().prompt_text_only("early"));
        assert_broken(CLAUSE, &waiting().watch_seconds(5));
        let twice = waiting().prompt_text_only("early").end_turn("end_turn");
        assert_broken(CLAUSE, &twice.prompt_text_only("early"));
        let too_early = HistoryBuilder::launched()
            .block("early")
            .prompt_text_only("early")
            .after_ms(500)
            .opened();
        assert_broken(CLAUSE, &too_early);
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().prompt("work"));
        assert_not_exercised(
            CLAUSE,
            &HistoryBuilder::launched().block("early").watch_seconds(9),
        );
    }

    #[test]
    fn empty_enter() {
        const CLAUSE: &str = "input.empty-enter";
        assert_held(CLAUSE, &typed(HistoryBuilder::ready(), "\r").watch_seconds(1));
        assert_held(CLAUSE, &HistoryBuilder::ready().block("").watch_seconds(1));
        let empty = typed(HistoryBuilder::ready(), "\r").prompt_text_only("");
        assert_broken(CLAUSE, &empty);
        assert_broken(CLAUSE, &HistoryBuilder::ready().block("").prompt_text_only("\n"));
        let ends_a_line = typed(sent(HistoryBuilder::ready(), "text"), "\r");
        assert_not_exercised(CLAUSE, &ends_a_line.prompt_text_only("").watch_seconds(1));
        let blanks = HistoryBuilder::ready().block("  ").prompt_text_only("");
        assert_not_exercised(CLAUSE, &blanks.watch_seconds(1));
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().prompt("work"));
    }
}
