//! The script in its two forms, and its refusals.

use proptest::prelude::*;

use super::*;

/// Every action once, and the fields that may be `null` in both ways.
const EVERYTHING: &str = r#"
info: {name: fake-agent, title: Fake, version: "1"}
protocol_version: "one"
capabilities: {sessionCapabilities: {resume: {}, list: null}}
conversations: [conv-1, "é/2"]
end_of_input: ignore
terminate: exit
framing: {chunk: 1, gap: 1ms}
at_start:
  - stderr: hello
on:
  session/cancel: []
  session/new:
    - error: {code: -32000, message: Authentication required, data: null}
    - error: {code: 400, message: odd}
  initialize:
    - answer
after_open:
  - update: {sessionUpdate: available_commands_update, availableCommands: []}
turns:
  - - say: working
    - think: hm
    - say_large: {bytes: 1048576}
    - update_for: {session: other, update: {sessionUpdate: future_thing, n: 1.5}}
    - replay: {turns: 2}
    - notify: {method: _vendor/note, params: null}
    - notify: {method: _vendor/note}
    - request: {method: fs/read_text_file, params: {path: /x}, id: null, wait: false}
    - request: {method: _x/drain}
    - permission: {}
    - permission: {id: -1, title: Run, tool_call: call-7, options: [], session: s, raw_input: {a: [1]}, wait: false}
    - permission: {tool_call: null, raw_input: null, title: null}
    - tool_call: {id: call-1, title: Read}
    - tool_call: {id: call-1, title: Read, status: in_progress}
    - tool_done: {id: call-1, status: failed}
    - await: session/cancel
    - await_answer: text id
    - await_answer: 0
    - gate: answer
    - pause: 300ms
    - result: null
    - result: {stopReason: end_turn}
    - end: cancelled
    - send: {jsonrpc: "2.0", id: 1.0, result: {}}
    - send: [1, null, "x"]
    - raw: {text: "half a line", chunk: 3, gap: 5ms}
    - raw: {base64: "/w=="}
    - noise: "[INFO] started"
    - joined: [{a: 1}, {b: 2}]
    - stderr_flood: {bytes: 1048576}
    - child: {own_session: true}
    - repeat: {times: 3, actions: [{repeat: {times: 2, actions: [{say: again}, answer]}}]}
    - close_stdout
    - ask
    - exit: {code: 3}
    - exit: {signal: KILL}
otherwise:
  - end: refusal
"#;

fn yaml(text: &str) -> Result<Script, serde_yaml::Error> {
    serde_yaml::with::singleton_map_recursive::deserialize(serde_yaml::Deserializer::from_str(text))
}

fn to_yaml(script: &Script) -> String {
    let mut text = Vec::new();
    let mut serializer = serde_yaml::Serializer::new(&mut text);
    serde_yaml::with::singleton_map_recursive::serialize(script, &mut serializer).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn everything_round_trips_through_yaml_and_json() {
    let script = yaml(EVERYTHING).unwrap();
    assert_eq!(yaml(&to_yaml(&script)).unwrap(), script);
    let json = serde_json::to_string(&script).unwrap();
    assert_eq!(serde_json::from_str::<Script>(&json).unwrap(), script);
}

#[test]
fn everything_holds_every_action() {
    let script = yaml(EVERYTHING).unwrap();
    let mut seen: Vec<String> = script
        .actions()
        .into_iter()
        .map(|action| match serde_json::to_value(action).unwrap() {
            Value::String(name) => name,
            Value::Object(map) => map.into_iter().next().unwrap().0,
            other => panic!("an action is spelled {other}"),
        })
        .collect();
    seen.sort();
    seen.dedup();
    // The names that serde knows are in the message about an unknown one.
    let refusal = serde_json::from_str::<Action>(r#""no such action""#)
        .unwrap_err()
        .to_string();
    let known = refusal.split("expected one of ").nth(1).unwrap();
    let mut known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    known.sort_unstable();
    assert_eq!(seen, known);
}

#[test]
fn null_and_absent_differ() {
    let script = yaml(EVERYTHING).unwrap();
    let turn = &script.turns[0];
    let permissions: Vec<&Permission> = turn
        .iter()
        .filter_map(|action| {
            if let Action::Permission(p) = action {
                Some(p)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(permissions[0], &Permission::default());
    assert_eq!(permissions[2].tool_call, Some(None));
    assert_eq!(permissions[2].raw_input, Some(Value::Null));
    let requests: Vec<&Request> = turn
        .iter()
        .filter_map(|action| {
            if let Action::Request(r) = action {
                Some(r)
            } else {
                None
            }
        })
        .collect();
    assert_eq!((&requests[0].id, requests[0].wait), (&Some(Value::Null), false));
    assert_eq!((&requests[1].id, requests[1].wait), (&None, true));
}

#[test]
fn an_empty_script_is_the_default() {
    assert_eq!(yaml("{}").unwrap(), Script::default());
    assert_eq!(serde_json::from_str::<Script>("{}").unwrap(), Script::default());
}

#[test]
fn mistakes_are_refused_where_they_stand() {
    let cases = [
        (
            "info: {name: a, version: '1'}\nturn: []",
            "unknown field `turn`",
            2,
        ),
        ("turns:\n  - - sya: hello", "unknown variant `sya`", 2),
        ("turns:\n  - - say: [1]", "expected a string", 2),
        ("turns:\n  - - say_large: {byte: 1}", "unknown field `byte`", 2),
        ("turns:\n  - - pause: 1 hour", "is not a duration", 2),
        ("turns:\n  - - raw: {chunk: 1}", "exactly one of", 2),
        ("turns:\n  - - exit: {code: 300}", "expected u8", 2),
        ("turns:\n  - - exit: {signal: STOP}", "unknown variant `STOP`", 2),
        ("framing: {chunk: 0}", "nonzero", 1),
        ("on:\n  session/prompt: []", "use `turns`", 2),
        ("end_of_input: maybe", "unknown variant `maybe`", 1),
        ("turns: [", "did not find", 2),
    ];
    for (text, message, line) in cases {
        let error = yaml(text).unwrap_err();
        assert!(error.to_string().contains(message), "{text:?}: {error}");
        assert_eq!(
            error.location().map(|at| at.line()),
            Some(line),
            "{text:?}: {error}"
        );
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text: String) {
        let _ = yaml(&text);
    }
}
