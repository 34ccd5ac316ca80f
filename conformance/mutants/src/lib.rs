//! mutants
/// A runner with one fault.
pub struct Mutant { /// x
 pub name: &'static str, /// x
 pub clause: &'static str, /// x
 pub fault: &'static str }
/// All.
pub fn all() -> &'static [Mutant] { &[] }
/// Main.
pub fn main(_arguments: impl IntoIterator<Item = std::ffi::OsString>) -> std::process::ExitCode { std::process::ExitCode::FAILURE }
