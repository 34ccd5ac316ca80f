//! The `fake-openrig` program: hosts one seat by hand.

mod arguments;
mod host;
mod log;
mod on_terminal;
mod pane;
mod runner;
mod words;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

use crate::Error;
use arguments::{Arguments, Command};

/// Runs the program with these arguments, the program's own name first. Ends with the hosted runner's exit code,
/// 2 for wrong usage or input files, 1 for any other failure.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help goes to stdout, a usage error to stderr; if neither can be written there is no way to say so.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let done = match arguments.command {
        Command::Serve(arguments) => serve(*arguments),
        Command::OnTerminal { command } => on_terminal::become_program(&command).map(|never| match never {}),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            report(&error);
            let is_input = matches!(
                error.downcast_ref(),
                Some(Error::Preset { .. } | Error::Read { .. })
            );
            ExitCode::from(if is_input { 2 } else { 1 })
        }
    }
}

fn serve(arguments: arguments::Serve) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(host::host(arguments))
}

fn report(error: &anyhow::Error) {
    let mut text = format!("error: {error:#}\n");
    if let Some(error) = error.downcast_ref::<Error>() {
        text.push_str(&format!("hint: {}\n", error.hint()));
    }
    // There is nowhere else to report to.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
