//! The way to a seat.

use clap::ValueEnum;
use serde::Deserialize;

use super::{Step, StopBy};

/// What stands between the engine and the runner's input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, ValueEnum)]
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

impl Transport {
    /// Why a step can't be done by this way; `None` if it can.
    pub(super) fn cannot(self, step: &Step) -> Option<Hindrance> {
        let (step, why) = match (self, step) {
            (Self::Pipe, Step::Send(_)) => (
                "send",
                "without a terminal each line of an envelope is a message; use send_raw, or paste and enter",
            ),
            (Self::Pipe, Step::Interrupt) => ("interrupt", "without a terminal there is no Ctrl-C"),
            (Self::Pipe, Step::Resize(_)) => ("resize", "without a terminal there is no size"),
            (Self::Tmux, Step::PasteInPieces(_)) => ("paste_in_pieces", "tmux cuts what it pastes by itself"),
            (Self::Tmux, Step::Burst(_)) => ("burst", "each message is pasted by a command of its own"),
            (Self::Tmux, Step::StopBy(StopBy::EndOfInput)) => (
                "end_of_input",
                "tmux can't close a pane's terminal without hanging up",
            ),
            _ => return None,
        };
        Some(Hindrance { step, why })
    }
}

/// A step that a transport can't do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hindrance {
    /// The step's word in a scenario.
    pub(super) step: &'static str,
    /// Why not.
    pub(super) why: &'static str,
}
