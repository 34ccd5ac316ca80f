//! The starter: waits until it is the terminal's foreground group, then becomes the runner.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use rustix::process::Pid;

/// The exit code that says the program could not be started; a shell uses the same.
pub(crate) const NOT_STARTED: i32 = 127;

/// `arguments`: the program and its arguments. Returns only if the program can't be started.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let Some(program) = arguments.next() else {
        eprintln!("error: the starter was given no program");
        return ExitCode::from(2);
    };
    // The supervisor sees the stop, gives this group the terminal, and lets it go on: without that order the runner
    // could meet a terminal that is not yet its own.
    let me = rustix::process::getpid();
    if let Err(error) = rustix::process::kill_process(me, rustix::process::Signal::STOP) {
        eprintln!("error: the starter can't stop itself: {error}");
        return ExitCode::from(2);
    }
    let error = Command::new(&program).args(arguments).exec();
    eprintln!("error: {} can't be started: {error}", program.to_string_lossy());
    ExitCode::from(127)
}

/// Whether the stopped process is still the starter, not the runner it became.
pub(crate) fn stands(pid: Pid) -> bool {
    std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero()))
        .is_ok_and(|line| line.split(|byte| *byte == 0).nth(1) == Some(crate::hidden::STARTER.as_bytes()))
}
