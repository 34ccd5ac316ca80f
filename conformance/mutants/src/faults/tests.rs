//! The faults that keep a state of their own, tried without a runner.

use std::path::PathBuf;
use std::time::Duration;

use reference_runner::{Crossing, Edge, Endpoint, LaunchFacts};
use serde_json::{Value, json};

use crate::messages::{from_agent, notification, request, result, to_agent};

/// An edge under trial: what it makes of one crossing after another.
struct Trial(Box<dyn Edge>);

impl Trial {
    fn of(name: &str) -> Self {
        Self::launched(name, facts())
    }

    fn reopening(name: &str) -> Self {
        let facts = LaunchFacts {
            resume_reference: Some("an/old ä".into()),
            ..facts()
        };
        Self::launched(name, facts)
    }

    fn launched(name: &str, mut facts: LaunchFacts) -> Self {
        let mutant = crate::all().iter().find(|mutant| mutant.name == name).unwrap();
        let mut edge = (mutant.edge)();
        edge.launched(&mut facts);
        Self(edge)
    }

    fn cross(&mut self, crossing: Crossing) -> Vec<Crossing> {
        self.0.cross(crossing)
    }

    fn typed(&mut self, text: &str) -> Vec<Crossing> {
        self.cross(Crossing::Typed(text.into()))
    }

    /// Sends a prompt with this id on its way and gives what the agent would get.
    fn prompt(&mut self, id: &str, text: &str) -> Vec<Crossing> {
        self.cross(to_agent(&prompt(id, text)))
    }

    fn answer(&mut self, id: &str, stop_reason: &str) -> Vec<Crossing> {
        self.cross(from_agent(&answer(id, stop_reason)))
    }
}

fn facts() -> LaunchFacts {
    LaunchFacts {
        record_path: Some(PathBuf::from("/nowhere/record.json")),
        attempt: Some("attempt-1".into()),
        harness: "dsh".into(),
        resume_reference: None,
        first_input: None,
        model: None,
        session_name: Some("dev-builder@rig".into()),
        node_id: Some("node-1".into()),
        generation: Some("3".into()),
        endpoint: Some(Endpoint {
            base: "http://127.0.0.1:1".into(),
            token: "secret".into(),
            time_limit: Duration::from_secs(2),
        }),
        first_sequence: 1,
        liveness_seconds: 20,
        agent: vec!["dsh".into(), "acp".into()],
        working_directory: PathBuf::from("/"),
    }
}

fn prompt(id: &str, text: &str) -> Value {
    let params = json!({"sessionId": "s", "prompt": [{"type": "text", "text": text}]});
    request(id.into(), "session/prompt", params)
}

fn answer(id: &str, stop_reason: &str) -> Value {
    result(id.into(), json!({"stopReason": stop_reason}))
}

fn cancel() -> Value {
    notification("session/cancel", json!({"sessionId": "s"}))
}

/// Everything typed in these crossings.
fn typed_in(crossings: &[Crossing]) -> String {
    let typed = crossings.iter().filter_map(|crossing| match crossing {
        Crossing::Typed(bytes) => Some(String::from_utf8(bytes.clone()).unwrap()),
        _ => None,
    });
    typed.collect()
}

#[test]
fn every_edge_lets_an_unknown_notification_through() {
    let note = notification("session/update", json!({"update": {"sessionUpdate": "plan"}}));
    for mutant in crate::all() {
        let line = from_agent(&note);
        assert!(
            Trial::of(mutant.name).cross(line.clone()).contains(&line),
            "{}",
            mutant.name
        );
    }
}

#[test]
fn waiting_messages_are_typed_when_the_turn_has_ended() {
    for (name, expected) in [
        ("queue-merged", "\x1b[200~one\x1b[201~\x1b[200~two\x1b[201~\r"),
        ("queue-reversed", "\x1b[200~two\x1b[201~\r\x1b[200~one\x1b[201~\r"),
        ("queue-latest-only", "\x1b[200~two\x1b[201~\r"),
    ] {
        let mut trial = Trial::of(name);
        assert_eq!(typed_in(&trial.typed("idle\r")), "idle\r");
        trial.prompt("1", "idle");
        assert_eq!(typed_in(&trial.typed("\x1b[200~one\x1b[201~")), "");
        assert_eq!(typed_in(&trial.typed("\r\x1b[200~two\x1b[201~\r")), "");
        assert_eq!(
            typed_in(&trial.typed("\x1b[200~/abort\x1b[201~\r")),
            "\x1b[200~/abort\x1b[201~\r"
        );
        assert_eq!(typed_in(&trial.answer("1", "end_turn")), expected, "{name}");
        assert_eq!(typed_in(&trial.typed("three\r")), "three\r", "{name}");
    }
}

#[test]
fn a_hidden_abort_comes_out_as_it_went_in() {
    let mut trial = Trial::of("abort-as-prompt");
    let hidden = typed_in(&trial.typed("/abort\r"));
    assert_ne!(hidden, "/abort\r");
    let sent = trial.prompt("1", hidden.trim_end());
    assert_eq!(sent, [to_agent(&prompt("1", "/abort"))]);
}

#[test]
fn a_cancel_that_became_a_request_hides_its_answer() {
    let mut trial = Trial::of("cancel-as-request");
    trial.prompt("1", "work");
    let mut asked = cancel();
    asked["id"] = "cancel-1".into();
    assert_eq!(trial.cross(to_agent(&cancel())), [to_agent(&asked)]);
    assert_eq!(trial.cross(from_agent(&result("cancel-1".into(), json!({})))), []);
    assert_eq!(
        trial.answer("1", "cancelled"),
        [from_agent(&answer("1", "cancelled"))]
    );
}

#[test]
fn a_claim_made_on_asking_is_not_made_again() {
    let mut trial = Trial::of("cancelled-on-asking");
    trial.prompt("1", "work");
    let [sent, Crossing::Post(claim)] = &trial.cross(to_agent(&cancel()))[..] else {
        panic!("a cancel and a post were expected");
    };
    assert_eq!(*sent, to_agent(&cancel()));
    assert_eq!(claim["subtype"], "cancelled");
    assert_eq!(claim["sessionName"], "dev-builder@rig");
    trial.answer("1", "cancelled");
    assert_eq!(trial.cross(Crossing::Post(claim.clone())), []);
}

#[test]
fn only_a_new_conversation_hears_the_prompts_of_a_reopened_one() {
    let mut trial = Trial::reopening("reopen-as-new");
    let load = request(
        "1".into(),
        "session/load",
        json!({"sessionId": "an/old ä", "cwd": "/"}),
    );
    let [Crossing::ToAgent(sent)] = &trial.cross(to_agent(&load))[..] else {
        panic!("one line to the agent was expected");
    };
    assert!(sent.contains("session/new") && !sent.contains("an/old"), "{sent}");
    let opened = result("1".into(), json!({"sessionId": "new"}));
    assert_eq!(
        trial.cross(from_agent(&opened)),
        [from_agent(&result("1".into(), json!({})))]
    );
    let mut elsewhere = prompt("2", "hello");
    elsewhere["params"]["sessionId"] = "new".into();
    assert_eq!(trial.prompt("2", "hello"), [to_agent(&elsewhere)]);
}

#[test]
fn a_request_with_a_shared_id_is_lost_and_fails_the_runners_own() {
    let mut trial = Trial::of("ids-shared");
    let mut numbered = prompt("own", "hello");
    numbered["id"] = 0.into();
    assert_eq!(trial.prompt("own", "hello"), [to_agent(&numbered)]);
    let asked = request(json!(0), "session/request_permission", json!({}));
    let [Crossing::FromAgent(heard)] = &trial.cross(from_agent(&asked))[..] else {
        panic!("one line from the agent was expected");
    };
    let heard: Value = serde_json::from_str(heard).unwrap();
    assert_eq!(heard["id"], "own");
    assert!(heard.get("error").is_some());
    let other = request(json!(7), "session/request_permission", json!({}));
    assert_eq!(trial.cross(from_agent(&other)), [from_agent(&other)]);
}

#[test]
fn a_granted_permission_is_the_one_that_was_offered() {
    let mut trial = Trial::of("permission-granted");
    let params = json!({"options": [{"optionId": "allow-once"}]});
    trial.cross(from_agent(&request(
        json!(0),
        "session/request_permission",
        params,
    )));
    let refusal = result(json!(0), json!({"outcome": {"outcome": "cancelled"}}));
    let granted = result(
        json!(0),
        json!({"outcome": {"outcome": "selected", "optionId": "allow-once"}}),
    );
    assert_eq!(trial.cross(to_agent(&refusal)), [to_agent(&granted)]);
}

#[test]
fn a_block_is_split_in_its_middle_only() {
    let mut trial = Trial::of("block-split-by-length");
    let short = format!("\x1b[200~{}\x1b[201~\r", "x".repeat(64));
    assert_eq!(typed_in(&trial.typed(&short)), short);
    let long = format!("\x1b[200~{}\x1b[201~\r", "x".repeat(65));
    let split = format!("\x1b[200~{}\x1b[201~\r\x1b[200~x\x1b[201~\r", "x".repeat(64));
    assert_eq!(typed_in(&trial.typed(&long)), split);
}

#[test]
fn a_bare_enter_becomes_an_empty_prompt() {
    let mut trial = Trial::of("enter-submits-nothing");
    assert_eq!(typed_in(&trial.typed("text")), "text");
    assert_eq!(typed_in(&trial.typed("\r")), "\r", "this one ends a block");
    let marked = typed_in(&trial.typed("\r"));
    assert_eq!(trial.prompt("1", marked.trim_end()), [to_agent(&prompt("1", ""))]);
}
