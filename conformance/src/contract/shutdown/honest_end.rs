//! What is said while a seat is being stopped: `shutdown.honest-end`.
//!
//! A turn that the stop cuts off has no end that anybody heard. The agent may still answer while it is being ended, and
//! may be seen to exit: that are facts, and may be posted (reading 19).

use super::stop::Stop;
use crate::contract::activity::turns;
use crate::contract::endpoint_faults::{posts_are_all_seen, posts_are_due};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, machine_was_late};
use crate::history::views::{LaunchView, Post, PostKind, Prompt, Views, milliseconds};

pub(super) fn honest_end(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some(stop) = Stop::of(launch) else { continue };
        judge_cancelled(views, launch, &stop, &mut tally);
        judge_idle(views, launch, &stop, &mut tally);
        judge_exits(views, launch, &stop, &mut tally);
        if let Some(over) = stop.over
            && let Some(cut_off) = cut_off(launch, &stop)
            && posts_are_due(views, launch)
        {
            tally.held(
                "a turn was cut off, and no end of it was posted",
                &[cut_off.exchange.request.event, stop.began, over],
            );
        }
    }
    tally.finding()
}

/// The prompt that was in flight when the stop began, and was never answered.
fn cut_off<'v, 'h>(launch: &'v LaunchView<'h>, stop: &Stop<'_, 'h>) -> Option<&'v Prompt<'h>> {
    launch
        .prompts
        .iter()
        .find(|prompt| prompt.in_flight_at(stop.began.at) && prompt.answer().is_none())
}

/// Posts of a kind that came after the stop began.
fn posted<'v, 'h>(
    launch: &'v LaunchView<'h>,
    stop: &Stop<'_, 'h>,
    kind: PostKind,
) -> impl Iterator<Item = &'v Post<'h>> {
    let began = stop.began.at;
    launch
        .posts_of(kind)
        .filter(move |post| post.at_the_hook && post.at() >= began)
}

fn judge_cancelled(views: &Views<'_>, launch: &LaunchView<'_>, stop: &Stop<'_, '_>, tally: &mut Tally) {
    for post in posted(launch, stop, PostKind::Cancelled) {
        let words = launch
            .prompts
            .iter()
            .filter(|prompt| prompt.was_cancelled())
            .filter(|prompt| prompt.answered_at().is_some_and(|answered| answered <= post.at()))
            .count();
        let told = launch
            .posts_of(PostKind::Cancelled)
            .filter(|other| other.at() <= post.at())
            .count();
        // In an outage a post may be repeated; one for which there is no word at all is none of those.
        if words == 0 || (told > words && posts_are_all_seen(views, launch)) {
            tally.broken(
                format!(
                    "{} was posted {} after {}, and the agent had not said so",
                    post.name(),
                    milliseconds(post.at() - stop.began.at),
                    stop.way()
                ),
                &[stop.began, post.started],
            );
        }
    }
}

fn judge_idle<'h>(views: &Views<'h>, launch: &LaunchView<'h>, stop: &Stop<'_, 'h>, tally: &mut Tally) {
    let Some(turns) = turns(views, launch) else { return };
    for turn in turns {
        let prompt = turn.prompt;
        if !prompt.in_flight_at(stop.began.at) || turn.overlaps(launch) {
            continue;
        }
        let false_end = turn.posts.iter().find(|post| {
            post.kind == PostKind::Idle
                && post.at() >= stop.began.at
                && prompt.answered_at().is_none_or(|answered| post.at() < answered)
        });
        if let Some(post) = false_end {
            tally.broken(
                format!(
                    "{} was posted {} after {} for a turn that the agent had not answered",
                    post.name(),
                    milliseconds(post.at() - stop.began.at),
                    stop.way()
                ),
                &[prompt.exchange.request.event, stop.began, post.started],
            );
        }
    }
}

fn judge_exits(views: &Views<'_>, launch: &LaunchView<'_>, stop: &Stop<'_, '_>, tally: &mut Tally) {
    for post in posted(launch, stop, PostKind::Exited) {
        let ends = || launch.agents.iter().filter_map(|agent| agent.ended);
        if let Some(ended) = ends().find(|ended| ended.at <= post.at().saturating_add(CROSSING)) {
            tally.held(
                format!("{} after the agent's end was seen", post.name()),
                &[stop.began, ended, post.started],
            );
            continue;
        }
        let end = ends().next().or(stop.over);
        let until = end.map_or(post.at(), |end| end.at);
        let said = format!(
            "{} was posted {} after {}, while the agent lived",
            post.name(),
            milliseconds(post.at() - stop.began.at),
            stop.way()
        );
        let events: Vec<_> = [stop.began, post.started].into_iter().chain(end).collect();
        if machine_was_late(views, post.at(), until, CROSSING) {
            tally.inconclusive(said, &events);
        } else if stop.over.is_some() {
            tally.broken(said, &events);
        }
    }
}
