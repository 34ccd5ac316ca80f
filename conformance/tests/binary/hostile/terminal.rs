//! Programs that ask their terminal, and programs that take it over.

use reports::Outcome;

use super::Hostile;
use crate::support::{Seatcheck, program, python};

#[test]
fn one_that_waits_for_its_terminals_answers_works_as_it_does_in_tmux() {
    let Some(run) = Hostile::run("asks-its-terminal", "promotion/3-*") else {
        return;
    };
    assert_eq!(
        run.report.outcome,
        Outcome::Conformant,
        "{:#?}",
        run.report.reasons
    );
    assert_eq!(run.history.matches("\"answer\":{").count(), 5);
}

#[test]
fn one_that_asks_without_end_is_answered_within_bounds() {
    let Some(run) = Hostile::run("asks-without-end", "promotion/1-*") else {
        return;
    };
    assert!(run.history.contains("\"answer\":{"), "nothing was answered");
    assert!(run.history.len() < 32 << 20, "{}", run.history.len());
}

#[test]
fn one_that_takes_its_terminal_over_breaks_nothing() {
    let Some(run) = Hostile::run("changes-its-terminal", "promotion/3-*") else {
        return;
    };
    assert_eq!(
        run.report.outcome,
        Outcome::Conformant,
        "{:#?}",
        run.report.reasons
    );
}

#[test]
fn the_terminal_that_seatcheck_runs_in_stays_as_it_was() {
    let Some(python) = python() else { return };
    let seatcheck = Seatcheck::new();
    let runner = program("hostile_runner.py");
    let run = seatcheck.command(["run", "--only", "promotion/3-*", "--", python]);
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", "stty -g; \"$@\"; echo ended; stty -g", "sh"])
        .arg(run.get_program())
        .args(run.get_args())
        .arg(runner)
        .arg("changes-its-terminal")
        .envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut session = rexpect::session::spawn_command(shell, Some(60_000)).unwrap();
    let before = session.read_line().unwrap();
    let shown = session.exp_string("ended").unwrap();
    session.read_line().unwrap();
    let after = session.read_line().unwrap();
    session.exp_eof().unwrap();
    assert_eq!(before.trim(), after.trim());
    for foreign in ["\x1b[?1049h", "\x1bc", "taken over", "\x1b[?1003h", "\x1b[5;9r"] {
        assert!(!shown.contains(foreign), "{foreign:?} went through: {shown:?}");
    }
    assert!(shown.contains("conformant"), "{shown}");
    drop(session);
    seatcheck.assert_nothing_left();
}
