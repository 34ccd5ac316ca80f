//! Names by which seatcheck starts itself as one of a seat's helpers: one installed file works everywhere.

/// The fake agent, started by a shim on the seat's PATH.
pub const FAKE_AGENT: &str = "__fake-agent";
/// The reference runner, for a run that names no other.
pub const REFERENCE_RUNNER: &str = "__reference-runner";
/// A runner with one fault.
pub const MUTANT: &str = "__mutant";
/// A runner that keeps the contract in another manner.
pub const VARIANT: &str = "__variant";
/// The supervisor of one launch.
pub const SUPERVISOR: &str = "__supervisor";
/// What becomes the runner.
pub const STARTER: &str = "__starter";

use std::ffi::OsString;
use std::process::ExitCode;

/// If the command line is one of these, does it and returns its exit code; else gives nothing, and seatcheck goes on
/// as the command that people use.
#[must_use]
pub fn dispatch(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let program = arguments.next()?;
    let name = arguments.next()?;
    let with_program = |arguments| std::iter::once(program).chain(arguments);
    Some(match name.to_str()? {
        FAKE_AGENT => fake_agent::main(arguments),
        REFERENCE_RUNNER => reference_runner::main(with_program(arguments)),
        MUTANT => mutants::main(arguments),
        VARIANT => mutants::variant_main(arguments),
        SUPERVISOR => crate::seat::supervisor::main(arguments),
        STARTER => crate::seat::starter::main(arguments),
        _ => return None,
    })
}
