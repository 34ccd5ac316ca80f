//! What else the agent may send.

use super::*;
use crate::contract::history_builder::{assert_broken, assert_held, assert_not_exercised};
use crate::history::Wire;

#[test]
fn unknown_32601() {
    const ID: &str = "permission.unknown-32601";
    for method in [
        "fs/read_text_file",
        "terminal/create",
        "_vendor/do",
        "elicitation/create",
    ] {
        let asked = || asks(working(), 5, method);
        assert_held(ID, &answers_error(asked(), &json!(5), -32601));
        assert_broken(ID, &answers_error(asked(), &json!(5), -32603));
        assert_broken(
            ID,
            &asked().runner_writes(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#),
        );
        assert_broken(ID, &asked().watch_seconds(5));
        assert_broken(ID, &answers_error(asked().after_ms(5_000), &json!(5), -32601));
        assert_broken(ID, &answers_error(asked(), &json!(5), -32601).cancel());
        assert_broken(
            ID,
            &runner_exits(answers_error(asked(), &json!(5), -32601), 1).watch_seconds(1),
        );
        assert_not_exercised(ID, &asked().watch_seconds(1));
    }
    assert_held(
        ID,
        &answers_error(asks(working(), 5, "elicitation/create"), &json!(5), -32602),
    );
    assert_broken(
        ID,
        &answers_error(asks(working(), 5, "terminal/create"), &json!(5), -32602),
    );
    let cancelled = answers_error(asks(working(), 5, "_vendor/do"), &json!(5), -32601)
        .abort()
        .cancel();
    assert_held(ID, &cancelled);
    assert_not_exercised(ID, &refused_turn().watch_seconds(9));
}

/// A seat with a turn, whose runner advertises that it reads files and fills in forms.
fn capable() -> HistoryBuilder {
    HistoryBuilder::launched()
        .exchange(
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities":
                   {"fs": {"readTextFile": true, "writeTextFile": false}, "elicitation": {"form": {}}}}),
            json!({"result": {"protocolVersion": 1}}),
        )
        .exchange(
            "session/new",
            json!({}),
            json!({"result": {"sessionId": "conv-1"}}),
        )
        .prompt("work")
}

#[test]
fn capabilities_honest() {
    const ID: &str = "permission.capabilities-honest";
    let serves =
        |method: &str| asks(capable(), 5, method).runner_writes(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    let denies = |history| answers_error(history, &json!(5), -32601);
    assert_held(ID, &serves("fs/read_text_file"));
    assert_held(
        ID,
        &answers_error(asks(capable(), 5, "fs/read_text_file"), &json!(5), -32002),
    );
    assert_held(ID, &serves("elicitation/create"));
    assert_held(
        ID,
        &answers_error(asks(capable(), 5, "elicitation/create"), &json!(5), -32602),
    );
    assert_broken(ID, &denies(asks(capable(), 5, "fs/read_text_file")));
    assert_broken(ID, &denies(asks(capable(), 5, "elicitation/create")));
    assert_broken(ID, &asks(capable(), 5, "fs/read_text_file").watch_seconds(5));
    assert_not_exercised(ID, &asks(capable(), 5, "elicitation/create").watch_seconds(9));
    assert_held(ID, &denies(asks(capable(), 5, "fs/write_text_file")));
    assert_held(ID, &denies(asks(working(), 5, "terminal/create")));
    assert_not_exercised(ID, &denies(asks(working(), 5, "_vendor/do")));
    // What is advertised is not this clause's.
    assert_not_exercised(
        "permission.unknown-32601",
        &denies(asks(capable(), 5, "fs/read_text_file")),
    );
    assert_broken("permission.unknown-32601", &serves("fs/write_text_file"));
}

#[test]
fn notifications_ignored() {
    const ID: &str = "permission.notifications-ignored";
    let told = |history: HistoryBuilder| {
        history.agent_writes(r#"{"jsonrpc":"2.0","method":"_vendor/news","params":{}}"#)
    };
    assert_held(ID, &told(working()).watch_seconds(1));
    for id in [Value::Null, json!(77), json!("_vendor/news")] {
        assert_broken(ID, &answers_error(told(working()), &id, -32601).watch_seconds(1));
    }
    let answers_request = answers_error(asks(told(working()), 5, "_vendor/do"), &json!(5), -32601);
    assert_held(ID, &answers_request.watch_seconds(1));
    let wrong_id = refuses_under(asks_under(told(working()), &json!(0)), &json!("0"));
    assert_held(ID, &wrong_id.watch_seconds(1));
    let noise = told(working().fact(Fact::Wire(Wire::FromAgentRaw {
        agent: 1,
        bytes: "noise\n".into(),
    })));
    assert_held(ID, &answers_error(noise, &Value::Null, -32700).watch_seconds(1));
    assert_not_exercised(ID, &told(working()).stopping());
    let known = updates(working(), &json!({"sessionUpdate": "news"}));
    assert_not_exercised(ID, &known.watch_seconds(9));
}
