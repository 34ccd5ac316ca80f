//! The lane of the pane: bytes in and out of the terminal, and its settings.

use serde::{Deserialize, Serialize};

use crate::history::Bytes;

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
    /// Bytes that the terminal itself wrote to the seat, in answer to a query of the program's.
    Answer {
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
