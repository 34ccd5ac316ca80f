//! Small histories for each clause: one that holds, one that breaks, and where it matters one that proves nothing.

mod answers;
mod any_history;
mod attention;
mod other_requests;
mod shown;

use serde_json::{Value, json};

use crate::contract::Finding;
use crate::contract::history_builder::{HistoryBuilder, judge};
use crate::history::{Fact, Process};

/// A turn in which permission was asked for, refused, shown and posted, and which then ended.
fn refused_turn() -> HistoryBuilder {
    HistoryBuilder::ready()
        .prompt("work")
        .permission("call")
        .after_ms(10)
        .end_turn("end_turn")
}

/// A permission request with an id of the test's choice.
fn asks_under(history: HistoryBuilder, id: &Value) -> HistoryBuilder {
    history.agent_writes(
        &json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
                "params": {"sessionId": "conv-1", "toolCall": {"toolCallId": "call", "title": "do it"},
                           "options": [{"optionId": "a", "name": "Allow", "kind": "allow_once"}]}})
        .to_string(),
    )
}

fn refuses_under(history: HistoryBuilder, id: &Value) -> HistoryBuilder {
    history.runner_writes(
        &json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "cancelled"}}}).to_string(),
    )
}

/// A request of the agent with params that are an object.
fn asks(history: HistoryBuilder, id: i64, method: &str) -> HistoryBuilder {
    history.agent_writes(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}).to_string())
}

fn answers_error(history: HistoryBuilder, id: &Value, code: i64) -> HistoryBuilder {
    history.runner_writes(
        &json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}}).to_string(),
    )
}

fn updates(history: HistoryBuilder, update: &Value) -> HistoryBuilder {
    history.agent_writes(
        &json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "conv-1", "update": update}})
            .to_string(),
    )
}

fn assert_inconclusive(id: &str, history: &HistoryBuilder) {
    let finding = judge(id, history);
    assert!(matches!(finding, Finding::Inconclusive(_)), "{id}: {finding:?}");
}

fn working() -> HistoryBuilder {
    HistoryBuilder::ready().prompt("work")
}

fn runner_exits(history: HistoryBuilder, code: i32) -> HistoryBuilder {
    history.fact(Fact::Process(Process::RunnerExited {
        code: Some(code),
        signal: None,
    }))
}
