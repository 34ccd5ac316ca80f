//! What the actions send, and what they wait for.

use fake_agent::control::Fact;
use serde_json::{Value, json};

use crate::support::{Engine, Runner};

#[test]
fn answers_late_twice_or_never() {
    let mut runner = Runner::alone(
        "
        on:
          session/new: [{error: {code: -32000, message: 'no', data: {a: 1}}}]
          foo: []
          bar: [{pause: 1ms}, answer]
        turns: [[{end: cancelled}, {end: end_turn}]]",
    );
    let answer = runner.call(json!(1), "session/new", json!({}));
    assert_eq!(
        answer["error"],
        json!({"code": -32000, "message": "no", "data": {"a": 1}})
    );
    runner.request(json!(2), "foo", json!({}));
    // Had `foo` got an answer, it would stand before this one.
    assert_eq!(runner.call(json!(3), "bar", json!({}))["error"]["code"], -32601);
    runner.prompt(4);
    assert_eq!(
        runner.message(),
        json!({"jsonrpc": "2.0", "id": 4, "result": {"stopReason": "cancelled"}})
    );
    assert_eq!(
        runner.message(),
        json!({"jsonrpc": "2.0", "id": 4, "result": {"stopReason": "end_turn"}})
    );
}

#[test]
fn updates_belong_to_the_session_at_hand() {
    let mut runner = Runner::alone(
        "
        conversations: [first, second]
        on: {session/new: [{update: {sessionUpdate: early}}, answer]}
        after_open: [{say: opened}]
        turns: [[{update_for: {session: other, update: {sessionUpdate: x}}}, {think: hm}, {end: end_turn}]]",
    );
    let sessions = |runner: &mut Runner, count: usize| -> Vec<Value> {
        (0..count)
            .map(|_| runner.message()["params"]["sessionId"].clone())
            .collect()
    };
    runner.request(json!(1), "session/new", json!({}));
    assert_eq!(sessions(&mut runner, 1), ["first"]);
    assert_eq!(runner.message()["result"]["sessionId"], "first");
    assert_eq!(sessions(&mut runner, 1), ["first"]);
    runner.request(json!(2), "session/load", json!({"sessionId": "loaded"}));
    assert_eq!(runner.message()["result"], Value::Null);
    assert_eq!(sessions(&mut runner, 1), ["loaded"]);
    runner.request(json!(3), "session/prompt", json!({"sessionId": "first"}));
    assert_eq!(sessions(&mut runner, 2), ["other", "first"]);
}

#[test]
fn nothing_follows_an_open_that_failed() {
    let mut runner = Runner::alone(
        "
        on: {session/load: [{error: {code: -32002, message: Resource not found}}]}
        after_open: [{say: opened}]",
    );
    runner.call(json!(1), "session/load", json!({"sessionId": "a"}));
    assert_eq!(runner.open(), "conversation-1");
    assert_eq!(runner.text(), "opened");
}

#[test]
fn replays_before_or_after_the_answer() {
    let mut runner = Runner::alone(
        "
        on: {session/load: [{replay: {turns: 2}}, {result: {}}]}
        after_open: [{replay: {turns: 1}}]",
    );
    runner.request(json!(1), "session/load", json!({"sessionId": "a"}));
    let mut kinds = Vec::new();
    for _ in 0..7 {
        let message = runner.message();
        let kind = message["params"]["update"]["sessionUpdate"]
            .as_str()
            .unwrap_or("answer");
        kinds.push(kind.to_owned());
    }
    let (user, agent) = ("user_message_chunk", "agent_message_chunk");
    assert_eq!(kinds, [user, agent, user, agent, "answer", user, agent]);
}

#[test]
fn permissions_have_the_shape_asked_for() {
    let mut runner = Runner::alone(
        "
        turns:
          - - permission: {}
            - permission: {title: Run it, tool_call: c, raw_input: {command: ls}, options: [], session: other}
            - permission: {tool_call: null, id: -5}
            - permission: {id: text, wait: false}
            - end: end_turn",
    );
    runner.prompt(1);
    let mut ask = |id: Value, answered: bool| {
        let request = runner.message();
        assert_eq!(
            (&request["method"], &request["id"]),
            (&json!("session/request_permission"), &id)
        );
        if answered {
            runner.send(&json!({"id": id, "result": {"outcome": {"outcome": "cancelled"}}}));
        }
        request["params"].clone()
    };
    let first = ask(json!(0), true);
    assert_eq!(first["toolCall"], json!({"toolCallId": "call-1"}));
    assert_eq!(first["sessionId"], "conversation-1");
    assert_eq!(first["options"].as_array().unwrap().len(), 3);
    let call = json!({"toolCallId": "c", "title": "Run it", "rawInput": {"command": "ls"}});
    let second = ask(json!(1), true);
    assert_eq!(
        second,
        json!({"sessionId": "other", "toolCall": call, "options": []})
    );
    let third = ask(json!(-5), true);
    assert_eq!(third.get("toolCall"), None);
    ask(json!("text"), false);
    assert_eq!(runner.message()["result"]["stopReason"], "end_turn");
}

#[test]
fn waits_for_the_answer_to_its_own_request_by_the_type_of_the_id() {
    let mut engine = Engine::start(json!({"turns": [[
        {"request": {"method": "_x/drain", "id": 1, "wait": false}},
        {"await_answer": 1},
        {"say": "answered"},
        {"end": "end_turn"},
    ]]}));
    let runner = &mut engine.runner;
    // The prompt has the id of the agent's request, and a text that looks like it is another.
    runner.prompt(1);
    assert_eq!(
        runner.message(),
        json!({"jsonrpc": "2.0", "id": 1, "method": "_x/drain"})
    );
    runner.send(&json!({"id": "1", "result": {}}));
    runner.send(&json!({"id": 1, "error": {"code": -32601, "message": "no"}}));
    assert_eq!(runner.text(), "answered");
    let reports = engine
        .until(|fact| matches!(fact, Fact::Sent { line } if line.as_text().unwrap().contains("answered")));
    let received = reports
        .iter()
        .filter(|report| matches!(report.fact, Fact::Received { .. }))
        .count();
    assert_eq!(received, 3, "{reports:?}");
}

#[test]
fn a_cancel_before_the_turn_does_not_count() {
    let mut engine =
        Engine::start(json!({"turns": [[{"gate": "a"}, {"await": "session/cancel"}, {"end": "cancelled"}]]}));
    engine.open_gate("a");
    engine.runner.notify("session/cancel");
    engine.runner.prompt(1);
    engine.until_gate("a", fake_agent::control::GateState::Passed);
    engine.runner.notify("session/cancel");
    assert_eq!(engine.runner.message()["result"]["stopReason"], "cancelled");
    let reports = engine.until(|fact| matches!(fact, Fact::Sent { .. }));
    let cancels = reports
        .iter()
        .filter(|report| matches!(report.fact, Fact::Received { .. }))
        .count();
    assert_eq!(cancels, 1, "answered before the second cancel: {reports:?}");
}

#[test]
fn turns_are_counted_and_repeats_repeat() {
    let mut runner = Runner::alone(
        "
        turns:
          - [{end: refusal}]
          - [{repeat: {times: 3, actions: [{say: again}]}}, {end: end_turn}]
        otherwise: [{end: max_tokens}]",
    );
    runner.prompt(1);
    assert_eq!(runner.message()["result"]["stopReason"], "refusal");
    runner.request(json!(2), "session/prompt", json!({"sessionId": "s"}));
    assert_eq!(
        [runner.text(), runner.text(), runner.text()],
        ["again", "again", "again"]
    );
    assert_eq!(runner.message()["result"]["stopReason"], "end_turn");
    for id in [3, 4] {
        runner.prompt(id);
        assert_eq!(runner.message()["result"]["stopReason"], "max_tokens");
    }
}

#[test]
fn the_impossible_is_reported_and_skipped() {
    let mut engine = Engine::start(json!({"at_start": [
        {"end": "end_turn"}, {"result": 1}, "answer", {"error": {"code": 1, "message": ""}},
        {"say": "x"}, {"permission": {}}, "close_stdout", "close_stdout", {"gate": "last"},
    ]}));
    let reports = engine.until(|fact| matches!(fact, Fact::Gate { .. }));
    let troubles = reports
        .iter()
        .filter(|report| matches!(report.fact, Fact::Trouble { .. }))
        .count();
    assert_eq!(troubles, 7, "{reports:?}");
    assert!(
        !reports
            .iter()
            .any(|report| matches!(report.fact, Fact::Sent { .. }))
    );
}
