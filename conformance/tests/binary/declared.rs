//! What a runner declares decides what concerns it, and the run decides whether it is true.

use std::path::Path;

use reports::{ClauseReport, Report, Verdict};

use crate::support::{Seatcheck, program, python, tmux_is_here};

fn clause<'r>(report: &'r Report, id: &str) -> &'r ClauseReport {
    report.clauses.iter().find(|clause| clause.id == id).unwrap()
}

/// A preset of the plain runner, broken by that fault, which declares everything.
fn preset(folder: &Path, python: &str, fault: &str) -> String {
    let path = folder.join("plain.yaml");
    let command = format!(
        "{python} {} --fault {fault}",
        program("plain_runner.py").display()
    );
    let text = format!(
        "format: 1\nname: dsh\ncommand: {command}\nmaintainer: somebody\nrunner: true\nlaunch_result: true\nresume: \
         true\nfirst_input: true\npasses_model: true\nlimits: [fork unsupported]\n"
    );
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A shell that stands before the runner dies of a SIGTERM by itself: that must not be the runner's fault.
#[test]
fn a_preset_whose_command_is_a_line_for_a_shell_is_stopped_like_a_program() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.yaml");
    let text = format!(
        "format: 1\nname: dsh\ncommand: \"cd / && {python} {} ; true\"\nrunner: true\nlaunch_result: true\n",
        program("plain_runner.py").display()
    );
    std::fs::write(&path, text).unwrap();
    let seatcheck = Seatcheck::new();
    let preset = path.to_str().unwrap();
    let mut transports = vec!["pty"];
    if tmux_is_here() {
        transports.push("tmux");
    }
    for transport in transports {
        let arguments = ["run", "--preset", preset, "--transport", transport];
        let done =
            seatcheck.run(
                arguments
                    .into_iter()
                    .chain(["--only", "shutdown/terminate*", "--format", "json"]),
            );
        seatcheck.assert_nothing_left();
        assert_eq!(
            clause(&done.report(), "shutdown.terminate").verdict,
            Verdict::Pass,
            "{transport}: {}",
            done.stdout
        );
    }
}

#[test]
fn what_is_declared_and_not_done_fails() {
    let Some(python) = python() else { return };
    for (fault, id, only) in [
        (
            "first-input-ignored",
            "handoff.first-input",
            "handoff/first-input",
        ),
        ("model-ignored", "handoff.model", "handoff/model-option"),
        ("resume-new-at-once", "declaration.resume-proven", "promotion/6-*"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let preset = preset(folder.path(), python, fault);
        let seatcheck = Seatcheck::new();
        let out = folder.path().join("out");
        let out = out.to_str().unwrap();
        let arguments = ["run", "--preset", &preset, "--only", only, "--patience", "6s"];
        let done = seatcheck.run(arguments.into_iter().chain(["--format", "json", "--out", out]));
        assert_eq!(done.code, Some(1), "{fault}: {}", done.stderr);
        let report = done.report();
        let broken = clause(&report, id);
        assert_eq!(broken.verdict, Verdict::Fail, "{broken:?}");
        // The preset's place and the run's own events, from the files alone too.
        if id == "declaration.resume-proven" {
            let said = broken.said.as_deref().unwrap_or_default();
            assert!(said.contains("plain.yaml:7:9: "), "{said}");
            assert!(
                broken.scenario.is_some() && !broken.events.is_empty(),
                "{broken:?}"
            );
        }
        std::fs::remove_file(&preset).unwrap();
        let again = seatcheck.run(["judge", out, "--format", "json"]);
        assert_eq!(again.stdout, done.stdout, "{fault}");
    }
}

#[test]
fn what_is_not_declared_does_not_concern_the_runner() {
    let done = Seatcheck::new().run([
        "run",
        "--only",
        "promotion/*",
        "--resume",
        "false",
        "--format",
        "json",
    ]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let report = done.report();
    for (id, flag) in [
        ("resume.never-new", "--resume"),
        ("handoff.first-input", "--first-input"),
        ("handoff.model", "--passes-model"),
    ] {
        let clause = clause(&report, id);
        assert_eq!(clause.verdict, Verdict::NotApplicable, "{clause:?}");
        assert!(
            clause.said.as_deref().is_some_and(|said| said.contains(flag)),
            "{clause:?}"
        );
    }
    assert!(
        report
            .scenarios
            .iter()
            .all(|scenario| !scenario.id.starts_with("promotion/6"))
    );
}

#[test]
fn claims_are_made_by_bare_flags_too() {
    let seatcheck = Seatcheck::new();
    let binary = env!("CARGO_BIN_EXE_seatcheck");
    let arguments = [
        "run",
        "--only",
        "handoff/model-o*",
        "--passes-model",
        "--first-input",
        "--resume",
        "--name",
        "mine",
    ];
    let done =
        seatcheck.run(
            arguments
                .into_iter()
                .chain(["--format", "json", "--", binary, "__reference-runner"]),
        );
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let report = done.report();
    assert_eq!(report.runner.name, "mine");
    let claims = report.runner.claims;
    assert!(
        claims.resume && claims.first_input && claims.passes_model,
        "{claims:?}"
    );
    assert_eq!(clause(&report, "handoff.model").verdict, Verdict::Pass);
    // Nothing to judge a declaration by.
    assert_eq!(clause(&report, "declaration.shape").verdict, Verdict::NotSelected);
}

#[test]
fn the_presets_clauses_can_be_selected() {
    let seatcheck = Seatcheck::new();
    let done = seatcheck.run(["run", "--clause", "declaration.*", "--format", "json"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let report = done.report();
    for clause in &report.clauses {
        let expected = match clause.id.starts_with("declaration.") {
            true => Verdict::Pass,
            false => Verdict::NotSelected,
        };
        assert_eq!(clause.verdict, expected, "{clause:?}");
    }
    let done = seatcheck.run(["run", "--clause", "declaration.shape"]);
    assert_eq!(done.code, Some(5), "{}", done.stderr);
    assert!(done.stderr.contains("seatcheck lint"), "{}", done.stderr);
}

#[test]
fn a_preset_says_what_the_flags_would() {
    for flags in [
        ["--name", "mine"],
        ["--resume", "false"],
        ["--first-input", "true"],
        ["--profile", "p.yaml"],
    ] {
        let done = Seatcheck::new().run(["run", "--preset", "preset.yaml"].into_iter().chain(flags));
        assert_eq!(done.code, Some(2), "{flags:?}: {}", done.stderr);
        assert!(done.stderr.contains("cannot be used with"), "{}", done.stderr);
    }
}
