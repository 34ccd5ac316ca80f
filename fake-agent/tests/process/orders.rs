//! Under an engine: hello, gates, and the end of the engine.

use std::process::Stdio;

use fake_agent::control::{Fact, GateState, Order};
use serde_json::json;

use crate::support::{Engine, group_and_session};

fn position(reports: &[fake_agent::control::Report], wanted: impl Fn(&Fact) -> bool) -> usize {
    reports
        .iter()
        .position(|report| wanted(&report.fact))
        .expect("no such report")
}

#[test]
fn hello_tells_how_it_was_started() {
    let mut engine = Engine::connect(|command| {
        command
            .args(["--label", "dsh", "--", "acp", "--model", "x y"])
            .env("MARK", "é")
            .current_dir("/");
    });
    let Fact::Hello(hello) = engine.report().unwrap().fact else {
        panic!("no hello")
    };
    let pid = engine.runner.pid();
    let number = |pid: rustix::process::Pid| pid.as_raw_nonzero().get().unsigned_abs();
    assert_eq!(hello.pid, number(pid));
    assert_eq!((hello.process_group, hello.session), group_and_session(pid));
    assert_eq!(hello.label.as_deref(), Some("dsh"));
    let arguments: Vec<&str> = hello
        .arguments
        .iter()
        .map(|argument| argument.as_text().unwrap())
        .collect();
    assert_eq!(arguments, ["acp", "--model", "x y"]);
    assert_eq!(hello.environment["MARK"].as_text(), Some("é"));
    assert_eq!(hello.directory.as_text(), Some("/"));
}

#[test]
fn reads_nothing_before_it_has_the_script() {
    let mut engine = Engine::connect(|_| ());
    engine.runner.request(json!(1), "initialize", json!({}));
    engine.runner.end_input();
    assert!(matches!(engine.report().unwrap().fact, Fact::Hello(_)));
    engine.play(json!({"protocol_version": "odd", "at_start": [{"noise": "first"}]}));
    assert!(matches!(engine.report().unwrap().fact, Fact::RawSent { .. }));
    assert_eq!(engine.runner.line().as_deref(), Some(&b"first"[..]));
    assert_eq!(engine.runner.message()["result"]["protocolVersion"], "odd");
}

#[test]
fn what_a_question_brings_is_done_until_there_is_no_more() {
    let order = |engine: &mut Engine, told: serde_json::Value| {
        engine.order(&Order::Do(serde_json::from_value(told).unwrap()));
    };
    let mut engine = Engine::start(json!({"otherwise": ["ask"]}));
    engine.runner.open();
    engine.runner.request(
        json!(7),
        "session/prompt",
        json!({"sessionId": "conversation-1", "prompt": []}),
    );
    let asked = loop {
        if let Fact::Asks { ask, method } = engine.report().unwrap().fact {
            break (ask, method);
        }
    };
    assert_eq!(asked, (1, "session/prompt".into()));
    order(
        &mut engine,
        json!({"ask": 1, "actions": [{"say": "one"}], "more": true}),
    );
    let said = engine.runner.message();
    assert_eq!(said["params"]["update"]["content"]["text"], "one");
    order(
        &mut engine,
        json!({"ask": 1, "actions": [{"end": "refusal"}], "more": false}),
    );
    let answer = engine.runner.message();
    assert_eq!(
        (&answer["id"], &answer["result"]["stopReason"]),
        (&json!(7), &json!("refusal"))
    );
    // It is answered: what comes now has no place to go.
    order(
        &mut engine,
        json!({"ask": 1, "actions": ["answer"], "more": false}),
    );
    while !matches!(engine.report().unwrap().fact, Fact::Trouble { .. }) {}
}

#[test]
fn a_cancel_is_awaited_and_its_answer_held_by_a_gate() {
    let mut engine = Engine::start(json!({"turns": [[
        {"say": "working"}, {"await": "session/cancel"}, {"gate": "answer"}, {"end": "cancelled"},
    ]]}));
    engine.runner.open();
    engine.runner.prompt(1);
    assert_eq!(engine.runner.text(), "working");
    engine.runner.notify("session/cancel");
    let mut reports = engine.until_gate("answer", GateState::Waiting);
    let before = reports.len();
    engine.open_gate("answer");
    assert_eq!(engine.runner.message()["result"]["stopReason"], "cancelled");
    reports.extend(engine.until(|fact| matches!(fact, Fact::Sent { .. })));
    let stop =
        |fact: &Fact| matches!(fact, Fact::Sent { line } if line.as_text().unwrap().contains("stopReason"));
    let cancel = |fact: &Fact| matches!(fact, Fact::Received { line, .. } if line.as_text().unwrap().contains("session/cancel"));
    assert!(position(&reports, cancel) < before);
    assert!(position(&reports, stop) > before);
    assert!(reports.is_sorted_by_key(|report| report.at), "{reports:?}");
}

#[test]
fn a_gate_may_be_open_before_it_is_reached_and_stays_open() {
    let mut engine = Engine::start(json!({"on": {"go": [{"gate": "a"}, {"gate": "a"}, {"result": 1}]}}));
    engine.open_gate("a");
    for id in [1, 2] {
        assert_eq!(engine.runner.call(json!(id), "go", json!({}))["result"], 1);
    }
    let reports = engine.until(|fact| matches!(fact, Fact::Sent { .. }));
    let states: Vec<GateState> = reports
        .iter()
        .filter_map(|report| {
            if let Fact::Gate { state, .. } = report.fact {
                Some(state)
            } else {
                None
            }
        })
        .collect();
    use GateState::{Passed, Waiting};
    assert_eq!(states, [Waiting, Passed, Waiting, Passed]);
}

#[test]
fn input_is_read_while_many_turns_wait() {
    let mut engine = Engine::start(json!({"otherwise": [{"gate": "a"}, {"end": "end_turn"}]}));
    for id in 0..20 {
        engine.runner.prompt(id);
    }
    for _ in 0..20 {
        engine.until(|fact| {
            matches!(
                fact,
                Fact::Gate {
                    state: GateState::Waiting,
                    ..
                }
            )
        });
    }
    engine.open_gate("a");
    let mut ids: Vec<i64> = (0..20)
        .map(|_| engine.runner.message()["id"].as_i64().unwrap())
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..20));
}

#[test]
fn orders_that_make_no_sense_are_reported() {
    let mut engine = Engine::start(json!({}));
    engine.write("{\"shut\":\"a\"}\n");
    engine.play(json!({}));
    for _ in 0..2 {
        engine.until(|fact| matches!(fact, Fact::Trouble { .. }));
    }
    engine.runner.call(json!(1), "authenticate", json!({}));
}

#[test]
fn it_exits_with_the_engine() {
    let mut engine = Engine::start(json!({"end_of_input": "ignore", "terminate": "ignore"}));
    engine.hang_up();
    assert_eq!(engine.runner.end().code(), Some(1));
}

#[test]
fn it_exits_with_an_engine_that_never_sent_a_script() {
    let mut engine = Engine::connect(|_| ());
    engine.hang_up();
    assert_eq!(engine.runner.end().code(), Some(1));
}

#[test]
fn it_exits_with_the_engine_though_its_pipes_are_full() {
    let mut engine = Engine::connect(|command| {
        command.stderr(Stdio::piped());
    });
    engine.play(json!({"end_of_input": "ignore", "on": {
        "errors": [{"stderr_flood": {"bytes": 10_000_000}}],
        "text": [{"say_large": {"bytes": 10_000_000}}],
    }}));
    engine.runner.request(json!(1), "session/new", json!({}));
    engine.runner.notify("errors");
    engine.runner.notify("text");
    engine.until(|fact| matches!(fact, Fact::Stderr { .. }));
    engine.until(|fact| matches!(fact, Fact::Sent { line } if line.as_slice().len() > 10_000_000));
    engine.hang_up();
    assert_eq!(engine.runner.child.wait().unwrap().code(), Some(1));
}
