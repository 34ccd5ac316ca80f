//! A turn's end: `activity.turn-end` and `activity.turn-id`.

use super::turns::{Turn, turns};
use crate::contract::endpoint_faults::posts_are_due;
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE};
use crate::contract::quote::quoted;
use crate::contract::watch::{cited, free_after};
use crate::history::Event;
use crate::history::views::{Ending, LaunchView, Post, PostKind, Views, milliseconds};

pub(super) fn turn_end(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for turn in turns(views, launch).unwrap_or_default() {
            let Some(answer) = turn.prompt.answer() else {
                continue;
            };
            let unclear = turn.overlaps(launch)
                || turn.is_lost_before(launch, answer.event.at.saturating_add(DUE))
                // What a second answer brings is for cancel.one-end to judge.
                || turn.prompt.exchange.answers.len() > 1;
            let early = turn.stops().any(|stop| stop.at() < answer.event.at);
            if !unclear && !early && !turn.may_hold_attention(launch) {
                judge_end(views, launch, &turn, answer.event, &mut tally);
            }
        }
    }
    tally.finding()
}

fn judge_end<'h>(
    views: &Views<'h>,
    launch: &LaunchView<'h>,
    turn: &Turn<'_, 'h>,
    answer: &'h Event,
    tally: &mut Tally,
) {
    let stops: Vec<&Post<'_>> = turn.stops().collect();
    let beats = states_liveness(launch);
    let ended = match turn.prompt.ending() {
        Some(Ending::StopReason(reason)) => format!("the prompt was answered {}", quoted(&reason)),
        Some(Ending::Error) => "the prompt was answered with an error".to_owned(),
        _ => "the prompt was answered without a stop reason".to_owned(),
    };
    match stops.as_slice() {
        [] => {
            let over = turn.next_accepted.map(|next| next.started);
            if let Some(next) = over {
                tally.broken(
                    format!("{ended}, and no Stop was posted before the next accepted"),
                    &[answer, next],
                );
            } else if posts_are_due(views, launch) && free_after(launch, answer.at) >= DUE {
                tally.broken(
                    format!(
                        "{ended}, and no Stop was posted in {}",
                        milliseconds(free_after(launch, answer.at))
                    ),
                    &cited(launch, &[answer]),
                );
            }
        }
        [first, later @ ..] => {
            if let Some(second) = later.iter().find(|stop| is_second_end(first, stop, beats)) {
                tally.broken(
                    format!(
                        "{ended}, and both {} and {} were posted for that turn",
                        first.name(),
                        second.name()
                    ),
                    &[answer, first.started, second.started],
                );
            } else if turn.next_accepted.is_some() || free_after(launch, first.at()) >= CROSSING {
                tally.held(
                    format!(
                        "one Stop, {} after the answer",
                        milliseconds(first.at().saturating_sub(answer.at))
                    ),
                    &[turn.accepted.started, answer, first.started],
                );
            }
        }
    }
}

/// Whether a later Stop ends the turn again, rather than being a beat (reading 2).
fn is_second_end(first: &Post<'_>, stop: &Post<'_>, beats: bool) -> bool {
    stop.kind == PostKind::Cancelled || (!beats && stop.turn_id() == first.turn_id())
}

fn states_liveness(launch: &LaunchView<'_>) -> bool {
    launch
        .posts
        .iter()
        .any(|post| post.kind.is_non_exit_stop() && post.liveness().is_some())
}

pub(super) fn turn_id(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let nobody_states_one = launch.posts.iter().all(|post| post.turn_id().is_none());
        for turn in turns(views, launch).unwrap_or_default() {
            let answered = turn.prompt.answered_at().unwrap_or(u64::MAX);
            let Some(stop) = turn.stops().find(|stop| stop.at() >= answered) else {
                continue;
            };
            let events = [turn.accepted.started, stop.started];
            let shown = |post: &Post<'_>| post.turn_id().map_or("none".to_owned(), ToString::to_string);
            match (turn.accepted.turn_id(), stop.turn_id()) {
                _ if nobody_states_one => tally.not_applicable("no post carries a turnId", &events),
                (Some(accepted), Some(stopped)) if accepted == stopped => {
                    tally.held(format!("accepted and Stop carry turnId {accepted}"), &events);
                }
                _ => tally.broken(
                    format!(
                        "accepted carries turnId {}, the turn's {} {}",
                        quoted(&shown(turn.accepted)),
                        stop.name(),
                        quoted(&shown(stop))
                    ),
                    &events,
                ),
            }
        }
    }
    tally.finding()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };
    use crate::history::{Bytes, Fact, Wire};

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
    fn turn_end() {
        const CLAUSE: &str = "activity.turn-end";
        let ended = answered().post("Stop", "end_turn");
        assert_held(CLAUSE, &ended.clone().watch_seconds(1));
        assert_broken(CLAUSE, &ended.post("Stop", "end_turn").watch_seconds(1));
        assert_broken(CLAUSE, &answered().watch_seconds(5));
        assert_not_exercised(CLAUSE, &answered().watch_seconds(2));
        assert_broken(CLAUSE, &answered().prompt("next"));
        let open = HistoryBuilder::ready().prompt("work").watch_seconds(9);
        assert_not_exercised(CLAUSE, &open);
    }

    #[test]
    fn beats_are_no_second_end() {
        const CLAUSE: &str = "activity.turn-end";
        let ended = with_liveness(answered(), "end_turn");
        let beating = with_liveness(with_liveness(ended, "beat"), "beat");
        assert_held(CLAUSE, &beating.watch_seconds(1));
        let without_turn = answered()
            .post("Stop", "end_turn")
            .post_with("Stop", "idle", |body| body["turnId"] = json!(null));
        assert_held(CLAUSE, &without_turn.watch_seconds(1));
    }

    #[test]
    fn a_stop_may_arrive_after_the_next_prompt_went_out() {
        let crossing = HistoryBuilder::ready()
            .prompt("first")
            .block("second")
            .after_ms(500)
            .end_turn("end_turn")
            .prompt_text_only("second")
            .after_ms(300)
            .post_with("Stop", "end_turn", |body| body["turnId"] = json!("1"))
            .accepted()
            .after_ms(500)
            .end_turn("end_turn")
            .post("Stop", "end_turn")
            .watch_seconds(1);
        assert_held("activity.turn-end", &crossing);
        assert_held("activity.stop-not-early", &crossing);
        assert_held("activity.turn-id", &crossing);
    }

    #[test]
    fn a_turn_that_holds_attention_gets_no_stop() {
        let held = HistoryBuilder::ready()
            .prompt("work")
            .permission("call")
            .after_ms(500)
            .end_turn("end_turn")
            .watch_seconds(9);
        assert_not_exercised("activity.turn-end", &held);
    }

    #[test]
    fn a_failed_turn_may_be_told_either_way() {
        const CLAUSE: &str = "activity.turn-end";
        let failed = HistoryBuilder::ready()
            .prompt("work")
            .after_ms(500)
            .fail_turn(-32603);
        assert_held(CLAUSE, &failed.clone().post("Stop", "failed").watch_seconds(1));
        let notified = failed.clone().post("Notification", "runtime_error");
        assert_not_exercised(CLAUSE, &notified.watch_seconds(9));
        assert_broken(CLAUSE, &failed.watch_seconds(9));
    }

    #[test]
    fn nothing_is_due_of_an_agent_that_died_or_in_an_outage() {
        const CLAUSE: &str = "activity.turn-end";
        assert_not_exercised(CLAUSE, &answered().agent_ended().watch_seconds(9));
        let outage = HistoryBuilder::ready()
            .endpoint("hang")
            .prompt("work")
            .end_turn("end_turn");
        assert_not_exercised(CLAUSE, &outage.watch_seconds(9));
        let stopped = answered().post("Stop", "end_turn").watch_seconds(1);
        assert_held(CLAUSE, &stopped.agent_ended());
    }

    #[test]
    fn an_answer_in_raw_bytes_is_an_answer() {
        let raw = HistoryBuilder::ready()
            .prompt("work")
            .after_ms(500)
            .fact(Fact::Wire(Wire::FromAgentRaw {
                agent: 1,
                bytes: Bytes::from(
                    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"stopReason\":\"end_turn\"}}\n",
                ),
            }))
            .post("Stop", "idle")
            .watch_seconds(1);
        assert_held("activity.stop-not-early", &raw);
        assert_held("activity.turn-end", &raw);
    }

    #[test]
    fn turn_id() {
        const CLAUSE: &str = "activity.turn-id";
        assert_held(CLAUSE, &answered().post("Stop", "end_turn"));
        let other = answered().post_with("Stop", "idle", |body| body["turnId"] = json!("9"));
        assert_broken(CLAUSE, &other);
        let of_another_type = answered().post_with("Stop", "idle", |body| body["turnId"] = json!(1));
        assert_broken(CLAUSE, &of_another_type);
        let without = |body: &mut serde_json::Value| body["turnId"] = json!(null);
        let nobody = HistoryBuilder::ready()
            .block("work")
            .prompt_text_only("work")
            .post_with("UserPromptSubmit", "accepted", without)
            .end_turn("end_turn")
            .post_with("Stop", "idle", without);
        let finding = judge(CLAUSE, &nobody);
        assert!(matches!(finding, Finding::NotApplicable(_)), "{finding:?}");
        assert_not_exercised(CLAUSE, &answered());
    }
}
