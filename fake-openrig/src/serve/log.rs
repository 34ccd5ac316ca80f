//! Where the lines about a seat go: straight to stderr, or to a file while a runner owns the screen.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::Error;

pub(super) enum Log {
    Stderr,
    File { path: PathBuf, file: File },
}

impl Log {
    pub(super) fn file(path: &Path) -> Result<Self, Error> {
        let file = File::create(path).map_err(|source| Error::Write {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::File {
            path: path.to_owned(),
            file,
        })
    }

    /// Adds a line, stamped with the seconds since `start` (nanoseconds). Control characters in it are escaped: it
    /// may quote a runner, and a terminal shall show it.
    pub(super) fn line(&mut self, at: u64, start: u64, text: &str) -> Result<(), Error> {
        let line = format_line(at.saturating_sub(start), text);
        match self {
            Self::Stderr => {
                // A terminal that is gone is no reason to end the seat.
                let _ = io::stderr().write_all(line.as_bytes());
                Ok(())
            }
            Self::File { path, file } => {
                let write = file.write_all(line.as_bytes());
                write.map_err(|source| Error::Write {
                    path: path.clone(),
                    source,
                })
            }
        }
    }
}

fn format_line(nanoseconds: u64, text: &str) -> String {
    let milliseconds = nanoseconds / 1_000_000;
    let mut line = format!("{:4}.{:03} s  ", milliseconds / 1000, milliseconds % 1000);
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_stamped_and_cannot_steer_a_terminal() {
        assert_eq!(
            format_line(1_234_567_890, "Stop/ü\u{1b}[2J\n"),
            "   1.234 s  Stop/ü\\u{1b}[2J\\n\n"
        );
    }
}
