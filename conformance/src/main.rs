//! seatcheck: parses the command line, dispatches, maps the result to an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    // A seat's helpers are this same program under other names; they must start fast and parse nothing of ours.
    if let Some(code) = conformance::hidden::dispatch(std::env::args_os()) {
        return code;
    }
    conformance::cli::main()
}
