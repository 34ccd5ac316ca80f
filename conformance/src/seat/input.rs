//! What is put into a seat, with the meaning that its bytes alone don't have: tmux is told of it in other ways than a
//! terminal or a pipe.

use fake_openrig::send;

/// One thing put into a seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// A text, pasted as one.
    Paste {
        text: String,
        /// Whether the program has turned bracketed paste on.
        bracketed: bool,
    },
    /// Keys, one after the other.
    Keys(String),
    /// The Enter key.
    Enter,
    /// Ctrl-C.
    Interrupt,
    /// The end of a line, where there are no keys.
    LineEnd,
    /// Bytes as they are.
    Bytes(Vec<u8>),
}

impl Input {
    /// The bytes that the program is given.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Paste { text, bracketed } => send::paste(text, *bracketed),
            Self::Keys(text) => text.clone().into_bytes(),
            Self::Enter => send::ENTER.to_vec(),
            Self::Interrupt => vec![3],
            Self::LineEnd => b"\n".to_vec(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}
