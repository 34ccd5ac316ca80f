use super::*;

#[test]
fn record_same_ref() {
    let id = "resume.record-same-ref";
    for result in [
        json!(null),
        json!({}),
        json!({"modes": {"currentModeId": "ask", "availableModes": []}}),
    ] {
        let history = loaded(json!({"result": result}));
        assert_held(id, &history.clone().record(REFERENCE));
        assert_broken(id, &history.clone().record("conv-1-reopened"));
        assert_broken(id, &history.watch_seconds(5));
    }
    assert_broken(id, &missing(reopened()));
    assert_not_exercised(id, &reopened().watch_seconds(3));
    assert_not_exercised(id, &refused(-32603, Value::Null).watch_seconds(5));
}

#[test]
fn record_same_ref_is_free_where_the_success_may_be_doubted() {
    let id = "resume.record-same-ref";
    let other = loaded(json!({"result": {"_meta": {"sessionProvenance": {"id": "conv-9"}}}}));
    assert_not_exercised(id, &other.clone().watch_seconds(5));
    assert_not_exercised(id, &other.clone().record(REFERENCE));
    assert_broken(id, &other.record("conv-9"));
    let unlisted = load(resumed().exchange("session/list", json!({}), json!({"result": {"sessions": []}})));
    assert_not_exercised(id, &missing(unlisted.clone()));
    assert_held(id, &unlisted.record(REFERENCE));
}

#[test]
fn missing_on_agents_word() {
    let id = "resume.missing-on-agents-word";
    for key in ["sessionId", "session_id", "uri"] {
        let history = refused(-32002, json!({key: REFERENCE}));
        assert_held(id, &missing(history.clone()));
        assert_broken(id, &history.clone().watch_seconds(5));
        assert_broken(id, &history.record(REFERENCE));
    }
    assert_not_exercised(id, &gone().watch_seconds(3));
    assert_not_exercised(id, &gone().agent_ended().watch_seconds(5));
    assert_not_exercised(id, &refused(-32603, Value::Null).watch_seconds(5));
    // An answer that may be read either way.
    let bare = refused(-32002, Value::Null);
    assert_held(id, &missing(bare.clone()));
    assert_not_exercised(id, &bare.watch_seconds(5));
}

#[test]
fn missing_may_rest_on_the_list() {
    let listed = |sessions: Value| resumed().exchange("session/list", json!({}), json!({"result": sessions}));
    assert_held(
        "resume.missing-on-agents-word",
        &missing(listed(json!({"sessions": [{"sessionId": "conv-2"}]}))),
    );
    let refuse = |history: HistoryBuilder| {
        let error = json!({"error": {"code": -32603, "message": "no"}});
        missing(history.exchange("session/load", json!({"sessionId": REFERENCE}), error)).watch_seconds(1)
    };
    let id = "resume.unconfirmed-otherwise";
    assert_not_exercised(id, &refuse(listed(json!({"sessions": []}))));
    assert_broken(
        id,
        &refuse(listed(json!({"sessions": [{"sessionId": REFERENCE}]}))),
    );
    assert_broken(id, &refuse(listed(json!({"sessions": [], "nextCursor": "2"}))));
}

#[test]
fn a_conversation_without_a_turn_may_stay_unconfirmed() {
    let second = |first: HistoryBuilder| {
        first
            .stopping()
            .launch(|facts| facts.resume_ref = Some(REFERENCE.into()))
            .agent_started()
            .initialized(json!({"loadSession": true}))
            .exchange(
                "session/load",
                json!({"sessionId": REFERENCE}),
                json!({"error": {"code": -32002, "message": "no", "data": {"sessionId": REFERENCE}}}),
            )
            .watch_seconds(5)
    };
    let id = "resume.missing-on-agents-word";
    assert_not_exercised(id, &second(HistoryBuilder::ready()));
    assert_broken(
        id,
        &second(HistoryBuilder::ready().prompt("hello").end_turn("end_turn")),
    );
}

#[test]
fn pinned_answers_are_the_agents_word() {
    let pinned = |history: HistoryBuilder| {
        history.declared(Declared {
            limits: None,
            missing: vec![MissingAnswer {
                code: -32602,
                message: Some("no".into()),
                data: None,
            }],
        })
    };
    let (missing_id, unconfirmed_id) = ("resume.missing-on-agents-word", "resume.unconfirmed-otherwise");
    let refused = refused(-32602, Value::Null);
    let recorded = missing(refused.clone()).watch_seconds(1);
    assert_held(missing_id, &pinned(recorded.clone()));
    assert_not_exercised(unconfirmed_id, &pinned(recorded.clone()));
    assert_broken(unconfirmed_id, &recorded);
    assert_broken(missing_id, &pinned(refused.watch_seconds(5)));
}

#[test]
fn unconfirmed_otherwise() {
    let id = "resume.unconfirmed-otherwise";
    let failures = [
        refused(-32603, json!({"details": "no"})),
        refused(-32000, Value::Null),
        refused(-32601, Value::Null),
        refused(-32602, json!({"session_id": REFERENCE})),
        refused(-32002, json!({"uri": "file:///notes"})),
        refused(-32002, json!({"sessionId": "conv-2"})),
        silent(),
        silent().agent_ended(),
        with_capabilities(json!({})),
    ];
    for history in failures {
        assert_held(id, &history.clone().watch_seconds(1));
        assert_broken(id, &missing(history.clone()).watch_seconds(1));
        assert_broken(id, &history.clone().record(REFERENCE).watch_seconds(1));
        assert_not_exercised(id, &history.stopping());
    }
    assert_not_exercised(id, &missing(gone()).watch_seconds(1));
    assert_not_exercised(id, &gone().watch_seconds(1));
    assert_not_exercised(id, &reopened().record(REFERENCE).watch_seconds(1));
    // A late answer to a handshake that was given up: a record, or none.
    let late = silent()
        .after_ms(20_000)
        .agent_writes(r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
    assert_not_exercised(id, &late.clone().watch_seconds(5));
    assert_not_exercised("resume.record-same-ref", &late.watch_seconds(5));
}
