//! Everything that can go wrong in this crate.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// What went wrong, and with what. [`Error::hint`] says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A folder could not be made, or not made private.
    #[error("cannot make the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The folder of a launch record could not be watched.
    #[error("cannot watch {}", path.display())]
    Watch {
        /// The folder, or the record's path if it names none.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The system gave no random bytes.
    #[error("cannot read /dev/urandom")]
    Random(#[source] io::Error),
    /// The activity endpoint was started or switched outside of a tokio runtime.
    #[error("the activity endpoint needs a running tokio runtime")]
    NoRuntime,
    /// The endpoint's socket failed.
    #[error("the activity endpoint cannot {action} on 127.0.0.1")]
    Socket {
        /// What it was about to do.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A runner's command could not be started.
    #[error("cannot start {}", command.display())]
    Command {
        /// The command.
        command: OsString,
        /// The system's reason.
        source: io::Error,
    },
    /// A preset file is not what format 1 asks for.
    #[error("{}:{line}:{column}: {problem}\n    {text}\n    {:>width$}", file.display(), "^", width = mark(*column, text))]
    Preset {
        /// The file, as it was named.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
        /// That line's text, control characters blanked, cut if it is very long.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Folder { .. } | Self::Write { .. } => {
                "check that the path is free and that you may write there"
            }
            Self::Read { .. } => "check the path and that you may read it",
            Self::Watch { .. } => {
                "the folder must exist; many watches at once need a higher fs.inotify.max_user_instances"
            }
            Self::Random(_) => "the system must offer /dev/urandom",
            Self::NoRuntime => "call it from within a tokio runtime with its input, output and time enabled",
            Self::Socket { .. } => {
                "check the limit of open files (ulimit -n) and that the loopback network is up"
            }
            Self::Command { .. } => "check that it is on PATH, or give its path",
            Self::Preset { .. } => "a preset is YAML with format: 1, a name and a command",
        }
    }
}

/// How wide the line with the mark is: it stands under the column, or where the text ends.
fn mark(column: usize, text: &str) -> usize {
    column.min(text.chars().count() + 1)
}
