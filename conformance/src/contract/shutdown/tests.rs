//! Histories that hold and break the clauses of this group.

use crate::contract::Finding;
use crate::contract::history_builder::{
    HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
};
use crate::history::{Declared, Fact, Process, Step, Wire};

const HANGUP: &str = "shutdown.hangup";
const ORPHANS: &str = "shutdown.no-orphans";
const DECLARED: &str = "shutdown.survivors-declared";
const HONEST: &str = "shutdown.honest-end";

/// The runner's and the first agent's processes in [`HistoryBuilder`].
const RUNNER: u32 = 100;
const AGENT: u32 = 201;

fn stopping(history: HistoryBuilder, how: &str) -> HistoryBuilder {
    history.fact(Fact::Step(Step::Stopping { how: how.into() }))
}

fn runner_exits(history: HistoryBuilder) -> HistoryBuilder {
    history.fact(Fact::Process(Process::RunnerExited {
        code: None,
        signal: Some(6),
    }))
}

fn over(history: HistoryBuilder) -> HistoryBuilder {
    history.fact(Fact::Step(Step::Stopped { took_ms: 0 }))
}

fn survivor(history: HistoryBuilder, pid: u32, process_group: u32) -> HistoryBuilder {
    history.fact(Fact::Process(Process::Survivor {
        pid,
        process_group,
        session: process_group,
        command: "left".into(),
    }))
}

fn child(history: HistoryBuilder, own_session: bool) -> HistoryBuilder {
    history.fact(Fact::Wire(Wire::Child {
        agent: 1,
        pid: 300,
        own_session,
    }))
}

/// Stopped with everything gone in time.
fn ends_well(history: HistoryBuilder, how: &str) -> HistoryBuilder {
    over(runner_exits(
        stopping(history, how).after_ms(3_000).agent_ended().after_ms(500),
    ))
}

/// Stopped with this process there when the time was over.
fn leaves(history: HistoryBuilder, how: &str, pid: u32, process_group: u32) -> HistoryBuilder {
    over(survivor(
        stopping(history, how).after_ms(10_000),
        pid,
        process_group,
    ))
}

#[test]
fn both_end_in_time() {
    let ways = [
        (HANGUP, "hangup"),
        (HANGUP, "hangup_signal"),
        ("shutdown.terminate", "terminate"),
        ("shutdown.end-of-input", "end_of_input"),
    ];
    for (clause, how) in ways {
        let working = || HistoryBuilder::ready().prompt("work");
        assert_held(clause, &ends_well(working(), how));
        assert_held(clause, &ends_well(HistoryBuilder::launched(), how));
        assert_broken(clause, &leaves(working(), how, RUNNER, RUNNER));
        assert_broken(clause, &leaves(working(), how, 150, RUNNER));
        let agent_left = stopping(working(), how).after_ms(500);
        let agent_left = runner_exits(agent_left).after_ms(9_500);
        assert_broken(clause, &over(survivor(agent_left, AGENT, AGENT)));
        for other in ways.iter().filter(|(other, _)| *other != clause) {
            assert_not_exercised(other.0, &ends_well(working(), how));
        }
        let no_runner = HistoryBuilder::empty().launch(|_| {});
        assert_not_exercised(clause, &over(runner_exits(stopping(no_runner, how))));
        // Broken off from outside, cut short, gone before.
        let hurried = over(survivor(stopping(working(), how), RUNNER, RUNNER));
        assert_not_exercised(clause, &hurried);
        assert_not_exercised(clause, &stopping(working(), how).after_ms(9_000));
        let gone = over(stopping(runner_exits(working().agent_ended()), how));
        assert_not_exercised(clause, &gone);
    }
}

#[test]
fn what_else_survives_is_another_clauses_matter() {
    let own_session = child(HistoryBuilder::ready(), true);
    let left = runner_exits(stopping(own_session, "hangup").agent_ended()).after_ms(10_000);
    assert_held(HANGUP, &over(survivor(left, 300, 300)));
}

#[test]
fn the_end_of_a_pipe_need_not_end_the_seat() {
    let piped = HistoryBuilder::empty()
        .launch(|facts| facts.transport = "pipe".into())
        .agent_started()
        .opened()
        .record("conv-1");
    let stays = leaves(piped, "end_of_input", RUNNER, RUNNER);
    for clause in ["shutdown.end-of-input", HANGUP, ORPHANS, HONEST] {
        assert_not_exercised(clause, &stays);
    }
}

#[test]
fn a_late_machine_decides_nothing() {
    let late = stopping(HistoryBuilder::ready(), "hangup")
        .after_ms(9_000)
        .fact(Fact::Lag { late_ms: 3_000 })
        .after_ms(1_500);
    let finding = judge(HANGUP, &over(survivor(late, RUNNER, RUNNER)));
    assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
}

#[test]
fn the_agents_group_ends() {
    assert_held(ORPHANS, &ends_well(HistoryBuilder::ready(), "hangup"));
    assert_held(
        ORPHANS,
        &ends_well(child(HistoryBuilder::ready(), false), "hangup"),
    );
    let after_its_exit = child(HistoryBuilder::ready(), false).agent_ended();
    assert_held(
        ORPHANS,
        &over(runner_exits(stopping(after_its_exit.clone(), "hangup"))),
    );
    let ended = |history| runner_exits(stopping(history, "hangup").after_ms(500)).after_ms(9_600);
    let with_child = || child(HistoryBuilder::ready(), false);
    assert_broken(ORPHANS, &over(survivor(ended(with_child()), 300, AGENT)));
    assert_broken(ORPHANS, &over(survivor(ended(with_child()), 300, RUNNER)));
    assert_broken(ORPHANS, &over(survivor(ended(after_its_exit), 300, AGENT)));
    assert_broken(
        ORPHANS,
        &over(survivor(ended(HistoryBuilder::ready()), AGENT, AGENT)),
    );
    let by_limits = |limit: &str| over(survivor(ended(with_child()), 300, AGENT)).declared(limits(limit));
    assert_held(ORPHANS, &by_limits("tools of the agent's group are left running"));
    assert_broken(
        ORPHANS,
        &by_limits("a tool in a session of its own outlives a stop"),
    );
    // A runner that is there itself may still see to it.
    assert_not_exercised(ORPHANS, &leaves(with_child(), "hangup", 300, AGENT));
    let hurried = over(survivor(
        runner_exits(stopping(with_child(), "hangup")),
        300,
        AGENT,
    ));
    assert_not_exercised(ORPHANS, &hurried);
    let own_session = child(HistoryBuilder::ready(), true);
    assert_held(ORPHANS, &over(survivor(ended(own_session), 300, 300)));
}

#[test]
fn a_child_in_its_own_session() {
    let with_child = || child(HistoryBuilder::ready(), true);
    assert_held(DECLARED, &ends_well(with_child(), "hangup"));
    assert_not_exercised(DECLARED, &ends_well(HistoryBuilder::ready(), "hangup"));
    let alone = runner_exits(stopping(with_child(), "hangup").agent_ended()).after_ms(1_000);
    let finding = judge(DECLARED, &over(survivor(alone, 300, 300)));
    assert!(matches!(finding, Finding::NotApplicable(_)), "{finding:?}");
    let by_limits = |limit: &str| {
        let alone = runner_exits(stopping(with_child(), "hangup").agent_ended()).after_ms(1_000);
        over(survivor(alone, 300, 300)).declared(limits(limit))
    };
    assert_held(
        DECLARED,
        &by_limits("a tool in a session of its own outlives a stop"),
    );
    assert_broken(DECLARED, &by_limits("fork unsupported"));
    let hurried = runner_exits(stopping(with_child(), "hangup"));
    assert_not_exercised(DECLARED, &over(survivor(hurried, 300, 300)));
}

fn limits(limit: &str) -> Declared {
    Declared {
        limits: Some(vec![limit.to_owned()]),
        missing: Vec::new(),
    }
}

#[test]
fn a_limit_speaks_of_it_in_its_own_words() {
    for limit in [
        "a process that the agent starts in a session of its own outlives a stop",
        "Tools may survive a stop",
        "background servers are left running",
    ] {
        assert!(super::survivors::speaks_of_survivors(limit), "{limit}");
    }
    assert!(!super::survivors::speaks_of_survivors(
        "permission requests are refused"
    ));
}

#[test]
fn no_end_of_a_turn_that_was_cut_off() {
    let working = || stopping(HistoryBuilder::ready().prompt("work").after_ms(400), "terminate").after_ms(50);
    let ends = |history: HistoryBuilder| over(runner_exits(history.agent_ended()));
    assert_held(HONEST, &ends(working()));
    assert_held(HONEST, &ends(working().agent_ended().post("Stop", "dsh_exited")));
    assert_broken(HONEST, &ends(working().post("Stop", "cancelled")));
    assert_broken(HONEST, &ends(working().post("Stop", "idle")));
    assert_broken(HONEST, &ends(working().agent_ended().post("Stop", "end_turn")));
    let claimed = working().post("Stop", "dsh_exited").after_ms(2_000);
    assert_broken(HONEST, &ends(claimed));
    assert_not_exercised(HONEST, &ends(stopping(HistoryBuilder::ready(), "hangup")));
}

#[test]
fn what_became_a_fact_may_be_posted() {
    let working = || stopping(HistoryBuilder::ready().prompt("work").after_ms(400), "hangup").after_ms(50);
    let ends = |history: HistoryBuilder| over(runner_exits(history.agent_ended()));
    let cancelled = working().cancel().end_turn("cancelled").post("Stop", "cancelled");
    assert_not_exercised(HONEST, &ends(cancelled));
    let answered = working().end_turn("end_turn").post("Stop", "end_turn");
    assert_not_exercised(HONEST, &ends(answered));
    // The Stop of the turn before was on its way.
    let before = HistoryBuilder::ready()
        .prompt("one")
        .end_turn("end_turn")
        .prompt_text_only("two")
        .post_with("UserPromptSubmit", "accepted", |body| body["sequence"] = 3.into());
    let crossing =
        stopping(before, "hangup").post_with("Stop", "end_turn", |body| body["sequence"] = 2.into());
    assert_held(HONEST, &ends(crossing));
    // A cancelled turn before, told late.
    let cancelled_before = HistoryBuilder::ready()
        .prompt("one")
        .abort()
        .cancel()
        .end_turn("cancelled");
    let late = stopping(cancelled_before, "hangup").post("Stop", "cancelled");
    assert_not_exercised(HONEST, &ends(late));
}

#[test]
fn where_posts_are_lost_nothing_is_said_of_their_absence() {
    let lost = stopping(
        HistoryBuilder::ready()
            .endpoint("refuse")
            .block("work")
            .prompt_text_only("work"),
        "hangup",
    );
    assert_not_exercised(HONEST, &over(runner_exits(lost.agent_ended())));
}
