//! A runner that keeps the whole OpenRig harness and runner contract, written to be read.
//!
//! A runner sits in a terminal pane, starts an AI coding agent, passes it what is pasted into the pane and
//! reports honestly what happens: the conversation's identity in the launch record, turn boundaries as
//! activity posts, everything a person needs to know in the pane.
//!
//! Three parts, each of which knows only the one below it:
//! - [`edge`]: what crosses the runner's edge, and the one place where all of it passes;
//! - `seat`: the seat itself, which knows no harness: input, pane, turns, activity, launch record, shutdown;
//! - `adapter`: one module per harness behind one trait; `adapter::acp` speaks the Agent Client Protocol.
//!
//! Invariants: one prompt at a time; nothing is reported before it is a fact; nothing the agent waits for
//! stands behind a terminal, a disk or an HTTP endpoint.

mod adapter;
pub mod edge;
mod error;
mod launch;
mod options;
mod seat;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

pub use edge::{Crossing, Edge, Unchanged};
pub use launch::{Endpoint, LaunchFacts};
pub use options::Options;

/// The preset that declares this runner, format 1.
pub const PRESET: &str = include_str!("../dsh.yaml");

/// Runs the reference runner with these command line arguments, the program's name first, until its agent or
/// its seat ends. Returns the agent's exit code (128 + n for signal n), 128 + n when a signal stopped the
/// seat, 0 at the end of input, 2 for a wrong command line.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Options::parse(arguments) {
        Ok(options) => run(options, Box::new(Unchanged)),
        Err(refusal) => {
            // Clap prints help and version to stdout and mistakes to stderr; nothing is left to do if that
            // fails.
            let _ = refusal.print();
            ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(2))
        }
    }
}

/// Runs one seat in this process's terminal, everything that crosses its edge passing through `edge`. The
/// launch environment is read from this process. Returns when the seat has ended, with the exit code to leave
/// with.
pub fn run(options: Options, edge: Box<dyn Edge>) -> ExitCode {
    match seat::run(options, edge) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error}");
            eprintln!("hint: {}", error.hint());
            ExitCode::FAILURE
        }
    }
}
