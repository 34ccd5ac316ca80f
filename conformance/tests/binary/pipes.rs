//! Seats without a terminal: each line is a message.

use serde_json::Value;

use crate::support::Seatcheck;

const SCENARIO: &str = "\
title: Lines through a pipe
why: what is no terminal has no paste and no keys
exercises: [evidence.prompt-mirrored]
transport: pipe
steps:
  - launch: {}
  - until: {seat: ready}
  - paste: \"one\\ntwo\\nth\"
  - type: \"ree\\nfour\"
  - enter
  - until: {agent: session/prompt}
  - until: {agent: session/prompt}
  - until: {agent: session/prompt}
  - until: {agent: session/prompt}
  - burst: [five, \"six\\nseven\"]
  - until: {agent: session/prompt}
  - until: {agent: session/prompt}
  - until: {agent: session/prompt}
  - enter
  - paste_in_pieces: {text: \"eight ü\", bytes: 1}
  - enter
  - until: {agent: session/prompt}
  - until: {seat: idle}
";

#[test]
fn each_line_is_a_message_and_the_runner_has_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lines.yaml");
    std::fs::write(&file, SCENARIO).unwrap();
    let out = folder.path().join("out");
    let seatcheck = Seatcheck::new();
    // Whatever the run's transport is.
    let done = seatcheck.run([
        "run",
        "--scenario",
        file.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    seatcheck.assert_nothing_left();

    let history = std::fs::read_to_string(out.join("scenarios/lines/history.jsonl")).unwrap();
    let facts: Vec<Value> = history
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["fact"].take())
        .collect();
    let texts = |pointer: &str| -> Vec<String> {
        facts
            .iter()
            .filter_map(|fact| fact.pointer(pointer))
            .map(|text| text.as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let wanted = ["one", "two", "three", "four", "five", "six", "seven", "eight ü"];
    assert_eq!(texts("/step/sent/text"), wanted);
    assert_eq!(texts("/step/sent/delivery"), ["line"; 8]);
    let prompts: Vec<String> = texts("/wire/to_agent/line")
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|message| message["method"] == "session/prompt")
        .map(|message| {
            message["params"]["prompt"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(prompts, wanted);
    assert_eq!(texts("/step/launched/transport"), ["pipe"]);
    assert!(facts.iter().all(|fact| fact.pointer("/pane/settings").is_none()));
}
