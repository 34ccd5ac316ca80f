//! What a history proves of a declared resume.

use super::super::proof;
use super::*;
use crate::contract::declaration::Reopened;

fn shown(history: &HistoryBuilder) -> Reopened {
    proof::reopened(&Views::new(&history.history()))
}

/// The conversation is opened, and has a turn.
fn with_a_turn() -> HistoryBuilder {
    HistoryBuilder::ready().prompt("remember").end_turn("end_turn")
}

/// Another launch that is to reopen it; its agent has answered initialize.
fn again(history: HistoryBuilder) -> HistoryBuilder {
    history
        .launch(|facts| facts.resume_ref = Some(REFERENCE.into()))
        .terminal_ready()
        .agent_started()
        .initialized(json!({"loadSession": true}))
}

fn reopens(history: HistoryBuilder) -> HistoryBuilder {
    again(history)
        .exchange(
            "session/load",
            json!({"sessionId": REFERENCE}),
            json!({"result": null}),
        )
        .record(REFERENCE)
}

#[test]
fn only_a_second_reopening_after_a_turn_is_proof() {
    let once = reopens(with_a_turn());
    assert_eq!(shown(&once), Reopened::default());
    let twice = shown(&reopens(once));
    assert!(twice.twice.is_some() && twice.disproved.is_none(), "{twice:?}");
    let without_a_turn = shown(&reopens(reopens(HistoryBuilder::ready())));
    assert_eq!(without_a_turn, Reopened::default());
    assert_eq!(shown(&with_a_turn()), Reopened::default());
}

#[test]
fn a_refused_missing_one_needs_no_record_but_must_name_none() {
    let told = || refused(-32002, json!({"sessionId": REFERENCE}));
    for history in [told(), missing(told())] {
        let shown = shown(&history.watch_seconds(1));
        assert!(
            shown.missing_refused.is_some() && shown.disproved.is_none(),
            "{shown:?}"
        );
    }
    let named = shown(&told().record(REFERENCE).watch_seconds(1));
    assert!(
        named.missing_refused.is_none() && named.disproved.is_some(),
        "{named:?}"
    );
    let replaced = told().exchange("session/new", json!({}), json!({"result": {"sessionId": "x"}}));
    let replaced = shown(&replaced.watch_seconds(1));
    assert!(
        replaced.missing_refused.is_none() && replaced.disproved.is_some(),
        "{replaced:?}"
    );
    // Not the agent's word that it does not exist.
    let failed = shown(&refused(-32603, Value::Null).watch_seconds(1));
    assert_eq!(failed, Reopened::default());
}

#[test]
fn one_that_records_another_or_never_asks_can_not_reopen() {
    let other = again(with_a_turn())
        .exchange(
            "session/load",
            json!({"sessionId": REFERENCE}),
            json!({"result": null}),
        )
        .record("conv-2");
    assert!(shown(&other).disproved.is_some());
    assert!(shown(&again(with_a_turn()).watch_seconds(5)).disproved.is_some());
    // It had no time to, or nothing to ask by.
    assert_eq!(shown(&again(with_a_turn()).watch_seconds(3)), Reopened::default());
    let no_method = HistoryBuilder::empty()
        .launch(|facts| facts.resume_ref = Some(REFERENCE.into()))
        .terminal_ready()
        .agent_started()
        .initialized(json!({}))
        .watch_seconds(9);
    assert_eq!(shown(&no_method), Reopened::default());
}

#[test]
fn an_own_method_is_allowed_where_the_limits_name_it() {
    let id = "resume.advertised-method";
    let own = HistoryBuilder::empty()
        .launch(|facts| facts.resume_ref = Some(REFERENCE.into()))
        .terminal_ready()
        .agent_started()
        .initialized(json!({}))
        .exchange("_dsh/reopen", json!({"id": REFERENCE}), json!({"result": {}}))
        .record(REFERENCE)
        .watch_seconds(1);
    let with_limits = |limit: &str| {
        own.clone().declared(Declared {
            limits: Some(vec![limit.to_owned()]),
            missing: Vec::new(),
        })
    };
    assert_held(
        id,
        &with_limits("reopens by _dsh/reopen (dsh 0.2.1, capability reopen)"),
    );
    assert_broken(id, &with_limits("fork unsupported"));
    assert_not_exercised(id, &own);
}
