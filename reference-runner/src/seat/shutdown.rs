//! How a seat ends: what asks for it, how the agent is ended, what is still said, and the exit code.
//!
//! Ending is bounded, about three seconds at most, whatever the agent, the endpoint or the terminal do.
//! Nothing is reported of a turn that is cut off: no end of it was heard. The agent's exit is reported only
//! if it was seen.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

use super::Seat;
use super::activity::http;
use super::lanes::Lanes;
use super::pane::Pane;
use super::terminal;
use crate::adapter::{Adapter, Event, EventReceiver, Exit, Force};
use crate::edge::Crossing;
use crate::error::Error;

/// The steps of ending an agent, each with the time it has before the next.
const STEPS: [(Force, Duration); 3] = [
    (Force::Ask, Duration::from_millis(700)),
    (Force::Terminate, Duration::from_millis(1500)),
    (Force::Kill, Duration::from_millis(500)),
];

/// How long a stopped seat goes on trying to send its last reports.
const LAST_POSTS: Duration = Duration::from_millis(800);

/// How long the terminal may take over what is still to be shown.
const LAST_SHOWN: Duration = Duration::from_millis(500);

/// Why a seat ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    AgentExited,
    Signal(i32),
    EndOfInput,
    /// The edge asked for it, with this exit code.
    Requested(i32),
}

/// The signals that are watched: those that ask for the end, and the interrupt, which is what Ctrl-C gives
/// where the terminal is not raw.
pub(crate) struct Signals {
    hangup: Signal,
    terminate: Signal,
    quit: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Watches from now on; none of these signals ends the process by itself any more.
    pub(crate) fn watch() -> Result<Self, Error> {
        let watch = |kind| signal(kind).map_err(Error::Signals);
        Ok(Self {
            hangup: watch(SignalKind::hangup())?,
            terminate: watch(SignalKind::terminate())?,
            quit: watch(SignalKind::quit())?,
            interrupt: watch(SignalKind::interrupt())?,
        })
    }

    /// The number of the next signal.
    pub(crate) async fn next(&mut self) -> i32 {
        let kind = tokio::select! {
            _ = self.hangup.recv() => SignalKind::hangup(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.quit.recv() => SignalKind::quit(),
            _ = self.interrupt.recv() => SignalKind::interrupt(),
        };
        kind.as_raw_value()
    }
}

/// Ends the seat: the agent, what it started, the last reports. Gives the exit code to leave with.
pub(crate) async fn end<A: Adapter>(seat: &mut Seat<A>, events: &mut EventReceiver, ending: Ending) -> u8 {
    let time_for_posts = if ending == Ending::AgentExited {
        // Nobody waits for this seat: one report under way may time out, and the exit's still has its time.
        http::LIMIT * 2
    } else {
        seat.pane.notice("this seat is stopped; the agent is being ended");
        if let Some(exit) = end_agent(&mut seat.adapter, events).await {
            // What it said last explains an end of its own, not this one.
            seat.take_event(Event::Exited(Exit {
                last_words: Vec::new(),
                ..exit
            }))
            .await;
        }
        LAST_POSTS
    };
    let last_posts = timeout(time_for_posts, seat.lanes.posts().settled());
    let _ = tokio::join!(seat.adapter.reap(&seat.work), last_posts);
    exit_code(ending, seat.exit.as_ref())
}

/// Ends the agent step by step. None if its exit was not seen even after the last one.
async fn end_agent<A: Adapter>(adapter: &mut A, events: &mut EventReceiver) -> Option<Exit> {
    for (force, time) in STEPS {
        adapter.kill(force).await;
        if let Ok(exit) = timeout(time, wait_for_exit(events)).await {
            return exit;
        }
    }
    None
}

async fn wait_for_exit(events: &mut EventReceiver) -> Option<Exit> {
    loop {
        if let Event::Exited(exit) = events.receive().await? {
            return Some(exit);
        }
    }
}

/// Shows what is still to be shown, then puts the terminal back as it was found.
pub(crate) async fn leave_terminal(lanes: &Lanes, pane: &Pane) {
    if lanes.terminal().is_terminal() {
        pane.codes(terminal::PASTE_OFF);
    }
    let shown = async {
        pane.settled().await;
        lanes.output().flushed().await;
    };
    let _ = timeout(LAST_SHOWN, shown).await;
    if lanes.terminal().is_terminal() {
        lanes.pass(Crossing::TerminalRaw(false)).await;
    }
}

fn exit_code(ending: Ending, exit: Option<&Exit>) -> u8 {
    let of_signal = |number: i32| u8::try_from(128 + number).unwrap_or(1);
    match ending {
        Ending::AgentExited => match exit {
            Some(Exit { code: Some(code), .. }) => u8::try_from(*code).unwrap_or(1),
            Some(Exit {
                signal: Some(number), ..
            }) => of_signal(*number),
            _ => 1,
        },
        Ending::Signal(number) => of_signal(number),
        Ending::EndOfInput => 0,
        Ending::Requested(code) => u8::try_from(code).unwrap_or(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_agents_or_say_what_stopped_the_seat() {
        let exit = |code, signal| Exit {
            code,
            signal,
            last_words: Vec::new(),
        };
        let cases = [
            (Ending::AgentExited, Some(exit(Some(7), None)), 7),
            (Ending::AgentExited, Some(exit(Some(0), None)), 0),
            (Ending::AgentExited, Some(exit(None, Some(9))), 137),
            (Ending::AgentExited, Some(exit(None, None)), 1),
            (Ending::Signal(1), Some(exit(Some(3), None)), 129),
            (Ending::Signal(15), None, 143),
            (Ending::EndOfInput, None, 0),
            (Ending::Requested(42), None, 42),
        ];
        for (ending, exit, code) in cases {
            assert_eq!(exit_code(ending, exit.as_ref()), code, "{ending:?} {exit:?}");
        }
    }
}
