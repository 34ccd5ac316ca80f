//! One event: when, in which launch of the seat, and what was seen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Bytes;

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
}

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

/// The terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pane {
    /// Bytes the seat wrote.
    Output {
        /// As read, in the chunks they were read in.
        bytes: Bytes,
    },
    /// Bytes written to the seat.
    Input {
        /// As written.
        bytes: Bytes,
    },
    /// The terminal's settings, seen on its master side, when they changed.
    Settings(TerminalSettings),
    /// The program turned bracketed paste on or off.
    BracketedPaste {
        /// On or off.
        on: bool,
    },
    /// Nothing more can come: every writer closed it.
    Closed,
}

/// The settings of a terminal that the contract speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalSettings {
    /// Lines are edited by the terminal (`ICANON`).
    pub canonical: bool,
    /// Typed characters are echoed (`ECHO`).
    pub echo: bool,
    /// Ctrl-C makes a signal (`ISIG`).
    pub signals: bool,
}

impl TerminalSettings {
    /// Whether this is raw enough for §5: bytes arrive as they are typed and are not echoed.
    #[must_use]
    pub fn is_raw(self) -> bool {
        !self.canonical && !self.echo
    }
}

/// Lines between runner and agent. `agent` counts the agent processes of a launch from 1.
///
/// A line to the agent is stamped right after the agent read it, a line from the agent just before it was written:
/// whatever the runner does because of an answer therefore stands after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// An agent process started.
    AgentStarted {
        /// Which.
        agent: u32,
        /// Its process id.
        pid: u32,
        /// Its arguments, the name it was called by first.
        arguments: Vec<String>,
        /// Its environment.
        environment: BTreeMap<String, String>,
    },
    /// The agent read a line.
    ToAgent {
        /// Which agent.
        agent: u32,
        /// Without its newline.
        line: Bytes,
    },
    /// The agent is about to write its next lines in an unusual way: one cut in several writes, or several in one.
    Framed {
        /// Which agent.
        agent: u32,
        /// How many lines.
        lines: u32,
        /// In how many writes.
        writes: u32,
    },
    /// The agent wrote a line.
    FromAgent {
        /// Which agent.
        agent: u32,
        /// Without its newline.
        line: Bytes,
    },
    /// The agent wrote bytes that are no frame of its own making.
    FromAgentRaw {
        /// Which agent.
        agent: u32,
        /// The bytes.
        bytes: Bytes,
    },
    /// The agent's input ended.
    EndOfInput {
        /// Which agent.
        agent: u32,
    },
    /// The agent came to a gate, or passed it.
    Gate {
        /// Which agent.
        agent: u32,
        /// The gate.
        name: String,
        /// False: waiting before it.
        passed: bool,
    },
    /// The agent closed its standard output and lives on.
    StdoutClosed {
        /// Which agent.
        agent: u32,
    },
    /// The agent wrote this many bytes on its standard error.
    Stderr {
        /// Which agent.
        agent: u32,
        /// How many.
        bytes: u64,
    },
    /// The agent started a child.
    Child {
        /// Which agent.
        agent: u32,
        /// The child.
        pid: u32,
        /// Whether it leads a session of its own.
        own_session: bool,
    },
    /// The agent is about to end of its own accord.
    Ending {
        /// Which agent.
        agent: u32,
        /// The exit code, if it exits.
        code: Option<i32>,
        /// The signal, if it kills itself.
        signal: Option<String>,
    },
    /// The agent's process is gone.
    AgentEnded {
        /// Which agent.
        agent: u32,
    },
    /// The script could not be carried out: a fault of the scenario.
    Trouble {
        /// Which agent.
        agent: u32,
        /// What.
        text: String,
    },
}

/// The activity endpoint. `id` counts the requests of a seat from 1, over all its launches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostFact {
    /// A request's head arrived.
    Started {
        /// Which request.
        id: u64,
        /// `POST`.
        method: String,
        /// Path and query.
        path: String,
        /// What the request said for itself.
        authorization: Authorization,
        /// Its body, whole, or its beginning.
        body: Bytes,
        /// The body was longer than what is kept.
        body_cut: bool,
    },
    /// A request ended.
    Ended {
        /// Which request.
        id: u64,
        /// How.
        how: PostEnd,
    },
    /// More requests came than are kept.
    Flooded {
        /// How many were not kept.
        count: u64,
    },
}

/// The credentials of a request; the token itself is never kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authorization {
    /// `Authorization: Bearer` with the token.
    Right,
    /// Another token, or another scheme.
    Wrong,
    /// None.
    Absent,
    /// The token in OpenRig's own header only.
    OtherHeader,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostEnd {
    /// An answer was sent.
    Answered {
        /// HTTP status.
        status: u16,
    },
    /// The client went away before the answer.
    GivenUp,
    /// The endpoint broke the connection.
    Broken,
}

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

/// How OpenRig would read the seat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// pending, ready, attention, resumed, missing, unconfirmed.
    pub launch: String,
    /// unknown, working, idle, needs input, exited.
    pub activity: String,
}
