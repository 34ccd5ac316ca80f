//! The runner's edge: the one place that everything entering or leaving the runner passes.
//!
//! It is here for a plain reason. A conformance kit has to prove that its checks can fail, and for that it
//! needs runners that break one rule each. Writing those breaks into this code would spoil the example;
//! writing them as separate runners would test something else. So whatever crosses the edge is handed to an
//! [`Edge`] first, and what the edge gives back happens instead. [`Unchanged`] gives back what it got, and
//! that is the reference runner.
//!
//! Rules:
//! - Each kind of crossing is raised by one lane, in order: the terminal's input, signals, the terminal's
//!   output, lines to the agent, the agent's output and the lines in it, activity posts, the launch record, the
//!   agent's ending.
//! - What an edge returns is carried out in order by the lane that raised the crossing, whatever kinds it
//!   holds, and does not pass the edge again.
//! - An edge must return quickly; to delay something it returns [`Crossing::Pause`].

use std::time::Duration;

use serde_json::Value;

use crate::launch::LaunchFacts;

/// One thing that crosses the runner's edge.
#[derive(Debug, Clone, PartialEq)]
pub enum Crossing {
    /// Bytes typed or pasted into the terminal, as one read returned them.
    Typed(Vec<u8>),
    /// The end of what is typed: a terminal that hung up, or a pipe that has said everything.
    EndOfInput,
    /// A signal that asks the runner to stop (hangup, terminate, quit), or an interrupt, which is a Ctrl-C.
    Signal(i32),
    /// Bytes for the terminal, escape codes included.
    Shown(Vec<u8>),
    /// The wish to have the terminal in raw mode (true) or as it was found (false).
    TerminalRaw(bool),
    /// One line for the agent, without its line end.
    ToAgent(String),
    /// What one read of the agent's output returned, before it is cut into lines. Only bytes can take their place: what
    /// else is returned is not carried out.
    AgentOutput(Vec<u8>),
    /// One line from the agent, without its line end. Bytes that are not UTF-8 have been replaced.
    FromAgent(String),
    /// The body of one activity post, before it is sent. One that an edge makes may leave out `occurredAt` and
    /// `sequence`: it gets the present time, and the next number when it is sent.
    Post(Value),
    /// The body of a post that is sent beside the queue, without waiting for it. The runner itself never
    /// makes one.
    PostConcurrently(Value),
    /// The body of a post that is sent once more, as it is, if it does not arrive. The runner itself never makes
    /// one.
    PostTwiceIfLost(Value),
    /// The launch record's bytes, to be put in its place whole.
    Record(Vec<u8>),
    /// Bytes to write over the launch record where it lies. The runner itself never makes one.
    RecordInPlace(Vec<u8>),
    /// Delays what follows in the same list.
    Pause(Duration),
    /// Waits until every post made so far was answered or given up. Nothing to wait for in the posts' own
    /// lane.
    AwaitPosts,
    /// Closes the agent's input, which asks it to end.
    CloseAgentInput,
    /// Asks the agent's whole process group to end.
    TerminateAgent,
    /// Kills the agent's whole process group.
    KillAgent,
    /// Ends the seat in its ordinary way, with this exit code.
    Exit(i32),
}

/// What stands at the runner's edge.
pub trait Edge: Send {
    /// Sees, and may alter, what the launch environment says, before anything else happens.
    fn launched(&mut self, facts: &mut LaunchFacts) {
        let _ = facts;
    }

    /// Takes one crossing and returns what is to happen instead, in order.
    fn cross(&mut self, crossing: Crossing) -> Vec<Crossing>;
}

/// The edge of the reference runner: everything crosses unchanged.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unchanged;

impl Edge for Unchanged {
    fn cross(&mut self, crossing: Crossing) -> Vec<Crossing> {
        vec![crossing]
    }
}
