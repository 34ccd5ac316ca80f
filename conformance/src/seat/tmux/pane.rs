//! The pane: what OpenRig does to it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{Mode, OFlags};

use super::client::{Client, argument};
use super::session::Places;
use crate::history::TerminalSettings;
use crate::seat::input::Input;
use crate::seat::terminal;

/// The first pane of a server that has no other; it also stands for its window and its session.
const PANE: &str = "%0";

/// The buffer that a text is pasted from.
const BUFFER: &str = "seatcheck";

/// A pane, by its server.
#[derive(Debug, Clone)]
pub(crate) struct Pane(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    client: Client,
    spool: PathBuf,
    terminal: OnceLock<OwnedFd>,
}

impl Pane {
    pub(crate) fn new(places: &Places) -> Self {
        Self(Arc::new(Shared {
            client: Client::new(&places.server),
            spool: places.spool.clone(),
            terminal: OnceLock::new(),
        }))
    }

    /// Opens the pane's terminal, to ask it for its settings.
    pub(crate) fn open_terminal(&self, name: &Path) -> io::Result<()> {
        let terminal = rustix::fs::open(
            name,
            OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        // It is opened once a launch.
        let _ = self.0.terminal.set(terminal);
        Ok(())
    }

    /// The settings that the seat's programs gave the pane's terminal.
    pub(crate) fn settings(&self) -> Option<TerminalSettings> {
        terminal::settings(self.0.terminal.get()?).ok()
    }

    /// Puts it in, in OpenRig's ways.
    pub(crate) async fn put(&self, input: &Input) -> io::Result<()> {
        match input {
            // tmux has no empty buffers.
            Input::Paste { text, .. } if text.is_empty() => Ok(()),
            Input::Paste { text, .. } => self.paste(text).await,
            Input::Keys(text) => {
                let text = argument(text);
                self.run(&["send-keys", "-t", PANE, "-l", "--", &text]).await
            }
            Input::Enter => self.run(&["send-keys", "-t", PANE, "Enter"]).await,
            Input::Interrupt => self.run(&["send-keys", "-t", PANE, "C-c"]).await,
            Input::LineEnd | Input::Bytes(_) => Err(io::Error::other(
                "tmux is given texts and keys, not bytes; this scenario needs `not_on`",
            )),
        }
    }

    /// tmux brackets it if the program has asked for that.
    async fn paste(&self, text: &str) -> io::Result<()> {
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&self.0.spool)?;
        io::Write::write_all(&mut file, text.as_bytes())?;
        let spool = self.0.spool.to_string_lossy();
        let pasted = self
            .run(&[
                "load-buffer",
                "-b",
                BUFFER,
                &spool,
                ";", //
                "paste-buffer",
                "-t",
                PANE,
                "-b",
                BUFFER,
                "-d",
                "-r",
                "-p",
            ])
            .await;
        std::fs::remove_file(&self.0.spool)?;
        pasted
    }

    /// The pane as `rig send --verify` captures it, without the empty lines below what was written.
    pub(crate) async fn capture(&self) -> io::Result<Vec<String>> {
        let text = self
            .0
            .client
            .run(&["capture-pane", "-p", "-t", PANE, "-S", "-30"])
            .await?;
        Ok(text.trim_end_matches('\n').lines().map(str::to_owned).collect())
    }

    /// Gives the window another size (rows, columns).
    pub(crate) async fn resize(&self, (rows, columns): (u16, u16)) -> io::Result<()> {
        let (rows, columns) = (rows.to_string(), columns.to_string());
        self.run(&["resize-window", "-t", PANE, "-x", &columns, "-y", &rows])
            .await
    }

    /// Ends the session as OpenRig stops a seat, and the server with it. A session that is gone already is no error.
    pub(crate) async fn kill_session(&self) -> io::Result<()> {
        match self.run(&["kill-session", "-t", PANE]).await {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            other => other,
        }
    }

    async fn run(&self, words: &[&str]) -> io::Result<()> {
        self.0.client.run(words).await.map(|_| ())
    }
}
