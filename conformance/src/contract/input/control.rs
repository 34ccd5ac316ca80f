//! The only control is a block that is exactly /abort: `input.abort-exact` and `input.abort-line-is-text`.

use super::arrival::{LARGE, could_submit_for, judged};
use super::origin::{Origin, Origins, text_of};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE};
use crate::contract::quote::quoted;
use crate::contract::watch::{cited, free_until, possible_orders};
use crate::history::Event;
use crate::history::views::{Block, LaunchView, Views, milliseconds};

const ABORT: &str = "/abort";

pub(super) fn abort_exact(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        for (index, block, entered) in judged(launch) {
            let text = text_of(block);
            if !text.contains('\n') && text.to_lowercase().contains(ABORT) {
                judge_as_text(launch, &origins, (index, block, entered), &mut tally);
            }
        }
        sent_as_prompt(launch, &origins, &mut tally);
    }
    tally.finding()
}

pub(super) fn abort_line_is_text(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        for (index, block, entered) in judged(launch) {
            let text = text_of(block);
            let among_others = text.contains('\n') && text.lines().any(|line| line.trim() == ABORT);
            if among_others && text.len() < LARGE {
                judge_as_text(launch, &origins, (index, block, entered), &mut tally);
            }
        }
    }
    tally.finding()
}

/// The message becomes a prompt and cancels nothing.
fn judge_as_text<'h>(
    launch: &LaunchView<'h>,
    origins: &Origins<'_, 'h>,
    (index, block, entered): (usize, &Block<'h>, &'h Event),
    tally: &mut Tally,
) {
    let text = quoted(&text_of(block));
    if let Some(cancel) = cancel_without_order(launch, block) {
        tally.broken(
            format!(
                "{text} sent session/cancel {} later",
                milliseconds(cancel.at - block.sent.at)
            ),
            &[block.sent, entered, cancel],
        );
        return;
    }
    let prompts = origins.of_block(index);
    let mut events = vec![block.sent, entered];
    events.extend(prompts.iter().map(|(prompt, _)| prompt.exchange.request.event));
    match prompts.as_slice() {
        [] => {
            let waited = could_submit_for(launch, block).unwrap_or(0);
            if waited >= DUE {
                tally.broken(
                    format!("{text} did not become a prompt in {}", milliseconds(waited)),
                    &cited(launch, &events),
                );
            }
        }
        [(_, Origin::Exact(_) | Origin::Altered(_))] => {
            tally.held(format!("{text} became a prompt and cancelled nothing"), &events);
        }
        [(prompt, _), ..] => tally.broken(
            format!(
                "{text} became the prompt {}",
                quoted(&prompt.text().unwrap_or_default())
            ),
            &events,
        ),
    }
}

/// A session/cancel after the message for which nothing else can have asked: no order to cancel came in the turn that
/// it meets, nor shortly before.
fn cancel_without_order<'h>(launch: &LaunchView<'h>, block: &Block<'_>) -> Option<&'h Event> {
    let sent = block.sent;
    let orders = possible_orders(launch);
    // A later text with /abort in it is judged by itself.
    let until = launch
        .blocks
        .iter()
        .filter(|later| later.sent.sequence > sent.sequence && text_of(later).contains(ABORT))
        .map(|later| later.sent.at)
        .min()
        .unwrap_or(u64::MAX)
        .min(free_until(launch));
    launch
        .cancels()
        .map(|cancel| cancel.event)
        .take_while(|cancel| cancel.at < until)
        .filter(|cancel| cancel.at >= sent.at)
        // What comes after the next order may be that one's doing.
        .take_while(|cancel| {
            !orders
                .iter()
                .any(|order| order.at >= sent.at && order.at <= cancel.at.saturating_add(CROSSING))
        })
        .find(|cancel| {
            let turn_began = launch
                .prompts
                .iter()
                .rev()
                .find(|prompt| prompt.at() <= cancel.at)
                .map_or(0, |prompt| prompt.at());
            let from = turn_began.min(cancel.at.saturating_sub(DUE));
            !orders
                .iter()
                .any(|order| order.at >= from && order.at <= cancel.at)
        })
}

/// A bare /abort never becomes a prompt.
fn sent_as_prompt(launch: &LaunchView<'_>, origins: &Origins<'_, '_>, tally: &mut Tally) {
    let bare = || {
        launch
            .blocks
            .iter()
            .filter(|block| block.is_abort())
            .filter_map(|block| block.entered)
    };
    let as_prompt = origins.each().find(|(prompt, origin)| {
        **origin == Origin::Unknown && prompt.text().is_some_and(|text| text.trim() == ABORT)
    });
    if let Some((prompt, _)) = as_prompt
        && let Some(entered) = bare().find(|entered| entered.at <= prompt.at().saturating_add(CROSSING))
    {
        tally.broken(
            "a bare /abort was sent to the agent as a prompt",
            &[entered, prompt.exchange.request.event],
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };

    const NEARLY: [&str; 4] = ["/abort ", "/abort now", "x /abort", " /abort"];
    const ENVELOPE: &str = "From: a\nTo: b\n---\n/abort\n---\nreply";

    /// The message is entered in the middle of a turn, and submitted after it.
    fn queued(text: &str) -> HistoryBuilder {
        HistoryBuilder::ready()
            .prompt("work")
            .block(text)
            .after_ms(500)
            .end_turn("end_turn")
            .post("Stop", "idle")
            .prompt_text_only(text)
    }

    fn mid_turn(text: &str) -> HistoryBuilder {
        HistoryBuilder::ready().prompt("work").block(text)
    }

    #[test]
    fn abort_exact() {
        const CLAUSE: &str = "input.abort-exact";
        for text in NEARLY {
            assert_held(CLAUSE, &queued(text));
            assert_broken(CLAUSE, &mid_turn(text).cancel().watch_seconds(1));
            let swallowed = HistoryBuilder::ready().block(text);
            assert_broken(CLAUSE, &swallowed.clone().watch_seconds(5));
            assert_not_exercised(CLAUSE, &swallowed.watch_seconds(2));
        }
        let as_prompt = mid_turn("/abort").prompt_text_only("/abort");
        assert_broken(CLAUSE, &as_prompt);
        let ordered = mid_turn("/abort").cancel().end_turn("cancelled");
        assert_not_exercised(CLAUSE, &ordered);
    }

    #[test]
    fn a_cancel_that_was_ordered_is_not_the_texts_doing() {
        const CLAUSE: &str = "input.abort-exact";
        let later = mid_turn("/abort now").interrupt().cancel();
        assert_not_exercised(CLAUSE, &later.end_turn("cancelled").watch_seconds(9));
        let before = HistoryBuilder::ready()
            .prompt("work")
            .interrupt()
            .block("/abort now")
            .cancel()
            .end_turn("cancelled")
            .prompt_text_only("/abort now");
        assert_held(CLAUSE, &before);
        let at_the_stop = mid_turn("/abort now").stopping().cancel();
        assert_not_exercised(CLAUSE, &at_the_stop);
    }

    #[test]
    fn each_text_answers_for_the_cancel_that_follows_it() {
        let two = HistoryBuilder::ready()
            .prompt("work")
            .block("/abort now")
            .block(ENVELOPE)
            .cancel()
            .after_ms(500)
            .end_turn("end_turn")
            .prompt_text_only("/abort now");
        assert_held("input.abort-exact", &two);
        assert_broken("input.abort-line-is-text", &two);
    }

    #[test]
    fn abort_line_is_text() {
        const CLAUSE: &str = "input.abort-line-is-text";
        assert_held(CLAUSE, &queued(ENVELOPE));
        assert_held(CLAUSE, &queued("/abort\n"));
        assert_broken(CLAUSE, &mid_turn(ENVELOPE).cancel().watch_seconds(1));
        assert_broken(CLAUSE, &HistoryBuilder::ready().block(ENVELOPE).watch_seconds(5));
        let cut = HistoryBuilder::ready().block(ENVELOPE);
        assert_broken(CLAUSE, &cut.prompt_text_only("From: a\nTo: b\n---"));
        assert_not_exercised(CLAUSE, &queued("no control\nhere"));
        assert_not_exercised(CLAUSE, &queued("/abort now"));
    }
}
