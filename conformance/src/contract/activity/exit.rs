//! The agent's end is reported as what it is: `activity.exit-posted` and `activity.exit-not-idle`.

use super::departure::{Departure, departures, exits};
use super::turns::turns;
use crate::contract::endpoint_faults::{posts_are_all_seen, posts_are_due};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE, machine_was_late};
use crate::contract::watch::cited;
use crate::history::views::{LaunchView, Post, PostKind, Views, milliseconds};

pub(super) fn exit_posted(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let exits = exits(launch);
        let departures = departures(launch);
        // A runner may have started its agent anew: each process may end once.
        if let (Some(departure), Some(one_too_many)) = (departures.first(), exits.get(launch.agents.len()))
            && posts_are_all_seen(views, launch)
        {
            tally.broken(
                format!(
                    "{} was posted {} times for {} end(s) of an agent",
                    one_too_many.name(),
                    exits.len(),
                    launch.agents.len()
                ),
                &[departure.ended, exits[0].started, one_too_many.started],
            );
            continue;
        }
        let mut reports = exits.into_iter();
        for departure in &departures {
            match reports.find(|post| post.at().saturating_add(CROSSING) >= departure.began.at) {
                Some(exit) => tally.held(
                    format!(
                        "{} {} after the agent's end",
                        exit.name(),
                        milliseconds(exit.at().saturating_sub(departure.began.at))
                    ),
                    &[departure.began, departure.ended, exit.started],
                ),
                None => judge_absence(views, launch, departure, &mut tally),
            }
        }
    }
    tally.finding()
}

fn judge_absence<'h>(
    views: &Views<'h>,
    launch: &LaunchView<'h>,
    departure: &Departure<'h>,
    tally: &mut Tally,
) {
    let watched = launch.watched_after(departure.ended.at);
    // From a runner that has ended itself nothing more can come.
    let gone = launch
        .runner_exit()
        .is_some_and(|exit| launch.watched_after(exit.at) >= CROSSING);
    if !posts_are_due(views, launch) || (watched < DUE && !gone) {
        return;
    }
    let said = format!(
        "the agent's process ended, and no exit was posted in {}{}",
        milliseconds(watched),
        if gone { ", nor before the runner ended" } else { "" }
    );
    let events = cited(launch, &[departure.began, departure.ended]);
    let until = departure.ended.at.saturating_add(watched);
    if machine_was_late(views, departure.ended.at, until, watched) {
        tally.inconclusive(said, &events);
    } else {
        tally.broken(said, &events);
    }
}

pub(super) fn exit_not_idle(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        if !posts_are_all_seen(views, launch) {
            continue;
        }
        for departure in departures(launch) {
            judge_departure(views, launch, &departure, &mut tally);
        }
    }
    tally.finding()
}

fn judge_departure<'h>(
    views: &Views<'h>,
    launch: &LaunchView<'h>,
    departure: &Departure<'h>,
    tally: &mut Tally,
) {
    // A seat whose agent was started anew may be idle again.
    let started_anew = launch
        .agents
        .iter()
        .any(|agent| agent.started.sequence > departure.began.sequence);
    if started_anew {
        return;
    }
    let exit = exits(launch)
        .into_iter()
        .find(|post| post.at().saturating_add(CROSSING) >= departure.began.at);
    let turns = turns(views, launch);
    let last = turns.as_ref().and_then(|turns| turns.last());
    // The answer may have come just before, and its Stop be on the way.
    let own_end = last
        .filter(|turn| turn.prompt.answer().is_some())
        .and_then(|turn| turn.stops().next());
    let after = launch
        .posts_of(PostKind::Idle)
        .filter(|post| post.at_the_hook && post.at() >= departure.began.at)
        .filter(|post| post.at() < launch.end_of_free_run())
        .filter(|post| own_end.is_none_or(|own| own.id != post.id));
    for idle in after {
        let why = if exit.is_some_and(|exit| is_later(idle, exit)) && turns.is_some() {
            "after the exit"
        } else if last.is_some_and(|turn| {
            turn.prompt.answer().is_none() && turn.posts.iter().any(|post| post.id == idle.id)
        }) {
            "after the agent had ended in the middle of the turn"
        } else if own_end.is_some_and(|own| ends_again(launch, own, idle)) {
            "after the agent's end, and the turn before had its Stop"
        } else if exit.is_none() && idle.at() >= departure.ended.at.saturating_add(DUE) {
            "long after the agent's end"
        } else {
            continue;
        };
        let events: Vec<_> = [departure.began, departure.ended, idle.started]
            .into_iter()
            .chain(exit.map(|exit| exit.started))
            .collect();
        tally.broken(format!("{} was posted {why}", idle.name()), &events);
        return;
    }
    let Some(exit) = exit else { return };
    let watched = launch.watched_after(exit.at());
    if watched >= CROSSING {
        tally.held(
            format!(
                "{} and no idle Stop in the {} that followed",
                exit.name(),
                milliseconds(watched)
            ),
            &cited(launch, &[departure.began, departure.ended, exit.started]),
        );
    }
}

/// Order of posts is their sequence (reading 1); without one, arrival, and what may have crossed is not later.
fn is_later(post: &Post<'_>, before: &Post<'_>) -> bool {
    match (post.sequence(), before.sequence()) {
        (Some(later), Some(earlier)) if later != earlier => later > earlier,
        _ => post.at() > before.at().saturating_add(CROSSING),
    }
}

/// Whether a second Stop is no beat that was on its way (reading 2).
fn ends_again(launch: &LaunchView<'_>, own: &Post<'_>, idle: &Post<'_>) -> bool {
    let beats = launch
        .posts_of(PostKind::Idle)
        .any(|post| post.liveness().is_some());
    !beats && is_later(idle, own) && idle.turn_id() == own.turn_id()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };
    use crate::history::{Fact, Process, Wire};

    const POSTED: &str = "activity.exit-posted";
    const NOT_IDLE: &str = "activity.exit-not-idle";

    /// The agent ends of its own accord.
    fn left(history: HistoryBuilder) -> HistoryBuilder {
        history
            .after_ms(400)
            .fact(Fact::Wire(Wire::Ending {
                agent: 1,
                code: Some(3),
                signal: None,
            }))
            .agent_ended()
    }

    fn in_a_turn() -> HistoryBuilder {
        left(HistoryBuilder::ready().prompt("work"))
    }

    fn answered() -> HistoryBuilder {
        HistoryBuilder::ready()
            .prompt("work")
            .after_ms(400)
            .end_turn("end_turn")
    }

    fn exited(history: HistoryBuilder) -> HistoryBuilder {
        history.post("Stop", "dsh_exited")
    }

    fn runner_exits(history: HistoryBuilder) -> HistoryBuilder {
        history.fact(Fact::Process(Process::RunnerExited {
            code: Some(1),
            signal: None,
        }))
    }

    fn numbered(number: u64) -> impl FnOnce(&mut Value) {
        move |body| body["sequence"] = json!(number)
    }

    #[test]
    fn an_exit_is_posted_once() {
        let idle = left(answered().post("Stop", "end_turn"));
        for ended in [in_a_turn(), idle, left(HistoryBuilder::ready())] {
            assert_held(POSTED, &exited(ended.clone()).watch_seconds(1));
            assert_held(POSTED, &runner_exits(exited(ended.clone())).watch_seconds(1));
            assert_broken(POSTED, &ended.clone().watch_seconds(5));
            assert_not_exercised(POSTED, &ended.clone().watch_seconds(2));
            assert_broken(POSTED, &runner_exits(ended.clone()).watch_seconds(1));
            let other_name = ended.clone().post("Stop", "agent_exited");
            assert_broken(POSTED, &other_name.watch_seconds(5));
            assert_broken(POSTED, &exited(exited(ended)).watch_seconds(1));
        }
    }

    #[test]
    fn an_agent_started_anew_may_end_again() {
        let twice = exited(exited(in_a_turn()).agent_started().after_ms(500).agent_ended());
        assert_held(POSTED, &twice.watch_seconds(1));
        let idle_again = exited(in_a_turn()).agent_started().post("Stop", "idle");
        assert_not_exercised(NOT_IDLE, &idle_again.watch_seconds(1));
    }

    #[test]
    fn no_exit_is_due_of_a_failed_opening_a_stop_an_outage_or_a_closed_input() {
        let opening = HistoryBuilder::launched().initialized(json!({}));
        assert_not_exercised(POSTED, &left(opening).watch_seconds(9));
        let right_after = HistoryBuilder::launched().opened().agent_ended();
        assert_not_exercised(POSTED, &right_after.watch_seconds(9));
        // A record says that the open was heard.
        let after_the_record = HistoryBuilder::ready().agent_ended();
        assert_broken(POSTED, &after_the_record.watch_seconds(9));
        let stopped = HistoryBuilder::ready().prompt("work").stopping().agent_ended();
        assert_not_exercised(POSTED, &stopped.after_ms(9_000));
        assert_not_exercised(POSTED, &in_a_turn().endpoint("refuse").watch_seconds(9));
        let asked_to_end = HistoryBuilder::ready().fact(Fact::Wire(Wire::EndOfInput { agent: 1 }));
        assert_not_exercised(POSTED, &left(asked_to_end).watch_seconds(9));
        let unheard = HistoryBuilder::ready().fact(Fact::Wire(Wire::StdoutClosed { agent: 1 }));
        assert_not_exercised(POSTED, &left(unheard).watch_seconds(9));
    }

    #[test]
    fn a_late_machine_leaves_it_open() {
        let late = in_a_turn().after_ms(3_000).fact(Fact::Lag { late_ms: 2_000 });
        let finding = judge(POSTED, &late.watch_seconds(2));
        assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
    }

    #[test]
    fn no_idle_for_an_exit_in_a_turn() {
        assert_held(NOT_IDLE, &exited(in_a_turn()).watch_seconds(1));
        assert_not_exercised(NOT_IDLE, &in_a_turn().watch_seconds(9));
        let instead = in_a_turn().post("Stop", "end_turn");
        assert_broken(NOT_IDLE, &instead.watch_seconds(1));
        assert_broken(
            NOT_IDLE,
            &exited(in_a_turn().post("Stop", "idle")).watch_seconds(1),
        );
        assert_broken(
            NOT_IDLE,
            &exited(in_a_turn()).post("Stop", "idle").watch_seconds(1),
        );
    }

    #[test]
    fn no_idle_for_an_exit_while_idle() {
        let idle = left(answered().post("Stop", "end_turn"));
        assert_held(NOT_IDLE, &exited(idle.clone()).watch_seconds(1));
        assert_broken(
            NOT_IDLE,
            &exited(idle.clone()).post("Stop", "idle").watch_seconds(1),
        );
        assert_broken(
            NOT_IDLE,
            &exited(idle.clone().post("Stop", "idle")).watch_seconds(1),
        );
        assert_broken(
            NOT_IDLE,
            &idle.after_ms(5_000).post("Stop", "idle").watch_seconds(1),
        );
    }

    #[test]
    fn what_was_on_its_way_is_not_for_the_exit() {
        // The turn's own Stop, before and after the exit.
        let own = exited(left(answered()).post("Stop", "end_turn"));
        assert_held(NOT_IDLE, &own.watch_seconds(1));
        let behind = exited(left(answered())).post("Stop", "end_turn");
        assert_held(NOT_IDLE, &behind.watch_seconds(1));
        // A beat.
        let beats = |body: &mut Value| body["livenessSeconds"] = json!(1);
        let ended = left(answered().post_with("Stop", "end_turn", beats));
        assert_held(
            NOT_IDLE,
            &exited(ended.post_with("Stop", "idle", beats)).watch_seconds(1),
        );
        // The Stop of the turn before the one the agent left in arrives late, with its own number.
        let late = HistoryBuilder::ready()
            .prompt("first")
            .after_ms(400)
            .end_turn("end_turn")
            .block("second")
            .prompt_text_only("second")
            .post_with("UserPromptSubmit", "accepted", numbered(3));
        let late = left(late).post_with("Stop", "end_turn", numbered(2)).post_with(
            "Stop",
            "dsh_exited",
            numbered(4),
        );
        assert_held(NOT_IDLE, &late.watch_seconds(1));
    }

    #[test]
    fn a_stop_of_the_seat_is_another_clauses_matter() {
        let stopping = exited(in_a_turn()).after_ms(300).stopping().post("Stop", "idle");
        assert_held(NOT_IDLE, &stopping);
    }
}
