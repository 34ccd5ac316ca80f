//! The lane of steps: what the engine did, with the meaning that bytes alone don't have.

use serde::{Deserialize, Serialize};

use crate::history::Bytes;

/// What the engine did, with the meaning the bytes alone don't have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A seat was launched: what OpenRig told the runner.
    Launched(Box<Launched>),
    /// The text of a message began to be written to the terminal.
    Sent {
        /// Number of the message over the whole history, from 1.
        block: u32,
        /// The text, whole, as it would be read by the runner up to Enter.
        text: Bytes,
        /// How it went in.
        delivery: Delivery,
    },
    /// Enter is about to be written for that message (CR, or with a pipe the line's end): what it brings about stands
    /// after it.
    Entered {
        /// The message.
        block: u32,
    },
    /// A Ctrl-C byte was written outside any paste.
    Interrupted,
    /// Other bytes were written that are no message.
    Typed {
        /// The bytes.
        bytes: Bytes,
    },
    /// Something awaited came.
    Awaited {
        /// In the scenario's words.
        what: String,
        /// Milliseconds it took.
        took_ms: u64,
        /// Milliseconds it was allowed.
        limit_ms: u64,
    },
    /// Something awaited did not come; the scenario went no further.
    TimedOut {
        /// In the scenario's words.
        what: String,
        /// Milliseconds waited.
        limit_ms: u64,
        /// Why waiting was over before the limit, if it was.
        cut_short: Option<String>,
        /// The screen's lines at that moment.
        screen: Vec<String>,
    },
    /// A quiet window that the scenario asked for ended.
    Quiet {
        /// Milliseconds it lasted.
        lasted_ms: u64,
    },
    /// A gate of the agent was opened.
    Opened {
        /// Its name.
        gate: String,
    },
    /// The activity endpoint was told to behave so from here on.
    Endpoint {
        /// `healthy`, `hang`, `refuse`, …
        fault: String,
    },
    /// The operator cleared the seat's attention.
    ClearedAttention,
    /// The terminal was given another size.
    Resized {
        /// Rows and columns.
        size: (u16, u16),
    },
    /// `rig send --verify` looked at the pane.
    Verified {
        /// The message it looked for.
        block: u32,
        /// Whether it found it.
        found: bool,
    },
    /// The engine began to stop the seat: everything after it may be the stop's doing.
    Stopping {
        /// `hangup`: the terminal was closed and SIGHUP sent, as when OpenRig kills the session. `hangup_signal`:
        /// SIGHUP alone. `terminate`: SIGTERM alone. `end_of_input`: the terminal, or the pipe, was closed and no signal
        /// sent.
        how: String,
    },
    /// The launch is over: nothing of the seat runs any more.
    Stopped {
        /// Milliseconds since the stop began.
        took_ms: u64,
    },
}

/// How a message's text went into the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// One bracketed paste.
    Paste,
    /// Pasted without brackets: the program had not turned mode 2004 on.
    Raw,
    /// Key by key.
    Typed,
    /// As a line, without a terminal: each line is a message.
    Line,
}

/// What OpenRig told the runner at a launch; the judge's measure for names, attempt and references.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launched {
    /// `OPENRIG_LAUNCH_ATTEMPT`.
    pub attempt: String,
    /// `OPENRIG_OCCUPANT_GENERATION`.
    pub generation: String,
    /// `OPENRIG_SESSION_NAME`.
    pub session_name: String,
    /// `OPENRIG_NODE_ID`.
    pub node_id: String,
    /// `OPENRIG_RUNTIME`: the preset's name.
    pub runtime: String,
    /// Whether `OPENRIG_LAUNCH_RESULT` was given.
    pub record_path_given: bool,
    /// Whether another attempt's record stood at that path before.
    pub stale_record: bool,
    /// `OPENRIG_RESUME_REF`, in a resume.
    pub resume_ref: Option<String>,
    /// How the endpoint was told.
    pub endpoint_told: String,
    /// The text of the first input's file, if one was given.
    pub first_input: Option<String>,
    /// `OPENRIG_MODEL`, if given.
    pub model: Option<String>,
    /// The runner's command.
    pub command: Vec<String>,
    /// Names of agents that stood first on PATH.
    pub agent_names: Vec<String>,
    /// `pty`, `tmux` or `pipe`.
    pub transport: String,
    /// Rows and columns of the terminal.
    pub size: (u16, u16),
}
