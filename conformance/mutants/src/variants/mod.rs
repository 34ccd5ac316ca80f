//! Variants: the reference runner in another manner, the contract kept.
//!
//! A reading says how an open question of the contract is judged, and what is let pass. Each manner takes the side of
//! one reading that the reference runner does not take, so that every free choice has a runner on either side of it.

#[cfg(test)]
#[path = "tests.rs"]
mod crossing_tests;
mod identity;
mod input;
mod posts;
mod requests;
mod slow;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::LazyLock;

use reference_runner::Edge;

use crate::chain::Chain;

/// The other side of one reading.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// The reading's number.
    pub reading: u32,
    /// What the runner does, as the end of a sentence.
    pub does: &'static str,
    edge: fn() -> Box<dyn Edge>,
}

/// A runner of another manner.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Its name, unique among all variants.
    pub name: &'static str,
    /// What kind of runner it is.
    pub about: &'static str,
    /// Its manners, from the runner's own side outwards.
    pub manners: Vec<Manner>,
    edge: fn(&Variant) -> Box<dyn Edge>,
}

/// All variants.
#[must_use]
pub fn all() -> &'static [Variant] {
    static ALL: LazyLock<Vec<Variant>> = LazyLock::new(|| {
        let of_manners = |name, about, manners: &[&[Manner]]| Variant {
            name,
            about,
            manners: manners.concat(),
            edge: chained,
        };
        let slow = |name, edge| Variant {
            name,
            about: "does everything a moment later, as on a slow machine; each of these takes other moments",
            manners: Vec::new(),
            edge,
        };
        vec![
            of_manners(
                "terse",
                "says as little as the contract allows",
                &[posts::TERSE, input::TERSE, identity::TERSE, requests::TERSE],
            ),
            of_manners(
                "eager",
                "says and asks as much as the contract allows",
                &[posts::EAGER, input::EAGER, requests::EAGER],
            ),
            slow("slow-1", |_| slow::edge(1)),
            slow("slow-2", |_| slow::edge(2)),
            slow("slow-3", |_| slow::edge(3)),
        ]
    });
    &ALL
}

fn chained(variant: &Variant) -> Box<dyn Edge> {
    Box::new(Chain(
        variant.manners.iter().map(|manner| (manner.edge)()).collect(),
    ))
}

/// Runs the variant that the first argument names, with the reference runner's own options after it (the program's
/// name is not among the arguments). Returns what the reference runner would return; 2 for an unknown name or wrong
/// options.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let name = arguments.next().unwrap_or_default();
    let Some(variant) = all().iter().find(|variant| name == variant.name) else {
        eprintln!("error: there is no variant {:?}", name.to_string_lossy());
        eprintln!("hint: give one of these names, then the reference runner's options:");
        for variant in all() {
            eprintln!("  {:8} {}", variant.name, variant.about);
        }
        return ExitCode::from(crate::WRONG_USAGE);
    };
    crate::start(
        &format!("variant {}", variant.name),
        arguments,
        (variant.edge)(variant),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_an_unknown_one_is_refused() {
        let names: BTreeSet<&str> = all().iter().map(|variant| variant.name).collect();
        assert_eq!(names.len(), all().len());
        let refused = format!("{:?}", ExitCode::from(crate::WRONG_USAGE));
        for arguments in [&[][..], &["no-such-variant"], &["terse", "--no-such-option"]] {
            let code = main(arguments.iter().map(OsString::from));
            assert_eq!(format!("{code:?}"), refused, "{arguments:?}");
        }
    }
}
