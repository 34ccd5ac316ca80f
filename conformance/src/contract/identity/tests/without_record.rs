use super::*;

#[test]
fn none_on_failed_open() {
    let id = "identity.none-on-failed-open";
    assert_held(id, &refused().watch_seconds(1));
    assert_broken(id, &refused().record("unknown").watch_seconds(1));
    assert_not_exercised(id, &refused().stopping());
    assert_not_exercised(id, &HistoryBuilder::ready().watch_seconds(1));
    let silent = HistoryBuilder::launched()
        .initialized(json!({}))
        .asks_agent("session/new", json!({}));
    assert_held(id, &silent.clone().watch_seconds(1));
    assert_broken(id, &silent.record("guess").watch_seconds(1));
    let dead = HistoryBuilder::launched()
        .asks_agent("initialize", json!({"protocolVersion": 1}))
        .agent_ended();
    assert_held(id, &dead.clone().watch_seconds(1));
    assert_broken(id, &dead.record("guess").watch_seconds(1));
    let retried = refused().exchange(
        "session/new",
        json!({}),
        json!({"result": {"sessionId": "conv-1"}}),
    );
    assert_not_exercised(id, &retried.record("conv-1").watch_seconds(1));
}

#[test]
fn runs_without_path() {
    let id = "identity.runs-without-path";
    assert_held(id, &without_path().opened().prompt("hello"));
    assert_broken(id, &without_path().opened().block("hello").watch_seconds(5));
    assert_broken(
        id,
        &without_path()
            .opened()
            .block("hello")
            .prompt_text_only("hello")
            .watch_seconds(5),
    );
    let silenced = without_path()
        .opened()
        .endpoint("hang")
        .block("hello")
        .prompt_text_only("hello");
    assert_not_exercised(id, &silenced.watch_seconds(5));
    let exit = Fact::Process(Process::RunnerExited {
        code: Some(1),
        signal: None,
    });
    let no_runner = HistoryBuilder::empty()
        .launch(|facts| facts.record_path_given = false)
        .fact(exit.clone());
    assert_not_exercised(id, &no_runner.stopping());
    let ended = HistoryBuilder::ready()
        .stopping()
        .launch(|facts| facts.record_path_given = false)
        .fact(exit.clone());
    assert_broken(id, &ended.stopping());
    let agent_died = without_path().opened().agent_ended().fact(exit);
    assert_not_exercised(id, &agent_died.stopping());
    assert_broken(id, &without_path().initialized(json!({})).watch_seconds(16));
    assert_not_exercised(
        id,
        &without_path()
            .asks_agent("initialize", json!({}))
            .watch_seconds(16),
    );
    assert_not_exercised(id, &HistoryBuilder::ready().prompt("hello"));
}

#[test]
fn version_mismatch() {
    let id = "identity.version-mismatch";
    assert_held(
        id,
        &other_version().shows("the agent speaks ACP 99").watch_seconds(1),
    );
    let codes_only = other_version().fact(Fact::Pane(crate::history::Pane::Output {
        bytes: Bytes::from("\u{1b}[2J\u{1b}[31m\r\n"),
    }));
    assert_broken(id, &codes_only.clone().watch_seconds(5));
    assert_not_exercised(id, &codes_only.watch_seconds(1));
    let went_on = other_version().exchange(
        "session/new",
        json!({}),
        json!({"result": {"sessionId": "conv-1"}}),
    );
    assert_broken(id, &went_on.shows("ready").watch_seconds(1));
    assert_broken(id, &other_version().record("guess").shows("no").watch_seconds(1));
    assert_not_exercised(id, &HistoryBuilder::ready().watch_seconds(5));
    let asked_for_it = HistoryBuilder::launched().exchange(
        "initialize",
        json!({"protocolVersion": 2}),
        json!({"result": {"protocolVersion": 2}}),
    );
    assert_not_exercised(id, &asked_for_it.watch_seconds(5));
}

#[test]
fn version_mismatch_with_a_runner_that_ends_silently() {
    let ended = other_version()
        .fact(Fact::Process(Process::RunnerExited {
            code: Some(1),
            signal: None,
        }))
        .fact(Fact::Pane(crate::history::Pane::Closed));
    assert_broken("identity.version-mismatch", &ended.watch_seconds(1));
}
