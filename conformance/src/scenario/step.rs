//! What a scenario does, step by step.

use std::collections::BTreeMap;

use fake_agent::script::Delay;
use serde::Deserialize;

use super::{Condition, LargeText};

/// One step.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Launches the seat. The step is over when the runner was started.
    Launch(Launch),
    /// `rig send`: the text in OpenRig's envelope, pasted, and Enter 200 ms later.
    Send(Send),
    /// `rig send --raw`: the text as it stands, pasted, and Enter 200 ms later.
    SendRaw(String),
    /// Pastes a text and presses no Enter.
    Paste(String),
    /// The same with a text of so many bytes, which the kit makes.
    PasteLarge(LargeText),
    /// The same with the bytes, paste markers included, written in pieces.
    PasteInPieces(Pieces),
    /// Types a text key by key and presses no Enter.
    Type(String),
    /// Several messages, each pasted and entered, in a single write: what piles up in front of a busy runner.
    Burst(Vec<String>),
    /// Presses Enter for what was pasted or typed since the last Enter.
    Enter,
    /// Presses Ctrl-C.
    Interrupt,
    /// Waits for something, for as long as the patience allows.
    Until(Condition),
    /// Waits for something for no longer than that, and goes on in either case: for what a runner is free to do.
    Linger(Linger),
    /// Waits while an idle seat must go on reading idle: until a report of its own has shown that it does, or until its
    /// last one has lapsed. Over at once where no lapse can come in time.
    IdleThrough(IdleThrough),
    /// Does nothing for that long: for what must not happen, where no later event can prove it.
    Quiet(Delay),
    /// Opens a gate of the agent.
    Release(String),
    /// The activity endpoint behaves so from now on.
    Endpoint(EndpointFault),
    /// `rig seat clear-attention`.
    ClearAttention,
    /// Gives the terminal another size, as when somebody drags a window's edge.
    Resize(Size),
    /// Stops the seat as OpenRig does, by hanging up its terminal, and waits for everything to end.
    Stop,
    /// Stops it in another way, and waits the same.
    StopBy(StopBy),
}

/// How a seat is launched. All of it may be left out: `launch: {}`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Launch {
    /// The conversation to reopen.
    pub resume: Option<Resume>,
    /// One of the scenario's `agents`.
    pub agent: Option<String>,
    /// How the runner is told the endpoint.
    pub endpoint: EndpointTold,
    /// Whether OpenRig could make the record's folder; without it there is no OPENRIG_LAUNCH_RESULT.
    pub without_record: bool,
    /// Another attempt's record stands at the path.
    pub stale_record: bool,
    /// The first input's text.
    pub first_input: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// More environment for the seat.
    pub environment: BTreeMap<String, String>,
}

/// Which conversation to reopen.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    /// The one that the launch before opened: the id its agent gave.
    Last,
    /// That one.
    Reference(String),
}

/// What to wait for, and for how long at most.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linger {
    /// The condition.
    pub until: Condition,
    /// The longest that is waited.
    pub at_most: Delay,
}

/// How long an idle seat is watched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleThrough {
    /// A runner that states a longer livenessSeconds is not waited for.
    pub liveness_up_to: Delay,
}

/// A text and how its bytes are cut.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pieces {
    /// The text.
    pub text: String,
    /// Bytes in a piece; the runner mostly reads one piece at a time.
    pub bytes: usize,
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// How a seat is stopped where not by hanging up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopBy {
    /// SIGHUP to the runner's process group, its terminal staying open.
    HangupSignal,
    /// SIGTERM to the runner, its terminal staying open; to its group where a preset's line puts a shell before it.
    Terminate,
    /// The end of its input, and no signal.
    EndOfInput,
}

impl StopBy {
    /// The word for the history.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HangupSignal => "hangup_signal",
            Self::Terminate => "terminate",
            Self::EndOfInput => "end_of_input",
        }
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// The body.
    pub text: String,
    /// Who sends it.
    #[serde(default = "lead")]
    pub from: String,
    /// Whether to look for it in the pane afterwards, as `rig send --verify` does.
    #[serde(default)]
    pub verify: bool,
}

fn lead() -> String {
    "dev-lead@rig".to_owned()
}

/// How the runner is told the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointTold {
    /// All variables, as OpenRig sets them.
    #[default]
    All,
    /// OPENRIG_URL and the token.
    Url,
    /// The same with a slash at the URL's end.
    UrlWithSlash,
    /// OPENRIG_PORT and the token.
    Port,
    /// OPENRIG_HOST, OPENRIG_PORT and the token.
    HostAndPort,
    /// activity-endpoint.json alone.
    File,
    /// OPENRIG_URL, and the token in the file.
    UrlAndTokenFile,
    /// Nothing at all.
    Nothing,
}

impl EndpointTold {
    /// The word for the history.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Url => "url",
            Self::UrlWithSlash => "url_with_slash",
            Self::Port => "port",
            Self::HostAndPort => "host_and_port",
            Self::File => "file",
            Self::UrlAndTokenFile => "url_and_token_file",
            Self::Nothing => "nothing",
        }
    }
}

/// How the activity endpoint behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointFault {
    /// It answers as it should.
    Healthy,
    /// It takes requests and never answers.
    Hang,
    /// It answers after so long.
    Slow(Delay),
    /// Nothing listens.
    Refuse,
    /// It breaks each connection.
    Reset,
    /// It answers everything with that status.
    Status(u16),
    /// It answers 200 with something that is no JSON.
    BadBody,
}

impl std::fmt::Display for EndpointFault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Healthy => formatter.write_str("healthy"),
            Self::Hang => formatter.write_str("hang"),
            Self::Slow(delay) => write!(formatter, "slow {delay}"),
            Self::Refuse => formatter.write_str("refuse"),
            Self::Reset => formatter.write_str("reset"),
            Self::Status(status) => write!(formatter, "status {status}"),
            Self::BadBody => formatter.write_str("bad body"),
        }
    }
}
