//! Launches that must get along without a record.

use super::super::endpoint_faults::posts_are_due;
use super::super::finding::{Finding, Tally};
use super::super::grace::{CROSSING, DUE, SECOND};
use super::super::quote::quoted;
use super::super::watch::cited;
use super::absence::{judge_missed, judge_silence, said_in_pane};
use super::opening::{
    Opened, agent_left, all_openings, failure, initialize, may_be_left, of_attempt, opened, other_version,
};
use crate::history::views::{Block, LaunchView, Views, milliseconds};
use crate::history::{Event, Fact, Step};

/// No runner takes longer to start its agent and ask for a conversation.
const START: u64 = 15 * SECOND;

pub(super) fn none_on_failed_open(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in views
        .launches
        .iter()
        .filter(|launch| launch.facts.record_path_given)
    {
        let Some(failure) = failure(launch) else { continue };
        let mut events = failure.events.clone();
        let claimed = of_attempt(launch).find_map(|version| Some((version, version.field("nativeRef")?)));
        let watched = launch.watched_after(failure.at);
        if let Some((version, native_ref)) = claimed {
            events.push(version.event);
            tally.broken(
                format!(
                    "{}, and the record names {} as the conversation",
                    failure.said,
                    quoted(native_ref)
                ),
                &events,
            );
        } else if watched >= CROSSING {
            tally.held(
                format!(
                    "{}, and no conversation was recorded in {}",
                    failure.said,
                    milliseconds(watched)
                ),
                &cited(launch, &events),
            );
        }
    }
    tally.finding()
}

pub(super) fn runs_without_path(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    // A program that starts no agent with a path either is not kept from it by the path's absence.
    let starts_agents = views.launches.iter().any(|launch| !launch.agents.is_empty());
    if !starts_agents {
        return tally.finding();
    }
    // A resume without a path starts nothing (§3).
    for launch in views
        .launches
        .iter()
        .filter(|launch| !launch.facts.record_path_given && !launch.is_resume())
    {
        if let Some(exit) = ended_early(launch) {
            tally.broken(
                "the runner ended without OPENRIG_LAUNCH_RESULT",
                &[launch.event, exit],
            );
        } else if let Some(opened) = opened(launch) {
            if let Some(message) = launch.messages_to_prompt().next() {
                judge_works(views, launch, &opened, message, &mut tally);
            }
        } else if all_openings(launch).next().is_none() && failure(launch).is_none() {
            let watched = launch.watched_after(launch.event.at);
            if watched >= START {
                let said = "no conversation was asked for";
                judge_missed(views, launch, launch.event.at, said, &[launch.event], &mut tally);
            }
        }
    }
    tally.finding()
}

/// The runner's end before the stop, where neither the agent nor the end of its input gave it a reason.
fn ended_early<'h>(launch: &LaunchView<'h>) -> Option<&'h Event> {
    let exit = launch
        .runner_exit()
        .filter(|exit| exit.at < launch.end_of_free_run())?;
    let typed = launch
        .events
        .iter()
        .any(|event| matches!(event.fact, Fact::Step(Step::Typed { .. })));
    let left = launch
        .agents
        .iter()
        .any(|agent| agent_left(launch, agent.number, 0, exit.at).is_some());
    let excused = typed || left || launch.facts.transport == "pipe" || failure(launch).is_some();
    (!excused).then_some(exit)
}

fn judge_works(
    views: &Views<'_>,
    launch: &LaunchView<'_>,
    opened: &Opened<'_, '_>,
    message: &Block<'_>,
    tally: &mut Tally,
) {
    let Some(entered) = message.entered else { return };
    let answer = opened.answer.event;
    let from = entered.at.max(answer.at);
    let prompt = launch
        .prompts
        .iter()
        .find(|prompt| prompt.at() >= message.sent.at);
    let Some(prompt) = prompt else {
        let aborted = launch
            .abort_orders()
            .iter()
            .any(|order| order.at >= message.sent.at);
        let left = agent_left(launch, opened.answer.agent, 0, from.saturating_add(DUE)).is_some();
        if !aborted && !left && !may_be_left(launch, opened) {
            let said = "without OPENRIG_LAUNCH_RESULT a message became no prompt";
            judge_missed(views, launch, from, said, &[answer, entered], tally);
        }
        return;
    };
    let submitted = prompt.exchange.request.event;
    let post = launch
        .all_posts
        .iter()
        .find(|post| post.at().saturating_add(CROSSING) >= submitted.at);
    if let Some(post) = post {
        tally.held(
            "without OPENRIG_LAUNCH_RESULT a message became a prompt, and posts came",
            &[answer, entered, submitted, post.started],
        );
    } else if posts_are_due(views, launch) {
        let said = "without OPENRIG_LAUNCH_RESULT nothing was posted for a prompt";
        judge_missed(views, launch, submitted.at, said, &[entered, submitted], tally);
    }
}

pub(super) fn version_mismatch(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some((version, asked)) =
            initialize(launch).and_then(|asked| Some((other_version(asked)?, asked)))
        else {
            continue;
        };
        let Some(answer) = asked.answers.first().map(|answer| answer.event) else {
            continue;
        };
        let opening = all_openings(launch).find(|opening| opening.request.event.at >= answer.at);
        let record = of_attempt(launch).find(|record| record.event.at >= answer.at);
        let said = said_in_pane(launch, answer.at, launch.end_of_free_run());
        let mismatch = format!("the agent answered protocol version {version}");
        if let Some(opening) = opening {
            tally.broken(
                format!("{mismatch}, and {} followed", opening.method()),
                &[answer, opening.request.event],
            );
        } else if let Some(record) = record {
            tally.broken(
                format!("{mismatch}, and a record followed"),
                &[answer, record.event],
            );
        } else if let Some(shown) = said {
            if launch.watched_after(answer.at) >= CROSSING {
                tally.held(
                    format!("{mismatch}: nothing was opened, and the pane said something"),
                    &cited(launch, &[answer, shown]),
                );
            }
        } else {
            judge_silence(views, launch, answer.at, &mismatch, &[answer], &mut tally);
        }
    }
    tally.finding()
}
