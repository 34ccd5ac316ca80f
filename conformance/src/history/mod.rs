//! What happened on one seat, in order, on one clock.
//!
//! The engine appends, the judge reads, nothing else knows more than this: a verdict that can't be reached from a
//! history alone can't be reached at all. Raw bytes are the truth; everything parsed is derived in [`views`].

mod bytes;
mod cut;
mod declared;
mod event;
mod file;
mod lanes;
pub mod views;

pub use bytes::Bytes;
pub use cut::Cut;
pub use declared::{Declared, MissingAnswer};
pub use event::{Event, Fact, Lane};
pub use file::{FORMAT, Header, HistoryError, read, write};
pub use lanes::{
    Authorization, Delivery, Launched, Pane, PostEnd, PostFact, Process, Reading, RecordChange, RecordFact,
    Step, TerminalSettings, Wire,
};

/// What stands in a history where the token of the activity endpoint stood.
pub(crate) const TOKEN_MARK: &[u8] = "‹hook token›".as_bytes();

/// One seat's events, in the order of their time stamps.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// What was run, on which clock.
    pub header: Header,
    /// The events; `sequence` counts from 1 without a gap.
    pub events: Vec<Event>,
}

impl History {
    /// Puts `events` in order of time and numbers them. Events of the same nanosecond keep the order they came in.
    #[must_use]
    pub fn new(header: Header, mut events: Vec<Event>) -> Self {
        events.sort_by_key(|event| event.at);
        for (index, event) in events.iter_mut().enumerate() {
            event.sequence = index as u64 + 1;
        }
        Self { header, events }
    }
}
