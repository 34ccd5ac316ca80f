//! A launch in tmux: the server that the supervisor starts, and the launcher in its pane that tells of the runner.

use std::collections::BTreeSet;
use std::io;
use std::process::Command;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::unix::OwnedReadHalf;
use tokio::net::{UnixListener, UnixStream};

use super::Report;
use crate::seat::processes::descendants;
use crate::seat::tmux::Host;

/// The server and the launcher of one launch.
pub(super) struct Hosting {
    listener: Option<UnixListener>,
    launcher: Option<Lines<BufReader<OwnedReadHalf>>>,
    /// What stands around the runner and is none of its doing: the server, the shell, what copies the pane's output,
    /// and the launcher.
    surroundings: BTreeSet<u32>,
}

/// What came of the launcher.
pub(super) enum Told {
    /// It says so.
    Report(Report),
    /// It is gone.
    Gone,
}

impl Hosting {
    /// Starts the server; also gives the name of the pane's terminal. Nothing else may be reaped meanwhile.
    pub(super) fn start(host: &Host) -> io::Result<(Self, String)> {
        let listener = UnixListener::bind(&host.launcher)?;
        let (program, arguments) = host
            .command
            .split_first()
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let done = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(host.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&host.directory)
            .output()?;
        if !done.status.success() {
            return Err(io::Error::other(format!(
                "tmux can't start: {}",
                String::from_utf8_lossy(&done.stderr).trim()
            )));
        }
        let terminal = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        let surroundings = descendants(std::process::id())
            .into_iter()
            .map(|process| process.pid)
            .collect();
        let hosting = Self {
            listener: Some(listener),
            launcher: None,
            surroundings,
        };
        Ok((hosting, terminal))
    }

    /// Whether this process is none of the runner's doing.
    pub(super) fn surrounds(&self, pid: u32) -> bool {
        self.surroundings.contains(&pid)
    }

    /// Whether there was a launcher and it is gone.
    pub(super) fn launcher_is_gone(&self) -> bool {
        self.listener.is_none() && self.launcher.is_none()
    }

    /// Waits for what the launcher tells next. May be dropped and called again.
    async fn next(&mut self) -> Told {
        loop {
            if let Some(launcher) = &mut self.launcher {
                let line = launcher.next_line().await.ok().flatten();
                let report = line.and_then(|line| serde_json::from_str(&line).ok());
                return match report {
                    Some(report) => Told::Report(report),
                    None => {
                        self.launcher = None;
                        Told::Gone
                    }
                };
            }
            match &self.listener {
                Some(listener) => match listener.accept().await {
                    Ok((stream, _)) => self.meet(stream),
                    Err(_) => self.listener = None,
                },
                None => std::future::pending().await,
            }
        }
    }

    fn meet(&mut self, stream: UnixStream) {
        self.listener = None;
        let pid = stream.peer_cred().ok().and_then(|peer| peer.pid());
        self.surroundings
            .extend(pid.and_then(|pid| u32::try_from(pid).ok()));
        self.launcher = Some(BufReader::new(stream.into_split().0).lines());
    }
}

/// The same for a seat that may have no launcher: then nothing ever comes.
pub(super) async fn next(hosting: &mut Option<Hosting>) -> Told {
    match hosting {
        Some(hosting) => hosting.next().await,
        None => std::future::pending().await,
    }
}
