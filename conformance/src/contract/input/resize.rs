//! Another size of the terminal: `input.resize`.

use super::arrival::{could_submit_for, is_plain};
use super::origin::{Origin, Origins, text_of};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE};
use crate::contract::permission::quit_unasked;
use crate::contract::quote::quoted;
use crate::contract::watch::cited;
use crate::history::views::{LaunchView, Views};
use crate::history::{Event, Fact, Step};

pub(super) fn resize(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        let end = launch.end_of_free_run();
        for event in launch.events.iter().copied() {
            if matches!(event.fact, Fact::Step(Step::Resized { .. })) && event.at < end {
                in_a_message(launch, &origins, event, &mut tally);
                in_a_turn(launch, event, &mut tally);
            }
        }
    }
    tally.finding()
}

/// A resize between a message's first byte and its Enter.
fn in_a_message<'h>(
    launch: &LaunchView<'h>,
    origins: &Origins<'_, 'h>,
    resized: &'h Event,
    tally: &mut Tally,
) {
    let found = launch.blocks.iter().enumerate().find_map(|(index, block)| {
        let entered = block.entered?;
        let open = block.sent.sequence < resized.sequence && resized.sequence < entered.sequence;
        (open && is_plain(launch, index)).then_some((index, block, entered))
    });
    let Some((index, block, entered)) = found else {
        return;
    };
    let text = quoted(&text_of(block));
    if let Some(prompt) = origins.arrived(index).filter(|_| origins.arrived_exactly(index)) {
        tally.held(
            format!("{text} arrived whole, resized in the middle"),
            &[block.sent, resized, entered, prompt.exchange.request.event],
        );
        return;
    }
    let prompts = origins.of_block(index);
    let changed = prompts
        .iter()
        .find(|(_, origin)| !matches!(origin, Origin::Again(_)));
    if let Some((prompt, _)) = changed {
        tally.broken(
            format!(
                "{text}, resized in the middle, became {}",
                quoted(&prompt.text().unwrap_or_default())
            ),
            &[block.sent, resized, prompt.exchange.request.event],
        );
    } else if could_submit_for(launch, block).is_some_and(|waited| waited >= DUE) {
        tally.broken(
            format!("{text}, resized in the middle, was not submitted"),
            &cited(launch, &[block.sent, resized, entered]),
        );
    }
}

fn in_a_turn<'h>(launch: &LaunchView<'h>, resized: &'h Event, tally: &mut Tally) {
    let Some(prompt) = launch
        .prompts
        .iter()
        .find(|prompt| prompt.in_flight_at(resized.at))
    else {
        return;
    };
    let request = prompt.exchange.request.event;
    if let Some(quit) =
        quit_unasked(launch, resized.at).filter(|quit| quit.at < resized.at.saturating_add(DUE))
    {
        tally.broken(
            "the runner ended after a resize in a turn",
            &[request, resized, quit],
        );
    } else if let Some(answer) = prompt.answer()
        && launch.watched_after(answer.event.at) >= CROSSING
    {
        tally.held(
            "a resize in a turn changed nothing",
            &cited(launch, &[request, resized, answer.event]),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Delivery, Fact, Process, Step};

    const CLAUSE: &str = "input.resize";

    fn resized(history: HistoryBuilder) -> HistoryBuilder {
        history.fact(Fact::Step(Step::Resized { size: (20, 60) }))
    }

    fn in_a_message() -> HistoryBuilder {
        let sent = HistoryBuilder::ready().fact(Fact::Step(Step::Sent {
            block: 1,
            text: "one\ntwo".into(),
            delivery: Delivery::Paste,
        }));
        resized(sent).fact(Fact::Step(Step::Entered { block: 1 }))
    }

    #[test]
    fn a_message_arrives_whole() {
        assert_held(CLAUSE, &in_a_message().prompt_text_only("one\ntwo"));
        assert_broken(CLAUSE, &in_a_message().prompt_text_only("two"));
        assert_broken(CLAUSE, &in_a_message().watch_seconds(5));
        assert_not_exercised(CLAUSE, &in_a_message().watch_seconds(1));
    }

    #[test]
    fn a_turn_goes_on() {
        let working = || resized(HistoryBuilder::ready().prompt("work").after_ms(300));
        let ended = working().after_ms(300).end_turn("end_turn");
        assert_held(CLAUSE, &ended.clone().post("Stop", "end_turn").watch_seconds(1));
        assert_not_exercised(CLAUSE, &working().watch_seconds(1));
        let quits = working().fact(Fact::Process(Process::RunnerExited {
            code: Some(1),
            signal: None,
        }));
        assert_broken(CLAUSE, &quits.watch_seconds(5));
        assert_not_exercised(CLAUSE, &resized(HistoryBuilder::ready()).watch_seconds(5));
    }
}
