//! Whether a person at the pane could read what was asked.

use super::*;
use crate::contract::history_builder::{assert_broken, assert_held, assert_not_exercised};

#[test]
fn shown() {
    const ID: &str = "permission.shown";
    assert_held(ID, &refused_turn());
    let titled = |title: &str| {
        working()
            .asks_permission(json!({"toolCallId": "call-9", "title": title}))
            .refuses()
    };
    assert_broken(
        ID,
        &titled("delete it").shows("permission refused").watch_seconds(5),
    );
    assert_broken(
        ID,
        &titled("delete it")
            .shows("permission refused: call-9")
            .watch_seconds(5),
    );
    assert_not_exercised(ID, &titled("delete it").watch_seconds(1));
    assert_held(ID, &titled("delete\x1b[31m it").shows("refused: delete it"));
    assert_held(ID, &titled("delete\tit\nnow").shows("refused: delete→it↵now"));
    assert_held(ID, &titled("say \"a\"").shows(r#"refused: "say \"a\"""#));
    let long = "x".repeat(35) + " and so on, for ever";
    assert_held(ID, &titled(&long).shows(&format!("refused: {}…", &long[..45])));
    assert_broken(
        ID,
        &titled(&long)
            .shows(&format!("refused: {}…", &long[..20]))
            .watch_seconds(5),
    );
    assert_not_exercised(ID, &working().shows("do call").watch_seconds(9));
}

#[test]
fn what_was_shown_before_the_request_is_not_the_request() {
    let before = working()
        .shows("I will delete it")
        .asks_permission(json!({"toolCallId": "call-9", "title": "delete it"}))
        .refuses();
    assert_broken("permission.shown", &before.clone().watch_seconds(5));
    assert_held("permission.shown", &before.shows("refused: delete it"));
}

#[test]
fn shown_by_an_earlier_title_or_the_input_or_the_id() {
    const ID: &str = "permission.shown";
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "call-9", "title": "write"});
    let known = updates(working(), &call);
    let asked = |history: HistoryBuilder| history.asks_permission(json!({"toolCallId": "call-9"})).refuses();
    assert_held(ID, &asked(known.clone()).shows("refused: write"));
    assert_held(ID, &asked(known.clone().shows("tool: write")).shows("refused"));
    assert_broken(ID, &asked(known).shows("refused: call-9").watch_seconds(5));

    let untitled = asked(working());
    assert_held(ID, &untitled.clone().shows("refused: call-9"));
    assert_broken(ID, &untitled.shows("refused").watch_seconds(5));

    let with_input = working()
        .asks_permission(
            json!({"toolCallId": "call-9", "rawInput": {"argv": ["rm", "-rf", "/tmp/some where"]}}),
        )
        .refuses();
    assert_held(ID, &with_input.clone().shows("refused: /tmp/some where"));
    assert_held(ID, &with_input.clone().shows("refused: call-9"));
    assert_broken(ID, &with_input.shows("refused").watch_seconds(5));
}

#[test]
fn what_is_shown_outside_a_turn_is_the_runner_s_choice() {
    let idle = HistoryBuilder::ready()
        .asks_permission(json!({"toolCallId": "call-9"}))
        .refuses();
    assert_not_exercised("permission.shown", &idle.clone().watch_seconds(9));
    assert_not_exercised("permission.posted", &idle.clone().watch_seconds(9));
    assert_held("permission.refused", &idle);
}
