//! Attention: posted, held, cleared.

use super::*;
use crate::contract::history_builder::{assert_broken, assert_held, assert_not_exercised};
use crate::history::{Step, Wire};

#[test]
fn posted() {
    const ID: &str = "permission.posted";
    assert_held(ID, &refused_turn());
    let silent = || working().asks_permission(json!({"toolCallId": "call"})).refuses();
    assert_broken(ID, &silent().watch_seconds(5));
    assert_not_exercised(ID, &silent().watch_seconds(1));
    let refusing = working()
        .endpoint("refuse")
        .asks_permission(json!({"toolCallId": "call"}));
    assert_not_exercised(ID, &refusing.refuses().watch_seconds(9));
    let earlier = refused_turn()
        .prompt("more")
        .asks_permission(json!({"toolCallId": "call"}));
    assert_broken(ID, &earlier.refuses().watch_seconds(5));
    assert_not_exercised(ID, &working().end_turn("end_turn").watch_seconds(9));
}

#[test]
fn nothing_is_due_in_a_launch_that_began_with_a_faulty_endpoint() {
    let second = HistoryBuilder::ready()
        .endpoint("refuse")
        .launch(|_| {})
        .terminal_ready()
        .agent_started()
        .opened()
        .prompt("work")
        .asks_permission(json!({"toolCallId": "call"}))
        .refuses();
    assert_not_exercised("permission.posted", &second.watch_seconds(9));
}

#[test]
fn posted_once_for_several_in_a_turn() {
    let twice = working()
        .permission("one")
        .asks_permission(json!({"toolCallId": "two"}))
        .refuses()
        .watch_seconds(9);
    assert_held("permission.posted", &twice);
}

#[test]
fn held() {
    const ID: &str = "permission.held";
    assert_held(ID, &refused_turn().watch_seconds(1));
    assert_held(
        ID,
        &refused_turn()
            .prompt("next")
            .end_turn("end_turn")
            .post("Stop", "idle"),
    );
    assert_held(
        ID,
        &working()
            .permission("call")
            .end_turn("cancelled")
            .watch_seconds(1),
    );
    assert_held(
        ID,
        &working().permission("call").fail_turn(-32603).watch_seconds(1),
    );
    for (event, subtype) in [
        ("Stop", "idle"),
        ("Stop", "cancelled"),
        ("PreToolUse", "bash"),
        ("active", ""),
    ] {
        assert_broken(ID, &refused_turn().post(event, subtype).watch_seconds(1));
        assert_broken(ID, &refused_turn().post(event, subtype).prompt("next"));
    }
    // A beat in the middle of the turn, too.
    assert_broken(ID, &working().permission("call").post("Stop", "idle"));
    // The turn has not ended, or nothing was watched after it.
    assert_not_exercised(ID, &working().permission("call").watch_seconds(9));
    assert_not_exercised(ID, &refused_turn());
    assert_not_exercised(
        ID,
        &working()
            .end_turn("end_turn")
            .post("Stop", "idle")
            .watch_seconds(9),
    );
}

#[test]
fn held_goes_by_sequence_and_ends_with_an_exit_an_operator_or_the_stop() {
    const ID: &str = "permission.held";
    let under_way = refused_turn()
        .post_with("Stop", "idle", |body| body["sequence"] = json!(1))
        .watch_seconds(1);
    assert_held(ID, &under_way);
    let exited = refused_turn()
        .after_ms(300)
        .agent_ended()
        .post("Stop", "dsh_exited")
        .watch_seconds(1);
    assert_held(ID, &exited);
    let operator = refused_turn()
        .after_ms(300)
        .fact(Fact::Step(Step::ClearedAttention))
        .post("Stop", "idle")
        .watch_seconds(1);
    assert_held(ID, &operator);
    assert_held(ID, &refused_turn().watch_seconds(1).post("Stop", "idle"));
    // Another Notification of a failed turn is no permission's.
    let failed = working()
        .fail_turn(-32603)
        .post("Notification", "permission_prompt")
        .post("Stop", "idle")
        .watch_seconds(1);
    assert_not_exercised(ID, &failed);
}

#[test]
fn held_is_not_broken_by_posts_that_were_lost() {
    let lost = refused_turn()
        .endpoint("refuse")
        .block("next")
        .prompt_text_only("next")
        .after_ms(500)
        .end_turn("end_turn")
        .endpoint("healthy")
        .post("Stop", "idle")
        .watch_seconds(9);
    assert_not_exercised("permission.held", &lost);
    assert_not_exercised("permission.cleared-by-prompt", &lost);
}

#[test]
fn cleared_by_prompt() {
    const ID: &str = "permission.cleared-by-prompt";
    let next = || refused_turn().after_ms(500).prompt("next").end_turn("end_turn");
    assert_held(ID, &next().post("Stop", "idle"));
    assert_broken(ID, &next().watch_seconds(5));
    assert_not_exercised(ID, &next().watch_seconds(1));
    let not_accepted = refused_turn()
        .after_ms(500)
        .block("next")
        .prompt_text_only("next");
    assert_broken(ID, &not_accepted.watch_seconds(5));
    let again = refused_turn()
        .after_ms(500)
        .prompt("next")
        .permission("again")
        .end_turn("end_turn");
    assert_held(ID, &again.watch_seconds(9));
    let failed = || refused_turn().after_ms(500).prompt("next").fail_turn(-32603);
    assert_held(ID, &failed().post("Notification", "runtime_error"));
    assert_held(ID, &failed().post("Stop", "failed"));
    assert_not_exercised(ID, &refused_turn().watch_seconds(9));
    assert_not_exercised(
        ID,
        &working().end_turn("end_turn").prompt("next").watch_seconds(9),
    );
}

#[test]
fn notifications_that_arrive_late_are_not_taken_for_the_next_turn_s() {
    // Two turns with a permission each, all of it before the first Notification's arrival.
    let crossed = working()
        .asks_permission(json!({"toolCallId": "one"}))
        .refuses()
        .end_turn("end_turn")
        .block("next")
        .prompt_text_only("next")
        .asks_permission(json!({"toolCallId": "two"}))
        .refuses()
        .post("Notification", "permission_prompt")
        .accepted()
        .post("Notification", "permission_prompt")
        .end_turn("end_turn")
        .prompt("last")
        .end_turn("end_turn")
        .post("Stop", "idle")
        .watch_seconds(9);
    for id in ["permission.held", "permission.cleared-by-prompt"] {
        assert!(!matches!(judge(id, &crossed), Finding::Broken(_)), "{id}");
    }
    assert_held("permission.posted", &crossed);
}

#[test]
fn exit_while_held() {
    const ID: &str = "permission.exit-while-held";
    let ends = |history: HistoryBuilder| {
        history
            .fact(Fact::Wire(Wire::Ending {
                agent: 1,
                code: Some(1),
                signal: None,
            }))
            .agent_ended()
    };
    assert_held(ID, &ends(refused_turn()).post("Stop", "dsh_exited"));
    assert_held(ID, &ends(working().permission("call")).post("Stop", "dsh_exited"));
    assert_broken(ID, &ends(refused_turn()).watch_seconds(5));
    assert_broken(ID, &runner_exits(ends(refused_turn()), 0).watch_seconds(1));
    assert_broken(ID, &ends(refused_turn()).post("Stop", "idle").watch_seconds(5));
    assert_not_exercised(ID, &ends(refused_turn()).watch_seconds(1));
    // The runner ended it: closed its input, or was being stopped.
    let by_runner = refused_turn().fact(Fact::Wire(Wire::EndOfInput { agent: 1 }));
    assert_not_exercised(ID, &ends(by_runner).watch_seconds(9));
    assert_not_exercised(ID, &ends(refused_turn().stopping()).after_ms(9_000).shows("bye"));
    // Attention had been cleared.
    assert_not_exercised(ID, &ends(refused_turn().prompt("next")).watch_seconds(9));
}

#[test]
fn a_notification_may_arrive_when_the_next_prompt_is_out() {
    let late = || {
        working()
            .asks_permission(json!({"toolCallId": "one"}))
            .refuses()
            .end_turn("end_turn")
            .block("next")
            .prompt_text_only("next")
            .post("Notification", "permission_prompt")
    };
    assert_held("permission.held", &late().accepted().watch_seconds(1));
    assert_broken(
        "permission.held",
        &late()
            .after_ms(300)
            .post("Stop", "idle")
            .accepted()
            .watch_seconds(1),
    );
    let ended = late().accepted().end_turn("end_turn");
    assert_held(
        "permission.cleared-by-prompt",
        &ended.clone().post("Stop", "idle"),
    );
    assert_broken("permission.cleared-by-prompt", &ended.watch_seconds(5));
}

#[test]
fn a_stop_that_arrives_when_the_turn_after_has_ended_is_still_that_turn_s() {
    let late = refused_turn()
        .after_ms(500)
        .prompt("next")
        .end_turn("end_turn")
        .block("last")
        .prompt_text_only("last")
        .end_turn("end_turn")
        .post("Stop", "idle")
        .accepted()
        .post("Stop", "idle")
        .watch_seconds(9);
    assert_held("permission.cleared-by-prompt", &late);
}

#[test]
fn a_runner_whose_input_ended_may_end_the_agent_itself() {
    let piped = HistoryBuilder::empty()
        .launch(|facts| facts.transport = "pipe".into())
        .agent_started()
        .opened()
        .prompt("work")
        .permission("call")
        .agent_ended();
    assert_not_exercised(
        "permission.exit-while-held",
        &runner_exits(piped, 0).watch_seconds(9),
    );
}
