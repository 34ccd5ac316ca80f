//! What an agent says outside a turn: `activity.agent-chatter`.

use super::turns::{Turn, turns};
use crate::contract::endpoint_faults::posts_are_all_seen;
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::CROSSING;
use crate::contract::watch::{cited, free_until};
use crate::history::views::{LaunchView, Message, Post, PostKind, Views, milliseconds};
use crate::history::{Fact, Step};

pub(super) fn agent_chatter(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        if !posts_are_all_seen(views, launch) {
            continue;
        }
        let turns = turns(views, launch);
        // What follows the first update of a quiet stretch follows all of them.
        let mut judged_until = 0;
        for update in updates_outside_turns(launch) {
            if update.event.at >= judged_until {
                judged_until = quiet_until(launch, update.event.at);
                judge_update(launch, turns.as_deref(), update, judged_until, &mut tally);
            }
        }
    }
    tally.finding()
}

/// `session/update`s after the conversation was open, with no prompt in flight.
pub(in crate::contract) fn updates_outside_turns<'v, 'h>(launch: &'v LaunchView<'h>) -> Vec<&'v Message<'h>> {
    let Some((_, opened)) = launch.conversation() else {
        return Vec::new();
    };
    launch
        .messages
        .iter()
        .filter(|message| !message.to_agent() && message.method() == Some("session/update"))
        .filter(|message| message.event.at > opened.at)
        .filter(|message| {
            !launch
                .prompts
                .iter()
                .any(|prompt| prompt.in_flight_at(message.event.at))
        })
        .collect()
}

fn judge_update<'h>(
    launch: &LaunchView<'h>,
    turns: Option<&[Turn<'_, 'h>]>,
    update: &Message<'h>,
    until: u64,
    tally: &mut Tally,
) {
    let from = update.event.at;
    let boundary = surplus_accepted(launch, from, until).or_else(|| {
        told_after_stop(launch, turns?, from)
            .into_iter()
            .find(|post| post.at() > from && post.at() <= until && is_boundary(post))
    });
    match boundary {
        Some(post) => tally.broken(
            format!(
                "{} was posted {} after an update outside any turn",
                post.name(),
                milliseconds(post.at() - from)
            ),
            &[update.event, post.started],
        ),
        None if turns.is_some() && until.saturating_sub(from) >= CROSSING => tally.held(
            format!(
                "an update outside any turn brought no turn boundary in {}",
                milliseconds(until - from)
            ),
            &cited(launch, &[update.event]),
        ),
        None => {}
    }
}

/// What was posted after the Stop of the turn before. The turn itself may still be on its way to the endpoint, so only
/// what follows its Stop can be the update's doing; before the first turn, one Stop may say that the seat is ready.
pub(in crate::contract) fn told_after_stop<'v, 'h>(
    launch: &'v LaunchView<'h>,
    turns: &[Turn<'v, 'h>],
    from: u64,
) -> Vec<&'v Post<'h>> {
    let Some(turn) = turns.iter().rev().find(|turn| turn.prompt.at() <= from) else {
        let mut stops = 0;
        let told = launch
            .posts
            .iter()
            .take_while(|post| post.kind != PostKind::Accepted);
        return told
            .filter(|post| {
                stops += usize::from(post.kind.is_non_exit_stop());
                stops > 1 || !post.kind.is_non_exit_stop()
            })
            .collect();
    };
    let told = turn.posts.iter().copied();
    told.skip_while(|post| !post.kind.is_non_exit_stop())
        .skip(1)
        .collect()
}

/// A turn's begin or end, rather than a beat.
fn is_boundary(post: &Post<'_>) -> bool {
    match post.kind {
        PostKind::Idle => post.liveness().is_none(),
        PostKind::Working => true,
        _ => false,
    }
}

/// Until when what is posted may be the update's doing: the next prompt or anything typed has doings of its own.
pub(in crate::contract) fn quiet_until(launch: &LaunchView<'_>, from: u64) -> u64 {
    let next_prompt = launch
        .prompts
        .iter()
        .map(|prompt| prompt.at().saturating_sub(CROSSING))
        .find(|at| *at > from);
    let next_input = launch.events.iter().find(|event| {
        event.at > from
            && matches!(
                event.fact,
                Fact::Step(Step::Sent { .. } | Step::Entered { .. } | Step::Interrupted | Step::Typed { .. })
            )
    });
    free_until(launch)
        .min(next_prompt.unwrap_or(u64::MAX))
        .min(next_input.map_or(u64::MAX, |event| event.at))
}

/// An accepted after the update that no prompt stands for.
fn surplus_accepted<'v, 'h>(launch: &'v LaunchView<'h>, from: u64, until: u64) -> Option<&'v Post<'h>> {
    launch
        .posts_of(PostKind::Accepted)
        .enumerate()
        .filter(|(_, post)| post.at() > from && post.at() <= until)
        .find(|(index, post)| {
            let submitted = launch
                .prompts
                .iter()
                .filter(|prompt| prompt.at() <= post.at().saturating_add(CROSSING))
                .count();
            *index >= submitted
        })
        .map(|(_, post)| post)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };

    const CLAUSE: &str = "activity.agent-chatter";

    fn update(history: HistoryBuilder) -> HistoryBuilder {
        history.agent_writes(
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"conv-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"late"}}}}"#,
        )
    }

    fn after_a_turn() -> HistoryBuilder {
        let turn = HistoryBuilder::ready().prompt("work").end_turn("end_turn");
        update(turn.post("Stop", "idle").after_ms(100))
    }

    #[test]
    fn agent_chatter() {
        assert_held(CLAUSE, &after_a_turn().watch_seconds(1));
        let again = after_a_turn().after_ms(500).prompt("next");
        assert_held(CLAUSE, &again.end_turn("end_turn").post("Stop", "idle"));
        assert_broken(CLAUSE, &after_a_turn().post("Stop", "idle").watch_seconds(1));
        assert_broken(
            CLAUSE,
            &after_a_turn().post("active", "agent_update").watch_seconds(1),
        );
        assert_broken(CLAUSE, &after_a_turn().accepted().watch_seconds(1));
        let in_a_turn = update(HistoryBuilder::ready().prompt("work"));
        assert_not_exercised(CLAUSE, &in_a_turn.watch_seconds(1));
    }

    #[test]
    fn beats_go_on() {
        let beating = after_a_turn().post_with("Stop", "beat", |body| body["livenessSeconds"] = json!(1));
        assert_held(CLAUSE, &beating.watch_seconds(1));
    }

    #[test]
    fn the_turn_before_may_still_be_on_its_way() {
        let overtaken = update(
            HistoryBuilder::ready()
                .block("work")
                .prompt_text_only("work")
                .end_turn("end_turn"),
        );
        let told = overtaken
            .accepted()
            .post("PreToolUse", "edit")
            .post("Stop", "idle");
        assert_held(CLAUSE, &told.watch_seconds(1));
    }

    #[test]
    fn updates_right_after_the_open_and_one_ready_report() {
        let opened = update(HistoryBuilder::ready());
        assert_held(CLAUSE, &opened.clone().post("Stop", "ready").watch_seconds(1));
        let told_twice = opened.post("Stop", "ready").post("Stop", "ready");
        assert_broken(CLAUSE, &told_twice.watch_seconds(1));
    }

    #[test]
    fn work_before_the_first_prompt_needs_no_ready_report_to_be_told() {
        let opened = update(HistoryBuilder::ready());
        let working = opened.clone().post("active", "agent_update");
        assert_broken(CLAUSE, &working.watch_seconds(1));
        let asked = opened
            .post("Notification", "permission_prompt")
            .post("Stop", "ready");
        assert_held(CLAUSE, &asked.watch_seconds(1));
    }
}
