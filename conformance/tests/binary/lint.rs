//! `seatcheck lint`: presets judged from their text alone.

use std::path::Path;

use crate::support::Seatcheck;

const BAD: &str = "\
format: 1
name: mine
command: mine-seat
runner: true
names_conversation: true
limits:
  - a prompt whose whole text is /abort can't be sent
";

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_is_wrong_is_shown_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "mine.yaml", BAD);
    let done = Seatcheck::new().run(["lint", &path]);
    assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
    for part in [
        &format!(
            "{path}:4:9: error: runner: true without launch_result: true\n    runner: true\n            ^"
        ),
        &format!("{path}:5:21: error: runner: true together with names_conversation: true"),
        &format!("{path}:2:7: warning: no maintainer is named"),
        "declaration.launch-result-required (must, §2)",
        "Ctrl-C in a paste, input without a TTY",
    ] {
        assert!(done.stdout.contains(part), "{part} is not in {}", done.stdout);
    }
}

#[test]
fn a_file_that_is_no_preset_breaks_its_shape() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(
        folder.path(),
        "mine.yaml",
        "format: 1\nname: mine\ncommand: [a]\n",
    );
    let done = Seatcheck::new().run(["lint", &path]);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(
        done.stdout.contains(&format!("{path}:3:10: error: ")) && done.stdout.contains("    command: [a]\n"),
        "{}",
        done.stdout
    );
}

#[test]
fn several_presets_are_judged_at_once_and_warnings_fail_none() {
    let folder = tempfile::tempdir().unwrap();
    let warned = written(
        folder.path(),
        "a.yaml",
        "format: 1\nname: a\ncommand: a\nrunner: true\nlaunch_result: true\n",
    );
    let good = concat!(env!("CARGO_MANIFEST_DIR"), "/../reference-runner/dsh.yaml");
    let done = Seatcheck::new().run(["lint", &warned, good, "--format", "json"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let linted: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let finding = |preset: usize, id: &str| {
        let clauses = linted[preset]["clauses"].as_array().unwrap();
        clauses.iter().find(|clause| clause["id"] == id).unwrap().clone()
    };
    assert_eq!(finding(0, "declaration.limits-named")["finding"], "broken");
    assert_eq!(finding(0, "declaration.limits-named")["line"], 4);
    assert_eq!(finding(1, "declaration.limits-named")["finding"], "held");
    assert_eq!(
        finding(1, "declaration.resume-proven")["finding"],
        "not-exercised"
    );
}

#[test]
fn a_file_that_is_not_there_is_bad_usage() {
    let done = Seatcheck::new().run(["lint", "/nowhere/preset.yaml"]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("/nowhere/preset.yaml") && done.stderr.contains("hint:"),
        "{}",
        done.stderr
    );
}
