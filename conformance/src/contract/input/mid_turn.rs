//! A message in the middle of a turn has to wait: `input.mid-turn-waits`.

use super::arrival::{LARGE, could_submit_for, judged};
use super::origin::{Origin, Origins, text_of};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE};
use crate::contract::quote::quoted;
use crate::contract::watch::{agent_lost, cited, free_until};
use crate::history::Event;
use crate::history::views::{Block, LaunchView, Prompt, Views, milliseconds};

pub(super) fn waits(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        judge_overlaps(launch, &mut tally);
        judge_order(launch, &origins, &mut tally);
        for (index, block, entered) in judged(launch) {
            if let Some(turn) = turn_at(launch, entered)
                && block.text.len() < LARGE
            {
                judge_waiting(launch, &origins, turn, (index, block, entered), &mut tally);
            }
        }
    }
    tally.finding()
}

/// The turn that was in flight when the message was entered, and went on for so long that the runner must have known.
pub(super) fn turn_at<'v, 'h>(launch: &'v LaunchView<'h>, entered: &Event) -> Option<&'v Prompt<'h>> {
    let until = free_until(launch);
    launch.prompts.iter().find(|prompt| {
        let over = prompt.answered_at().unwrap_or(until).min(until);
        prompt.in_flight_at(entered.at) && over.saturating_sub(entered.at) >= CROSSING
    })
}

fn judge_overlaps(launch: &LaunchView<'_>, tally: &mut Tally) {
    for (prompt, next) in launch.prompts.iter().zip(launch.prompts.iter().skip(1)) {
        let agent = prompt.exchange.request.agent;
        let lost =
            agent_lost(launch, agent).is_some_and(|lost| lost.at <= next.at().saturating_add(CROSSING));
        let another = next.exchange.request.agent != agent;
        let unclear = lost || another;
        if prompt.in_flight_at(next.at()) && !unclear {
            let mut events = vec![prompt.exchange.request.event, next.exchange.request.event];
            events.extend(prompt.answer().map(|answer| answer.event));
            tally.broken(
                format!(
                    "prompt {} went out while prompt {} was in flight",
                    next.number, prompt.number
                ),
                &events,
            );
        }
    }
}

fn judge_order(launch: &LaunchView<'_>, origins: &Origins<'_, '_>, tally: &mut Tally) {
    let entered: Vec<(&Event, &Prompt<'_>)> = judged(launch)
        .filter_map(|(index, _, entered)| Some((entered, origins.arrived(index)?)))
        .collect();
    for ((first, earlier), (second, later)) in entered.iter().zip(entered.iter().skip(1)) {
        if later.number < earlier.number {
            tally.broken(
                format!(
                    "{} went out before {}, which was entered earlier",
                    quoted(&later.text().unwrap_or_default()),
                    quoted(&earlier.text().unwrap_or_default())
                ),
                &[
                    first,
                    second,
                    later.exchange.request.event,
                    earlier.exchange.request.event,
                ],
            );
        }
    }
}

fn judge_waiting<'h>(
    launch: &LaunchView<'h>,
    origins: &Origins<'_, 'h>,
    turn: &Prompt<'h>,
    (index, block, entered): (usize, &Block<'h>, &'h Event),
    tally: &mut Tally,
) {
    let text = quoted(&text_of(block));
    match origins.of_block(index).as_slice() {
        [] => {
            let waited = could_submit_for(launch, block).unwrap_or(0);
            if waited >= DUE {
                tally.broken(
                    format!(
                        "{text}, entered in the middle of a turn, was not submitted in {} after it",
                        milliseconds(waited)
                    ),
                    &cited(launch, &[turn.exchange.request.event, entered]),
                );
            }
        }
        [(prompt, Origin::Merged(_)), ..] => tally.broken(
            format!("{text} did not get a prompt of its own after the turn"),
            &[entered, prompt.exchange.request.event],
        ),
        [(prompt, Origin::Exact(_) | Origin::Altered(_)), ..] => {
            if let Some(answer) = turn.answer()
                && answer.event.at <= prompt.at()
            {
                tally.held(
                    format!(
                        "a message entered in the middle of a turn went out {} after its end",
                        milliseconds(prompt.at() - answer.event.at)
                    ),
                    &[
                        turn.exchange.request.event,
                        entered,
                        answer.event,
                        prompt.exchange.request.event,
                    ],
                );
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };

    fn working() -> HistoryBuilder {
        HistoryBuilder::ready().prompt("work")
    }

    fn submitted_after(waiting: HistoryBuilder, text: &str) -> HistoryBuilder {
        waiting.after_ms(500).end_turn("end_turn").prompt_text_only(text)
    }

    #[test]
    fn waits() {
        const CLAUSE: &str = "input.mid-turn-waits";
        assert_held(CLAUSE, &submitted_after(working().block("next"), "next"));
        assert_broken(CLAUSE, &working().block("next").prompt_text_only("next"));
        let never = working().block("next").after_ms(500).end_turn("end_turn");
        assert_broken(CLAUSE, &never.clone().watch_seconds(5));
        assert_not_exercised(CLAUSE, &never.watch_seconds(2));
        let one_by_one = working().end_turn("end_turn").prompt("next");
        assert_not_exercised(CLAUSE, &one_by_one);
    }

    #[test]
    fn in_the_order_entered_and_one_prompt_a_turn() {
        const CLAUSE: &str = "input.mid-turn-waits";
        let two = || working().block("one").block("two");
        let after = |first: &str, second: &str| {
            submitted_after(two(), first)
                .end_turn("end_turn")
                .prompt_text_only(second)
        };
        assert_held(CLAUSE, &after("one", "two"));
        assert_broken(CLAUSE, &after("two", "one"));
        assert_broken(CLAUSE, &submitted_after(two(), "one\ntwo"));
    }

    #[test]
    fn another_agent_is_no_overlap() {
        const CLAUSE: &str = "input.mid-turn-waits";
        let restarted = working().agent_ended().agent_started().prompt("next");
        assert_not_exercised(CLAUSE, &restarted);
    }
}
