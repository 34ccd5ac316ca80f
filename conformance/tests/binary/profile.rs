//! Profiles: what seatcheck must know of one runner beside its preset.

use reports::Verdict;

use crate::programs::python;
use crate::support::{Done, Seatcheck, program};

/// A folder with these files, and the path of `profile.yaml` in it.
fn profile(files: &[(&str, &str)]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join("profile.yaml").to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_mistake_is_shown_with_its_line() {
    let (_folder, path) = profile(&[("profile.yaml", "agent_names: [dsh]\nenviroment: {A: b}\n")]);
    let done = Seatcheck::new().run(["run", "--profile", &path]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    for part in [
        &format!("{path}:2:1: unknown field `enviroment`"),
        "    enviroment: {A: b}\n    ^",
        "hint:",
    ] {
        assert!(done.stderr.contains(part), "{part} is not in {}", done.stderr);
    }
}

#[test]
fn claims_beside_a_profiles_preset_are_refused() {
    let (_folder, path) = profile(&[
        ("profile.yaml", "preset: mine.yaml\n"),
        ("mine.yaml", "format: 1\nname: mine\ncommand: mine\n"),
    ]);
    let done = Seatcheck::new().run(["run", "--profile", &path, "--first-input"]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("hint:"), "{}", done.stderr);
}

#[test]
fn a_version_command_that_fails_says_how() {
    for (command, said) in [
        ("exit 3", "failed: exit status: 3"),
        ("true", "printed nothing"),
        ("echo no such flag >&2; exit 1", "no such flag"),
    ] {
        let (_folder, path) = profile(&[("profile.yaml", &format!("version_command: '{command}'\n"))]);
        let done = Seatcheck::new().run(["run", "--only", "promotion/1-*", "--profile", &path]);
        assert_eq!(done.code, Some(2), "{command}: {}", done.stderr);
        assert!(
            done.stderr.contains(said) && done.stderr.contains("hint:"),
            "{command}: {}",
            done.stderr
        );
    }
}

#[test]
fn a_version_command_leaves_nothing_behind_and_gets_nothing_of_ours() {
    let command = "sleep 1000 & echo \"mine 1.2 $SECRET_OF_THE_CALLER$MINE_AGENT\"; echo second";
    let text = format!("environment: {{MINE_AGENT: set}}\nversion_command: '{command}'\n");
    let (_folder, path) = profile(&[("profile.yaml", &text)]);
    let seatcheck = Seatcheck::new();
    let arguments = [
        "run",
        "--only",
        "promotion/1-*",
        "--profile",
        &path,
        "--format",
        "json",
    ];
    let output = seatcheck
        .command(arguments)
        .env("SECRET_OF_THE_CALLER", "leaked")
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report = Done::new(output).report();
    assert_eq!(report.runner.version.as_deref(), Some("mine 1.2 set; second"));
    seatcheck.assert_nothing_left();
}

#[test]
fn a_whole_profile_drives_a_runner() {
    let Some(python) = python() else { return };
    let runner = program("plain_runner.py");
    let preset = format!(
        "format: 1\nname: plain\ncommand: {python} {}\nmaintainer: somebody\nrunner: true\nlaunch_result: true\n\
         resume: true\nlimits: [fork unsupported]\n",
        runner.display()
    );
    let text = "preset: plain.yaml\nagent_names: [some-agent]\narguments: [--agent, '{agent} acp']\nenvironment: \
                {PLAIN_AGENT: 'at {agent}'}\nmissing:\n  - {code: -32002, message: 'gone*'}\nversion_command: printf \
                'plain-runner 1.0\\n\\nbuilt for tests\\n'\n";
    let (folder, path) = profile(&[("profile.yaml", text), ("plain.yaml", &preset)]);
    let seatcheck = Seatcheck::new();
    let out = folder.path().join("out");
    let arguments = ["run", "--only", "promotion/[16]-*", "--profile", &path];
    let done =
        seatcheck.run(
            arguments
                .into_iter()
                .chain(["--format", "json", "--out", out.to_str().unwrap()]),
        );
    seatcheck.assert_nothing_left();
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let report = done.report();
    assert_eq!(
        report.runner.version.as_deref(),
        Some("plain-runner 1.0; built for tests")
    );
    assert_eq!(report.runner.name, "plain");
    assert_eq!(
        report.runner.pinned_missing,
        [r#"{"code":-32002,"message":"gone*"}"#]
    );
    let proven = report
        .clauses
        .iter()
        .find(|clause| clause.id == "declaration.resume-proven")
        .unwrap();
    assert_eq!(proven.verdict, Verdict::Pass, "{proven:?}");
    // The agent was started by its path, the variable names it, and the histories say what was declared.
    let history =
        std::fs::read_to_string(out.join("scenarios/promotion/1-ready-after-handshake/history.jsonl"))
            .unwrap();
    assert!(history.contains("/some-agent acp"), "{history}");
    assert!(history.contains("\"PLAIN_AGENT\":\"at /"), "{history}");
    let header: serde_json::Value = serde_json::from_str(history.lines().next().unwrap()).unwrap();
    assert_eq!(header["contract"], "0.7.6-draft");
    assert_eq!(header["declared"]["limits"][0], "fork unsupported");
    assert_eq!(header["declared"]["missing"][0]["message"], "gone*");
    let again = seatcheck.run(["judge", out.to_str().unwrap(), "--format", "json"]);
    assert_eq!(again.stdout, done.stdout);
}
