//! A history that holds and one that breaks, for each clause.

use crate::contract::history_builder::{HistoryBuilder, assert_broken, assert_held, assert_not_exercised};

/// A turn that was cancelled as it should be.
fn cancelled_turn() -> HistoryBuilder {
    HistoryBuilder::ready()
        .prompt("work")
        .at_ms(1_000)
        .abort()
        .cancel()
        .shows("cancel requested 12:00:00")
        .at_ms(1_500)
        .end_turn("cancelled")
        .post("Stop", "cancelled")
}

#[test]
fn abort_sends() {
    assert_held("cancel.abort-sends", &cancelled_turn());
    assert_broken(
        "cancel.abort-sends",
        &HistoryBuilder::ready().prompt("work").abort().watch_seconds(5),
    );
    assert_broken(
        "cancel.abort-sends",
        &HistoryBuilder::ready()
            .prompt("work")
            .abort()
            .prompt_text_only("/abort"),
    );
    assert_not_exercised(
        "cancel.abort-sends",
        &HistoryBuilder::ready().prompt("work").end_turn("end_turn"),
    );
}

#[test]
fn ctrl_c_sends() {
    assert_held(
        "cancel.ctrl-c-sends",
        &HistoryBuilder::ready()
            .prompt("work")
            .interrupt()
            .cancel()
            .end_turn("cancelled"),
    );
    assert_broken(
        "cancel.ctrl-c-sends",
        &HistoryBuilder::ready()
            .prompt("work")
            .interrupt()
            .watch_seconds(5),
    );
    assert_broken(
        "cancel.ctrl-c-sends",
        &HistoryBuilder::ready()
            .prompt("work")
            .interrupt()
            .cancel()
            .agent_ended(),
    );
}

#[test]
fn notification() {
    assert_held("cancel.notification", &cancelled_turn());
    let with_id = HistoryBuilder::ready().prompt("work").abort().runner_writes(
        r#"{"jsonrpc":"2.0","id":9,"method":"session/cancel","params":{"sessionId":"conv-1"}}"#,
    );
    assert_broken("cancel.notification", &with_id);
}

#[test]
fn requested_shown() {
    assert_held("cancel.requested-shown", &cancelled_turn());
    let silent = HistoryBuilder::ready()
        .prompt("work")
        .abort()
        .cancel()
        .after_ms(600)
        .end_turn("cancelled")
        .after_ms(400)
        .shows("cancelled");
    assert_broken("cancel.requested-shown", &silent);
}

#[test]
fn of_a_second_order_in_the_same_turn_nothing_need_be_shown() {
    let again = HistoryBuilder::ready()
        .prompt("work")
        .abort()
        .cancel()
        .shows("cancel requested 12:00:00")
        .after_ms(400)
        .abort()
        .cancel()
        .after_ms(500)
        .end_turn("cancelled");
    assert_held("cancel.requested-shown", &again);
}

#[test]
fn an_older_word_drawn_again_is_none_for_a_second_order() {
    // A full-screen program: each of its lines has its row.
    let draw = |line: &str| format!("\x1b[2J\x1b[H> work\r\n{line}");
    let second = |line: &str| {
        HistoryBuilder::ready()
            .prompt("work")
            .abort()
            .cancel()
            .shows(&draw("cancel requested 12:00:00"))
            .after_ms(400)
            .end_turn("cancelled")
            .post("Stop", "cancelled")
            .after_ms(400)
            .prompt("more")
            .after_ms(400)
            .abort()
            .cancel()
            .shows(&draw(line))
            .after_ms(400)
            .end_turn("cancelled")
            .post("Stop", "cancelled")
    };
    let again = second("cancel requested 12:00:00");
    assert_broken("cancel.requested-shown", &again);
    for line in [
        "cancel requested 12:00:05",
        "cancel requested 12:00:00\r\ncancel requested 12:00:00",
        "\r\ncancel requested 12:00:00",
    ] {
        assert_held("cancel.requested-shown", &second(line));
    }
}

#[test]
fn only_agents_word() {
    assert_held("cancel.only-agents-word", &cancelled_turn());
    let early = HistoryBuilder::ready()
        .prompt("work")
        .abort()
        .cancel()
        .post("Stop", "cancelled")
        .after_ms(500)
        .end_turn("cancelled");
    assert_broken("cancel.only-agents-word", &early);
    let end_turn = HistoryBuilder::ready()
        .prompt("work")
        .abort()
        .cancel()
        .end_turn("end_turn")
        .post("Stop", "cancelled");
    assert_broken("cancel.only-agents-word", &end_turn);
    let error = HistoryBuilder::ready()
        .prompt("work")
        .abort()
        .cancel()
        .fail_turn(-32800)
        .post("Stop", "cancelled");
    assert_broken("cancel.only-agents-word", &error);
}

#[test]
fn posted() {
    assert_held("cancel.posted", &cancelled_turn());
    assert_broken("cancel.posted", &cancelled_turn().post("Stop", "cancelled"));
    let none = HistoryBuilder::ready()
        .prompt("work")
        .abort()
        .cancel()
        .end_turn("cancelled")
        .watch_seconds(5);
    assert_broken("cancel.posted", &none);
    let held = HistoryBuilder::ready()
        .prompt("work")
        .permission("call")
        .end_turn("cancelled")
        .watch_seconds(5);
    assert_not_exercised("cancel.posted", &held);
}

#[test]
fn ignored_stays_working() {
    let ignored = HistoryBuilder::ready()
        .prompt("work")
        .abort()
        .cancel()
        .after_ms(1_000)
        .end_turn("end_turn")
        .post("Stop", "idle");
    assert_held("cancel.ignored-stays-working", &ignored);
    let claimed = HistoryBuilder::ready()
        .prompt("work")
        .abort()
        .cancel()
        .post("Stop", "idle")
        .after_ms(1_000)
        .end_turn("end_turn");
    assert_broken("cancel.ignored-stays-working", &claimed);
}

#[test]
fn one_end() {
    assert_held(
        "cancel.one-end",
        &cancelled_turn().end_turn("end_turn").watch_seconds(1),
    );
    assert_broken(
        "cancel.one-end",
        &cancelled_turn()
            .end_turn("end_turn")
            .post("Stop", "idle")
            .watch_seconds(1),
    );
}

#[test]
fn none_when_idle() {
    assert_held(
        "cancel.none-when-idle",
        &HistoryBuilder::ready().abort().watch_seconds(1),
    );
    assert_broken("cancel.none-when-idle", &HistoryBuilder::ready().abort().cancel());
}

#[test]
fn next_turn_safe() {
    assert_held(
        "cancel.next-turn-safe",
        &cancelled_turn().prompt("next").end_turn("end_turn"),
    );
    let early = HistoryBuilder::ready()
        .prompt("work")
        .abort()
        .cancel()
        .prompt("next");
    assert_broken("cancel.next-turn-safe", &early);
    assert_broken("cancel.next-turn-safe", &cancelled_turn().prompt("next").cancel());
}

#[test]
fn no_spend_claim() {
    assert_held("cancel.no-spend-claim", &cancelled_turn());
    assert_broken(
        "cancel.no-spend-claim",
        &cancelled_turn().shows("the provider stopped: no tokens are spent"),
    );
}
