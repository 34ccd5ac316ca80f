mod outcome;
mod proof;
mod reopening;
mod replay;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::history_builder::{
    HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
};
use crate::contract::Finding;
use crate::history::views::Views;
use crate::history::{Authorization, Declared, Fact, MissingAnswer, Process, RecordChange};

const REFERENCE: &str = "conv-1";

/// A resume launch whose agent has answered initialize.
fn resumed() -> HistoryBuilder {
    HistoryBuilder::resumed(REFERENCE)
}

/// The agent answers the reopening so.
fn loaded(answer: Value) -> HistoryBuilder {
    resumed().exchange(
        "session/load",
        json!({"sessionId": REFERENCE, "cwd": "/seat", "mcpServers": []}),
        answer,
    )
}

fn reopened() -> HistoryBuilder {
    loaded(json!({"result": null}))
}

fn refused(code: i64, data: Value) -> HistoryBuilder {
    loaded(json!({"error": {"code": code, "message": "no", "data": data}}))
}

fn gone() -> HistoryBuilder {
    refused(-32002, json!({"sessionId": REFERENCE}))
}

fn silent() -> HistoryBuilder {
    resumed().asks_agent("session/load", json!({"sessionId": REFERENCE}))
}

fn missing(history: HistoryBuilder) -> HistoryBuilder {
    history.record_with(|record| record["error"] = json!("missing"))
}

fn with_capabilities(capabilities: Value) -> HistoryBuilder {
    HistoryBuilder::empty()
        .launch(|facts| facts.resume_ref = Some(REFERENCE.into()))
        .terminal_ready()
        .agent_started()
        .initialized(capabilities)
}

fn load(history: HistoryBuilder) -> HistoryBuilder {
    history.exchange(
        "session/load",
        json!({"sessionId": REFERENCE}),
        json!({"result": {}}),
    )
}

/// The agent replays so many turns.
fn replays(mut history: HistoryBuilder, turns: usize) -> HistoryBuilder {
    for kind in ["user_message_chunk", "agent_message_chunk"].repeat(turns) {
        let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": {
            "sessionId": REFERENCE, "update": {"sessionUpdate": kind, "content": {"type": "text", "text": "old"}}}});
        history = history.agent_writes(&update.to_string());
    }
    history
}

/// A reopening whose answer comes after a replay of three turns; `during` stands between.
fn replayed(during: impl FnOnce(HistoryBuilder) -> HistoryBuilder) -> HistoryBuilder {
    during(replays(silent(), 3))
        .after_ms(500)
        .agent_writes(r#"{"jsonrpc":"2.0","id":1,"result":null}"#)
        .record(REFERENCE)
}

fn idle(history: HistoryBuilder) -> HistoryBuilder {
    history.post("Stop", "idle")
}

fn beat(history: HistoryBuilder) -> HistoryBuilder {
    history.post_with("Stop", "idle", |body| body["livenessSeconds"] = json!(2))
}

/// What conformant runners may look like on a resume, with agents of every kind.
fn conformant() -> Vec<HistoryBuilder> {
    let said = |history: HistoryBuilder| history.shows("not reopened").block("hello").shows("not sent");
    let resume = resumed()
        .exchange(
            "session/resume",
            json!({"sessionId": REFERENCE}),
            json!({"result": {}}),
        )
        .record(REFERENCE);
    let listed = resumed().exchange("session/list", json!({}), json!({"result": {"sessions": []}}));
    let both = refused(-32601, Value::Null)
        .exchange(
            "session/resume",
            json!({"sessionId": REFERENCE}),
            json!({"result": {}}),
        )
        .record(REFERENCE);
    let other = loaded(json!({"result": {"sessionId": "conv-9"}}));
    let own = with_capabilities(json!({}))
        .exchange("_dsh/reopen", json!({"id": REFERENCE}), json!({"result": {}}))
        .record(REFERENCE);
    vec![
        reopened().record(REFERENCE),
        idle(reopened().record(REFERENCE))
            .prompt("hello")
            .end_turn("end_turn"),
        reopened()
            .record(REFERENCE)
            .prompt("one")
            .end_turn("end_turn")
            .prompt("two"),
        resume,
        both,
        own,
        said(missing(listed)),
        said(missing(gone())),
        said(missing(refused(-32002, Value::Null))),
        said(refused(-32002, Value::Null)),
        said(refused(-32603, Value::Null)),
        said(other.clone()),
        other.record(REFERENCE).prompt("hello"),
        said(silent()),
        said(silent().agent_ended().post("Stop", "dsh_exited")),
        said(with_capabilities(json!({}))),
        replayed(|history| history).prompt("hello").end_turn("end_turn"),
        idle(replayed(|history| idle(history).block("hello")))
            .accepted()
            .prompt_text_only("hello"),
        replays(idle(reopened().record(REFERENCE)).prompt("hello"), 5).end_turn("end_turn"),
        HistoryBuilder::ready().prompt("hello").end_turn("end_turn"),
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

proptest! {
    /// Whatever a seat does, in whatever order, at whatever time: no judge stumbles, and each cites what it found.
    #[test]
    fn no_history_is_too_odd(
        late in any::<bool>(),
        steps in proptest::collection::vec((0_usize..24, 0_u64..1_500), 0..40),
    ) {
        // The latest clock that still leaves a minute and some.
        let start = if late { u64::MAX / 1_000_000 - 80_000 } else { 0 };
        let seat = HistoryBuilder::empty().at_ms(start).launch(|_| {});
        let built = steps
            .into_iter()
            .fold(seat, |history, (step, pause)| odd_step(history, step).after_ms(pause))
            .history();
        let views = Views::new(&built);
        for clause in crate::contract::identity::CLAUSES.iter().chain(super::CLAUSES) {
            if let Finding::Held(decided) | Finding::Broken(decided) = (clause.judge)(&views) {
                prop_assert!(!decided.events.is_empty(), "{}: {}", clause.id, decided.said);
            }
        }
    }
}

fn odd_step(history: HistoryBuilder, step: usize) -> HistoryBuilder {
    let session = json!({"sessionId": REFERENCE});
    match step {
        0 => history.launch(|_| {}),
        1 => history.launch(|facts| facts.resume_ref = Some(REFERENCE.into())),
        2 => history.launch(|facts| facts.record_path_given = false),
        3 => history.agent_started(),
        4 => history.agent_ended(),
        5 => history.initialized(json!({"loadSession": true})),
        6 => history.exchange(
            "initialize",
            json!(null),
            json!({"result": {"protocolVersion": 7}}),
        ),
        7 => history.exchange("session/new", json!([]), json!({"result": session})),
        8 => history.exchange("session/load", session, json!({"result": null, "error": null})),
        9 => history.exchange("session/load", session, json!({"error": "no"})),
        10 => history.asks_agent("session/load", json!("no")),
        11 => history.exchange(
            "session/list",
            json!({}),
            json!({"result": {"sessions": [1, {"sessionId": 2}]}}),
        ),
        12 => history.record(REFERENCE),
        13 => missing(history),
        14 => history.raw_record(RecordChange::Created, "{"),
        15 => history.raw_record(RecordChange::Stood, "[]"),
        16 => replays(history, 2),
        17 => history.prompt("hello"),
        18 => history.end_turn("end_turn"),
        19 => idle(history),
        20 => history.raw_post("[]", Authorization::Wrong),
        21 => history.stopping(),
        22 => history.fact(Fact::Process(Process::RunnerExited {
            code: None,
            signal: Some(9),
        })),
        _ => history.agent_writes("{}"),
    }
}
