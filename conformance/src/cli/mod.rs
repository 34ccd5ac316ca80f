//! The command that people use. One file per subcommand.

mod bundle;
mod exit;
mod judge;
mod lint;
mod list;
mod located;
mod options;
mod output;
mod play;
mod profile;
mod progress;
mod report;
mod run;
mod runner;
mod select;
mod self_test;
mod version;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Shows, with evidence that anyone can judge again, where a program keeps the OpenRig runner contract.
#[derive(Debug, Parser)]
#[command(name = "seatcheck", version, propagate_version = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Drive a runner through scenarios and judge it.
    ///
    /// Without a runner, the reference runner that comes with seatcheck is driven.
    Run(Box<run::Options>),
    /// Play with a seat: a runner in this terminal, and beside it, in the browser, how OpenRig sees it.
    ///
    /// Without a scenario the agent answers each prompt with "done". Ctrl-] leaves.
    Play(Box<play::Options>),
    /// Judge recorded histories again.
    Judge(judge::Options),
    /// Judge preset files alone, without any run.
    Lint(lint::Options),
    /// Render a recorded run's report in another format.
    Report(report::Options),
    /// List what there is: clauses or scenarios.
    List(list::Options),
    /// Show that every clause bites: runners with one fault each must be caught by their clause.
    SelfTest(self_test::Options),
}

/// Runs the command line and gives the exit code; see [`exit`].
#[must_use]
pub fn main() -> ExitCode {
    let done = match CommandLine::parse().command {
        Command::Run(options) => run::run(*options),
        Command::Play(options) => play::run(&options),
        Command::Judge(options) => judge::run(&options),
        Command::Lint(options) => lint::run(&options),
        Command::Report(options) => report::run(&options),
        Command::List(options) => list::run(&options),
        Command::SelfTest(options) => self_test::run(&options),
    };
    match done {
        Ok(exit) => exit.code(),
        Err(error) => {
            eprintln!("error: {error:#}");
            if let Some(hint) = exit::hint(&error) {
                eprintln!("\nhint: {hint}");
            }
            exit::of(&error).code()
        }
    }
}

/// The terminal's width, or a width for files and pipes.
fn width() -> usize {
    rustix::termios::tcgetwinsize(rustix::stdio::stdout())
        .map_or(120, |size| usize::from(size.ws_col))
        .max(72)
}
