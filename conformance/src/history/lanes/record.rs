//! The lane of the launch record: each version of its file.

use serde::{Deserialize, Serialize};

use crate::history::Bytes;

/// The launch record's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordFact {
    /// What happened to the file.
    pub change: RecordChange,
    /// Its content right after, if it could be read as a plain file; cut at 1 MiB.
    pub content: Option<Bytes>,
    /// Why there is no content, or what was cut.
    pub note: Option<String>,
}

/// What happened to the record's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordChange {
    /// It was there before the launch.
    Stood,
    /// The name appeared, made in place.
    Created,
    /// Its bytes were changed in place.
    Modified,
    /// A finished file was moved or linked to the name.
    MovedIn,
    /// The name is gone.
    Removed,
}
