//! The terminal as it was found: `input.terminal-restored`.

use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::SECOND;
use crate::history::views::{LaunchView, Views};
use crate::history::{Event, Fact, Pane, Step, TerminalSettings};

pub(super) fn terminal_restored(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some((exit, read)) = left_its_terminal(launch) else {
            continue;
        };
        let paste_mode = last(launch, |pane| match pane {
            Pane::BracketedPaste { on } => Some(*on),
            _ => None,
        });
        if let Some((turned_on, true)) = paste_mode {
            tally.broken(
                "the runner ended and left bracketed paste on",
                &[turned_on, exit, read],
            );
            continue;
        }
        let found = launch.events.iter().find_map(|event| settings(event));
        let left = last(launch, |pane| match pane {
            Pane::Settings(settings) => Some(*settings),
            _ => None,
        });
        if let (Some((first, found)), Some((event, left))) = (found, left)
            && found != left
        {
            tally.broken(
                format!(
                    "the terminal was {}; the runner ended and left it {}",
                    shown(found),
                    shown(left)
                ),
                &[first, event, exit, read],
            );
            continue;
        }
        let touched = launch.events.iter().find(|event| match &event.fact {
            Fact::Pane(Pane::BracketedPaste { on }) => *on,
            Fact::Pane(Pane::Settings(settings)) => found.is_some_and(|(_, found)| found != *settings),
            _ => false,
        });
        if let Some(touched) = touched {
            tally.held(
                "the runner ended and left the terminal as it had found it",
                &[touched, exit, read],
            );
        }
    }
    tally.finding()
}

/// The runner's exit, and the event by which all that it wrote had been read; where it left a terminal that was still
/// there. One that was hung up is gone, and SIGHUP says that it is: what is left of it then is free.
fn left_its_terminal<'h>(launch: &LaunchView<'h>) -> Option<(&'h Event, &'h Event)> {
    // In tmux the pane's shell has the terminal next, and sets it as it likes.
    if launch.facts.transport != "pty" {
        return None;
    }
    let exit = launch.runner_exit()?;
    let stopping = launch.closing_event()?;
    let after = |event: &&Event| event.sequence > exit.sequence;
    if exit.sequence < stopping.sequence && stopping.at.saturating_sub(exit.at) >= SECOND {
        return Some((exit, stopping));
    }
    let terminated = matches!(&stopping.fact, Fact::Step(Step::Stopping { how }) if how == "terminate");
    let closed = launch
        .events
        .iter()
        .copied()
        .filter(after)
        .find(|event| matches!(event.fact, Fact::Pane(Pane::Closed)))?;
    terminated.then_some((exit, closed))
}

fn settings<'h>(event: &&'h Event) -> Option<(&'h Event, TerminalSettings)> {
    match event.fact {
        Fact::Pane(Pane::Settings(settings)) => Some((*event, settings)),
        _ => None,
    }
}

fn last<'h, T>(launch: &LaunchView<'h>, of: impl Fn(&Pane) -> Option<T>) -> Option<(&'h Event, T)> {
    launch.events.iter().rev().find_map(|event| match &event.fact {
        Fact::Pane(pane) => of(pane).map(|value| (*event, value)),
        _ => None,
    })
}

fn shown(settings: TerminalSettings) -> String {
    let word = |on: bool, name: &str| format!("{}{name}", if on { "" } else { "-" });
    format!(
        "{} {} {}",
        word(settings.canonical, "icanon"),
        word(settings.echo, "echo"),
        word(settings.signals, "isig")
    )
}

#[cfg(test)]
mod tests {
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Fact, Pane, Process, Step};

    const CLAUSE: &str = "input.terminal-restored";

    fn opened() -> HistoryBuilder {
        HistoryBuilder::empty()
            .launch(|_| {})
            .settings(true, true)
            .terminal_ready()
            .agent_started()
            .opened()
            .record("conv-1")
    }

    fn stopping(history: HistoryBuilder, how: &str) -> HistoryBuilder {
        history.fact(Fact::Step(Step::Stopping { how: how.into() }))
    }

    fn paste_off(history: HistoryBuilder) -> HistoryBuilder {
        history.fact(Fact::Pane(Pane::BracketedPaste { on: false }))
    }

    fn exits(history: HistoryBuilder) -> HistoryBuilder {
        history.fact(Fact::Process(Process::RunnerExited {
            code: Some(0),
            signal: None,
        }))
    }

    fn read(history: HistoryBuilder) -> HistoryBuilder {
        history.fact(Fact::Pane(Pane::Closed))
    }

    #[test]
    fn a_runner_that_is_asked_to_end_restores_its_terminal() {
        let restored = exits(paste_off(stopping(opened(), "terminate")).settings(true, true));
        assert_held(CLAUSE, &read(restored.clone()));
        assert_not_exercised(CLAUSE, &restored);
        // What it wrote last may be read after its exit.
        let late = paste_off(exits(stopping(opened(), "terminate")).settings(true, true));
        assert_held(CLAUSE, &read(late));
        let paste_left = exits(stopping(opened(), "terminate").settings(true, true));
        assert_broken(CLAUSE, &read(paste_left));
        let raw_left = exits(paste_off(stopping(opened(), "terminate")));
        assert_broken(CLAUSE, &read(raw_left));
    }

    #[test]
    fn one_that_never_touched_it_restores_nothing() {
        let cooked = HistoryBuilder::empty()
            .launch(|_| {})
            .settings(true, true)
            .agent_started();
        assert_not_exercised(CLAUSE, &read(exits(stopping(cooked, "terminate"))));
    }

    #[test]
    fn so_does_one_that_ends_with_its_agent() {
        let restored = exits(paste_off(opened().agent_ended()).settings(true, true));
        assert_held(CLAUSE, &restored.clone().watch_seconds(2));
        assert_not_exercised(CLAUSE, &restored.stopping());
        assert_broken(CLAUSE, &exits(opened().agent_ended()).watch_seconds(2));
    }

    #[test]
    fn a_terminal_that_is_gone_need_not_be_restored() {
        for how in ["hangup", "hangup_signal", "end_of_input"] {
            assert_not_exercised(CLAUSE, &read(exits(stopping(opened(), how))));
        }
        for transport in ["pipe", "tmux"] {
            let other = HistoryBuilder::empty()
                .launch(|facts| facts.transport = transport.into())
                .settings(false, false)
                .agent_started();
            assert_not_exercised(CLAUSE, &read(exits(stopping(other, "terminate"))));
        }
    }
}
