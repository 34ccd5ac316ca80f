//! What a board is told, and what people press on it. Texts from a seat have gone through [`shown`](super::shown()).

use serde::{Deserialize, Serialize};

/// Something that happened on the seat. Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardEvent {
    /// A launch began: what was known of the one before is gone, but for its posts.
    Launched(SeatShown),
    /// A post came in, or ended: the later one with the same id takes the place of the earlier.
    Post(PostShown),
    /// The seat reads otherwise.
    Reading(ReadingShown),
    /// The launch record is otherwise.
    Record(RecordShown),
    /// The pane's lines.
    Pane(Vec<String>),
    /// A line between runner and agent, or a note about the seat.
    Line(LineShown),
    /// The agent waits at the gate of this name.
    Waiting(String),
    /// The gate of this name is open.
    Opened(String),
    /// The agent asks what to do.
    Asks(AskShown),
    /// A question of the agent's, by its number, has its answer.
    Answered(u64),
    /// The runner has ended, in words. The seat is still there.
    RunnerEnded(String),
    /// The seat is gone, in words: nothing more comes.
    Over(String),
}

/// A launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeatShown {
    /// The session's name.
    pub session: String,
    /// The preset's name.
    pub runtime: String,
    /// The conversation to reopen, in a resume.
    pub resume: Option<String>,
    /// The runner's command; none where the host does not start it.
    pub command: Option<String>,
    /// When.
    pub at: u64,
}

/// An activity post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PostShown {
    /// Its number.
    pub id: u64,
    /// When it came.
    pub at: u64,
    /// hookEvent and subtype as `Stop/cancelled`, or the request's method and path where it was no activity post.
    pub event: String,
    /// Its sequence.
    pub sequence: Option<u64>,
    /// Its turn.
    pub turn: Option<String>,
    /// Its livenessSeconds.
    pub liveness: Option<u64>,
    /// What is wrong with its token, if anything.
    pub token: Option<&'static str>,
    /// How it was answered; none while it is under way.
    pub outcome: Option<String>,
    /// Whether it counted for the seat's reading; none while it is under way.
    pub counts: Option<bool>,
    /// Why it did not.
    pub why: Option<String>,
    /// Its body.
    pub body: String,
}

/// How the seat reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ReadingShown {
    /// How the launch went.
    pub launch: &'static str,
    /// What the seat is doing.
    pub activity: &'static str,
    /// Since when.
    pub at: u64,
}

/// The launch record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordShown {
    /// When it was found so.
    pub at: u64,
    /// What OpenRig reads from it, in words.
    pub says: String,
    /// Its content, if there is any.
    pub content: Option<String>,
}

/// A line between runner and agent, or a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineShown {
    /// When.
    pub at: u64,
    /// Where it goes.
    pub way: Way,
    /// The line.
    pub text: String,
}

/// Where a line goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// From the runner to its agent.
    ToAgent,
    /// From the agent to its runner.
    ToRunner,
    /// It is about the seat.
    Note,
}

/// A request that the agent asks people about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskShown {
    /// Its number.
    pub id: u64,
    /// When.
    pub at: u64,
    /// The request's method.
    pub method: String,
}

/// A control that a host offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// `rig send`, with and without envelope.
    Send,
    /// Ctrl-C.
    Interrupt,
    /// `rig seat clear-attention`.
    ClearAttention,
    /// Another launch, once the runner has ended.
    Launch,
}

/// What somebody pressed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Press {
    /// `rig send` this text.
    Send(String),
    /// `rig send --raw` this text.
    SendRaw(String),
    /// Ctrl-C.
    Interrupt,
    /// `rig seat clear-attention`.
    ClearAttention,
    /// Opens the gate of this name.
    Open(String),
    /// Answers a question of the agent's.
    Answer {
        /// The question's number.
        ask: u64,
        /// What the agent is to do.
        answer: Answer,
    },
    /// Launches the seat again.
    Launch {
        /// As a resume of the conversation that was opened last.
        resume: bool,
    },
}

/// What the agent is to do about a request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// Answer as it would without being told.
    Usual,
    /// Say this, and ask again.
    Say(String),
    /// Ask for permission under this title, and ask again.
    Permission(String),
    /// Answer with this stop reason.
    End(String),
    /// Answer with an error of this code and message.
    Error {
        /// The code.
        code: i64,
        /// The message.
        message: String,
    },
    /// Never answer.
    Silence,
    /// Exit with this code.
    Exit(u8),
}
