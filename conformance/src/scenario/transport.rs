//! The way to a seat.

use serde::Deserialize;

/// What stands between the engine and the runner's input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A terminal of the kit's own.
    Pty,
    /// A pane of a private tmux server, as OpenRig has it.
    Tmux,
    /// Pipes: no terminal at all.
    Pipe,
}

impl Transport {
    /// The word for the history.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pty => "pty",
            Self::Tmux => "tmux",
            Self::Pipe => "pipe",
        }
    }
}
