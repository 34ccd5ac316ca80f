use super::*;

#[test]
fn advertised_method() {
    let id = "resume.advertised-method";
    assert_held(id, &reopened());
    assert_broken(id, &load(with_capabilities(json!({}))));
    assert_broken(id, &load(with_capabilities(json!({"loadSession": false}))));
    let resume = |capabilities: Value| {
        with_capabilities(capabilities).exchange(
            "session/resume",
            json!({"sessionId": REFERENCE}),
            json!({"result": {}}),
        )
    };
    assert_held(id, &resume(json!({"sessionCapabilities": {"resume": {}}})));
    assert_broken(
        id,
        &resume(json!({"loadSession": true, "sessionCapabilities": {"resume": null}})),
    );
    assert_held(
        id,
        &with_capabilities(json!({"sessionCapabilities": {"list": {}}})).watch_seconds(1),
    );
    assert_not_exercised(
        id,
        &with_capabilities(json!({"loadSession": true})).watch_seconds(1),
    );
    let own =
        with_capabilities(json!({})).exchange("_dsh/reopen", json!({"id": REFERENCE}), json!({"result": {}}));
    assert_not_exercised(id, &own.watch_seconds(1));
    assert_not_exercised(id, &HistoryBuilder::ready().watch_seconds(1));
}

#[test]
fn exact_ref() {
    let id = "resume.exact-ref";
    assert_held(id, &reopened());
    for asked in [json!({"sessionId": "conv-"}), json!({"sessionId": 1}), json!({})] {
        assert_broken(id, &resumed().asks_agent("session/load", asked));
    }
    assert_not_exercised(id, &resumed());
}

#[test]
fn never_new() {
    let id = "resume.never-new";
    let new = |history: HistoryBuilder| {
        history.exchange(
            "session/new",
            json!({}),
            json!({"result": {"sessionId": "conv-2"}}),
        )
    };
    assert_held(id, &reopened().watch_seconds(1));
    assert_held(id, &refused(-32603, Value::Null).watch_seconds(1));
    assert_held(id, &with_capabilities(json!({})).watch_seconds(1));
    assert_broken(id, &new(resumed()));
    assert_broken(id, &new(refused(-32603, Value::Null)));
    assert_broken(id, &new(reopened().block("hello")));
    assert_not_exercised(id, &HistoryBuilder::ready().watch_seconds(1));
    assert_not_exercised(id, &silent().stopping());
}

#[test]
fn continues() {
    let id = "resume.continues";
    assert_held(id, &reopened().record(REFERENCE).prompt("hello"));
    let other = reopened().runner_writes(
        r#"{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"conv-2","prompt":[]}}"#,
    );
    assert_broken(id, &other);
    assert_broken(id, &reopened().block("hello").watch_seconds(5));
    assert_not_exercised(id, &reopened().watch_seconds(5));
    assert_not_exercised(id, &reopened().block("hello").agent_ended().watch_seconds(5));
    assert_not_exercised(id, &gone().block("hello").watch_seconds(5));
}

#[test]
fn no_prompt_after_failure() {
    let id = "resume.no-prompt-after-failure";
    for failure in [gone(), refused(-32603, Value::Null), with_capabilities(json!({}))] {
        assert_held(
            id,
            &failure
                .clone()
                .shows("not reopened")
                .block("hello")
                .watch_seconds(1),
        );
        assert_broken(
            id,
            &failure
                .clone()
                .shows("not reopened")
                .prompt("hello")
                .watch_seconds(1),
        );
        assert_broken(id, &failure.clone().block("hello").watch_seconds(5));
        assert_not_exercised(id, &failure.clone().shows("not reopened").watch_seconds(5));
        assert_not_exercised(id, &failure.block("hello").watch_seconds(1));
    }
    // How soon a runner gives up on a silent agent is its own choice.
    assert_not_exercised(id, &silent().block("hello").watch_seconds(20));
    assert_not_exercised(id, &reopened().prompt("hello").watch_seconds(1));
    let ended = Fact::Process(Process::RunnerExited {
        code: Some(1),
        signal: None,
    });
    assert_not_exercised(id, &gone().shows("not reopened").fact(ended).watch_seconds(5));
}
