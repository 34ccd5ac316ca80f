//! The `fake-openrig` program: see `fake-openrig --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    fake_openrig::main(std::env::args_os())
}
