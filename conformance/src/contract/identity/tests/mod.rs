mod content;
mod without_record;
mod writing;

use serde_json::{Value, json};

use super::super::history_builder::{
    HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
};
use crate::contract::Finding;
use crate::history::{Bytes, Fact, Process, RecordChange, RecordFact, Wire};

fn removed(history: HistoryBuilder) -> HistoryBuilder {
    history.fact(Fact::Record(RecordFact {
        change: RecordChange::Removed,
        content: None,
        note: None,
    }))
}

/// A record of the first launch, as bytes.
fn bytes(change: impl FnOnce(&mut Value)) -> String {
    let mut record = json!({
        "format": 1, "attempt": "attempt-1", "harness": "dsh", "nativeRef": "conv-1", "producer": "runner 1.0",
    });
    change(&mut record);
    record.to_string()
}

fn whole() -> String {
    bytes(|_| {})
}

/// A seat that opened its conversation; no record yet.
fn opened() -> HistoryBuilder {
    HistoryBuilder::launched().opened()
}

/// A seat without OPENRIG_LAUNCH_RESULT.
fn without_path() -> HistoryBuilder {
    HistoryBuilder::empty()
        .launch(|facts| facts.record_path_given = false)
        .terminal_ready()
        .agent_started()
}

/// A seat at whose record path another attempt's record stands.
fn stale() -> HistoryBuilder {
    let old = bytes(|record| record["attempt"] = json!("attempt-0"));
    HistoryBuilder::empty()
        .launch(|facts| facts.stale_record = true)
        .raw_record(RecordChange::Stood, &old)
        .terminal_ready()
        .agent_started()
}

fn refused() -> HistoryBuilder {
    HistoryBuilder::launched().initialized(json!({})).exchange(
        "session/new",
        json!({"cwd": "/seat"}),
        json!({"error": {"code": -32000, "message": "no"}}),
    )
}

fn other_version() -> HistoryBuilder {
    HistoryBuilder::launched().exchange(
        "initialize",
        json!({"protocolVersion": 1}),
        json!({"result": {"protocolVersion": 99}}),
    )
}

/// What conformant runners may look like beside the ordinary one.
fn conformant() -> Vec<HistoryBuilder> {
    let linked = opened().raw_record(RecordChange::Created, &whole());
    let crashed = HistoryBuilder::ready()
        .prompt("work")
        .agent_ended()
        .post("Stop", "dsh_exited");
    let exit = Fact::Process(Process::RunnerExited {
        code: Some(1),
        signal: None,
    });
    let faulty = HistoryBuilder::ready()
        .endpoint("refuse")
        .prompt("work")
        .end_turn("end_turn");
    let with_mode = opened()
        .exchange("session/set_mode", json!({}), json!({"result": {}}))
        .record("conv-1");
    let retried = refused().exchange(
        "session/new",
        json!({}),
        json!({"result": {"sessionId": "conv-1"}}),
    );
    let twice = HistoryBuilder::ready()
        .stopping()
        .launch(|facts| facts.stale_record = true)
        .raw_record(RecordChange::Stood, &whole())
        .terminal_ready()
        .agent_started()
        .opened()
        .record("conv-1");
    vec![
        HistoryBuilder::ready(),
        HistoryBuilder::ready()
            .prompt("work")
            .end_turn("end_turn")
            .post("Stop", "idle"),
        linked,
        crashed.clone(),
        crashed.fact(exit.clone()),
        faulty,
        with_mode,
        retried.record("conv-1"),
        twice,
        without_path().opened().prompt("work"),
        refused().shows("the agent refused"),
        refused().shows("the agent refused").fact(exit),
        other_version().shows("the agent speaks ACP 99"),
        HistoryBuilder::launched()
            .agent_ended()
            .post("Stop", "dsh_exited"),
        HistoryBuilder::launched()
            .asks_agent("initialize", json!({"protocolVersion": 1}))
            .shows("still waiting"),
        removed(stale()).opened().record("conv-1"),
    ]
}

#[test]
fn no_conformant_history_breaks_a_clause() {
    for history in conformant() {
        for clause in super::CLAUSES {
            for history in [history.clone().stopping(), history.clone().watch_seconds(30)] {
                let finding = judge(clause.id, &history);
                assert!(
                    !matches!(finding, Finding::Broken(_) | Finding::Inconclusive(_)),
                    "{}: {finding:?}",
                    clause.id
                );
            }
        }
    }
}
