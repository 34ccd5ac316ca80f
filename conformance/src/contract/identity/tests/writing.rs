use super::*;

#[test]
fn record_written() {
    let id = "identity.record-written";
    assert_held(id, &HistoryBuilder::ready());
    assert_broken(id, &opened().watch_seconds(5));
    assert_not_exercised(id, &opened().watch_seconds(3));
    assert_not_exercised(id, &refused().watch_seconds(5));
    assert_not_exercised(id, &without_path().opened().watch_seconds(5));
}

#[test]
fn record_written_may_wait_for_what_the_runner_still_asks() {
    let id = "identity.record-written";
    let asking = opened().asks_agent("session/set_mode", json!({"modeId": "ask"}));
    assert_not_exercised(id, &asking.watch_seconds(20));
    let answered = opened().exchange("session/set_mode", json!({}), json!({"result": {}}));
    assert_broken(id, &answered.watch_seconds(5));
}

#[test]
fn record_written_is_free_after_a_late_answer_or_with_a_gone_agent() {
    let id = "identity.record-written";
    let late = HistoryBuilder::launched()
        .initialized(json!({}))
        .asks_agent("session/new", json!({}))
        .after_ms(9_000)
        .agent_writes(r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"conv-1"}}"#);
    assert_not_exercised(id, &late.watch_seconds(20));
    let gone = opened().agent_ended();
    assert_not_exercised(id, &gone.watch_seconds(20));
}

#[test]
fn record_written_on_a_late_machine_is_inconclusive() {
    let late = opened()
        .after_ms(3_000)
        .fact(Fact::Lag { late_ms: 2_000 })
        .watch_seconds(2);
    let finding = judge("identity.record-written", &late);
    assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
}

#[test]
fn after_open() {
    let id = "identity.after-open";
    assert_held(id, &HistoryBuilder::ready());
    let early = HistoryBuilder::launched().record("pending").opened();
    assert_broken(id, &early);
    let never = HistoryBuilder::launched().initialized(json!({})).record("conv-1");
    assert_broken(id, &never);
    let resumed_early = HistoryBuilder::resumed("conv-1")
        .asks_agent("session/load", json!({"sessionId": "conv-1"}))
        .record("conv-1");
    assert_broken(id, &resumed_early);
    let patient = HistoryBuilder::resumed("conv-1")
        .asks_agent("session/load", json!({"sessionId": "conv-1"}))
        .after_ms(500)
        .agent_writes(r#"{"jsonrpc":"2.0","id":1,"result":null}"#)
        .record("conv-1");
    assert_held(id, &patient);
    assert_not_exercised(id, &without_path().opened());
    // Another attempt's record is none of this launch's.
    assert_held(id, &stale().opened().record("conv-1"));
}

#[test]
fn after_open_lets_missing_rest_on_the_list() {
    let listed = HistoryBuilder::resumed("conv-1")
        .exchange("session/list", json!({}), json!({"result": {"sessions": []}}))
        .record_with(|record| record["error"] = json!("missing"))
        .watch_seconds(1);
    assert_not_exercised("identity.after-open", &listed);
}

#[test]
fn an_answer_in_raw_bytes_is_an_answer() {
    let raw = HistoryBuilder::launched()
        .asks_agent("session/new", json!({}))
        .fact(Fact::Wire(Wire::FromAgentRaw {
            agent: 1,
            bytes: Bytes::from("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"sessionId\":\"conv-1\"}}\n"),
        }))
        .record("conv-1")
        .watch_seconds(5);
    assert_held("identity.after-open", &raw);
    assert_held("identity.native-ref-exact", &raw);
    assert_not_exercised("identity.none-on-failed-open", &raw);
}

#[test]
fn written_once() {
    let id = "identity.written-once";
    assert_held(id, &HistoryBuilder::ready().watch_seconds(1));
    assert_not_exercised(id, &HistoryBuilder::ready().stopping());
    let later = bytes(|record| record["at"] = json!("12:00"));
    let ready = HistoryBuilder::ready();
    assert_broken(
        id,
        &ready
            .clone()
            .raw_record(RecordChange::MovedIn, &later)
            .watch_seconds(1),
    );
    assert_broken(
        id,
        &ready
            .clone()
            .raw_record(RecordChange::Modified, "")
            .watch_seconds(1),
    );
    assert_broken(id, &removed(ready.clone()).watch_seconds(1));
    assert_held(id, &removed(ready.clone().watch_seconds(1)));
    let same = format!("{}\n", whole());
    assert_held(
        id,
        &ready.raw_record(RecordChange::Modified, &same).watch_seconds(1),
    );
    let in_place = opened()
        .raw_record(RecordChange::Created, "")
        .raw_record(RecordChange::Modified, "{\"format\"")
        .raw_record(RecordChange::Modified, &whole());
    assert_held(id, &in_place.watch_seconds(1));
}

#[test]
fn whole_file() {
    let id = "identity.whole-file";
    assert_held(id, &HistoryBuilder::ready());
    let linked = opened().raw_record(RecordChange::Created, &whole());
    assert_held(id, &linked);
    // The name stood there before the bytes did, whatever this reader found.
    assert_broken(id, &linked.raw_record(RecordChange::Modified, &whole()));
    for half in ["", "{\"format\": 1, \"att"] {
        let in_place = opened()
            .raw_record(RecordChange::Created, half)
            .raw_record(RecordChange::Modified, &whole());
        assert_broken(id, &in_place);
    }
    assert_broken(id, &stale().opened().raw_record(RecordChange::Modified, ""));
    assert_not_exercised(id, &opened());
    // The stop may cut a write.
    assert_not_exercised(id, &opened().stopping().raw_record(RecordChange::Created, ""));
}

#[test]
fn stale_record() {
    let id = "identity.stale-record";
    assert_held(id, &stale().opened().record("conv-1"));
    assert_broken(id, &stale().opened().watch_seconds(5));
    assert_not_exercised("identity.record-written", &stale().opened().watch_seconds(5));
    assert_not_exercised(id, &HistoryBuilder::ready());
}
