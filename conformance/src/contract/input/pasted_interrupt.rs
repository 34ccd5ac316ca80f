//! A Ctrl-C byte in what is pasted: `input.ctrl-c-in-paste`.
//!
//! The contract allows it to abort, as a declared limit. What becomes of the paste is free (reading 25).

use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::PROMPT;
use crate::contract::watch::cited;
use crate::history::Delivery;
use crate::history::views::{Views, milliseconds};

const CTRL_C: u8 = 0x03;

pub(super) fn ctrl_c_in_paste(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let pasted = launch.blocks.iter().filter(|block| {
            block.delivery == Delivery::Paste
                && block.text.contains(&CTRL_C)
                && launch.facts.transport != "pipe"
        });
        for block in pasted {
            let sent = block.sent;
            let Some(prompt) = launch.prompts.iter().find(|prompt| prompt.in_flight_at(sent.at)) else {
                continue;
            };
            // A second order in a turn need not send another (reading 10).
            if launch
                .cancels()
                .any(|cancel| cancel.event.at < sent.at && prompt.in_flight_at(cancel.event.at))
            {
                continue;
            }
            let request = prompt.exchange.request.event;
            let until = prompt
                .answered_at()
                .unwrap_or(u64::MAX)
                .min(launch.end_of_free_run());
            let cancel = launch
                .cancels()
                .find(|cancel| cancel.event.at >= sent.at && cancel.event.at <= until);
            match cancel {
                Some(cancel) => tally.held(
                    "a Ctrl-C byte inside a paste aborted, too",
                    &[request, sent, cancel.event],
                ),
                None if until.saturating_sub(sent.at) >= PROMPT => tally.broken(
                    format!(
                        "a Ctrl-C byte inside a paste aborted nothing in {}",
                        milliseconds(until.saturating_sub(sent.at))
                    ),
                    &cited(launch, &[request, sent]),
                ),
                None => {}
            }
        }
    }
    tally.finding()
}

#[cfg(test)]
mod tests {
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Delivery, Fact, Step};

    const CLAUSE: &str = "input.ctrl-c-in-paste";

    fn pasted(history: HistoryBuilder, text: &str) -> HistoryBuilder {
        history.fact(Fact::Step(Step::Sent {
            block: 7,
            text: text.into(),
            delivery: Delivery::Paste,
        }))
    }

    #[test]
    fn ctrl_c_in_paste() {
        let working = || HistoryBuilder::ready().prompt("work");
        assert_held(CLAUSE, &pasted(working(), "a\u{3}b").cancel().watch_seconds(1));
        assert_broken(CLAUSE, &pasted(working(), "a\u{3}b").watch_seconds(2));
        assert_not_exercised(CLAUSE, &pasted(working(), "a\u{3}b").stopping());
        assert_not_exercised(CLAUSE, &pasted(working(), "ab").watch_seconds(2));
        let idle = pasted(HistoryBuilder::ready(), "a\u{3}b");
        assert_not_exercised(CLAUSE, &idle.watch_seconds(2));
        let asked_before = pasted(working().abort().cancel(), "a\u{3}b");
        assert_not_exercised(CLAUSE, &asked_before.watch_seconds(2));
    }
}
