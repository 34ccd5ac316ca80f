//! Histories that keep and that break what is handed over.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::history_builder::{
    HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
};
use crate::contract::Finding;
use crate::contract::conformant::assert_nothing_broken;
use crate::history::{Fact, History, Wire};

const FIRST: &str = "handoff.first-input";
const NOT_AGAIN: &str = "handoff.first-input-not-on-resume";
const MODEL: &str = "handoff.model";
const UNAPPLIED: &str = "handoff.model-unapplied";

/// A new conversation with that first input.
fn begun(text: &str) -> HistoryBuilder {
    let text = text.to_owned();
    HistoryBuilder::empty()
        .launch(|facts| facts.first_input = Some(text))
        .terminal_ready()
        .agent_started()
        .opened()
        .record("conv-1")
}

fn submitted(history: HistoryBuilder, text: &str) -> HistoryBuilder {
    history
        .prompt_text_only(text)
        .accepted()
        .shows(text)
        .end_turn("end_turn")
        .post("Stop", "end_turn")
}

#[test]
fn the_first_input_is_the_first_prompt_once() {
    let text = "begin\n\tnow\n";
    assert_held(
        FIRST,
        &submitted(begun(text), text).watch_seconds(1).prompt("next"),
    );
    assert_held(FIRST, &submitted(begun(text), "begin\n\tnow").watch_seconds(1));
    assert_held(FIRST, &submitted(begun("a\r\nb\r\n"), "a\nb").watch_seconds(1));
    assert_broken(
        FIRST,
        &submitted(submitted(begun(text), text), text).watch_seconds(1),
    );
    assert_broken(FIRST, &submitted(begun(text), "begin now").watch_seconds(1));
    assert_broken(
        FIRST,
        &submitted(begun(text), "/seat/first-input.txt").watch_seconds(1),
    );
    assert_broken(
        FIRST,
        &begun(text).prompt("typed").end_turn("end_turn").watch_seconds(1),
    );
    assert_broken(FIRST, &begun(text).watch_seconds(5));
}

#[test]
fn typing_the_same_again_is_no_second_submission() {
    let typed = submitted(begun("begin"), "begin")
        .prompt("begin")
        .end_turn("end_turn");
    assert_held(FIRST, &typed.watch_seconds(1));
}

#[test]
fn what_must_not_break_the_first_input() {
    assert_not_exercised(FIRST, &begun("begin").watch_seconds(3));
    assert_not_exercised(FIRST, &begun(" \n").watch_seconds(5));
    assert_not_exercised(FIRST, &begun("/abort").watch_seconds(5));
    // It waited, and a cancel dropped what waits.
    assert_not_exercised(FIRST, &begun("begin").abort().prompt("typed").watch_seconds(5));
    assert_not_exercised(FIRST, &begun("begin").agent_ended().watch_seconds(5));
    // The model is being asked for before anything is submitted.
    let asking = begun("begin").asks_agent("session/set_model", json!({"modelId": "m"}));
    assert_not_exercised(FIRST, &asking.watch_seconds(9));
    let never_opened = HistoryBuilder::empty()
        .launch(|facts| facts.first_input = Some("begin".into()))
        .terminal_ready()
        .agent_started()
        .watch_seconds(9);
    assert_not_exercised(FIRST, &never_opened);
    // A failed prompt tried again.
    let retried = begun("begin")
        .prompt_text_only("begin")
        .fail_turn(-32603)
        .prompt_text_only("begin")
        .end_turn("end_turn");
    assert_not_exercised(FIRST, &retried.watch_seconds(1));
}

fn reopened() -> HistoryBuilder {
    HistoryBuilder::empty()
        .launch(|facts| {
            facts.resume_ref = Some("conv-1".into());
            facts.first_input = Some("begin".into());
        })
        .terminal_ready()
        .agent_started()
        .initialized(json!({"loadSession": true}))
        .exchange(
            "session/load",
            json!({"sessionId": "conv-1"}),
            json!({"result": null}),
        )
        .record("conv-1")
}

#[test]
fn a_reopened_conversation_does_not_get_it_again() {
    assert_held(NOT_AGAIN, &reopened().prompt("next"));
    assert_held(NOT_AGAIN, &reopened().watch_seconds(5));
    assert_broken(NOT_AGAIN, &submitted(reopened(), "begin"));
    assert_not_exercised(NOT_AGAIN, &reopened().watch_seconds(1));
    assert_not_exercised(NOT_AGAIN, &begun("begin").watch_seconds(5));
    // Whatever becomes of it there, the must is about new conversations.
    assert_not_exercised(FIRST, &reopened().watch_seconds(9));
}

/// How an agent is started and what its opening says of models.
struct Agent {
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    opening: Value,
}

const LEFT: &[(&str, &str)] = &[("OPENRIG_MODEL", "elm-2")];

fn options() -> Value {
    json!({"configOptions": [
        {"id": "effort", "category": "thought_level", "options": [{"value": "elm-2"}]},
        {"id": "llm", "category": "model", "options": [
            {"group": "g", "options": [{"value": "[\"x\",2]", "name": "elm-2"}, {"value": "oak"}]}]}]})
}

fn started(agent: Agent, resume: bool) -> HistoryBuilder {
    let mut history = HistoryBuilder::empty()
        .launch(|facts| {
            facts.model = Some("elm-2".into());
            facts.resume_ref = resume.then(|| "conv-1".into());
        })
        .terminal_ready()
        .agent_started();
    let environment: BTreeMap<String, String> = agent
        .environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    history = history.fact(Fact::Wire(Wire::AgentStarted {
        agent: 2,
        pid: 300,
        arguments: agent.arguments.iter().map(|word| (*word).to_owned()).collect(),
        environment,
    }));
    history = history.second_agent().initialized(json!({"loadSession": true}));
    let mut result = agent.opening;
    if resume {
        return history.exchange(
            "session/load",
            json!({"sessionId": "conv-1"}),
            json!({"result": result}),
        );
    }
    result["sessionId"] = json!("conv-1");
    history.exchange("session/new", json!({"cwd": "/seat"}), json!({"result": result}))
}

fn offering(opening: Value) -> HistoryBuilder {
    let agent = Agent {
        arguments: &["dsh", "acp"],
        environment: LEFT,
        opening,
    };
    started(agent, false)
}

fn set_option(history: HistoryBuilder, option: &str, value: &str, answer: Value) -> HistoryBuilder {
    history.exchange(
        "session/set_config_option",
        json!({"sessionId": "conv-1", "configId": option, "value": value}),
        answer,
    )
}

fn ok() -> Value {
    json!({"result": {"configOptions": []}})
}

fn no() -> Value {
    json!({"error": {"code": -32602, "message": "no"}})
}

#[test]
fn an_offered_model_is_asked_for_before_the_first_prompt() {
    for value in ["[\"x\",2]", "elm-2"] {
        assert_held(
            MODEL,
            &set_option(offering(options()), "llm", value, ok()).prompt("go"),
        );
    }
    assert_held(
        MODEL,
        &set_option(offering(options()), "llm", "elm-2", no()).prompt("go"),
    );
    assert_broken(MODEL, &offering(options()).prompt("go"));
    assert_broken(
        MODEL,
        &set_option(offering(options()), "llm", "oak", ok()).prompt("go"),
    );
    assert_broken(
        MODEL,
        &set_option(offering(options()), "effort", "elm-2", ok()).prompt("go"),
    );
    let late = set_option(
        offering(options()).prompt("go").end_turn("end_turn"),
        "llm",
        "elm-2",
        ok(),
    );
    assert_broken(MODEL, &late);
    // Nothing was submitted yet: it may still come.
    assert_not_exercised(MODEL, &offering(options()).watch_seconds(9));
}

#[test]
fn the_older_list_is_asked_by_its_own_call() {
    let list =
        || offering(json!({"models": {"availableModels": [{"modelId": "elm-2"}, {"modelId": "oak"}]}}));
    let asked = |id: &str| {
        let params = json!({"sessionId": "conv-1", "modelId": id});
        list()
            .exchange("session/set_model", params, json!({"result": {}}))
            .prompt("go")
    };
    assert_held(MODEL, &asked("elm-2"));
    assert_broken(MODEL, &asked("oak"));
    assert_broken(MODEL, &list().prompt("go"));
}

#[test]
fn an_argument_or_a_variable_of_the_agents_own_is_enough() {
    for (arguments, environment) in [
        (&["dsh", "--model=elm-2"][..], &[][..]),
        (&["dsh", "-m", "elm-2"], &[]),
        (&["dsh"], &[("DSH_MODEL", "elm-2")]),
    ] {
        let agent = Agent {
            arguments,
            environment,
            opening: options(),
        };
        let history = started(agent, false).prompt("go").watch_seconds(9);
        assert_held(MODEL, &history);
        // An agent answers nothing to that.
        let finding = judge(UNAPPLIED, &history);
        assert!(matches!(finding, Finding::NotApplicable(_)), "{finding:?}");
    }
}

#[test]
fn openrigs_own_variable_is_enough_only_where_nothing_is_offered() {
    assert_held(MODEL, &offering(json!({})).prompt("go"));
    let scrubbed = || {
        let agent = Agent {
            arguments: &["dsh"],
            environment: &[],
            opening: json!({}),
        };
        started(agent, false)
    };
    assert_broken(MODEL, &scrubbed().prompt("go"));
    // It can't be handed over, and that is said.
    assert_not_exercised(
        MODEL,
        &scrubbed().shows("the agent takes no model: elm-2").prompt("go"),
    );
}

#[test]
fn a_reopened_conversation_gets_the_model_too() {
    let again = || {
        let agent = Agent {
            arguments: &["dsh"],
            environment: LEFT,
            opening: options(),
        };
        started(agent, true)
    };
    assert_held(MODEL, &set_option(again(), "llm", "elm-2", ok()).prompt("go"));
    assert_broken(MODEL, &again().prompt("go"));
}

#[test]
fn without_a_model_nothing_is_asked() {
    for id in [MODEL, UNAPPLIED] {
        assert_not_exercised(id, &HistoryBuilder::ready().prompt("go").watch_seconds(9));
    }
}

#[test]
fn a_refused_model_is_said_in_the_pane() {
    let refused = || set_option(offering(options()), "llm", "elm-2", no());
    for words in ["the model was not taken", "! elm-2: no", "Model nicht gesetzt"] {
        assert_held(UNAPPLIED, &refused().shows(words));
    }
    assert_broken(UNAPPLIED, &refused().shows("ready").prompt("go").watch_seconds(5));
    assert_not_exercised(UNAPPLIED, &refused().watch_seconds(3));
    assert_not_exercised(
        UNAPPLIED,
        &set_option(offering(options()), "llm", "elm-2", ok()).watch_seconds(9),
    );
    // Refused as an option, taken as a model.
    let other_way = refused().exchange(
        "session/set_model",
        json!({"modelId": "elm-2"}),
        json!({"result": {}}),
    );
    assert_not_exercised(UNAPPLIED, &other_way.watch_seconds(9));
}

#[test]
fn a_model_that_is_not_offered_is_said_in_the_pane() {
    let others = || offering(json!({"configOptions": [{"id": "model", "options": [{"value": "oak"}]}]}));
    assert_held(
        UNAPPLIED,
        &others().shows("elm-2 is not offered; the agent keeps its own"),
    );
    assert_broken(UNAPPLIED, &others().shows("ready").prompt("go").watch_seconds(5));
    // Whether it is given is the other clause's matter, and there is nothing to give.
    assert_not_exercised(MODEL, &others().prompt("go").watch_seconds(5));
    assert_not_exercised(UNAPPLIED, &offering(json!({})).prompt("go").watch_seconds(9));
}

/// A runner that takes all that is handed over, stopped at any time.
#[test]
fn nothing_breaks_whenever_the_seat_is_stopped() {
    let history = HistoryBuilder::empty()
        .launch(|facts| {
            facts.first_input = Some("begin\n".into());
            facts.model = Some("elm-2".into());
        })
        .terminal_ready()
        .agent_started()
        .block("typed early")
        .initialized(json!({"loadSession": true}))
        .exchange(
            "session/new",
            json!({"cwd": "/seat", "mcpServers": []}),
            json!({"result": {"sessionId": "conv-1", "configOptions": [
                {"id": "model", "options": [{"value": "elm-2"}]}]}}),
        )
        .record("conv-1");
    let history = set_option(history, "model", "elm-2", no())
        .shows("! the model elm-2 was not taken: no")
        .prompt_text_only("begin")
        .accepted()
        .shows("you ▸ begin")
        .after_ms(400)
        .end_turn("end_turn")
        .post("Stop", "end_turn")
        .prompt_text_only("typed early")
        .accepted()
        .shows("you ▸ typed early")
        .after_ms(400)
        .end_turn("end_turn")
        .post("Stop", "end_turn")
        .watch_seconds(9)
        .history();
    for length in 0..=history.events.len() {
        let stopped = History::new(history.header.clone(), history.events[..length].to_vec());
        assert_nothing_broken("handing over", &stopped);
    }
}
