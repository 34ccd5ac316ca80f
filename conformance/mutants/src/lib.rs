//! Mutants: the reference runner with exactly one behaviour broken, at its edge.
//!
//! A check that can't fail proves nothing. So for each clause of the contract there are runners that break it,
//! and `seatcheck self-test` has to catch every one of them by that very clause.
//!
//! And variants: the reference runner in another manner, keeping the whole contract. Where the contract leaves a
//! choice, some variant takes the other side; a clause that calls one of them broken is wrong itself.
//!
//! Invariants: the reference runner knows nothing of these faults; a mutant alters only what crosses the edge;
//! it stays able to go through a scenario up to the place where its fault shows.

mod altered;
mod chain;
mod faults;
mod messages;
mod pastes;
mod posts;
mod records;
mod seen;
mod shown;
mod variants;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::LazyLock;

use reference_runner::{Edge, Options};

pub use variants::{Manner, Variant, all as variants, main as variant_main};

/// A runner with one fault.
#[derive(Debug, Clone, Copy)]
pub struct Mutant {
    /// Its name, unique among all mutants.
    pub name: &'static str,
    /// The clause that must catch it. It may break a neighbouring clause too.
    pub clause: &'static str,
    /// What it does wrong, as the end of a sentence that begins with its name.
    pub fault: &'static str,
    edge: fn() -> Box<dyn Edge>,
}

/// Exit code for a wrong command line.
const WRONG_USAGE: u8 = 2;

/// All mutants, in the order of the clause groups.
#[must_use]
pub fn all() -> &'static [Mutant] {
    static ALL: LazyLock<Vec<Mutant>> = LazyLock::new(|| faults::TABLES.concat());
    &ALL
}

/// Runs the mutant that the first argument names, with the reference runner's own options after it (the
/// program's name is not among the arguments). Returns what the reference runner would return; 2 for an unknown
/// name or wrong options.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let Some(name) = arguments.next() else {
        eprintln!("error: no mutant is named");
        return refuse();
    };
    let Some(mutant) = all().iter().find(|mutant| name == mutant.name) else {
        eprintln!("error: there is no mutant {:?}", name.to_string_lossy());
        return refuse();
    };
    start(&format!("mutant {}", mutant.name), arguments, (mutant.edge)())
}

/// Runs the reference runner with these options of its own behind this edge.
fn start(program: &str, arguments: impl Iterator<Item = OsString>, edge: Box<dyn Edge>) -> ExitCode {
    match Options::parse(std::iter::once(program.into()).chain(arguments)) {
        Ok(options) => reference_runner::run(options, edge),
        Err(refusal) => {
            // Clap prints help to stdout and mistakes to stderr; nothing is left to do if that fails.
            let _ = refusal.print();
            ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(WRONG_USAGE))
        }
    }
}

fn refuse() -> ExitCode {
    eprintln!("hint: give one of these names, then the reference runner's options:");
    for mutant in all() {
        eprintln!("  {:32} {}", mutant.name, mutant.fault);
    }
    ExitCode::from(WRONG_USAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_plain() {
        let names: BTreeSet<&str> = all().iter().map(|mutant| mutant.name).collect();
        assert_eq!(names.len(), all().len());
        for name in names {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            assert!(!name.is_empty() && name.bytes().all(plain), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused() {
        let code = |arguments: &[&str]| format!("{:?}", main(arguments.iter().map(OsString::from)));
        let refused = format!("{:?}", ExitCode::from(WRONG_USAGE));
        assert_eq!(code(&[]), refused);
        assert_eq!(code(&["no-such-mutant"]), refused);
        assert_eq!(code(&["record-never", "--no-such-option"]), refused);
    }
}
