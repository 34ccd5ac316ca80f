//! Histories that hold and break the clauses of this group.

use serde_json::json;

use crate::contract::history_builder::{HistoryBuilder, assert_broken, assert_held, assert_not_exercised};
use crate::history::{Bytes, Fact, Process, Wire};

fn working() -> HistoryBuilder {
    HistoryBuilder::ready().prompt("work").after_ms(300)
}

/// The turn ends well, and the next message is submitted.
fn went_on(history: HistoryBuilder) -> HistoryBuilder {
    history
        .end_turn("end_turn")
        .post("Stop", "end_turn")
        .prompt("next")
        .watch_seconds(1)
}

fn runner_ends(history: HistoryBuilder) -> HistoryBuilder {
    history
        .fact(Fact::Process(Process::RunnerExited {
            code: Some(1),
            signal: None,
        }))
        .watch_seconds(20)
}

/// The turn ends, and the next message stays where it is.
fn fell_silent(history: HistoryBuilder) -> HistoryBuilder {
    history.end_turn("end_turn").block("next").watch_seconds(20)
}

fn noise(history: HistoryBuilder) -> HistoryBuilder {
    history.fact(Fact::Wire(Wire::FromAgentRaw {
        agent: 1,
        bytes: Bytes::from("warn: x\n"),
    }))
}

fn update(history: HistoryBuilder, kind: &str) -> HistoryBuilder {
    history.agent_writes(
        &json!({"jsonrpc": "2.0", "method": "session/update",
                "params": {"sessionId": "conv-1", "update": {"sessionUpdate": kind}}})
        .to_string(),
    )
}

fn asks(history: HistoryBuilder, id: i64, filler: usize) -> HistoryBuilder {
    let params = json!({"filler": "x".repeat(filler)});
    history.agent_writes(
        &json!({"jsonrpc": "2.0", "id": id, "method": "_vendor/ask", "params": params}).to_string(),
    )
}

fn refused(history: HistoryBuilder, id: i64) -> HistoryBuilder {
    history.runner_writes(
        &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}).to_string(),
    )
}

/// What must hold and break for every sort of line that an agent may write.
fn assert_borne(clause: &str, disturbed: &HistoryBuilder) {
    assert_held(clause, &went_on(disturbed.clone()));
    assert_held(
        clause,
        &refused(asks(disturbed.clone(), 40, 0), 40).watch_seconds(1),
    );
    assert_broken(clause, &runner_ends(disturbed.clone()));
    // A part of it still answers while it ends.
    assert_broken(clause, &runner_ends(refused(asks(disturbed.clone(), 40, 0), 40)));
    assert_broken(clause, &fell_silent(disturbed.clone()));
    assert_broken(clause, &asks(disturbed.clone(), 40, 0).watch_seconds(20));
    // A seat that is stopped, an agent that dies, an order to cancel, and what was never asked for decide nothing.
    assert_not_exercised(clause, &disturbed.clone().watch_seconds(20));
    assert_not_exercised(clause, &fell_silent(disturbed.clone().agent_ended()));
    assert_not_exercised(clause, &fell_silent(disturbed.clone().abort().cancel()));
    assert_not_exercised(clause, &disturbed.clone().stopping().agent_ended());
    let unfinished = disturbed.clone().block("next").watch_seconds(20);
    assert_not_exercised(clause, &unfinished);
    let too_soon = disturbed.clone().end_turn("end_turn").block("next");
    assert_not_exercised(clause, &too_soon.watch_seconds(2));
}

#[test]
fn stdout_noise() {
    assert_borne("robust.stdout-noise", &noise(working()));
    assert_not_exercised("robust.stdout-noise", &went_on(working()));
}

#[test]
fn noise_before_the_conversation() {
    const CLAUSE: &str = "robust.stdout-noise";
    let at_start = || noise(HistoryBuilder::launched());
    assert_held(CLAUSE, &at_start().opened().record("conv-1").watch_seconds(1));
    assert_broken(CLAUSE, &runner_ends(at_start()));
    let refused = at_start().exchange(
        "initialize",
        json!({}),
        json!({"error": {"code": -32603, "message": "no"}}),
    );
    assert_not_exercised(CLAUSE, &runner_ends(refused));
    let other_version =
        at_start().exchange("initialize", json!({}), json!({"result": {"protocolVersion": 9}}));
    assert_not_exercised(CLAUSE, &runner_ends(other_version));
    let silent = at_start().asks_agent("initialize", json!({})).after_ms(9_000);
    assert_not_exercised(CLAUSE, &runner_ends(silent));
}

#[test]
fn unknown_update() {
    assert_borne("robust.unknown-update", &update(working(), "vendor_progress"));
    assert_not_exercised(
        "robust.unknown-update",
        &went_on(update(working(), "agent_message_chunk")),
    );
}

#[test]
fn large_frame() {
    const CLAUSE: &str = "robust.large-frame";
    let large = asks(working(), 30, 1 << 20);
    assert_held(CLAUSE, &refused(large.clone(), 30).watch_seconds(1));
    assert_broken(CLAUSE, &large.clone().watch_seconds(20));
    assert_broken(CLAUSE, &runner_ends(large));
    let small = refused(asks(working(), 30, 1 << 10), 30);
    assert_not_exercised(CLAUSE, &small.watch_seconds(20));
}

#[test]
fn stderr_flood() {
    const CLAUSE: &str = "robust.stderr-flood";
    let flood = |bytes| working().fact(Fact::Wire(Wire::Stderr { agent: 1, bytes }));
    let large = || flood(1 << 20);
    assert_held(CLAUSE, &went_on(large()));
    assert_broken(CLAUSE, &large().watch_seconds(20));
    assert_broken(CLAUSE, &fell_silent(large()));
    assert_not_exercised(CLAUSE, &large().watch_seconds(2));
    assert_not_exercised(CLAUSE, &large().agent_ended().watch_seconds(20));
    assert_not_exercised(CLAUSE, &went_on(flood(1 << 10)));
}

#[test]
fn id_spaces() {
    const CLAUSE: &str = "robust.id-spaces";
    // The prompt's own id is 2.
    let asked = || asks(working(), 2, 0);
    assert_held(CLAUSE, &went_on(refused(asked(), 2)));
    assert_broken(CLAUSE, &asked().watch_seconds(20));
    assert_broken(CLAUSE, &fell_silent(refused(asked(), 2)));
    assert_broken(CLAUSE, &refused(asked(), 2).prompt("next").watch_seconds(1));
    assert_broken(CLAUSE, &runner_ends(asked()));
    assert_not_exercised(CLAUSE, &went_on(refused(asks(working(), 9, 0), 9)));
    assert_not_exercised(CLAUSE, &asked().watch_seconds(2));
}

#[test]
fn late_update() {
    const CLAUSE: &str = "robust.late-update";
    let idle = || {
        working()
            .end_turn("end_turn")
            .post("Stop", "end_turn")
            .after_ms(100)
    };
    let late = || update(idle(), "agent_message_chunk");
    assert_held(CLAUSE, &late().watch_seconds(1));
    assert_held(CLAUSE, &late().after_ms(500).prompt("next").watch_seconds(1));
    assert_broken(CLAUSE, &late().post("PreToolUse", "active").watch_seconds(1));
    assert_broken(
        CLAUSE,
        &update(late(), "tool_call").post("active", "x").watch_seconds(1),
    );
    assert_not_exercised(CLAUSE, &idle().watch_seconds(1));
    // The turn's own reports may be on their way still.
    let overtaken = update(working().end_turn("end_turn"), "agent_message_chunk");
    assert_not_exercised(
        CLAUSE,
        &overtaken
            .post("PreToolUse", "edit")
            .post("Stop", "idle")
            .watch_seconds(1),
    );
}

#[test]
fn prompt_error() {
    const CLAUSE: &str = "robust.prompt-error";
    let failed = || working().fail_turn(-32603);
    let told = || failed().post("Stop", "failed");
    assert_held(CLAUSE, &told().prompt("next").watch_seconds(1));
    let notified = failed().post("Notification", "runtime_error");
    assert_held(CLAUSE, &notified.prompt("next").watch_seconds(1));
    assert_broken(CLAUSE, &failed().watch_seconds(20));
    assert_broken(
        CLAUSE,
        &failed().post("Stop", "cancelled").prompt("next").watch_seconds(1),
    );
    assert_broken(CLAUSE, &told().block("next").watch_seconds(20));
    assert_broken(CLAUSE, &runner_ends(told()));
    assert_not_exercised(CLAUSE, &told().watch_seconds(20));
    assert_not_exercised(CLAUSE, &failed().agent_ended().watch_seconds(20));
    assert_not_exercised(CLAUSE, &went_on(working()));
    let while_held = working().permission("call").fail_turn(-32603);
    assert_not_exercised(CLAUSE, &while_held.watch_seconds(20));
    // What the turn before was told is its own affair, even if it arrives late.
    let after_a_cancelled_one = working()
        .abort()
        .cancel()
        .end_turn("cancelled")
        .post("Stop", "cancelled")
        .prompt("next")
        .fail_turn(-32603)
        .post("Stop", "failed")
        .prompt("again");
    assert_held(CLAUSE, &after_a_cancelled_one.watch_seconds(1));
}
