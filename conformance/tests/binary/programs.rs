//! Programs that are not ours: what the kit says of them, and that nothing of them is left.

use crate::support::{Seatcheck, complaints, program};
use reports::{Outcome, Verdict};

/// Runs a program that is no runner through the whole library.
fn no_runner(command: &[&str]) -> reports::Report {
    let seatcheck = Seatcheck::new();
    let mut arguments = vec!["run", "--patience", "4s", "--format", "json", "--"];
    arguments.extend(command);
    let done = seatcheck.run(arguments);
    assert_eq!(done.code, Some(3), "{}{}", done.stdout, done.stderr);
    seatcheck.assert_nothing_left();
    let report = done.report();
    assert_eq!(report.outcome, Outcome::Inconclusive);
    let passed: Vec<_> = report
        .clauses
        .iter()
        .filter(|clause| clause.verdict == Verdict::Pass)
        .map(|clause| &clause.id)
        .collect();
    assert!(passed.is_empty(), "{passed:?} passed without a runner");
    assert!(
        report
            .reasons
            .iter()
            .any(|reason| reason.contains("no agent was ever started")),
        "{:?}",
        report.reasons
    );
    report
}

#[test]
fn a_program_that_ends_at_once() {
    no_runner(&["/bin/true"]);
}

#[test]
fn a_program_that_echoes() {
    no_runner(&["/bin/cat"]);
}

#[test]
fn a_program_that_is_silent() {
    no_runner(&["sleep", "1000"]);
}

#[test]
fn a_program_that_never_stops_talking() {
    let seatcheck = Seatcheck::new();
    let done = seatcheck.run([
        "run",
        "--only",
        "promotion/1-*",
        "--patience",
        "4s",
        "--format",
        "json",
        "--",
        "yes",
    ]);
    seatcheck.assert_nothing_left();
    assert_ne!(done.code, Some(0), "{}", done.stderr);
    assert!(
        done.stdout.contains("no agent had been started"),
        "{}",
        done.stdout
    );
}

#[test]
fn a_program_that_kills_its_supervisor() {
    let seatcheck = Seatcheck::new();
    let script = "kill -KILL $PPID; exec sleep 1000";
    let done = seatcheck.run([
        "run",
        "--only",
        "promotion/1-*",
        "--format",
        "json",
        "--",
        "/bin/sh",
        "-c",
        script,
    ]);
    assert_eq!(done.code, Some(3), "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("supervisor was killed"), "{}", done.stdout);
    seatcheck.assert_nothing_left();
}

#[test]
fn a_shell_script_that_knows_nothing_of_the_contract() {
    let seatcheck = Seatcheck::new();
    let shell_runner = program("shell_runner.sh");
    let done = seatcheck.run([
        "run",
        "--suite",
        "promotion",
        "--patience",
        "6s",
        "--format",
        "json",
        "--",
        shell_runner.to_str().unwrap(),
        "dsh",
        "acp",
    ]);
    seatcheck.assert_nothing_left();
    assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
    let report = done.report();
    let failed: Vec<&str> = report
        .clauses
        .iter()
        .filter(|clause| clause.verdict == Verdict::Fail)
        .map(|clause| clause.id.as_str())
        .collect();
    assert!(failed.contains(&"identity.record-written"), "{failed:?}");
}

/// Whether Python is here. Where it must be, its absence fails the test.
pub(crate) fn python() -> Option<&'static str> {
    let here = std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    let needed = std::env::var("SEATCHECK_TESTS_NEED").is_ok_and(|needed| needed.contains("python3"));
    assert!(here || !needed, "python3 is needed for this test");
    if !here {
        eprintln!("not run: there is no python3");
    }
    here.then_some("python3")
}

#[test]
fn a_conformant_runner_that_is_not_ours() {
    let Some(python) = python() else { return };
    let seatcheck = Seatcheck::new();
    let plain = program("plain_runner.py");
    let done = seatcheck.run(["run", "--format", "json", "--", python, plain.to_str().unwrap()]);
    seatcheck.assert_nothing_left();
    let report = done.report();
    assert_eq!(complaints(&report), Vec::<String>::new());
    assert_eq!((done.code, report.outcome), (Some(0), Outcome::Conformant));
}
