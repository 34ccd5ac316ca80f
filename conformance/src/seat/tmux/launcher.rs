//! The launcher: a job of the pane's shell that starts the runner in its own process group, and tells the supervisor
//! when the runner started and how it ended.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal, WaitOptions};
use tokio::signal::unix::{SignalKind, signal};

use crate::seat::clock;
use crate::seat::starter::{self, NOT_STARTED};
use crate::seat::supervisor::{Report, SupervisorFact};

/// `arguments`: the supervisor's socket, the program and its arguments. Ends as the program ends.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let Some(socket) = arguments.next() else {
        eprintln!("error: the launcher was given no supervisor");
        return ExitCode::from(2);
    };
    let run = || -> io::Result<u8> {
        let told = UnixStream::connect(socket)?;
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(launch(told, arguments.collect()))
    };
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: the seat's launcher failed: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn launch(mut told: UnixStream, words: Vec<OsString>) -> io::Result<u8> {
    let mut child = signal(SignalKind::child())?;
    // The whole group is told; handled, not ignored: an ignored signal would stay ignored in the runner.
    let _handled = [
        signal(SignalKind::hangup())?,
        signal(SignalKind::interrupt())?,
        signal(SignalKind::quit())?,
        signal(SignalKind::terminate())?,
    ];
    let runner = Pid::from_child(
        &Command::new(std::env::current_exe()?)
            .arg(crate::hidden::STARTER)
            .args(words)
            .spawn()?,
    );
    let mut stands = true;
    loop {
        let Some((_, status)) =
            rustix::process::waitpid(Some(runner), WaitOptions::NOHANG | WaitOptions::UNTRACED)?
        else {
            child.recv().await;
            continue;
        };
        if status.stopped() {
            // A runner that stops itself later is left stopped.
            if std::mem::take(&mut stands) && starter::stands(runner) {
                let pid = runner.as_raw_nonzero().get().unsigned_abs();
                tell(&mut told, SupervisorFact::Started { pid })?;
                rustix::process::kill_process(runner, Signal::CONT)?;
            }
            continue;
        }
        let (code, signal) = (status.exit_status(), status.terminating_signal());
        if code == Some(NOT_STARTED) {
            tell(&mut told, SupervisorFact::not_started())?;
        }
        tell(&mut told, SupervisorFact::Exited { code, signal })?;
        // As a shell says it.
        let said = code.or(signal.map(|signal| 128 + signal)).unwrap_or(1);
        return Ok(u8::try_from(said).unwrap_or(u8::MAX));
    }
}

fn tell(told: &mut UnixStream, fact: SupervisorFact) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Report {
        at: clock::now(),
        fact,
    })?;
    line.push(b'\n');
    told.write_all(&line)
}
