//! How permission requests were answered.

use super::*;
use crate::contract::history_builder::{assert_broken, assert_held, assert_not_exercised};
use crate::history::Wire;

#[test]
fn refused() {
    const ID: &str = "permission.refused";
    assert_held(ID, &refused_turn());
    let selected = asks_under(working(), &json!(5)).runner_writes(
        r#"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}"#,
    );
    assert_broken(ID, &selected);
    assert_broken(
        ID,
        &answers_error(asks_under(working(), &json!(5)), &json!(5), -32601),
    );
    assert_broken(ID, &asks_under(working(), &json!(5)).watch_seconds(5));
    assert_broken(
        ID,
        &runner_exits(asks_under(working(), &json!(5)), 101).watch_seconds(1),
    );
    assert_not_exercised(ID, &working().end_turn("end_turn").watch_seconds(5));
}

#[test]
fn a_request_that_could_not_be_answered_any_more_breaks_nothing() {
    const ID: &str = "permission.refused";
    let stopped = asks_under(working(), &json!(5))
        .watch_seconds(1)
        .after_ms(9_000)
        .shows("bye");
    assert_not_exercised(ID, &stopped);
    let agent_gone = asks_under(working(), &json!(5))
        .fact(Fact::Wire(Wire::Ending {
            agent: 1,
            code: Some(3),
            signal: None,
        }))
        .agent_ended();
    assert_not_exercised(ID, &runner_exits(agent_gone.clone(), 1).watch_seconds(9));
    assert_not_exercised(ID, &agent_gone.watch_seconds(9));
    let asked_after = asks_under(working().stopping(), &json!(5))
        .after_ms(9_000)
        .shows("bye");
    assert_not_exercised(ID, &asked_after);
}

#[test]
fn a_request_that_the_agent_took_back_may_be_an_error() {
    let taken_back = asks_under(working(), &json!(5))
        .agent_writes(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}"#);
    assert_not_exercised(
        "permission.refused",
        &answers_error(taken_back, &json!(5), -32800),
    );
}

#[test]
fn at_once() {
    const ID: &str = "permission.at-once";
    assert_held(ID, &refused_turn());
    assert_held(
        ID,
        &asks_under(working().endpoint("hang"), &json!(5))
            .after_ms(500)
            .runner_writes(r#"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"cancelled"}}}"#),
    );
    let late = |history| refuses_under(asks_under(history, &json!(5)).after_ms(1_500), &json!(5));
    assert_broken(ID, &late(working()));
    assert_broken(ID, &asks_under(working(), &json!(5)).watch_seconds(5));
    let busy = asks_under(working(), &json!(5))
        .after_ms(1_400)
        .fact(Fact::Lag { late_ms: 900 })
        .after_ms(100);
    assert_inconclusive(ID, &refuses_under(busy, &json!(5)));
    assert_not_exercised(ID, &working());
}

/// Reading 8: each of those that come at once has its second from the answer before it.
#[test]
fn several_at_once_are_answered_one_after_another() {
    const ID: &str = "permission.at-once";
    let ids: Vec<_> = (0..20).map(|id| json!(id)).collect();
    let asked = ids.iter().fold(working(), asks_under);
    let answered = |pause: u64| {
        ids.iter().fold(asked.clone(), |history, id| {
            refuses_under(history.after_ms(pause), id)
        })
    };
    assert_held(ID, &answered(60));
    assert_broken(ID, &answered(1_100));
    // The first of them has no answer before it to wait for.
    let late_first = refuses_under(asked.clone().after_ms(1_100), &ids[0]);
    assert_broken(ID, &late_first);
}

#[test]
fn id_echoed() {
    const ID: &str = "permission.id-echoed";
    for id in [json!(0), json!(-7), json!("0"), json!("req-é"), json!(u64::MAX)] {
        assert_held(ID, &refuses_under(asks_under(working(), &id), &id));
    }
    for (asked, answered) in [
        (json!(0), json!("0")),
        (json!("0"), json!(0)),
        (json!(0), json!(0.0)),
        (json!(-1), json!(1)),
        (json!("a"), Value::Null),
    ] {
        let history = refuses_under(asks_under(working(), &asked), &answered).watch_seconds(1);
        assert_broken(ID, &history);
        let finding = judge(ID, &history);
        assert!(format!("{finding:?}").contains("answered under"), "{finding:?}");
    }
    let as_error = answers_error(asks_under(working(), &json!(0)), &json!("0"), -32601);
    assert_broken(ID, &as_error.watch_seconds(1));
    assert_not_exercised(ID, &asks_under(working(), &json!(0)).watch_seconds(9));
}

#[test]
fn ids_that_differ_in_type_only_are_two_ids() {
    let both = asks_under(asks_under(working(), &json!(0)), &json!("0"));
    let right = refuses_under(refuses_under(both.clone(), &json!("0")), &json!(0));
    assert_held("permission.id-echoed", &right);
    assert_held("permission.each", &right);
    let confused = refuses_under(refuses_under(both, &json!("0")), &json!("0"));
    assert_broken("permission.id-echoed", &confused);
    assert_broken("permission.each", &confused);
}

#[test]
fn an_answer_to_a_request_among_raw_bytes_is_not_misaddressed() {
    let raw = working().fact(Fact::Wire(Wire::FromAgentRaw {
        agent: 1,
        bytes: "{\"id\":9,…}\n".into(),
    }));
    let history = refuses_under(asks_under(raw, &json!(0)), &json!(9)).watch_seconds(1);
    assert_not_exercised("permission.id-echoed", &history);
}

#[test]
fn each() {
    const ID: &str = "permission.each";
    let asked_twice = asks_under(asks_under(working(), &json!(1)), &json!(2));
    let first = refuses_under(asked_twice, &json!(1));
    assert_held(ID, &refuses_under(first.clone(), &json!(2)));
    assert_broken(ID, &first.clone().watch_seconds(5));
    assert_not_exercised(ID, &first.watch_seconds(1));
    assert_broken(ID, &refused_turn().refuses());
    assert_not_exercised(ID, &refused_turn());
    assert_not_exercised(ID, &asks_under(working(), &json!(1)).watch_seconds(9));
}

/// Permission requests that a runner may call an error, with the parameters of each.
fn odd_parameters() -> Vec<Value> {
    let option = json!({"optionId": "a", "name": "Allow", "kind": "allow_once"});
    vec![
        json!({"sessionId": "conv-1", "toolCall": {"toolCallId": "call"}, "options": []}),
        json!({"sessionId": "another", "toolCall": {"toolCallId": "call"}, "options": [option]}),
        json!({"sessionId": "conv-1", "options": [option]}),
        json!({"sessionId": "conv-1", "toolCall": {"toolCallId": 5}, "options": [option]}),
        json!({"sessionId": "conv-1", "toolCall": {"toolCallId": "call"}, "options": [{}]}),
        json!({}),
    ]
}

#[test]
fn odd_requests() {
    const ID: &str = "permission.odd-requests";
    for params in odd_parameters() {
        let asked = || {
            working().agent_writes(
                &json!({"jsonrpc": "2.0", "id": 5, "method": "session/request_permission", "params": params})
                    .to_string(),
            )
        };
        let goes_on = |history: HistoryBuilder| history.end_turn("end_turn").prompt("next");
        assert_held(ID, &goes_on(refuses_under(asked(), &json!(5))));
        assert_held(ID, &goes_on(answers_error(asked(), &json!(5), -32602)));
        assert_held(
            ID,
            &refuses_under(asked(), &json!(5))
                .end_turn("end_turn")
                .watch_seconds(1),
        );
        assert_not_exercised(
            "permission.refused",
            &goes_on(answers_error(asked(), &json!(5), -32602)),
        );
        let result = |result: Value| {
            asked().runner_writes(&json!({"jsonrpc": "2.0", "id": 5, "result": result}).to_string())
        };
        let selected = json!({"outcome": {"outcome": "selected", "optionId": "a"}});
        assert_broken(ID, &goes_on(result(selected)));
        assert_broken(ID, &goes_on(result(json!({}))));
        assert_broken(ID, &asked().watch_seconds(5));
        assert_broken(
            ID,
            &runner_exits(answers_error(asked(), &json!(5), -32602), 1).watch_seconds(1),
        );
        assert_not_exercised(ID, &answers_error(asked(), &json!(5), -32602).watch_seconds(1));
    }
    assert_not_exercised(ID, &asks_under(working(), &json!(5)).watch_seconds(9));
}
