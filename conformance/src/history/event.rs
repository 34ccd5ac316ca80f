//! One event: when, in which launch of the seat, and what was seen.

use serde::{Deserialize, Serialize};

use super::Cut;
use super::lanes::{Pane, PostFact, Process, Reading, RecordFact, Step, Wire};

/// One thing that was seen or done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Place in the history, from 1; findings cite it.
    pub sequence: u64,
    /// Nanoseconds since the history's start, on `CLOCK_MONOTONIC`.
    pub at: u64,
    /// Which launch of the seat it belongs to, from 1; 0 before the first.
    pub launch: u32,
    /// What it was.
    pub fact: Fact,
}

impl Event {
    /// The lane this event is drawn in.
    #[must_use]
    pub fn lane(&self) -> Lane {
        match self.fact {
            Fact::Step(_) => Lane::Step,
            Fact::Pane(_) => Lane::Pane,
            Fact::Wire(_) => Lane::Wire,
            Fact::Post(_) => Lane::Post,
            Fact::Record(_) => Lane::Record,
            Fact::Process(_) => Lane::Process,
            Fact::Reading(_) => Lane::Reading,
            Fact::Lag { .. } => Lane::Lag,
            Fact::Cut(cut) => cut.lane,
        }
    }
}

/// Where an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// What the engine did.
    Step,
    /// Bytes in and out of the terminal, and its settings.
    Pane,
    /// Lines between runner and agent, as the agent saw them.
    Wire,
    /// Requests to the activity endpoint.
    Post,
    /// Each version of the launch record.
    Record,
    /// Starts, exits, survivors.
    Process,
    /// How OpenRig would read the seat.
    Reading,
    /// How late the engine itself was.
    Lag,
}

impl Lane {
    /// The word, as in a history's file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Pane => "pane",
            Self::Wire => "wire",
            Self::Post => "post",
            Self::Record => "record",
            Self::Process => "process",
            Self::Reading => "reading",
            Self::Lag => "lag",
        }
    }
}

/// What was seen, by lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// What the engine did.
    Step(Step),
    /// The terminal.
    Pane(Pane),
    /// Runner and agent.
    Wire(Wire),
    /// The activity endpoint.
    Post(PostFact),
    /// The launch record.
    Record(RecordFact),
    /// Processes of the seat.
    Process(Process),
    /// OpenRig's reading, whenever it changed.
    Reading(Reading),
    /// The engine's own ticker woke this many milliseconds late.
    Lag {
        /// Milliseconds.
        late_ms: u64,
    },
    /// More came than is kept.
    Cut(Cut),
}
