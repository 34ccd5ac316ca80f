//! The fake agent as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    fake_agent::main(std::env::args_os().skip(1))
}
