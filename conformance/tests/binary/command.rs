//! The command's own manners: errors, exit codes, lists.

use crate::support::Seatcheck;

/// A file in a folder that lives as long as the guard.
fn file(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_bad_scenario_is_shown_with_its_line() {
    let (_folder, path) = file(
        "bad.yaml",
        "title: t\nwhy: w\nexercises: [cancel.posted]\nsteps:\n  - launch: {}\n  - until: {agnet: session/prompt}\n",
    );
    let done = Seatcheck::new().run(["run", "--scenario", &path]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    for part in [
        &format!("{path}:6:"),
        "agnet",
        "- until: {agnet: session/prompt}",
        "hint:",
    ] {
        assert!(done.stderr.contains(part), "{part} is not in {}", done.stderr);
    }
    assert_eq!(done.stdout, "");
}

#[test]
fn a_bad_preset_is_shown_with_its_line() {
    let (_folder, path) = file("bad.yaml", "format: 1\nname: mine\ncommand: [not, a, text]\n");
    let done = Seatcheck::new().run(["run", "--preset", &path]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("3") && done.stderr.contains("command"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_bad_history_is_shown_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let seatcheck = Seatcheck::new();
    let out = folder.path().to_str().unwrap();
    let done = seatcheck.run(["run", "--only", "promotion/1-*", "--out", out]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let history = folder
        .path()
        .join("scenarios/promotion/1-ready-after-handshake/history.jsonl");
    let text = std::fs::read_to_string(&history).unwrap();
    std::fs::write(&history, text.replacen("\"sequence\":2,", "\"sequence\":2,,", 1)).unwrap();
    let done = seatcheck.run(["judge", out]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("history.jsonl: line 3"), "{}", done.stderr);
}

#[test]
fn a_folder_that_is_no_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let done = Seatcheck::new().run(["judge", folder.path().to_str().unwrap()]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("run.json") && done.stderr.contains("hint:"),
        "{}",
        done.stderr
    );
}

#[test]
fn nothing_selected_is_an_error_of_its_own() {
    for arguments in [["run", "--only", "no/such"], ["run", "--clause", "no.such"]] {
        let done = Seatcheck::new().run(arguments);
        assert_eq!(done.code, Some(5), "{}", done.stderr);
        assert!(done.stderr.contains("hint:"), "{}", done.stderr);
    }
}

#[test]
fn a_program_that_does_not_exist_is_said_so_at_once() {
    let done = Seatcheck::new().run(["run", "--", "./no-such-runner"]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("no-such-runner") && done.stderr.contains("hint:"),
        "{}",
        done.stderr
    );
}

#[test]
fn clauses_are_listed_for_programs() {
    let done = Seatcheck::new().run(["list", "clauses", "--format", "json"]);
    assert_eq!(done.code, Some(0));
    let rows: Vec<serde_json::Value> = serde_json::from_str(&done.stdout).unwrap();
    let posted = rows.iter().find(|row| row["id"] == "cancel.posted").unwrap();
    assert_eq!(
        (&posted["level"], &posted["basis"]),
        (&"must".into(), &"§6".into())
    );
    assert!(posted["text"].as_str().is_some_and(|text| !text.is_empty()));
    let names = |list: &str| posted[list].as_array().unwrap().clone();
    assert!(
        names("scenarios").contains(&"promotion/5-abort-cancelled".into()),
        "{posted}"
    );
    assert!(!names("mutants").is_empty(), "{posted}");
    let shape = rows.iter().find(|row| row["id"] == "declaration.shape").unwrap();
    assert!(
        shape["unbreakable"].as_str().is_some_and(|why| !why.is_empty()),
        "{shape}"
    );
}

#[test]
fn an_unknown_contract_is_refused_with_those_that_are_known() {
    for arguments in [["run", "--contract", "0.9"], ["judge", "x", "--contract=0.9"]] {
        let done = Seatcheck::new().run(arguments);
        assert_eq!(done.code, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains("0.7.6-draft"), "{}", done.stderr);
    }
    let done = Seatcheck::new().run(["list", "clauses", "--contract", "0.7.6-draft"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}

#[test]
fn a_run_for_an_unknown_contract_is_judged_only_by_a_named_one() {
    let folder = tempfile::tempdir().unwrap();
    let seatcheck = Seatcheck::new();
    let out = folder.path().to_str().unwrap();
    let done = seatcheck.run(["run", "--only", "promotion/1-*", "--out", out]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let run = folder.path().join("run.json");
    let text = std::fs::read_to_string(&run).unwrap();
    std::fs::write(
        &run,
        text.replace("\"contract\": \"0.7.6-draft\"", "\"contract\": \"0.9\""),
    )
    .unwrap();
    let done = seatcheck.run(["judge", out]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("\"0.9\"") && done.stderr.contains("0.7.6-draft"),
        "{}",
        done.stderr
    );
    let done = seatcheck.run(["judge", out, "--contract", "0.7.6-draft"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}
