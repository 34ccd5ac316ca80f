//! Runners of other manners, which keep the contract: no clause may fail one of them.

use crate::support::{Seatcheck, complaints};
use reports::Outcome;

/// Runs a variant of the reference runner through the whole library. Nothing may be wrong with it but what is
/// `allowed`: what begins so.
fn passes(variant: &str, allowed: &[&str]) {
    let seatcheck = Seatcheck::new();
    let done = seatcheck.run([
        "run",
        "--first-input",
        "--passes-model",
        "--format",
        "json",
        "--",
        env!("CARGO_BIN_EXE_seatcheck"),
        "__variant",
        variant,
    ]);
    seatcheck.assert_nothing_left();
    let report = done.report();
    let wrong: Vec<String> = complaints(&report)
        .into_iter()
        .filter(|complaint| !allowed.iter().any(|allowed| complaint.starts_with(allowed)))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
    let unfinished: Vec<&str> = report
        .scenarios
        .iter()
        .filter(|scenario| !scenario.completed)
        .map(|scenario| scenario.id.as_str())
        .collect();
    assert_eq!(unfinished, Vec::<&str>::new());
    assert_eq!((done.code, report.outcome), (Some(0), Outcome::Conformant));
}

#[test]
fn a_runner_that_says_as_little_as_it_may() {
    // It writes its record in place, which no must forbids.
    passes("terse", &["warning identity.whole-file"]);
}

#[test]
fn a_runner_that_says_as_much_as_it_may() {
    passes("eager", &[]);
}

#[test]
fn a_slow_runner() {
    passes("slow-1", &[]);
}

#[test]
fn a_slow_runner_in_other_places() {
    passes("slow-2", &[]);
    passes("slow-3", &[]);
}
