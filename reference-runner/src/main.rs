//! The reference runner as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    reference_runner::main(std::env::args_os())
}
