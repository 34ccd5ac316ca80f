use super::*;

#[test]
fn shape() {
    let id = "identity.shape";
    assert_held(id, &HistoryBuilder::ready());
    let null = opened().record_with(|record| {
        record["nativeRef"] = json!("conv-1");
        record["error"] = Value::Null;
        record["note"] = json!("more");
    });
    assert_held(id, &null);
    let faults: [fn(&mut Value); 10] = [
        |record| record["format"] = json!(2),
        |record| record["format"] = json!("1"),
        |record| record["attempt"] = json!(1),
        |record| record["harness"] = Value::Null,
        |record| record["producer"] = json!(["runner"]),
        |record| record["nativeRef"] = json!(""),
        |record| record["nativeRef"] = json!(7),
        |record| record["nativeRef"] = Value::Null,
        |record| record["error"] = json!("missing"),
        |record| {
            record["nativeRef"] = Value::Null;
            record["error"] = json!("gone");
        },
    ];
    for fault in faults {
        assert_broken(id, &opened().raw_record(RecordChange::MovedIn, &bytes(fault)));
    }
    assert_broken(id, &opened().raw_record(RecordChange::MovedIn, "[1]"));
    let text = opened().raw_record(RecordChange::Created, "conv-1");
    assert_not_exercised(id, &text);
    assert_broken(id, &text.clone().watch_seconds(5));
    assert_held(
        id,
        &text.raw_record(RecordChange::Modified, &whole()).watch_seconds(5),
    );
    assert_not_exercised(id, &stale().opened().watch_seconds(5));
}

#[test]
fn attempt_exact() {
    let id = "identity.attempt-exact";
    assert_held(id, &HistoryBuilder::ready());
    let other = bytes(|record| record["attempt"] = json!("attempt-2"));
    assert_broken(id, &opened().raw_record(RecordChange::MovedIn, &other));
    assert_not_exercised(id, &stale().opened());
}

#[test]
fn attempt_exact_in_each_launch() {
    let second = HistoryBuilder::ready()
        .stopping()
        .launch(|_| {})
        .agent_started()
        .opened();
    assert_held("identity.attempt-exact", &second.clone().record("conv-1"));
    assert_broken(
        "identity.attempt-exact",
        &second.raw_record(RecordChange::MovedIn, &whole()),
    );
}

#[test]
fn harness_exact() {
    let id = "identity.harness-exact";
    assert_held(id, &HistoryBuilder::ready());
    let other = bytes(|record| record["harness"] = json!("acp"));
    assert_broken(id, &opened().raw_record(RecordChange::MovedIn, &other));
    assert_not_exercised(id, &opened());
}

#[test]
fn native_ref_exact() {
    let id = "identity.native-ref-exact";
    assert_held(id, &HistoryBuilder::ready());
    assert_broken(id, &opened().record("conv"));
    assert_broken(
        id,
        &opened().record_with(|record| record["error"] = json!("missing")),
    );
    // What comes before an answer is another clause's.
    assert_not_exercised(id, &HistoryBuilder::launched().record("conv-1").opened());
    let resumed = HistoryBuilder::resumed("grüße/1").exchange(
        "session/load",
        json!({"sessionId": "grüße/1"}),
        json!({"result": {"sessionId": "conv-9"}}),
    );
    assert_held(id, &resumed.clone().record("grüße/1"));
    assert_broken(id, &resumed.clone().record("gr%C3%BC%C3%9Fe/1"));
    assert_broken(id, &resumed.record("conv-9"));
}

#[test]
fn producer() {
    let id = "identity.producer";
    assert_held(id, &HistoryBuilder::ready());
    for producer in [json!(""), json!(" "), Value::Null, json!(1)] {
        let record = bytes(|record| record["producer"] = producer);
        assert_broken(id, &opened().raw_record(RecordChange::MovedIn, &record));
    }
    let unversioned = bytes(|record| record["producer"] = json!("runner"));
    let finding = judge(id, &opened().raw_record(RecordChange::MovedIn, &unversioned));
    let Finding::Held(decided) = finding else {
        panic!("{finding:?}")
    };
    assert!(decided.said.contains("no version"), "{}", decided.said);
    assert_not_exercised(id, &opened());
}

#[test]
fn only_channel() {
    let id = "identity.only-channel";
    assert_held(id, &HistoryBuilder::ready().prompt("hello"));
    assert_not_exercised(id, &HistoryBuilder::ready());
    let nested = HistoryBuilder::ready().post_with("Stop", "idle", |body| {
        body["details"] = json!([{"conversation": "conv-1"}]);
    });
    assert_broken(id, &nested);
    let family = HistoryBuilder::ready().post_with("Stop", "idle", |body| {
        body["eventFamily"] = json!("session_identity");
    });
    assert_broken(id, &family);
    let part = HistoryBuilder::ready().post_with("Stop", "idle", |body| body["turnId"] = json!("conv-1:7"));
    assert_held(id, &part);
    let resumed = HistoryBuilder::resumed("old-conversation").post_with("Stop", "idle", |body| {
        body["conversation"] = json!("old-conversation")
    });
    assert_broken(id, &resumed);
}

#[test]
fn only_channel_skips_ids_that_any_post_could_hold() {
    let short = HistoryBuilder::launched()
        .initialized(json!({}))
        .exchange("session/new", json!({}), json!({"result": {"sessionId": "7"}}))
        .post_with("Stop", "idle", |body| body["turnId"] = json!("7"));
    assert_not_exercised("identity.only-channel", &short);
}
