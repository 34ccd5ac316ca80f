//! Processes that don't end, get away, or end what they should not.

use super::Hostile;

const A_TURN: &str = "promotion/3-*";
const A_LAUNCH: &str = "promotion/1-*";

#[test]
fn a_runner_that_never_exits() {
    let Some(run) = Hostile::run("never-exits", A_TURN) else {
        return;
    };
    run.assert_breaks("shutdown.hangup");
    assert!(run.history.contains("\"survivor\""), "nobody had to be killed");
}

#[test]
fn a_program_that_ignores_every_signal_it_can() {
    let command = [
        "sh",
        "-c",
        "trap '' HUP TERM INT QUIT; while :; do sleep 1000; done",
    ];
    let run = Hostile::of(A_LAUNCH, "6s", &command);
    run.assert_breaks("shutdown.hangup");
    assert!(run.history.contains("\"survivor\""), "nobody had to be killed");
    assert!(run.passed().is_empty(), "{:?}", run.passed());
}

#[test]
fn one_that_forks_away() {
    let Some(run) = Hostile::run("forks-away", A_TURN) else {
        return;
    };
    let survivor = run.history.lines().find(|line| line.contains("\"survivor\""));
    assert!(survivor.is_some_and(|line| line.contains("1000")), "{survivor:?}");
}

#[test]
fn one_that_closes_its_terminal() {
    // The first message is read by a read that was begun before.
    let Some(run) = Hostile::run("closes-its-terminal", "activity/posts-of-two-turns") else {
        return;
    };
    run.assert_breaks("input.one-block-one-prompt");
}

#[test]
fn one_that_stops_itself() {
    let Some(run) = Hostile::run("stops-itself", A_TURN) else {
        return;
    };
    run.assert_breaks("input.one-block-one-prompt");
}

#[test]
fn one_that_kills_its_process_group() {
    let Some(run) = Hostile::run("kills-its-group", A_TURN) else {
        return;
    };
    run.assert_open();
    assert!(
        run.history
            .contains("\"runner_exited\":{\"code\":null,\"signal\":9}"),
        "the runner did not kill itself"
    );
}

#[test]
fn one_that_starts_twenty_agents_more() {
    let Some(run) = Hostile::run("starts-twenty-agents", A_TURN) else {
        return;
    };
    assert_eq!(run.history.matches("\"agent_started\"").count(), 21);
    assert_eq!(run.history.matches("\"agent_ended\"").count(), 21);
}

#[test]
fn one_that_sends_its_agent_garbage() {
    let Some(run) = Hostile::run("answers-garbage", A_TURN) else {
        return;
    };
    run.assert_breaks("robust.frames-valid");
}
