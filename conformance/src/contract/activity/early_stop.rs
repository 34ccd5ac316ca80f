//! No report of an end before the end: `activity.stop-not-early`.

use super::turns::{Turn, turns};
use crate::contract::endpoint_faults::posts_are_all_seen;
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE};
use crate::contract::watch::{agent_lost, cited, free_until};
use crate::history::views::{LaunchView, Post, PostKind, Prompt, Views, milliseconds};

pub(super) fn stop_not_early(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        match turns(views, launch) {
            Some(turns) => {
                for turn in &turns {
                    judge_flight(launch, turn, &mut tally);
                }
                judge_unattributed(launch, turns.len(), &mut tally);
            }
            None if posts_are_all_seen(views, launch) => judge_unattributed(launch, 0, &mut tally),
            None => {}
        }
    }
    tally.finding()
}

fn judge_flight<'h>(launch: &LaunchView<'h>, turn: &Turn<'_, 'h>, tally: &mut Tally) {
    if turn.overlaps(launch) || turn.may_hold_attention(launch) {
        return;
    }
    let until = end_of_flight(launch, turn.prompt);
    let request = turn.prompt.exchange.request.event;
    match turn.stops().find(|stop| stop.at() < until) {
        Some(stop) if !turn.is_lost_before(launch, stop.at().saturating_add(CROSSING)) => {
            tell_early(launch, turn.prompt, stop, tally);
        }
        Some(_) => {}
        None if until.saturating_sub(request.at) >= CROSSING => {
            tally.held(
                format!(
                    "no Stop in the {} the turn went on",
                    milliseconds(until - request.at)
                ),
                &turn.prompt.answer().map_or_else(
                    || cited(launch, &[request]),
                    |answer| vec![turn.accepted.started, request, answer.event],
                ),
            );
        }
        None => {}
    }
}

/// Until when a Stop would be early: the answer, the agent's loss, the stop of the seat.
fn end_of_flight(launch: &LaunchView<'_>, prompt: &Prompt<'_>) -> u64 {
    let lost = agent_lost(launch, prompt.exchange.request.agent).map_or(u64::MAX, |lost| lost.at);
    prompt
        .answered_at()
        .unwrap_or(u64::MAX)
        .min(lost)
        .min(free_until(launch))
}

/// Judges the prompts beyond the first `attributed`: without a turn's own accepted to compare with, only a Stop that no
/// accepted follows is surely not the one of the turn before.
fn judge_unattributed(launch: &LaunchView<'_>, attributed: usize, tally: &mut Tally) {
    for stop in launch
        .posts
        .iter()
        .filter(|post| post.at_the_hook && post.kind.is_non_exit_stop())
    {
        let flying: Vec<&Prompt<'_>> = launch
            .prompts
            .iter()
            .filter(|prompt| prompt.in_flight_at(stop.at()))
            .collect();
        let [prompt] = flying.as_slice() else { continue };
        if prompt.number <= attributed {
            continue;
        }
        let followed = launch
            .posts_of(PostKind::Accepted)
            .any(|accepted| accepted.at() > stop.at() && accepted.at() <= stop.at().saturating_add(DUE));
        let attention = launch
            .permissions()
            .any(|asked| asked.request.event.at.saturating_add(CROSSING) >= prompt.at());
        if stop.at() > prompt.at().saturating_add(CROSSING)
            && stop.at().saturating_add(CROSSING) < end_of_flight(launch, prompt)
            && !followed
            && !attention
        {
            tell_early(launch, prompt, stop, tally);
        }
    }
}

fn tell_early<'h>(launch: &LaunchView<'h>, prompt: &Prompt<'h>, stop: &Post<'h>, tally: &mut Tally) {
    let request = prompt.exchange.request.event;
    let after = milliseconds(stop.at().saturating_sub(request.at));
    let (said, events) = match prompt.answer() {
        Some(answer) => (
            format!(
                "{} was posted {after} after the prompt and {} before the agent answered it",
                stop.name(),
                milliseconds(answer.event.at.saturating_sub(stop.at()))
            ),
            vec![request, stop.started, answer.event],
        ),
        None => (
            format!(
                "{} was posted {after} after the prompt, which the agent never answered",
                stop.name()
            ),
            cited(launch, &[request, stop.started]),
        ),
    };
    tally.broken(said, &events);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };

    /// A turn that was answered half a second after its prompt.
    fn answered() -> HistoryBuilder {
        HistoryBuilder::ready()
            .prompt("work")
            .after_ms(500)
            .end_turn("end_turn")
    }

    fn with_liveness(history: HistoryBuilder, subtype: &str) -> HistoryBuilder {
        history.post_with("Stop", subtype, |body| body["livenessSeconds"] = json!(1))
    }

    #[test]
    fn stop_not_early() {
        const CLAUSE: &str = "activity.stop-not-early";
        assert_held(CLAUSE, &answered().post("Stop", "end_turn"));
        let at_once = HistoryBuilder::ready().prompt("work").end_turn("end_turn");
        assert_not_exercised(CLAUSE, &at_once.post("Stop", "end_turn"));
        let early = HistoryBuilder::ready().prompt("work").after_ms(500);
        for subtype in ["idle", "cancelled"] {
            let early = early.clone().post("Stop", subtype).after_ms(500);
            assert_broken(CLAUSE, &early.clone().end_turn("end_turn"));
            assert_broken(CLAUSE, &early.watch_seconds(1));
        }
        let beat = with_liveness(early.clone(), "beat").after_ms(500);
        assert_broken(CLAUSE, &beat.end_turn("end_turn"));
        let at_the_stop = early.stopping().post("Stop", "idle");
        assert_held(CLAUSE, &at_the_stop);
    }

    #[test]
    fn a_beat_on_the_wire_is_not_early() {
        let crossing = HistoryBuilder::ready()
            .block("work")
            .prompt_text_only("work")
            .post("Stop", "idle")
            .accepted()
            .after_ms(500)
            .end_turn("end_turn")
            .post("Stop", "idle");
        assert_held("activity.stop-not-early", &crossing);
    }

    #[test]
    fn an_early_stop_shows_without_an_accepted_too() {
        let unaccepted = HistoryBuilder::ready().block("work").prompt_text_only("work");
        let early = unaccepted.clone().after_ms(500).post("Stop", "idle");
        assert_broken("activity.stop-not-early", &early.watch_seconds(5));
        let crossing = unaccepted.after_ms(500).post("Stop", "idle").accepted();
        assert_held("activity.stop-not-early", &crossing.watch_seconds(5));
    }

    #[test]
    fn a_stop_for_an_agent_that_died_is_not_judged_here() {
        const CLAUSE: &str = "activity.stop-not-early";
        let died = HistoryBuilder::ready()
            .prompt("work")
            .agent_ended()
            .post("Stop", "idle")
            .watch_seconds(1);
        assert_not_exercised(CLAUSE, &died);
    }
}
