//! The launch record's versions.

use serde_json::Value;

use crate::history::{Event, Fact, RecordChange, RecordFact};

/// The record's file as it was after one change.
#[derive(Debug, Clone)]
pub struct RecordVersion<'h> {
    /// The event.
    pub event: &'h Event,
    /// What happened to the file.
    pub change: RecordChange,
    /// The content, if it could be read.
    pub raw: Option<&'h [u8]>,
    /// The content as a JSON object, if it is one.
    pub body: Option<Value>,
}

impl RecordVersion<'_> {
    /// A text field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.body
            .as_ref()
            .and_then(|body| body.get(name))
            .and_then(Value::as_str)
    }

    /// Whether OpenRig could use it for this attempt: its attempt and a conversation, or `missing`.
    #[must_use]
    pub fn is_of(&self, attempt: &str) -> bool {
        self.field("attempt") == Some(attempt)
    }
}

/// Every version seen, the one that stood there before the launch included.
pub(crate) fn records<'h>(events: &[&'h Event]) -> Vec<RecordVersion<'h>> {
    events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::Record(RecordFact { change, content, .. }) => {
                let raw = content.as_ref().map(|content| content.0.as_slice());
                let body = raw
                    .and_then(|raw| serde_json::from_slice::<Value>(raw).ok())
                    .filter(Value::is_object);
                Some(RecordVersion {
                    event,
                    change: *change,
                    raw,
                    body,
                })
            }
            _ => None,
        })
        .collect()
}
