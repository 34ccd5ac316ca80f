//! What can keep the runner from working, as one type for the whole library.

use std::io;
use std::path::PathBuf;

/// An error that a person at the pane has to hear about.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the async runtime could not be started: {0}")]
    Runtime(#[source] io::Error),
    #[error("signals can't be watched: {0}")]
    Signals(#[source] io::Error),
    #[error("the terminal can't be put into raw mode: {0}")]
    Terminal(#[source] io::Error),
    #[error("a thread for the terminal could not be started: {0}")]
    Thread(#[source] io::Error),
    #[error("the agent '{command}' can't be started: {source}")]
    AgentStart { command: String, source: io::Error },
    #[error("{0}")]
    Refused(String),
    #[error("the launch record '{path}' can't be written: {source}")]
    Record { path: PathBuf, source: io::Error },
    #[error("the first input '{path}' can't be read: {source}")]
    FirstInput { path: PathBuf, source: io::Error },
}

impl Error {
    /// What to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Runtime(_) | Self::Signals(_) | Self::Thread(_) => {
                "check the limits on processes, threads and open files"
            }
            Self::Terminal(_) => "run it in a terminal of its own, or with its input from a pipe",
            Self::AgentStart { .. } => "check the command given with --agent and that it is on PATH",
            Self::Refused(_) => "start the runner in an existing folder, with an agent command",
            Self::Record { .. } => "check the folder of OPENRIG_LAUNCH_RESULT; the seat will need attention",
            Self::FirstInput { .. } => "send the message again; nothing was submitted for it",
        }
    }
}
