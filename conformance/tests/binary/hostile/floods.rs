//! More than anybody can keep: it is cut, that is said, and nothing after the cut is judged.

use super::Hostile;

const A_TURN: &str = "promotion/3-*";

#[test]
fn of_the_pane() {
    // It is never ready, so that the kit waits until it has seen enough.
    let command = [
        "sh",
        "-c",
        "yes 'all work and no play' | head -c 1073741824; sleep 1000",
    ];
    let run = Hostile::of(A_TURN, "60s", &command);
    run.assert_open();
    run.assert_cut("pane");
}

#[test]
fn of_the_pane_by_few_bytes() {
    let Some(run) = Hostile::run("repeats-characters", A_TURN) else {
        return;
    };
    assert!(run.history.contains("65535b"));
    assert_ne!(run.report.outcome, reports::Outcome::Conformant);
}

#[test]
fn of_the_endpoint() {
    let Some(run) = Hostile::run("floods-the-endpoint", A_TURN) else {
        return;
    };
    run.assert_breaks("activity.sequence");
    assert!(run.passed().len() < 5, "{:?}", run.passed());
}

#[test]
fn of_the_endpoint_by_one_post() {
    let Some(run) = Hostile::run("posts-100-mb", A_TURN) else {
        return;
    };
    assert!(run.history.contains("\"body_cut\":true"));
    assert!(run.history.len() < 2_000_000, "{}", run.history.len());
    assert_ne!(run.report.outcome, reports::Outcome::Conformant);
}

#[test]
fn of_the_agent_without_a_newline() {
    let Some(run) = Hostile::run("floods-the-agent", A_TURN) else {
        return;
    };
    run.assert_open();
    run.assert_cut("wire");
}

#[test]
fn of_the_agent_with_lines() {
    let Some(run) = Hostile::run("floods-the-agent-with-lines", A_TURN) else {
        return;
    };
    // How much gets through depends on the machine; a message stuck behind it is rightly called lost.
    assert_ne!(run.report.outcome, reports::Outcome::Conformant);
    assert!(run.history.len() < 64 << 20, "{}", run.history.len());
}

#[test]
fn of_an_agents_environment() {
    let Some(run) = Hostile::run("starts-an-agent-with-a-huge-environment", A_TURN) else {
        return;
    };
    run.assert_open();
    run.assert_cut("wire");
    assert!(run.history.len() < 1_000_000, "{}", run.history.len());
}
