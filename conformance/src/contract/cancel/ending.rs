//! How a cancelled turn is said to have ended: on the agent's word, once.

use super::super::endpoint_faults::posts_are_due;
use super::super::finding::{Finding, Tally};
use super::super::grace::{CROSSING, DUE};
use super::cited;
use crate::history::views::{Ending, LaunchView, PostKind, Prompt, Views, milliseconds};

pub(super) fn only_agents_word(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let mut claims = launch.posts_of(PostKind::Cancelled).collect::<Vec<_>>();
        claims.sort_by_key(|post| post.at());
        let mut agreed: Vec<&Prompt<'_>> = Vec::new();
        for post in claims {
            let word = launch.prompts.iter().find(|prompt| {
                prompt.was_cancelled()
                    && prompt.answered_at().is_some_and(|at| at <= post.at())
                    && !agreed.iter().any(|known| known.number == prompt.number)
            });
            // A second Stop/cancelled for one answer is cancel.posted's to judge, not this clause's.
            let again = word.is_none()
                && agreed.last().is_some_and(|last| {
                    !launch
                        .prompts
                        .iter()
                        .any(|prompt| prompt.number > last.number && prompt.at() <= post.at())
                });
            match word {
                Some(prompt) => {
                    if let Some(answer) = prompt.answer() {
                        tally.held(
                            format!(
                                "Stop/cancelled {} after the agent said so",
                                milliseconds(post.at() - answer.event.at)
                            ),
                            &[answer.event, post.started],
                        );
                    }
                    agreed.push(prompt);
                }
                None if again => {}
                None => {
                    let last = launch
                        .prompts
                        .iter()
                        .rev()
                        .find(|prompt| prompt.at() <= post.at());
                    let mut events = vec![post.started];
                    events.extend(last.map(|prompt| prompt.exchange.request.event));
                    events.extend(last.and_then(Prompt::answer).map(|answer| answer.event));
                    let seen = match last.and_then(Prompt::ending) {
                        Some(Ending::StopReason(reason)) => format!("the prompt was answered {reason}"),
                        Some(Ending::Error) => "the prompt was answered with an error".to_owned(),
                        Some(Ending::Other) => "the prompt was answered without a stop reason".to_owned(),
                        None => "no prompt had been answered".to_owned(),
                    };
                    tally.broken(
                        format!("Stop/cancelled without the agent's word: {seen}"),
                        &events,
                    );
                }
            }
        }
        // A cancel that the agent did not confirm, and no claim: kept too.
        for prompt in unconfirmed_cancels(launch) {
            let watched_from = prompt.answered_at().unwrap_or_else(|| prompt.at());
            if launch.watched_after(watched_from) >= CROSSING
                && launch.posts_of(PostKind::Cancelled).next().is_none()
            {
                tally.held(
                    "a cancel was asked for, the agent did not say cancelled, and nothing was claimed",
                    &cited(launch, &[prompt.exchange.request.event]),
                );
            }
        }
    }
    tally.finding()
}

/// Prompts that were asked to be cancelled and were not answered with the stop reason cancelled.
fn unconfirmed_cancels<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = &'v Prompt<'h>> {
    launch.prompts.iter().filter(|prompt| {
        !prompt.was_cancelled()
            && launch
                .cancels()
                .any(|cancel| prompt.in_flight_at(cancel.event.at))
    })
}

/// Whether attention was held when this prompt was answered: permission had been asked for in its turn, or a
/// Notification posted before had not been cleared by a prompt since.
fn attention_held(launch: &LaunchView<'_>, prompt: &Prompt<'_>) -> bool {
    let until = prompt.answered_at().unwrap_or(u64::MAX);
    let asked = launch
        .permissions()
        .any(|asked| asked.request.event.at >= prompt.at() && asked.request.event.at < until);
    let posted = launch
        .posts_of(PostKind::PermissionPrompt)
        .any(|post| post.at() >= prompt.at() && post.at() < until);
    asked || posted
}

pub(super) fn posted(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for prompt in launch.prompts.iter().filter(|prompt| prompt.was_cancelled()) {
            let Some(answer) = prompt.answer() else { continue };
            if attention_held(launch, prompt) {
                continue;
            }
            let until = launch
                .prompts
                .iter()
                .find(|later| later.number > prompt.number && later.was_cancelled())
                .and_then(Prompt::answered_at)
                .unwrap_or(u64::MAX);
            let claims: Vec<_> = launch
                .posts_of(PostKind::Cancelled)
                .filter(|post| post.at() >= answer.event.at && post.at() < until)
                .collect();
            match claims.as_slice() {
                [one] => tally.held(
                    format!(
                        "one Stop/cancelled, {} after the answer",
                        milliseconds(one.at() - answer.event.at)
                    ),
                    &[answer.event, one.started],
                ),
                [one, two, ..] => tally.broken(
                    format!("{} Stop/cancelled for one cancelled prompt", claims.len()),
                    &[answer.event, one.started, two.started],
                ),
                [] if launch.watched_after(answer.event.at) >= DUE && posts_are_due(views, launch) => tally
                    .broken(
                        format!(
                            "the agent answered cancelled, and no Stop/cancelled came in {}",
                            milliseconds(launch.watched_after(answer.event.at))
                        ),
                        &cited(launch, &[answer.event]),
                    ),
                [] => {}
            }
        }
    }
    tally.finding()
}

pub(super) fn ignored_stays_working(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for prompt in &launch.prompts {
            let Some(cancel) = launch
                .cancels()
                .find(|cancel| prompt.in_flight_at(cancel.event.at))
            else {
                continue;
            };
            let until = prompt.answered_at().unwrap_or_else(|| launch.end_of_free_run());
            // Quiet must have followed the cancel for "stays" to mean anything.
            if until.saturating_sub(cancel.event.at) < CROSSING {
                continue;
            }
            let early = launch.posts.iter().find(|post| {
                (post.kind.is_non_exit_stop() || post.kind == PostKind::Exited)
                    && post.at() > cancel.event.at
                    && post.at() < until
                    && !agent_ended(launch, prompt, post.at())
            });
            match early {
                Some(post) => tally.broken(
                    format!("{} was posted while the agent went on", post.name()),
                    &[cancel.event, post.started],
                ),
                None => tally.held(
                    format!(
                        "nothing ended the turn in the {} the agent went on",
                        milliseconds(until - cancel.event.at)
                    ),
                    &prompt.answer().map_or_else(
                        || cited(launch, &[cancel.event]),
                        |answer| vec![cancel.event, answer.event],
                    ),
                ),
            }
        }
    }
    tally.finding()
}

fn agent_ended(launch: &LaunchView<'_>, prompt: &Prompt<'_>, at: u64) -> bool {
    launch.agents.iter().any(|agent| {
        agent.number == prompt.exchange.request.agent
            && agent.ended.is_some_and(|ended| ended.at <= at + CROSSING)
    })
}

pub(super) fn one_end(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for prompt in launch
            .prompts
            .iter()
            .filter(|prompt| prompt.exchange.answers.len() > 1)
        {
            let second = prompt.exchange.answers[1].event;
            if launch.watched_after(second.at) < CROSSING {
                continue;
            }
            let next = launch.prompts.iter().find(|later| later.number > prompt.number);
            let until = next.map_or(u64::MAX, Prompt::at);
            // With livenessSeconds stated, further idle Stops are beats (reading 2).
            let extra = launch.posts.iter().find(|post| {
                post.at() > second.at
                    && post.at() < until
                    && (post.kind == PostKind::Cancelled
                        || (post.kind == PostKind::Idle && post.liveness().is_none())
                        || post.kind == PostKind::Accepted)
                    && stops_between(launch, prompt, post.at()) > 0
            });
            // While the next prompt is in flight, no answer to the former one may end it.
            let ended_next = next.and_then(|next| {
                let until = next.answered_at().unwrap_or_else(|| launch.end_of_free_run());
                launch
                    .posts
                    .iter()
                    .filter(|_| second.at > next.at())
                    .find(|post| post.kind.is_non_exit_stop() && post.at() > second.at && post.at() < until)
            });
            match extra.or(ended_next) {
                Some(post) => tally.broken(
                    format!("the second answer to one prompt brought {}", post.name()),
                    &[second, post.started],
                ),
                None => tally.held(
                    "a second answer to one prompt changed nothing",
                    &cited(launch, &[second]),
                ),
            }
        }
    }
    tally.finding()
}

/// How many Stops had come for this prompt before `at`.
fn stops_between(launch: &LaunchView<'_>, prompt: &Prompt<'_>, at: u64) -> usize {
    let Some(answered) = prompt.answered_at() else {
        return 0;
    };
    launch
        .posts
        .iter()
        .filter(|post| post.kind.is_non_exit_stop() && post.at() >= answered && post.at() < at)
        .count()
}
