//! Which messages can be judged by what became of them, and for how long their arrival can be demanded.

use crate::contract::watch::{agent_lost, free_until, possible_orders};
use crate::history::views::{Block, Ending, LaunchView};
use crate::history::{Delivery, Event, Fact, Pane, Step};

/// From this size on, what becomes of a message is for `input.large-block` alone to judge.
pub(super) const LARGE: usize = 60_000;

/// The messages of a launch that were entered and must become prompts as they are, with their places.
pub(super) fn judged<'v, 'h>(
    launch: &'v LaunchView<'h>,
) -> impl Iterator<Item = (usize, &'v Block<'h>, &'h Event)> {
    launch
        .blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| !block.is_abort() && !block.is_blank())
        .filter(|(index, _)| is_plain(launch, *index))
        .filter_map(|(index, block)| Some((index, block, block.entered?)))
}

/// Whether nothing but the message's own text can be in its block: printable text, into a terminal that was ready for
/// it, with no other keys since the Enter before (readings 23 to 25).
pub(super) fn is_plain(launch: &LaunchView<'_>, index: usize) -> bool {
    let Some(block) = launch.blocks.get(index) else {
        return false;
    };
    let before = index.checked_sub(1).and_then(|before| launch.blocks.get(before));
    let line_was_empty = before.is_none_or(|before| {
        before
            .entered
            .is_some_and(|entered| entered.sequence < block.sent.sequence)
    });
    line_was_empty
        && is_printable(launch, block)
        && !other_keys(launch, before, block)
        && was_raw(launch, block)
}

fn is_printable(launch: &LaunchView<'_>, block: &Block<'_>) -> bool {
    let Ok(text) = std::str::from_utf8(block.text) else {
        return false;
    };
    // Outside a paste a line end may be taken for Enter, and a tab for a key of its own.
    let as_paste = block.delivery == Delivery::Paste && launch.facts.transport != "pipe";
    !text
        .chars()
        .any(|character| character.is_control() && !(as_paste && matches!(character, '\n' | '\r' | '\t')))
}

/// Whether keys that are no message came between the Enter before this block and its own.
fn other_keys(launch: &LaunchView<'_>, before: Option<&Block<'_>>, block: &Block<'_>) -> bool {
    let from = before
        .and_then(|before| before.entered)
        .map_or(0, |entered| entered.sequence);
    let until = block.entered.map_or(u64::MAX, |entered| entered.sequence);
    launch
        .events
        .iter()
        .filter(|event| (from..=until).contains(&event.sequence))
        .any(|event| match &event.fact {
            Fact::Step(Step::Interrupted) => event.sequence > block.sent.sequence,
            Fact::Step(Step::Typed { bytes }) => bytes.0.iter().any(|byte| !matches!(byte, b'\r' | b'\n')),
            _ => false,
        })
}

/// Before a terminal is raw it edits lines itself, and may drop what came too early.
fn was_raw(launch: &LaunchView<'_>, block: &Block<'_>) -> bool {
    launch
        .events
        .iter()
        .take_while(|event| event.sequence <= block.sent.sequence)
        .filter_map(|event| match &event.fact {
            Fact::Pane(Pane::Settings(settings)) => Some(settings.is_raw()),
            _ => None,
        })
        .last()
        .unwrap_or(launch.facts.transport == "pipe")
}

/// How long the runner could have submitted this message, in nanoseconds: the conversation was open, the agent alive
/// and idle. `None` where a runner may keep or drop it: an order to cancel or a failed turn since (reading 9), an agent
/// that has not answered or is gone (reading 37).
pub(super) fn could_submit_for(launch: &LaunchView<'_>, block: &Block<'_>) -> Option<u64> {
    let entered = block.entered?.at;
    let (_, opened) = launch.conversation()?;
    let mut from = entered.max(opened.at);
    for request in launch
        .requests
        .iter()
        .filter(|request| request.method() != "session/cancel")
    {
        from = from.max(request.answer()?.event.at);
    }
    let ordered = possible_orders(launch)
        .iter()
        .any(|order| order.at >= block.sent.at);
    let failed = launch.prompts.iter().any(|prompt| {
        prompt
            .answered_at()
            .is_some_and(|answered| answered >= block.sent.at)
            && match prompt.ending() {
                Some(Ending::StopReason(reason)) => reason == "cancelled",
                _ => true,
            }
    });
    if ordered || failed {
        return None;
    }
    let lost = launch
        .agents
        .iter()
        .filter_map(|agent| agent_lost(launch, agent.number))
        .map(|event| event.at)
        .min();
    let until = free_until(launch).min(lost.unwrap_or(u64::MAX));
    until.checked_sub(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::grace::SECOND;
    use crate::contract::history_builder::HistoryBuilder;
    use crate::history::Bytes;
    use crate::history::views::Views;

    fn judged_places(builder: &HistoryBuilder) -> Vec<usize> {
        let history = builder.history();
        let views = Views::new(&history);
        judged(&views.launches[0]).map(|(index, _, _)| index).collect()
    }

    fn sent(history: HistoryBuilder, text: &str, delivery: Delivery) -> HistoryBuilder {
        history
            .fact(Fact::Step(Step::Sent {
                block: 1,
                text: text.into(),
                delivery,
            }))
            .fact(Fact::Step(Step::Entered { block: 1 }))
    }

    #[test]
    fn printable_text_is_judged() {
        let ready = HistoryBuilder::ready;
        assert_eq!(judged_places(&ready().block("a\n\tb ü").block("c")), [0, 1]);
        assert_eq!(judged_places(&sent(ready(), "typed", Delivery::Typed)), [0]);
        for text in ["\u{3}", "a\u{1b}[201~b", "\u{7f}", "/abort", " \n"] {
            assert!(judged_places(&ready().block(text)).is_empty(), "{text:?}");
        }
        assert!(judged_places(&sent(ready(), "two\nlines", Delivery::Raw)).is_empty());
        assert!(judged_places(&sent(ready(), "a\tb", Delivery::Typed)).is_empty());
    }

    #[test]
    fn other_keys_in_the_same_line_leave_it_open() {
        let typed = |keys: &str| {
            HistoryBuilder::ready()
                .fact(Fact::Step(Step::Typed {
                    bytes: Bytes::from(keys),
                }))
                .block("text")
        };
        assert!(judged_places(&typed("x")).is_empty());
        assert_eq!(judged_places(&typed("\r")), [0]);
        assert_eq!(judged_places(&typed("x").block("next")), [1]);
        let never_entered = HistoryBuilder::ready()
            .fact(Fact::Step(Step::Sent {
                block: 9,
                text: "half".into(),
                delivery: Delivery::Paste,
            }))
            .block("text");
        assert!(judged_places(&never_entered).is_empty());
    }

    #[test]
    fn a_terminal_that_is_not_raw_yet_may_lose_it() {
        let early = HistoryBuilder::empty().launch(|_| {}).block("early");
        assert!(judged_places(&early.terminal_ready()).is_empty());
    }

    #[test]
    fn arrival_can_be_demanded_of_a_free_runner_with_an_idle_agent() {
        let demanded = |builder: HistoryBuilder| {
            let history = builder.watch_seconds(9).history();
            let views = Views::new(&history);
            let launch = &views.launches[0];
            could_submit_for(launch, launch.blocks.last().unwrap())
        };
        let working = || HistoryBuilder::ready().prompt("work").block("next");
        assert!(demanded(HistoryBuilder::ready().block("next")) >= Some(9 * SECOND));
        assert!(demanded(working().after_ms(500).end_turn("end_turn")) >= Some(9 * SECOND));
        assert_eq!(demanded(working()), None);
        assert_eq!(demanded(working().fail_turn(-32603)), None);
        assert_eq!(demanded(working().interrupt().end_turn("end_turn")), None);
        assert_eq!(demanded(HistoryBuilder::launched().block("next")), None);
        let gone = HistoryBuilder::ready().agent_ended().block("next");
        assert_eq!(demanded(gone), None);
    }
}
