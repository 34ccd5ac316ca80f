//! One module per harness, behind one trait.
//!
//! The seat knows this trait and these events and no harness. A harness is added by writing one module that
//! keeps this contract; nothing else changes. The names are those harness adapters commonly use: a *turn* is
//! prepared, run, perhaps interrupted, and ends once as completed, interrupted or failed.
//!
//! No call waits for the harness: what comes of it arrives as an [`Event`], in the order in which the harness
//! said it. Per turn that is `Turn` once, when the prompt was submitted; any of `Text`, `Tool`, `Status`,
//! `Message`, `Usage`; `Final` once; `End` once, last.

pub(crate) mod acp;
pub(crate) mod events;
mod exit;
mod lines;
pub(crate) mod process;

use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use events::{EventReceiver, EventSender};

use crate::error::Error;
use crate::seat::lanes::Lanes;

/// What a seat wants done, before anything has started.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// The agent's command.
    pub(crate) command: Vec<String>,
    /// Where the agent works; absolute.
    pub(crate) working_directory: PathBuf,
    /// The model to use, if one was declared.
    pub(crate) model: Option<String>,
}

/// Which account a turn spends, and how many turns may run at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cap {
    pub(crate) key: String,
    pub(crate) turns: usize,
}

/// A job this harness can't do, with what would work.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

/// Work under way, as plain JSON: enough to end it from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work(pub(crate) serde_json::Value);

/// How hard to end the harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Force {
    /// Nothing more will come: close its input.
    Ask,
    /// Ask its whole process group to end.
    Terminate,
    /// End its whole process group.
    Kill,
}

/// One harness.
pub(crate) trait Adapter: Sized {
    /// The account a turn of this job spends, and how many may run at once.
    fn cap_for(job: &Job) -> Cap;

    /// Looks at the job before anything starts: gives it back as it will be done, or says what would work.
    fn check(job: Job) -> Result<Job, Refusal>;

    /// Starts the harness for a job that was checked, its lines crossing `lanes`, and names its work. Nothing
    /// is said to it yet. Must be called inside the runtime.
    fn start(job: Job, lanes: Arc<Lanes>, events: EventSender) -> Result<(Self, Work), Error>;

    /// Opens a new conversation. Answered by `Opened` and then `Ready`, or by `NotOpened`.
    fn open(&mut self);

    /// Reopens exactly this conversation and never starts another. Answered like [`Adapter::open`].
    fn reopen(&mut self, reference: &str);

    /// Takes a turn's prompt and names its work, before anything is submitted.
    fn prepare(&mut self, prompt: String) -> Work;

    /// Submits the prepared prompt. Answered by `Turn` when that is done, and by `Final` and `End` later.
    fn run(&mut self);

    /// Puts more text into the turn under way, if the harness can.
    #[expect(
        dead_code,
        reason = "the contract has mid-turn messages wait; the seat never steers"
    )]
    fn steer(&mut self, text: &str) -> Result<(), Refusal>;

    /// Asks for the end of the turn under way. The turn goes on until the harness says `End`.
    fn interrupt(&mut self);

    /// Ends the harness, this hard. Answered by `Exited`.
    async fn kill(&mut self, force: Force);

    /// Ends what is left of this work after the harness itself has exited. Returns when that is done.
    async fn reap(&mut self, work: &Work);
}

/// What a harness tells the seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// The conversation is open.
    Opened(Conversation),
    /// Prompts can be submitted.
    Ready,
    /// The conversation did not open.
    NotOpened(NotOpened),
    /// The turn's prompt was submitted.
    Turn,
    /// A piece of the answer.
    Text(String),
    /// A tool the harness uses.
    Tool(String),
    /// A line that a person may want to see and nobody has to act on.
    Status(String),
    /// Something the person at the pane has to know.
    Message(String),
    /// How much of its context the harness has used, in tokens.
    Usage { used: u64, size: u64 },
    /// The whole answer, if it was not too long to keep.
    Final { answer: Option<String> },
    /// The turn is over.
    End(End),
    /// A permission was asked for, and has been refused. What for, in words.
    PermissionAsked(String),
    /// The harness can't be spoken to any more, for this reason. Its process may well live.
    Unreachable(String),
    /// The process was seen to end.
    Exited(Exit),
}

/// An open conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// The harness's own id, byte for byte.
    pub(crate) reference: String,
    /// Which harness in which version, for people.
    pub(crate) producer: String,
}

/// Why a conversation did not open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotOpened {
    /// Whether the harness itself said that this conversation does not exist.
    pub(crate) missing: bool,
    pub(crate) reason: String,
    pub(crate) producer: String,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The harness is done, for this reason of its own.
    Completed {
        reason: String,
    },
    /// The harness says that it was cancelled.
    Interrupted,
    Failed {
        reason: String,
    },
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// The last things it said on stderr.
    pub(crate) last_words: Vec<String>,
}
