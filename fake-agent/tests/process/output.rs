//! How the bytes get to the runner: chunks, joined frames, floods, and a runner that does not read.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use fake_agent::control::Fact;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use serde_json::{Value, json};

use crate::support::{Engine, Runner, command};

/// The writes of an agent that is asked for one prompt, each as it was made.
fn writes(script: &str) -> Vec<String> {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("script.yaml");
    std::fs::write(&path, script).unwrap();
    // A socket of packets keeps what is written at once together, and apart from the rest.
    let (ours, theirs) = socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .unwrap();
    let mut command = command();
    command.arg("--script").arg(&path).stdout(theirs);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(b"{\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\"}}\n")
        .unwrap();
    let mut ours = File::from(ours);
    let mut packet = vec![0; 1 << 16];
    let mut writes = Vec::new();
    loop {
        let length = ours.read(&mut packet).unwrap();
        if length == 0 {
            break;
        }
        writes.push(String::from_utf8_lossy(&packet[..length]).into_owned());
    }
    assert!(child.wait().unwrap().success());
    writes
}

const ANSWER: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"stopReason\":\"end_turn\"}}\n";

#[test]
fn a_frame_is_one_write() {
    let writes = writes("turns: [[{say: é}, {end: end_turn}, {exit: {code: 0}}]]");
    assert_eq!(writes.len(), 2);
    assert!(writes[0].contains("é") && writes[0].ends_with("}\n"));
    assert_eq!(writes[1], ANSWER);
}

#[test]
fn framing_cuts_every_frame() {
    let one = writes("framing: {chunk: 1}\nturns: [[{end: end_turn}, {exit: {code: 0}}]]");
    assert!(one.iter().all(|write| write.len() == 1));
    assert_eq!(one.concat(), ANSWER);
    let many = writes("framing: {chunk: 50, gap: 1ms}\nturns: [[{end: end_turn}, {exit: {code: 0}}]]");
    assert_eq!(many, [&ANSWER[..50], &ANSWER[50..]]);
}

#[test]
fn joined_frames_are_one_write_whatever_the_framing() {
    let writes = writes("framing: {chunk: 2}\nturns: [[{joined: [{a: 1}, [2]]}, {exit: {code: 0}}]]");
    assert_eq!(writes, ["{\"a\":1}\n[2]\n"]);
}

#[test]
fn raw_bytes_are_cut_as_asked_and_get_no_newline() {
    let writes = writes("turns: [[{raw: {text: abcde, chunk: 2, gap: 1ms}}, {noise: x}, {exit: {code: 0}}]]");
    assert_eq!(writes, ["ab", "cd", "e", "x\n"]);
}

#[test]
fn a_frame_cut_with_pauses_is_not_mixed_with_another() {
    let mut runner =
        Runner::alone("framing: {chunk: 7, gap: 1ms}\non: {go: [{pause: 1ms}, {say: a}, {result: 1}]}");
    runner.open();
    for id in 0..5 {
        runner.request(json!(id), "go", json!({}));
    }
    let answers = (0..10).filter(|_| runner.message()["result"] == 1).count();
    assert_eq!(answers, 5);
}

#[test]
fn bytes_that_are_not_text_are_reported_as_they_are() {
    let mut engine = Engine::start(json!({"at_start": [{"raw": {"base64": "/wo="}}]}));
    assert_eq!(engine.runner.line().as_deref(), Some(&[0xff][..]));
    let reports = engine.until(|fact| matches!(fact, Fact::RawSent { .. }));
    let Fact::RawSent { bytes } = &reports.last().unwrap().fact else {
        panic!("no bytes")
    };
    assert_eq!(bytes.as_slice(), b"\xff\n");
    engine.runner.write(b"\xfe\n");
    let reports = engine.until(|fact| matches!(fact, Fact::Received { .. }));
    let Fact::Received { line, .. } = &reports.last().unwrap().fact else {
        panic!("no line")
    };
    assert_eq!(line.as_slice(), b"\xfe");
}

#[test]
fn a_mebibyte_goes_both_ways() {
    const MEBIBYTE: usize = 1 << 20;
    let mut engine =
        Engine::start(json!({"turns": [[{"say_large": {"bytes": MEBIBYTE}}, {"end": "end_turn"}]]}));
    let text = "é".repeat(MEBIBYTE / 2);
    let prompt = json!([{"type": "text", "text": text}]);
    engine.runner.request(
        json!(1),
        "session/prompt",
        json!({"sessionId": "s", "prompt": prompt}),
    );
    assert_eq!(engine.runner.text().len(), MEBIBYTE);
    assert_eq!(engine.runner.message()["result"]["stopReason"], "end_turn");
    let reports = engine.until(|fact| matches!(fact, Fact::Received { .. }));
    let Fact::Received {
        line,
        unfinished: None,
    } = &reports.last().unwrap().fact
    else {
        panic!("no line")
    };
    assert!(line.as_text().unwrap().contains(&text));
}

#[test]
fn input_is_read_though_the_runner_reads_nothing() {
    let mut engine =
        Engine::start(json!({"otherwise": [{"say_large": {"bytes": 1_000_000}}, {"end": "end_turn"}]}));
    engine.runner.prompt(1);
    engine.runner.prompt(2);
    engine.runner.notify("session/cancel");
    engine.until_received("session/cancel");
    let messages: Vec<Value> = (0..4).map(|_| engine.runner.message()).collect();
    assert_eq!(
        messages
            .iter()
            .filter(|message| message["method"] == "session/update")
            .count(),
        2
    );
    assert_eq!(
        messages
            .iter()
            .filter(|message| message["result"]["stopReason"] == "end_turn")
            .count(),
        2
    );
}

#[test]
fn the_end_of_input_is_seen_though_the_runner_reads_nothing() {
    let mut engine = Engine::start(json!({"otherwise": [{"say_large": {"bytes": 1_000_000}}]}));
    engine.runner.prompt(1);
    engine.runner.end_input();
    assert_eq!(engine.runner.child.wait().unwrap().code(), Some(0));
    assert!(engine.rest().iter().any(|report| report.fact == Fact::EndOfInput));
}

#[test]
fn one_socket_does_for_input_and_output() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = command();
    command
        .stdin(OwnedFd::from(theirs.try_clone().unwrap()))
        .stdout(OwnedFd::from(theirs));
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut lines = BufReader::new(&ours).lines();
    // Each of them is sent only once the agent waits for it.
    for id in 0..3 {
        (&ours)
            .write_all(format!("{{\"id\":{id},\"method\":\"authenticate\"}}\n").as_bytes())
            .unwrap();
        assert!(lines.next().unwrap().unwrap().contains(&format!("\"id\":{id},")));
    }
    ours.shutdown(Shutdown::Write).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_runner_that_closes_the_pipe_is_reported_once() {
    // A socket, for its end can be closed whatever another test's fork still holds of it.
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut engine = Engine::connect(|command| {
        command.stdout(OwnedFd::from(theirs));
    });
    ours.shutdown(Shutdown::Both).unwrap();
    engine.play(json!({}));
    for id in [1, 2] {
        engine.runner.request(json!(id), "authenticate", json!({}));
    }
    engine.runner.end_input();
    let reports = engine.rest();
    let failures = reports
        .iter()
        .filter(|report| matches!(report.fact, Fact::StdoutFailed { .. }))
        .count();
    assert_eq!(failures, 1, "{reports:?}");
    assert_eq!(engine.runner.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_flood_on_standard_error_is_as_long_as_asked() {
    const LENGTH: usize = 1_000_001;
    let mut command = command();
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("script.yaml");
    let script = format!(
        "at_start: [{{stderr: hello}}, {{stderr_flood: {{bytes: {LENGTH}}}}}, {{exit: {{code: 0}}}}]"
    );
    std::fs::write(&path, script).unwrap();
    command.arg("--script").arg(&path).stderr(Stdio::piped());
    let mut runner = Runner::start(command);
    let mut text = String::new();
    runner.stderr().read_to_string(&mut text).unwrap();
    assert_eq!(text.len(), "hello\n".len() + LENGTH);
    assert!(text.starts_with("hello\n.") && text.lines().all(|line| line.len() < 100));
    assert!(runner.end().success());
}
