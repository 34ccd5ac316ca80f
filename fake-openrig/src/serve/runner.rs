//! The runner that is hosted, or nobody, and the signals that end either.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::process::{Child, Command};
use tokio::signal::unix::{self, SignalKind};

use super::pane;
use crate::Error;

/// How long a runner has to end after a signal, before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// A runner in this terminal. Without one, the seat is there until a signal.
pub(super) struct Runner {
    child: Option<Child>,
    signals: Signals,
    terminal: Option<Termios>,
}

struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    hangup: unix::Signal,
}

impl Runner {
    /// Starts `command`, if there is one, with `environment` in place of any variables of OpenRig's that are set.
    /// It gets `pane` as its terminal, else what this program has.
    pub(super) fn start(
        command: &[OsString],
        environment: Vec<(String, String)>,
        pane: Option<OwnedFd>,
        terminal: Option<Termios>,
    ) -> anyhow::Result<Self> {
        let signals = Signals {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
            hangup: unix::signal(SignalKind::hangup())?,
        };
        let child = match command {
            [] => None,
            [program, arguments @ ..] => Some(spawn(program, arguments, environment, pane)?),
        };
        Ok(Self {
            child,
            signals,
            terminal,
        })
    }

    /// Waits for the end: of the runner, or of nobody by a signal. Can be dropped and called again until it returns.
    pub(super) async fn ended(&mut self) -> anyhow::Result<ExitCode> {
        let Self { child, signals, .. } = self;
        let Some(child) = child else {
            tokio::select! {
                _ = signals.interrupt.recv() => {}
                _ = signals.terminate.recv() => {}
                _ = signals.hangup.recv() => {}
            }
            return Ok(ExitCode::SUCCESS);
        };
        loop {
            let signal = tokio::select! {
                status = child.wait() => return Ok(exit_code(status?)),
                // Ctrl-C is for the runner, which has it from the terminal.
                _ = signals.interrupt.recv() => continue,
                _ = signals.terminate.recv() => Signal::TERM,
                _ = signals.hangup.recv() => Signal::HUP,
            };
            return Ok(exit_code(stop(child, signal).await?));
        }
    }

    /// Puts the terminal back as it was found. Says whether it was otherwise.
    pub(super) fn restore_terminal(&self) -> bool {
        let Some(found) = &self.terminal else { return false };
        let Ok(left) = tcgetattr(io::stdin()) else {
            return false;
        };
        let differs = left.input_modes != found.input_modes
            || left.output_modes != found.output_modes
            || left.control_modes != found.control_modes
            || left.local_modes != found.local_modes;
        differs && tcsetattr(io::stdin(), OptionalActions::Drain, found).is_ok()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // For the ways out on which nobody asks whether anything was changed.
        self.restore_terminal();
    }
}

fn spawn(
    program: &OsString,
    arguments: &[OsString],
    environment: Vec<(String, String)>,
    pane: Option<OwnedFd>,
) -> Result<Child, Error> {
    let error = |source| Error::Command {
        command: program.clone(),
        source,
    };
    let mut command = match pane {
        Some(terminal) => pane::command(program, arguments, terminal).map_err(error)?,
        None => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    };
    command.kill_on_drop(true);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"OPENRIG_") {
            command.env_remove(name);
        }
    }
    command.envs(environment);
    command.spawn().map_err(error)
}

/// Passes a signal on, and kills a runner that does not end of it.
async fn stop(child: &mut Child, signal: Signal) -> io::Result<ExitStatus> {
    if let Some(id) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        // It fails only if the runner has just ended, which the wait below finds out.
        let _ = rustix::process::kill_process(id, signal);
    }
    match tokio::time::timeout(GRACE, child.wait()).await {
        Ok(status) => status,
        Err(_) => {
            child.start_kill()?;
            child.wait().await
        }
    }
}

/// As a shell has it: the runner's own code, or 128 and the signal it died of.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
