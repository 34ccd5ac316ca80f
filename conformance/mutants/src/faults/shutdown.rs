//! Faults of ending.

use reference_runner::{Crossing, Edge};

use crate::Mutant;
use crate::altered::on_crossing;
use crate::posts::{STILL_IDLE, post};
use crate::seen::Seen;

const HANGUP: i32 = 1;
const TERMINATE: i32 = 15;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "hangup-ignored",
        clause: "shutdown.hangup",
        fault: "lives on when its terminal hangs up",
        edge: || without(|crossing| matches!(crossing, Crossing::Signal(HANGUP) | Crossing::EndOfInput)),
    },
    Mutant {
        name: "terminate-ignored",
        clause: "shutdown.terminate",
        fault: "lives on when it is asked to terminate",
        edge: || without(|crossing| matches!(crossing, Crossing::Signal(TERMINATE))),
    },
    Mutant {
        name: "end-of-input-ignored",
        clause: "shutdown.end-of-input",
        fault: "lives on at the end of its terminal's input",
        edge: || without(|crossing| matches!(crossing, Crossing::EndOfInput)),
    },
    Mutant {
        name: "agent-left-behind",
        clause: "shutdown.no-orphans",
        fault: "ends without ending the agent",
        edge: || {
            without(|crossing| {
                matches!(
                    crossing,
                    Crossing::CloseAgentInput | Crossing::TerminateAgent | Crossing::KillAgent
                )
            })
        },
    },
    Mutant {
        name: "agents-group-left-behind",
        clause: "shutdown.no-orphans",
        fault: "asks the agent to end, and does nothing about what it leaves",
        edge: || without(|crossing| matches!(crossing, Crossing::TerminateAgent | Crossing::KillAgent)),
    },
    Mutant {
        name: "agent-never-killed",
        clause: "shutdown.no-orphans",
        fault: "asks the agent's processes to end, and leaves those that don't",
        edge: || without(|crossing| matches!(crossing, Crossing::KillAgent)),
    },
    Mutant {
        name: "stop-as-cancelled",
        clause: "shutdown.honest-end",
        fault: "posts Stop/cancelled for a turn that the seat's end cuts off",
        edge: || on_stop(|seen| post(seen, "Stop", "cancelled")),
    },
    Mutant {
        name: "stop-as-idle",
        clause: "shutdown.honest-end",
        fault: "posts idle for a turn that the seat's end cuts off",
        edge: || on_stop(|seen| post(seen, "Stop", STILL_IDLE)),
    },
];

/// Leaves such crossings out.
fn without(is_left_out: fn(&Crossing) -> bool) -> Box<dyn Edge> {
    on_crossing(move |_, crossing| is_left_out(crossing).then(Vec::new))
}

/// What is posted first when the seat is stopped in the middle of a turn.
fn on_stop(claim: fn(&Seen) -> Crossing) -> Box<dyn Edge> {
    on_crossing(move |seen, crossing| {
        let stops = matches!(crossing, Crossing::Signal(HANGUP | TERMINATE)) && seen.is_working();
        stops.then(|| vec![claim(seen), crossing.clone()])
    })
}
