//! What happened in one scenario, as it is drawn: events on one clock, and the pane at certain moments.

use serde::{Deserialize, Serialize};

/// The lanes, from the top, as they are drawn.
pub(crate) const LANES: [&str; 8] = [
    "step", "pane", "wire", "post", "record", "process", "reading", "lag",
];

/// One scenario's events.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// The scenario's id.
    pub scenario: String,
    /// In order.
    pub events: Vec<TimelineEvent>,
    /// The pane, in order.
    pub stills: Vec<Still>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineEvent {
    /// Its place in the history; findings cite it.
    pub sequence: u64,
    /// Nanoseconds since the history's start.
    pub at: u64,
    /// Which launch of the seat, from 1.
    pub launch: u32,
    /// `step`, `pane`, `wire`, `post`, `record`, `process`, `reading` or `lag`.
    pub lane: String,
    /// It in a few words.
    pub said: String,
    /// The bytes as text, where there are any, perhaps cut.
    pub raw: Option<String>,
}

/// The pane at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Still {
    /// After this event.
    pub sequence: u64,
    /// Its lines, without the empty ones at the end.
    pub lines: Vec<String>,
}
