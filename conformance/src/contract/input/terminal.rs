//! The terminal when the seat reads ready: `input.raw-mode` and `input.bracketed-paste`.

use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, machine_was_late};
use crate::history::views::{LaunchView, Views};
use crate::history::{Event, Fact, Pane, RecordChange};

pub(super) fn raw_mode(views: &Views<'_>) -> Finding {
    at_ready(views, "raw", |pane| match pane {
        Pane::Settings(settings) => Some(settings.is_raw()),
        _ => None,
    })
}

pub(super) fn bracketed_paste(views: &Views<'_>) -> Finding {
    at_ready(views, "in bracketed-paste mode", |pane| match pane {
        Pane::BracketedPaste { on } => Some(*on),
        _ => None,
    })
}

/// Judges what the terminal was like when the record came that makes the seat read ready; the two are seen by different
/// observers.
fn at_ready(views: &Views<'_>, wanted: &str, state: fn(&Pane) -> Option<bool>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some(ready) = ready_record(launch) else {
            continue;
        };
        let until = ready.at.saturating_add(CROSSING);
        // What is turned off after the record may be the end of the seat; what is turned on may have crossed it.
        let newest = launch
            .events
            .iter()
            .copied()
            .take_while(|event| event.at <= until)
            .filter_map(|event| match &event.fact {
                Fact::Pane(pane) => state(pane).map(|kept| (event, kept)),
                _ => None,
            })
            .filter(|(event, kept)| event.at <= ready.at || *kept)
            .last();
        // Without a terminal there is nothing to set.
        let (tmux, pipe) = (launch.facts.transport == "tmux", launch.facts.transport == "pipe");
        match newest {
            _ if pipe => {}
            Some((event, true)) => tally.held(
                format!("the terminal was {wanted} when the seat read ready"),
                &[event, ready],
            ),
            newest => {
                let mut events: Vec<&Event> = newest.map(|(event, _)| event).into_iter().collect();
                events.push(ready);
                let said = format!("the terminal was not {wanted} when the seat read ready");
                // tmux and what copies the pane's output for the kit stand between, and may be late by themselves.
                if (tmux || machine_was_late(views, launch.event.at, until, CROSSING))
                    && turned_soon_after(launch, until, state)
                {
                    tally.inconclusive(said, &events);
                } else {
                    tally.broken(said, &events);
                }
            }
        }
    }
    tally.finding()
}

/// The record with which a new or reopened conversation reads ready.
fn ready_record<'h>(launch: &LaunchView<'h>) -> Option<&'h Event> {
    launch
        .records
        .iter()
        .filter(|record| !matches!(record.change, RecordChange::Stood | RecordChange::Removed))
        .find(|record| record.is_of(&launch.facts.attempt) && record.field("nativeRef").is_some())
        .map(|record| record.event)
}

fn turned_soon_after(launch: &LaunchView<'_>, after: u64, state: fn(&Pane) -> Option<bool>) -> bool {
    launch
        .events
        .iter()
        .skip_while(|event| event.at <= after)
        .any(|event| matches!(&event.fact, Fact::Pane(pane) if state(pane) == Some(true)))
}

#[cfg(test)]
mod tests {
    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };
    use crate::history::{Fact, Pane};

    const PASTE_ON: Fact = Fact::Pane(Pane::BracketedPaste { on: true });

    fn opened(transport: &str) -> HistoryBuilder {
        let transport = transport.to_owned();
        HistoryBuilder::empty()
            .launch(move |facts| facts.transport = transport)
            .agent_started()
            .opened()
    }

    #[test]
    fn raw_mode() {
        const CLAUSE: &str = "input.raw-mode";
        assert_held(CLAUSE, &HistoryBuilder::ready());
        assert_held(CLAUSE, &opened("tmux").settings(false, false).record("conv-1"));
        assert_broken(CLAUSE, &opened("pty").settings(true, true).record("conv-1"));
        assert_broken(CLAUSE, &opened("pty").settings(false, true).record("conv-1"));
        assert_broken(CLAUSE, &opened("pty").record("conv-1"));
        let late = opened("pty").record("conv-1").after_ms(500);
        assert_broken(CLAUSE, &late.settings(false, false));
        assert_not_exercised(CLAUSE, &opened("pty").settings(true, true));
        assert_not_exercised(CLAUSE, &opened("pipe").record("conv-1"));
        assert_broken(CLAUSE, &opened("tmux").record("conv-1"));
    }

    #[test]
    fn a_seat_that_ends_at_once_restores_its_terminal() {
        let ended = HistoryBuilder::ready().settings(true, true);
        assert_held("input.raw-mode", &ended);
    }

    #[test]
    fn two_observers_may_see_it_the_other_way_round() {
        let crossing = opened("pty").record("conv-1").after_ms(100);
        assert_held("input.raw-mode", &crossing.clone().settings(false, false));
        assert_held("input.bracketed-paste", &crossing.fact(PASTE_ON));
    }

    #[test]
    fn on_a_late_machine_it_may_have_been_in_time() {
        let late = opened("pty")
            .record("conv-1")
            .after_ms(200)
            .fact(Fact::Lag { late_ms: 180 })
            .after_ms(300)
            .settings(false, false);
        let finding = judge("input.raw-mode", &late);
        assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
    }

    #[test]
    fn bracketed_paste() {
        const CLAUSE: &str = "input.bracketed-paste";
        assert_held(CLAUSE, &HistoryBuilder::ready());
        assert_broken(CLAUSE, &opened("pty").record("conv-1"));
        let off = opened("pty")
            .fact(PASTE_ON)
            .fact(Fact::Pane(Pane::BracketedPaste { on: false }));
        assert_broken(CLAUSE, &off.record("conv-1"));
        assert_broken(CLAUSE, &opened("tmux").record("conv-1"));
        let late = opened("tmux").record("conv-1").after_ms(500).fact(PASTE_ON);
        let finding = judge(CLAUSE, &late);
        assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
        assert_not_exercised(CLAUSE, &opened("pipe").record("conv-1"));
    }

    #[test]
    fn a_missing_conversation_is_not_ready() {
        let missing = opened("pty").record_with(|record| record["error"] = "missing".into());
        assert_not_exercised("input.raw-mode", &missing);
    }
}
