use super::*;

#[test]
fn replay_not_activity() {
    let id = "resume.replay-not-activity";
    assert_held(id, &replayed(|history| history).watch_seconds(1));
    assert_not_exercised(id, &reopened().watch_seconds(1));
    assert_broken(id, &replayed(HistoryBuilder::accepted).watch_seconds(1));
    assert_broken(
        id,
        &replayed(|history| history.post("Stop", "cancelled")).watch_seconds(1),
    );
    assert_broken(id, &replayed(|history| idle(idle(history))).watch_seconds(1));
    assert_broken(id, &replayed(|history| beat(beat(history))).watch_seconds(1));
    let after = replays(reopened().record(REFERENCE), 3);
    assert_held(id, &after.clone().watch_seconds(1));
    assert_broken(id, &after.accepted().watch_seconds(1));
}

#[test]
fn replay_lets_readiness_and_beats_pass() {
    let id = "resume.replay-not-activity";
    assert_held(id, &idle(replayed(|history| history)).watch_seconds(1));
    assert_held(id, &idle(replayed(idle)).watch_seconds(1));
    let beating =
        beat(replayed(|history| beat(beat(history).after_ms(1_000))).after_ms(1_000)).after_ms(1_000);
    assert_held(id, &beat(beat(beating).after_ms(1_000)).watch_seconds(1));
    let turn = idle(replayed(|history| history))
        .prompt("hello")
        .end_turn("end_turn");
    assert_held(id, &idle(turn).watch_seconds(1));
}

#[test]
fn replayed_messages_are_no_prompts() {
    let id = "resume.replay-not-activity";
    let submitted = replayed(|history| history)
        .block("hello")
        .prompt_text_only("old")
        .end_turn("end_turn");
    assert_broken(id, &submitted.prompt_text_only("hello").watch_seconds(1));
    let twice = replayed(|history| history).prompt("hello").accepted();
    assert_broken(id, &twice.watch_seconds(1));
    // A message that was entered before may be accepted at once.
    let waiting = replayed(|history| history.block("hello"))
        .accepted()
        .prompt_text_only("hello");
    assert_held(id, &waiting.watch_seconds(1));
}
