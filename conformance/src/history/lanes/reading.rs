//! The lane of readings: how OpenRig would read the seat.

use serde::{Deserialize, Serialize};

/// How OpenRig would read the seat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// pending, ready, attention, resumed, missing, unconfirmed.
    pub launch: String,
    /// unknown, working, idle, needs input, exited.
    pub activity: String,
}
