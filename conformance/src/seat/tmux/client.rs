//! Commands to the tmux server.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

/// What tmux is called on PATH.
pub(crate) const PROGRAM: &str = "tmux";

/// Runs tmux once for each command, as OpenRig does.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    socket: PathBuf,
}

impl Client {
    pub(crate) fn new(socket: &Path) -> Self {
        Self {
            socket: socket.to_owned(),
        }
    }

    /// Runs one command, or several with `;` between them, and gives what it printed.
    pub(crate) async fn run(&self, words: &[&str]) -> io::Result<String> {
        let done = Command::new(PROGRAM)
            .args(["-u", "-S"])
            .arg(&self.socket)
            .args(words)
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        let command = words.first().copied().unwrap_or_default();
        Err(io::Error::new(
            if is_gone(&said) {
                io::ErrorKind::NotConnected
            } else {
                io::ErrorKind::Other
            },
            format!("tmux {command}: {said}"),
        ))
    }

    /// The tmux that is on PATH, in its own words.
    pub(crate) fn version() -> io::Result<String> {
        let done = std::process::Command::new(PROGRAM)
            .arg("-V")
            .stdin(Stdio::null())
            .output()?;
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }
}

/// Whether these are the words for a server or a session that has ended.
fn is_gone(said: &str) -> bool {
    [
        "no server running",
        "error connecting",
        "can't find",
        "no current",
        "server exited",
        "lost server",
    ]
    .iter()
    .any(|words| said.contains(words))
}

/// An argument that tmux takes as it stands: at an argument's end a semicolon would part two commands.
pub(super) fn argument(text: &str) -> String {
    match text.strip_suffix(';') {
        Some(before) => format!("{before}\\;"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semicolon_at_the_end_is_text() {
        assert_eq!(argument("a;b;"), "a;b\\;");
        assert_eq!(argument("a;b"), "a;b");
        assert_eq!(argument(""), "");
    }
}
