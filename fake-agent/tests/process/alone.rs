//! Without an engine: the built-in behaviour, script files and the log.

use std::io::Write as _;
use std::process::{Output, Stdio};

use fake_agent::control::{Fact, Report};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Runner, command};

/// Runs the agent on a whole input, to its end.
fn run(arguments: &[&str], input: &str) -> Output {
    let mut command = command();
    command.args(arguments).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // An agent that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn opens_a_conversation_and_answers_prompts() {
    let mut runner = Runner::start(command());
    let answer = runner.call(json!(0), "initialize", json!({"protocolVersion": 1}));
    assert_eq!(
        answer["result"],
        json!({
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": true},
            "agentInfo": {"name": "fake-agent", "version": "1"},
            "authMethods": [],
        })
    );
    assert_eq!(runner.open(), "conversation-1");
    for id in [7, 8] {
        runner.prompt(id);
        let update = runner.message();
        assert_eq!(update["method"], "session/update");
        assert_eq!(update["params"]["sessionId"], "conversation-1");
        assert_eq!(update["params"]["update"]["sessionUpdate"], "agent_message_chunk");
        assert_eq!(
            update["params"]["update"]["content"],
            json!({"type": "text", "text": "done"})
        );
        assert_eq!(
            runner.message(),
            json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}})
        );
    }
    runner.end_input();
    assert!(runner.end().success());
}

#[test]
fn echoes_ids_of_any_type_as_they_were_spelled() {
    let mut runner = Runner::start(command());
    for id in [
        "0",
        "-1",
        "1.0",
        "1e2",
        "12345678901234567890123",
        r#""a""#,
        r#""\u00e9/""#,
        "null",
        "[1]",
    ] {
        runner.write(format!("{{\"id\":{id},\"method\":\"authenticate\"}}\n").as_bytes());
        let line = String::from_utf8(runner.line().unwrap()).unwrap();
        assert_eq!(line, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
}

#[test]
fn answers_by_its_capabilities() {
    let full = "
        conversations: [a]
        capabilities: {loadSession: true, sessionCapabilities: {resume: {}, close: {}, list: {}}}";
    let bare = "capabilities: {sessionCapabilities: {resume: null}}";
    let mut full = Runner::alone(full);
    let mut bare = Runner::alone(bare);
    let mut results = |method: &str| {
        let ask = |runner: &mut Runner| {
            let answer = runner.call(json!(1), method, json!({"sessionId": "a"}));
            answer
                .get("result")
                .cloned()
                .unwrap_or_else(|| answer["error"]["code"].clone())
        };
        (ask(&mut full), ask(&mut bare))
    };
    let unknown = json!(-32601);
    assert_eq!(results("session/load"), (Value::Null, unknown.clone()));
    assert_eq!(results("session/resume"), (json!({}), unknown.clone()));
    assert_eq!(results("session/close"), (json!({}), unknown.clone()));
    assert_eq!(results("foo/bar"), (unknown.clone(), unknown.clone()));
    for method in [
        "session/set_mode",
        "session/set_model",
        "session/set_config_option",
        "authenticate",
    ] {
        assert_eq!(results(method), (json!({}), json!({})));
    }
    full.open();
    full.open();
    let list = full.call(json!(2), "session/list", json!({}));
    let sessions = list["result"]["sessions"].as_array().unwrap();
    let ids: Vec<&str> = sessions
        .iter()
        .map(|session| session["sessionId"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["a", "conversation-2"]);
}

#[test]
fn answers_all_that_needs_no_waiting_before_the_input_ends() {
    let input =
        "{\"id\":1,\"method\":\"authenticate\"}\nnot json\n\n[]\n{\"id\":2,\"method\":\"authenticate\"}\n";
    let output = run(&[], input);
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
    assert!(output.status.success());
}

#[test]
fn gates_are_open() {
    let mut runner = Runner::alone("turns: [[{gate: a}, {end: refusal}]]");
    runner.prompt(1);
    assert_eq!(runner.message()["result"]["stopReason"], "refusal");
}

#[test]
fn writes_a_log() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("log.jsonl");
    let output = run(
        &["--log", path.to_str().unwrap()],
        "{\"id\":1,\"method\":\"authenticate\"}\nrest",
    );
    assert!(output.status.success());
    let log = std::fs::read_to_string(path).unwrap();
    let reports: Vec<Report> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = reports
        .iter()
        .map(|report| match report.fact {
            Fact::Received { unfinished: None, .. } => "received",
            Fact::Received {
                unfinished: Some(_), ..
            } => "unfinished",
            Fact::Sent { .. } => "sent",
            Fact::EndOfInput => "end",
            Fact::Ending(_) => "ending",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["received", "sent", "unfinished", "end", "ending"]);
    assert!(reports.iter().all(|report| report.at > 0));
}

#[test]
fn a_bad_script_is_shown_and_ends_with_2() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("bad.yaml");
    std::fs::write(&path, "agent:\n  turns:\n    - - sya: hi\n").unwrap();
    let output = run(&["--script", path.to_str().unwrap()], "");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.starts_with(&format!("error: {}:3:", path.display())),
        "{text}"
    );
    assert!(
        text.contains("    - - sya: hi\n") && text.contains("hint: "),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_missing_script_and_bad_usage_end_with_2() {
    for arguments in [
        &["--script", "/no/such/file"][..],
        &["--bogus"],
        &["acp"],
        &["--label", "x"],
    ] {
        let output = run(arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stderr.starts_with(b"error: "), "{arguments:?}");
    }
}

#[test]
fn what_the_runner_passes_on_is_ignored() {
    assert!(run(&["--", "acp", "--model", "x"], "").status.success());
}
