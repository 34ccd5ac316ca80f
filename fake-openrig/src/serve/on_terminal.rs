//! A step of `serve`'s own: leads a session on the terminal that is its input, and becomes the seat's program.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::Context as _;

/// Comes back only with an error.
pub(super) fn become_program(words: &[OsString]) -> anyhow::Result<std::convert::Infallible> {
    let (program, arguments) = words.split_first().context("no program was given")?;
    rustix::process::setsid().context("cannot begin a session")?;
    rustix::process::ioctl_tiocsctty(rustix::stdio::stdin()).context("cannot take the terminal")?;
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot start {}", program.to_string_lossy()))
}
