//! Seats in tmux: the same verdicts as on a terminal of the kit's own, and nothing left.

use reports::{Outcome, Report, Verdict};

use crate::support::{Seatcheck, complaints, is_here, program, tmux_is_here};

fn whole_library(transport: &str, runner: &[&str]) -> Report {
    let seatcheck = Seatcheck::new();
    let mut arguments = vec!["run", "--transport", transport, "--format", "json"];
    arguments.extend(runner);
    let done = seatcheck.run(arguments);
    seatcheck.assert_nothing_left();
    let report = done.report();
    assert_eq!(report.transport, transport);
    assert_eq!(complaints(&report), Vec::<String>::new());
    assert_eq!((done.code, report.outcome), (Some(0), Outcome::Conformant));
    report
}

#[test]
fn the_reference_runner_is_judged_as_on_a_terminal() {
    if !tmux_is_here() {
        return;
    }
    let on_terminal = whole_library("pty", &[]);
    let in_tmux = whole_library("tmux", &[]);
    assert_eq!(on_terminal.left_out, []);
    assert!(!in_tmux.left_out.is_empty());
    assert!(in_tmux.part.is_some_and(|part| part.contains("--transport tmux")));
    for (terminal, tmux) in on_terminal.clauses.iter().zip(&in_tmux.clauses) {
        if tmux.verdict == Verdict::NotSelected {
            // Never silently: it says which scenario could not be done, and why.
            let said = tmux.said.as_deref().unwrap_or_default();
            assert!(said.contains("can't be done by tmux"), "{}: {said:?}", tmux.id);
        } else {
            assert_eq!(terminal.verdict, tmux.verdict, "{}: {:?}", tmux.id, tmux.said);
        }
    }
}

#[test]
fn a_conformant_runner_that_is_not_ours() {
    if tmux_is_here() && is_here("python3", "--version") {
        let plain = program("plain_runner.py");
        whole_library("tmux", &["--", "python3", plain.to_str().unwrap()]);
    }
}

#[test]
fn what_is_broken_on_a_terminal_is_broken_in_tmux() {
    if !tmux_is_here() || !is_here("python3", "--version") {
        return;
    }
    let plain = program("plain_runner.py");
    let seatcheck = Seatcheck::new();
    for (fault, clause) in [
        ("no-record", "identity.record-written"),
        ("id-posted", "identity.only-channel"),
    ] {
        let done = seatcheck.run([
            "run",
            "--transport",
            "tmux",
            "--patience",
            "6s",
            "--clause",
            clause,
            "--format",
            "json",
            "--",
            "python3",
            plain.to_str().unwrap(),
            "--fault",
            fault,
        ]);
        seatcheck.assert_nothing_left();
        let report = done.report();
        let judged = report.clauses.iter().find(|judged| judged.id == clause).unwrap();
        assert_eq!(judged.verdict, Verdict::Fail, "{fault}: {:?}", judged.said);
    }
}

/// Runs a shell script in the place of a runner, and gives the report.
fn in_the_pane(script: &str, outcome: Outcome) -> Report {
    let seatcheck = Seatcheck::new();
    let done = seatcheck.run([
        "run",
        "--transport",
        "tmux",
        "--only",
        "promotion/1-*",
        "--patience",
        "4s",
        "--format",
        "json",
        "--",
        "/bin/sh",
        "-c",
        script,
    ]);
    seatcheck.assert_nothing_left();
    let report = done.report();
    assert_eq!(report.outcome, outcome, "{:?}", report.reasons);
    report
}

#[test]
fn a_program_that_kills_what_stands_around_it() {
    if !tmux_is_here() {
        return;
    }
    let tmux_server = "kill -KILL $(echo \"$TMUX\" | cut -d, -f2); exec sleep 1000";
    let launcher = "kill -KILL $PPID; exec sleep 1000";
    let whole_group = "kill -KILL 0";
    for script in [tmux_server, launcher, whole_group] {
        in_the_pane(script, Outcome::Inconclusive);
    }
}

#[test]
fn a_program_that_kills_its_supervisor() {
    if !tmux_is_here() {
        return;
    }
    // The supervisor is what the server's daemon was left to.
    let script = r#"server=$(echo "$TMUX" | cut -d, -f2)
        kill -KILL $(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$server/status"); exec sleep 1000"#;
    let report = in_the_pane(script, Outcome::Inconclusive);
    assert!(
        report
            .reasons
            .iter()
            .any(|reason| reason.contains("supervisor was killed")),
        "{:?}",
        report.reasons
    );
}

#[test]
fn a_program_that_goes_its_own_way_is_ended() {
    if tmux_is_here() {
        let script = "trap '' HUP; setsid sh -c 'trap \"\" HUP; sleep 1000' & sleep 1000; sleep 1000";
        let report = in_the_pane(script, Outcome::NotConformant);
        assert!(report.reasons.contains(&"broken: shutdown.hangup".to_owned()));
    }
}

#[test]
fn without_tmux_it_says_what_to_do() {
    let empty = tempfile::tempdir().unwrap();
    let seatcheck = Seatcheck::new();
    let output = seatcheck
        .command(["run", "--transport", "tmux"])
        .env("PATH", empty.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("error: --transport tmux") && said.contains("hint: install tmux"),
        "{said}"
    );
    seatcheck.assert_nothing_left();
}
