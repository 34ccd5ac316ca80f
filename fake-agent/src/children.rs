//! Child processes of the agent: this same program, started in a mode of its own.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;

/// A child that nobody ends does so by itself after this time, so that none is left for ever.
const LONGEST_LIFE: Duration = Duration::from_secs(60 * 60);

/// How to start this program as a fake agent once more.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    path: PathBuf,
    /// The name it was called by, and any words that led to the fake agent inside a larger program.
    name: OsString,
    words: Vec<OsString>,
}

impl Program {
    /// The running program, given the arguments that are the fake agent's.
    pub(crate) fn current(arguments: &[OsString]) -> io::Result<Self> {
        let mut all: Vec<OsString> = std::env::args_os().collect();
        if all.ends_with(arguments) {
            all.truncate(all.len() - arguments.len());
        }
        let mut words = all.into_iter();
        let path = std::env::current_exe()?;
        let name = words.next().unwrap_or_else(|| path.clone().into());
        Ok(Self {
            path,
            name,
            words: words.collect(),
        })
    }

    /// A command that starts it with these arguments.
    pub(crate) fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> std::process::Command {
        use std::os::unix::process::CommandExt as _;
        let mut command = std::process::Command::new(&self.path);
        command.arg0(&self.name).args(&self.words).args(arguments);
        command
    }
}

/// Starts a child and waits until it is in the session it shall be in. Returns its process id.
pub(crate) async fn start(program: &Program, own_session: bool) -> io::Result<u32> {
    let mut arguments = vec!["child"];
    arguments.extend(own_session.then_some("--own-session"));
    let mut command = tokio::process::Command::from(program.command(arguments));
    // None of the agent's streams: a child that held stdout open would hide the agent's end.
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let pid = child
        .id()
        .ok_or_else(|| io::Error::other("it has no process id"))?;
    let stdout = child
        .stdout
        .take()
        .ok_or_else(|| io::Error::other("it has no pipe"))?;
    let mut ready = Vec::new();
    stdout.take(1).read_to_end(&mut ready).await?;
    if ready.is_empty() {
        return Err(io::Error::other("it ended at once"));
    }
    tokio::spawn(async move {
        // Only to leave no zombie behind.
        let _ = child.wait().await;
    });
    Ok(pid)
}

/// What such a child does: says that it is ready, and lives.
pub(crate) fn live(own_session: bool) -> ExitCode {
    if own_session && let Err(error) = rustix::process::setsid() {
        eprintln!("error: child: no session of its own: {error}");
        return ExitCode::FAILURE;
    }
    let mut stdout = io::stdout();
    if stdout.write_all(b"\n").and_then(|()| stdout.flush()).is_err() {
        return ExitCode::FAILURE;
    }
    std::thread::sleep(LONGEST_LIFE);
    ExitCode::SUCCESS
}
