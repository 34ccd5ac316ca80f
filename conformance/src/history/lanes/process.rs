//! The lane of processes: starts, exits, survivors.

use serde::{Deserialize, Serialize};

/// Processes of the seat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// The runner started.
    RunnerStarted {
        /// Its process id.
        pid: u32,
    },
    /// The runner could not be started.
    RunnerNotStarted {
        /// Why.
        why: String,
    },
    /// The runner ended.
    RunnerExited {
        /// Its exit code, if it exited.
        code: Option<i32>,
        /// The signal that ended it, if one did.
        signal: Option<i32>,
    },
    /// Still there when the stop's time was over; it was killed then.
    Survivor {
        /// Its process id.
        pid: u32,
        /// Its process group.
        process_group: u32,
        /// Its session.
        session: u32,
        /// What it is, as far as the system says.
        command: String,
    },
}
