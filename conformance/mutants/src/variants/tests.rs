//! What each manner makes of what crosses.

use reference_runner::{Crossing, Edge};
use serde_json::{Value, json};

use super::all;
use crate::messages::{from_agent, notification, request, result, to_agent};
use crate::shown::show;

/// One manner on its own.
fn manner(variant: &str, reading: u32) -> Box<dyn Edge> {
    let variant = all().iter().find(|known| known.name == variant).unwrap();
    let manner = variant.manners.iter().find(|manner| manner.reading == reading);
    (manner.unwrap().edge)()
}

fn typed(text: &str) -> Crossing {
    Crossing::Typed(text.into())
}

fn prompt(id: &str) -> Crossing {
    let params = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "work"}]});
    to_agent(&request(id.into(), "session/prompt", params))
}

fn answer(id: &str) -> Crossing {
    from_agent(&result(id.into(), json!({"stopReason": "end_turn"})))
}

fn post(event: &str, subtype: &str, more: Value) -> Crossing {
    let mut body = json!({"hookEvent": event, "subtype": subtype, "occurredAt": "now"});
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    Crossing::Post(body)
}

/// Opens the conversation `s` and begins a turn.
fn begin_turn(edge: &mut Box<dyn Edge>) {
    edge.cross(to_agent(&request("new".into(), "session/new", json!({}))));
    edge.cross(from_agent(&result("new".into(), json!({"sessionId": "s"}))));
    edge.cross(prompt("1"));
}

#[test]
fn waiting_messages_are_dropped_by_a_cancel_and_follow_one_a_turn_else() {
    let mut edge = manner("terse", 9);
    assert_eq!(edge.cross(typed("first\r")), [typed("first\r")]);
    begin_turn(&mut edge);
    assert_eq!(edge.cross(typed("one\rtwo\rha")).len(), 2, "each is said to wait");
    assert_eq!(edge.cross(answer("1")), [answer("1"), typed("one\r")]);
    edge.cross(prompt("2"));
    assert_eq!(
        edge.cross(typed("\x03")),
        [typed("ha\x03"), show("· 1 queued, dropped with this turn\r\n")]
    );
    assert_eq!(edge.cross(answer("2")), [answer("2")]);
    assert_eq!(edge.cross(typed("half")), [typed("half")]);
}

#[test]
fn a_second_order_sends_a_second_cancel() {
    let mut edge = manner("terse", 10);
    begin_turn(&mut edge);
    assert_eq!(edge.cross(typed("/abort\r")), [typed("/abort\r")]);
    let cancel = to_agent(&notification("session/cancel", json!({"sessionId": "s"})));
    edge.cross(cancel.clone());
    assert_eq!(edge.cross(typed("/abort now\r")), [typed("/abort now\r")]);
    assert_eq!(edge.cross(typed("/abort\r")), [typed("/abort\r"), cancel]);
}

#[test]
fn a_half_block_stays_over_ctrl_c_and_the_turn_is_cancelled() {
    let mut edge = manner("eager", 25);
    assert_eq!(edge.cross(typed("half\x03")), [typed("half")]);
    edge.cross(typed(" and whole\r"));
    begin_turn(&mut edge);
    assert_eq!(edge.cross(typed("\x03")), [typed("\x03")], "the runner's own");
    let happens = edge.cross(typed("half\x03"));
    assert_eq!(happens[0], typed("half"));
    assert!(matches!(&happens[1], Crossing::ToAgent(line) if line.contains("session/cancel")));
    assert_eq!(
        edge.cross(typed("\x1b[200~a\x03b\x1b[201~")),
        [typed("\x1b[200~a\x03b\x1b[201~")]
    );
}

#[test]
fn backspace_is_left_out_of_what_is_typed_and_not_of_what_is_pasted() {
    let mut edge = manner("terse", 24);
    assert_eq!(
        edge.cross(typed("a\x7fb\x1b[200~c\x7f\x1b[201~")),
        [typed("ab\x1b[200~c\x7f\x1b[201~")]
    );
}

#[test]
fn ctrl_d_ends_the_input_only_outside_a_block() {
    let mut edge = manner("eager", 22);
    assert_eq!(edge.cross(typed("a")), [typed("a")]);
    assert_eq!(edge.cross(typed("\x04")), [typed("\x04")]);
    edge.cross(typed("\r"));
    assert_eq!(edge.cross(typed("\x04")), [Crossing::EndOfInput]);
}

#[test]
fn requests_are_numbered_and_every_answer_finds_its_own() {
    let mut edge = manner("terse", 41);
    assert_eq!(edge.cross(prompt("a")), edge_prompt(0));
    assert_eq!(edge.cross(prompt("b")), edge_prompt(1));
    let answered = |id| from_agent(&result(json!(id), json!({"stopReason": "end_turn"})));
    for _ in 0..2 {
        assert_eq!(edge.cross(answered(1)), [answer("b")]);
    }
    let asked = from_agent(&request(json!(0), "session/request_permission", json!({})));
    assert_eq!(edge.cross(asked.clone()), [asked]);
    let refusal = to_agent(&result(json!(0), json!({})));
    assert_eq!(edge.cross(refusal.clone()), [refusal]);
}

fn edge_prompt(id: u64) -> [Crossing; 1] {
    let Crossing::ToAgent(line) = prompt("") else {
        unreachable!()
    };
    let mut message: Value = serde_json::from_str(&line).unwrap();
    message["id"] = json!(id);
    [to_agent(&message)]
}

#[test]
fn a_list_is_asked_for_first_and_believed() {
    for (sessions, is_listed) in [(json!([{"sessionId": "old"}]), true), (json!([]), false)] {
        let mut edge = manner("eager", 32);
        edge.cross(to_agent(&request("i".into(), "initialize", json!({}))));
        let offered = json!({"agentCapabilities": {"sessionCapabilities": {"list": {}}}});
        edge.cross(from_agent(&result("i".into(), offered)));
        let load = to_agent(&request("l".into(), "session/load", json!({"sessionId": "old"})));
        let [Crossing::ToAgent(asked)] = &edge.cross(load.clone())[..] else {
            panic!("one request was expected");
        };
        let asked: Value = serde_json::from_str(asked).unwrap();
        assert_eq!(asked["method"], "session/list");
        let list = from_agent(&result(asked["id"].clone(), json!({"sessions": sessions})));
        match &edge.cross(list)[..] {
            [happens] if is_listed => assert_eq!(*happens, load),
            [Crossing::FromAgent(line)] => {
                assert!(line.contains("-32002") && line.contains("\"old\""), "{line}")
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn only_notifications_of_a_turn_are_posted_and_one_of_them() {
    let of_turn = post("Notification", "permission_prompt", json!({"turnId": "1"}));
    let outside = post("Notification", "permission_prompt", json!({}));
    assert_eq!(manner("terse", 7).cross(outside), []);
    let mut edge = manner("terse", 8);
    assert_eq!(edge.cross(of_turn.clone()), [of_turn.clone()]);
    assert_eq!(edge.cross(of_turn.clone()), []);
    edge.cross(post("UserPromptSubmit", "accepted", json!({})));
    assert_eq!(edge.cross(of_turn.clone()), [of_turn]);
}

#[test]
fn an_exit_is_posted_unless_the_seat_was_told_to_stop() {
    let exit = post("Stop", "dsh_exited", json!({}));
    let mut edge = manner("terse", 19);
    assert_eq!(edge.cross(exit.clone()), [exit.clone()]);
    edge.cross(Crossing::Signal(1));
    assert_eq!(edge.cross(exit), []);
}

#[test]
fn what_an_answer_says_of_the_conversation_is_read_in_the_other_way() {
    let reopened = |reading, answer: Value| {
        let mut edge = manner("terse", reading);
        edge.cross(to_agent(&request(
            "l".into(),
            "session/load",
            json!({"sessionId": "old"}),
        )));
        edge.cross(from_agent(&answer))
    };
    let another = result("l".into(), json!({"sessionId": "another", "modes": {}}));
    let settings = from_agent(&result("l".into(), json!({"modes": {}})));
    assert_eq!(reopened(14, another), [settings]);
    let error = |code, data: Value| json!({"jsonrpc": "2.0", "id": "l", "error": {"code": code, "message": "no", "data": data}});
    assert_eq!(
        reopened(13, error(-32002, Value::Null)),
        [from_agent(&error(-32603, Value::Null))]
    );
    let about_it = error(-32002, json!({"sessionId": "old"}));
    assert_eq!(reopened(13, about_it.clone()), [from_agent(&about_it)]);
    // Whatever an agent writes, no manner falls over it.
    for variant in all() {
        for line in ["42", "null", "[]", "{\"id\":1}", "{", ""] {
            let line = Crossing::FromAgent(line.into());
            assert!(
                (variant.edge)(variant).cross(line.clone()).contains(&line),
                "{}",
                variant.name
            );
        }
    }
}
