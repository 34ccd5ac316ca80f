//! Replayed history is no activity.

use super::super::endpoint_faults::posts_are_all_seen;
use super::super::finding::{Finding, Tally};
use super::super::grace::{CROSSING, MILLISECOND, machine_was_late};
use super::super::identity::opening::{agent_left, openings};
use super::resumes;
use crate::history::views::{Agent, Block, LaunchView, Message, Post, PostKind, Views, milliseconds};
use crate::history::{Delivery, Event, Fact, Step};

/// Beats are stated in whole seconds: idle reports closer together than this are no beats.
const BEAT: u64 = 200 * MILLISECOND;

/// The updates that a conversation's history is replayed with.
const REPLAYED: [&str; 6] = [
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
];

pub(super) fn replay_not_activity(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for (launch, _) in resumes(views) {
        let Some(replay) = Replay::of(launch) else {
            continue;
        };
        let claim = replay
            .claimed_prompt()
            .or_else(|| replay.claimed_end(views))
            .or_else(|| replay.claimed_more_prompts(views));
        let watched = launch.watched_after(replay.last.event.at);
        match claim {
            Some((said, event)) => tally.broken(said, &[replay.asked, replay.first.event, event]),
            None if watched >= CROSSING && posts_are_all_seen(views, launch) => {
                let mut events = vec![replay.first.event, replay.last.event];
                events.extend(launch.closing_event());
                tally.held(
                    format!(
                        "{} replayed updates made no accepted, no Stop and no prompt in {}",
                        replay.count,
                        milliseconds(watched)
                    ),
                    &events,
                );
            }
            None => {}
        }
    }
    tally.finding()
}

/// The history that an agent replayed between the request to reopen and the first prompt.
struct Replay<'v, 'h> {
    launch: &'v LaunchView<'h>,
    asked: &'h Event,
    answered: u64,
    first_prompt: u64,
    first: &'v Message<'h>,
    last: &'v Message<'h>,
    count: usize,
}

impl<'v, 'h> Replay<'v, 'h> {
    fn of(launch: &'v LaunchView<'h>) -> Option<Self> {
        let call = openings(launch).next()?;
        let asked = call.request.event;
        let answered = openings(launch)
            .filter_map(|call| call.answers.first())
            .last()
            .map_or(u64::MAX, |answer| answer.event.at);
        let first_prompt = launch.prompts.first().map_or(u64::MAX, |prompt| prompt.at());
        let replayed: Vec<&Message<'_>> = launch
            .messages
            .iter()
            .filter(|message| {
                !message.to_agent() && message.event.at >= asked.at && message.event.at < first_prompt
            })
            .filter(|message| {
                message.method() == Some("session/update")
                    && message
                        .text_at("/params/update/sessionUpdate")
                        .is_some_and(|kind| REPLAYED.contains(&kind))
            })
            .collect();
        Some(Self {
            launch,
            asked,
            answered,
            first_prompt,
            first: replayed.first()?,
            last: replayed.last()?,
            count: replayed.len(),
        })
    }

    /// Posts of that kind between the replay's beginning and the first prompt, but for those that may already speak
    /// of it (reading 31).
    fn posts(&self, kind: PostKind) -> impl Iterator<Item = &'v Post<'h>> {
        let (from, until) = (self.first.event.at, self.first_prompt.saturating_sub(CROSSING));
        let until = until.min(self.launch.end_of_free_run());
        self.launch
            .posts_of(kind)
            .filter(move |post| post.at() >= from && post.at() < until)
    }

    /// An accepted while nothing had been entered that could be one.
    fn claimed_prompt(&self) -> Option<(String, &'h Event)> {
        if self.launch.facts.first_input.is_some() || types_freely(self.launch) {
            return None;
        }
        let entered = |at: u64| {
            self.launch
                .blocks
                .iter()
                .any(|block| block.entered.is_some_and(|entered| entered.at <= at))
        };
        self.posts(PostKind::Accepted)
            .find(|post| !entered(post.at()))
            .map(|post| {
                (
                    "accepted was posted, and nothing but a replay had happened".into(),
                    post.started,
                )
            })
    }

    /// A Stop that no turn, no readiness and no beat explains (reading 17).
    fn claimed_end(&self, views: &Views<'_>) -> Option<(String, &'h Event)> {
        if let Some(post) = self.posts(PostKind::Cancelled).next() {
            return Some((
                "Stop/cancelled was posted before the first prompt".into(),
                post.started,
            ));
        }
        let end = self.first_prompt.min(self.launch.end_of_free_run());
        if !posts_are_all_seen(views, self.launch) || machine_was_late(views, self.asked.at, end, 4 * BEAT) {
            return None;
        }
        // One report may stand for the start of the seat, one for its becoming ready.
        let (mut starts, mut readies) = (1, 1);
        let mut before: Option<u64> = None;
        for post in self.posts(PostKind::Idle) {
            let is_beat = post.liveness().is_some()
                && before.is_some_and(|before| post.at().saturating_sub(before) >= BEAT);
            before = Some(post.at());
            if is_beat {
                continue;
            }
            if starts > 0 && post.at() < self.answered.saturating_add(CROSSING) {
                starts -= 1;
            } else if readies > 0 && post.at() >= self.answered {
                readies -= 1;
            } else {
                let said = format!(
                    "{} was posted again before the first prompt, and it is no beat",
                    post.name()
                );
                return Some((said, post.started));
            }
        }
        None
    }

    /// More prompts than messages, or more accepted than prompts.
    fn claimed_more_prompts(&self, views: &Views<'_>) -> Option<(String, &'h Event)> {
        let launch = self.launch;
        let entered = launch
            .blocks
            .iter()
            .filter(|block| block.entered.is_some() && !block.is_abort());
        let messages = entered.count() + usize::from(launch.facts.first_input.is_some());
        if let Some(extra) = launch.prompts.get(messages)
            && !types_freely(launch)
        {
            let said = format!(
                "{} prompts were submitted for {messages} messages",
                launch.prompts.len()
            );
            return Some((said, extra.exchange.request.event));
        }
        // A prompt that a dying agent never read was submitted all the same.
        let left = |agent: &Agent<'_>| agent_left(launch, agent.number, 0, u64::MAX).is_some();
        let until = launch.end_of_free_run();
        let extra = launch
            .posts_of(PostKind::Accepted)
            .nth(launch.prompts.len())
            .filter(|post| post.at().saturating_add(CROSSING) <= until && posts_are_all_seen(views, launch))
            .filter(|_| !launch.agents.iter().any(left))?;
        let said = format!(
            "accepted was posted more often than the {} prompts",
            launch.prompts.len()
        );
        Some((said, extra.started))
    }
}

/// Whether more than the scenario's messages may have become one: other keys, lines without a TTY, or characters that
/// may end a message early (readings 23 and 24).
fn types_freely(launch: &LaunchView<'_>) -> bool {
    let may_be_split = |block: &Block<'_>| {
        let pasted = block.delivery == Delivery::Paste;
        block
            .text
            .iter()
            .any(|byte| matches!(byte, b'\r' | b'\x1b') || (*byte == b'\n' && !pasted))
    };
    launch.facts.transport == "pipe"
        || launch.blocks.iter().any(may_be_split)
        || launch
            .events
            .iter()
            .any(|event| matches!(event.fact, Fact::Step(Step::Typed { .. })))
}
