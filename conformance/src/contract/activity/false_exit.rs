//! No exit without one: `activity.no-false-exit`.

use super::departure::exits;
use crate::contract::endpoint_faults::posts_are_due;
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, MILLISECOND, machine_was_late};
use crate::contract::watch::{cited, free_until};
use crate::history::views::{LaunchView, Post, Views, milliseconds};
use crate::history::{Event, Fact, Wire};

/// How long an agent must live on with its output closed: a runner may give a closed output a moment, since an agent
/// that ends closes it a little before it can be waited for.
const TEMPTING: u64 = 400 * MILLISECOND;

pub(super) fn no_false_exit(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for (index, exit) in exits(launch).into_iter().enumerate() {
            judge_exit(views, launch, exit, index, &mut tally);
        }
        for event in launch.events.iter().copied() {
            if let Fact::Wire(Wire::StdoutClosed { agent }) = event.fact {
                judge_closed_output(views, launch, event, agent, &mut tally);
            }
        }
    }
    tally.finding()
}

/// Judges the exit report that `before` others came before.
fn judge_exit<'h>(
    views: &Views<'h>,
    launch: &LaunchView<'h>,
    exit: &Post<'h>,
    before: usize,
    tally: &mut Tally,
) {
    // What is posted in a stop is for shutdown.honest-end to judge.
    if exit.at() >= launch.end_of_free_run() {
        return;
    }
    // A runner may see the end a little before the kit does.
    let by = exit.at().saturating_add(CROSSING);
    let (living, gone): (Vec<_>, Vec<_>) = launch
        .agents
        .iter()
        .filter(|agent| agent.started.at <= exit.at())
        .partition(|agent| left(launch, agent.number).is_none_or(|left| left.at > by));
    // As many may have ended before as were reported.
    let Some(lives) = living.first().filter(|_| before >= gone.len()) else {
        return;
    };
    let said = format!("{} was posted, and the agent's process lived", exit.name());
    let events: Vec<&Event> = [lives.started, exit.started]
        .into_iter()
        .chain(left(launch, lives.number))
        .collect();
    if machine_was_late(views, exit.at(), by, CROSSING) {
        tally.inconclusive(said, &events);
    } else {
        tally.broken(said, &events);
    }
}

/// An agent that closes its output and lives on tempts a runner.
fn judge_closed_output<'h>(
    views: &Views<'h>,
    launch: &LaunchView<'h>,
    closed: &'h Event,
    agent: u32,
    tally: &mut Tally,
) {
    let own_end = own_end(launch, agent).map_or(u64::MAX, |own| own.at);
    let until = free_until(launch).min(own_end);
    let killed = launch
        .agents
        .iter()
        .find(|known| known.number == agent)
        .and_then(|known| known.ended)
        .filter(|ended| ended.at < until);
    let end = killed.map_or(until, |ended| ended.at);
    let lived = end.saturating_sub(closed.at);
    let posts_at_all = launch
        .posts
        .iter()
        .any(|post| post.at_the_hook && post.at() <= closed.at);
    if !posts_are_due(views, launch) || !posts_at_all || (lived < TEMPTING && killed.is_none()) {
        return;
    }
    let said = format!(
        "the agent closed its output, and no exit was posted in the {} it lived on",
        milliseconds(lived)
    );
    match killed {
        Some(ended) => tally.held(said, &[closed, ended]),
        None => tally.held(said, &cited(launch, &[closed])),
    }
}

/// The first sign of the process's end.
fn left<'h>(launch: &LaunchView<'h>, agent: u32) -> Option<&'h Event> {
    let ended = launch
        .agents
        .iter()
        .find(|known| known.number == agent)
        .and_then(|known| known.ended);
    own_end(launch, agent).or(ended)
}

fn own_end<'h>(launch: &LaunchView<'h>, agent: u32) -> Option<&'h Event> {
    launch
        .events
        .iter()
        .copied()
        .find(|event| matches!(event.fact, Fact::Wire(Wire::Ending { agent: other, .. }) if other == agent))
}

#[cfg(test)]
mod tests {
    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };
    use crate::history::{Fact, Wire};

    const CLAUSE: &str = "activity.no-false-exit";

    fn closed() -> HistoryBuilder {
        HistoryBuilder::ready()
            .prompt("work")
            .fact(Fact::Wire(Wire::StdoutClosed { agent: 1 }))
    }

    fn exited(history: HistoryBuilder) -> HistoryBuilder {
        history.post("Stop", "dsh_exited")
    }

    #[test]
    fn a_closed_output_is_no_exit() {
        assert_held(CLAUSE, &closed().watch_seconds(1));
        assert_not_exercised(CLAUSE, &closed().after_ms(300).stopping());
        assert_broken(CLAUSE, &exited(closed()).watch_seconds(1));
        assert_broken(CLAUSE, &exited(closed().after_ms(700)).watch_seconds(1));
        assert_broken(
            CLAUSE,
            &exited(closed()).after_ms(700).agent_ended().watch_seconds(1),
        );
    }

    #[test]
    fn a_runner_that_never_posts_proves_nothing() {
        let mute = HistoryBuilder::ready()
            .block("work")
            .prompt_text_only("work")
            .fact(Fact::Wire(Wire::StdoutClosed { agent: 1 }));
        assert_not_exercised(CLAUSE, &mute.watch_seconds(5));
    }

    #[test]
    fn a_runner_may_end_an_agent_it_cannot_hear() {
        let killed = exited(closed().after_ms(50).agent_ended()).watch_seconds(1);
        assert_held(CLAUSE, &killed);
        // It has waited for the process before the kit saw it go.
        let crossing = exited(closed().after_ms(50)).after_ms(100).agent_ended();
        assert_held(CLAUSE, &crossing.watch_seconds(1));
    }

    #[test]
    fn an_exit_is_no_exit_of_another_agent() {
        let first = HistoryBuilder::ready().prompt("work").agent_ended();
        let anew = exited(first).agent_started();
        assert_not_exercised(CLAUSE, &anew.clone().watch_seconds(1));
        assert_broken(CLAUSE, &exited(anew).watch_seconds(1));
    }

    #[test]
    fn a_second_report_of_one_end_is_another_clauses_matter() {
        let ended = HistoryBuilder::ready().prompt("work").agent_ended();
        assert_not_exercised(CLAUSE, &exited(exited(ended)).watch_seconds(1));
    }

    #[test]
    fn an_exit_in_a_stop_is_another_clauses_matter() {
        let stopped = exited(HistoryBuilder::ready().prompt("work").stopping());
        assert_not_exercised(CLAUSE, &stopped.agent_ended());
    }

    #[test]
    fn a_late_machine_leaves_it_open() {
        let late = exited(closed()).after_ms(200).fact(Fact::Lag { late_ms: 150 });
        let finding = judge(CLAUSE, &late.after_ms(200).agent_ended().watch_seconds(1));
        assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
    }
}
