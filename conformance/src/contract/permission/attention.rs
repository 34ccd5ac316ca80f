//! Attention: from the Notification a permission request brought to the next accepted prompt.

use super::super::endpoint_faults::posts_are_due;
use super::super::finding::{Finding, Tally};
use super::super::grace::{CROSSING, DUE, machine_was_late};
use super::super::watch::{cited, ended_on_its_own, free_after, input_may_have_ended};
use super::requests::{ordinary, turn_of};
use crate::history::views::{Ending, LaunchView, Post, PostKind, Prompt, Views, milliseconds};
use crate::history::{Event, Fact, Step};

pub(super) fn posted(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let mut notifications = launch.posts_of(PostKind::PermissionPrompt).peekable();
        let mut judged_turns = 0;
        for asked in ordinary(launch) {
            // One for the turn is enough (reading 8); outside a turn it is the runner's choice (reading 7).
            let Some(turn) = turn_of(launch, asked).filter(|turn| turn.number > judged_turns) else {
                continue;
            };
            judged_turns = turn.number;
            let (request, agent) = (asked.request.event, asked.request.agent);
            // What was posted for a turn before came before.
            while notifications.next_if(|post| post.at() < request.at).is_some() {}
            if let Some(post) = notifications.next() {
                tally.held(
                    format!(
                        "{} {} after the request",
                        post.name(),
                        milliseconds(post.at() - request.at)
                    ),
                    &[request, post.started],
                );
                continue;
            }
            let watched = free_after(launch, request.at);
            let agent_left_at_once = ended_on_its_own(launch, agent)
                .is_some_and(|ended| ended.at <= request.at.saturating_add(CROSSING));
            if watched < DUE || agent_left_at_once || !posts_are_due(views, launch) {
                continue;
            }
            let said = format!(
                "permission was asked for, and no Notification/permission_prompt came in {}",
                milliseconds(watched)
            );
            judge_absence(views, launch, &[request], watched, said, &mut tally);
        }
    }
    tally.finding()
}

/// Broken, or inconclusive if the machine was late by a good part of the time that was watched.
fn judge_absence(
    views: &Views<'_>,
    launch: &LaunchView<'_>,
    causes: &[&Event],
    watched: u64,
    said: String,
    tally: &mut Tally,
) {
    let events = cited(launch, causes);
    let from = causes.last().map_or(0, |cause| cause.at);
    if machine_was_late(views, from, from.saturating_add(watched), watched) {
        tally.inconclusive(said, &events);
    } else {
        tally.broken(said, &events);
    }
}

/// Attention that was posted because permission had been asked for.
struct Hold<'v, 'h> {
    /// When permission was asked for, in nanoseconds.
    asked: u64,
    notification: &'v Post<'h>,
    /// The turn in which permission was asked for; `None` if it was asked for outside any (reading 7).
    turn: Option<&'v Prompt<'h>>,
    /// The accepted post that ends it.
    cleared: Option<&'v Post<'h>>,
    /// Which agent asked.
    agent: u32,
}

fn holds<'v, 'h>(launch: &'v LaunchView<'h>) -> Vec<Hold<'v, 'h>> {
    let mut holds: Vec<Hold<'v, 'h>> = Vec::new();
    let mut told_until = 0;
    for notification in launch.posts_of(PostKind::PermissionPrompt) {
        let since = std::mem::replace(&mut told_until, notification.at());
        let still_held = holds.last().is_some_and(|hold| {
            hold.cleared
                .is_none_or(|cleared| !is_later(notification, cleared))
        });
        let asked = launch.permissions().find(|asked| {
            let at = asked.request.event.at;
            at > since && at <= notification.at()
        });
        let (false, Some(asked)) = (still_held, asked) else {
            continue;
        };
        let asked_at = asked.request.event.at;
        // It may be about a later turn that failed (reading 5) or asked for permission, too.
        let ambiguous = launch.prompts.iter().any(|prompt| {
            let begun = prompt.at() > asked_at && prompt.at() <= notification.at();
            let failed = prompt.ending() == Some(Ending::Error)
                && prompt.answered_at().is_some_and(|at| at <= notification.at());
            let asked = launch.permissions().any(|asked| {
                let at = asked.request.event.at;
                prompt.in_flight_at(at) && at <= notification.at()
            });
            begun && (failed || asked)
        });
        if ambiguous {
            continue;
        }
        holds.push(Hold {
            asked: asked_at,
            notification,
            turn: launch.prompts.iter().find(|prompt| prompt.in_flight_at(asked_at)),
            cleared: next_accepted(launch, notification),
            agent: asked.request.agent,
        });
    }
    holds
}

/// Order of posts is their sequence (reading 1); without one, arrival, and what may have crossed is not later.
fn is_later(post: &Post<'_>, before: &Post<'_>) -> bool {
    match (post.sequence(), before.sequence()) {
        (Some(later), Some(earlier)) if later != earlier => later > earlier,
        _ => post.at() > before.at().saturating_add(CROSSING),
    }
}

fn next_accepted<'v, 'h>(launch: &'v LaunchView<'h>, post: &Post<'h>) -> Option<&'v Post<'h>> {
    launch
        .posts_of(PostKind::Accepted)
        .filter(|accepted| is_later(accepted, post))
        .min_by_key(|accepted| (accepted.sequence(), accepted.at()))
}

impl<'v, 'h> Hold<'v, 'h> {
    /// The prompt that ends it: the first one after.
    fn next_prompt(&self, launch: &'v LaunchView<'h>) -> Option<&'v Prompt<'h>> {
        launch.prompts.iter().find(|prompt| prompt.at() > self.asked)
    }

    /// The first post that must not be there. An exit ends the hold, and so does an operator's clearing.
    fn violation(&self, views: &Views<'_>, launch: &'v LaunchView<'h>) -> Option<&'v Post<'h>> {
        // Where the accepted post itself may be missing, the prompt it would have told of ends the hold.
        let until = if self.cleared.is_some() && posts_are_due(views, launch) {
            u64::MAX
        } else {
            self.next_prompt(launch)
                .map_or(u64::MAX, |prompt| prompt.at().saturating_sub(CROSSING))
        };
        let operator = launch
            .events
            .iter()
            .find(|event| {
                matches!(event.fact, Fact::Step(Step::ClearedAttention)) && event.at >= self.notification.at()
            })
            .map_or(u64::MAX, |event| event.at);
        let exited = launch.posts_of(PostKind::Exited).next();
        launch.posts.iter().find(|post| {
            (post.kind.is_non_exit_stop() || post.kind == PostKind::Working)
                && is_later(post, self.notification)
                && self.cleared.is_none_or(|cleared| is_later(cleared, post))
                && exited.is_none_or(|exited| is_later(exited, post))
                && post.at() < until.min(operator)
                && post.at() <= launch.end_of_free_run()
        })
    }
}

pub(super) fn held(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for hold in holds(launch) {
            let notification = hold.notification.started;
            if let Some(post) = hold.violation(views, launch) {
                tally.broken(
                    format!("{} was posted while attention was held", post.name()),
                    &[notification, post.started],
                );
                continue;
            }
            // Only the turn's end tempts a runner to post; and what is lost on the way is not seen.
            let Some(ended) = hold.turn.and_then(Prompt::answer).map(|answer| answer.event) else {
                continue;
            };
            let cleared = hold.cleared.filter(|cleared| cleared.at() >= ended.at);
            if !posts_are_due(views, launch)
                || (cleared.is_none() && launch.watched_after(ended.at) < CROSSING)
            {
                continue;
            }
            let last = cleared.map(|post| post.started).or(launch.closing_event());
            let events: Vec<&Event> = [notification, ended].into_iter().chain(last).collect();
            let until = last.map_or(ended.at, |last| last.at);
            tally.held(
                format!(
                    "no Stop, beat or working event in the {} from the turn's end on",
                    milliseconds(until.saturating_sub(ended.at))
                ),
                &events,
            );
        }
    }
    tally.finding()
}

pub(super) fn cleared_by_prompt(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for hold in holds(launch) {
            let Some(next) = hold.next_prompt(launch) else {
                continue;
            };
            let notification = hold.notification.started;
            let submitted = next.exchange.request.event;
            let accepted = hold
                .cleared
                .filter(|accepted| accepted.at().saturating_add(CROSSING) >= next.at());
            if let Some(accepted) = accepted {
                judge_next_turn(views, launch, &hold, next, accepted, &mut tally);
                continue;
            }
            let watched = free_after(launch, submitted.at);
            if hold.cleared.is_none() && watched >= DUE && posts_are_due(views, launch) {
                let said = format!(
                    "the next prompt went out, and no accepted was posted in {}",
                    milliseconds(watched)
                );
                judge_absence(
                    views,
                    launch,
                    &[notification, submitted],
                    watched,
                    said,
                    &mut tally,
                );
            }
        }
    }
    tally.finding()
}

/// The turn after held attention reports its end, unless permission was asked for again.
fn judge_next_turn(
    views: &Views<'_>,
    launch: &LaunchView<'_>,
    hold: &Hold<'_, '_>,
    turn: &Prompt<'_>,
    accepted: &Post<'_>,
    tally: &mut Tally,
) {
    let notification = hold.notification.started;
    let Some(ended) = turn.answer().map(|answer| answer.event) else {
        return;
    };
    // One that crossed this prompt on its way may hold its turn, too.
    let asked_again = launch.permissions().any(|asked| {
        let at = asked.request.event.at;
        at.saturating_add(CROSSING) >= turn.at()
            && at < ended.at
            && hold.turn.is_none_or(|held| !held.in_flight_at(at))
    });
    if asked_again {
        tally.held(
            "the next prompt was posted as accepted, and permission was asked for again",
            &[notification, accepted.started, ended],
        );
        return;
    }
    let failed = turn.ending() == Some(Ending::Error);
    let next_turn_ended = launch
        .prompts
        .iter()
        .find(|later| later.number > turn.number)
        .and_then(Prompt::answered_at);
    let following = next_accepted(launch, accepted);
    let report = launch.posts.iter().find(|post| {
        let notified = failed && post.field("hookEvent") == Some("Notification");
        // By its time or by its sequence: it may arrive when the turn after has ended, too.
        let in_time = next_turn_ended.is_none_or(|next| post.at() < next);
        let in_order =
            || is_later(post, accepted) && following.is_none_or(|following| is_later(following, post));
        (post.kind.is_non_exit_stop() || notified) && post.at() >= ended.at && (in_time || in_order())
    });
    if let Some(report) = report {
        tally.held(
            format!(
                "the next prompt was posted as accepted, and its end as {}",
                report.name()
            ),
            &[notification, accepted.started, report.started],
        );
        return;
    }
    let watched = free_after(launch, ended.at);
    let agent_left = ended_on_its_own(launch, turn.exchange.request.agent)
        .is_some_and(|left| left.at <= ended.at.saturating_add(CROSSING));
    if watched >= DUE && posts_are_due(views, launch) && !agent_left {
        let said = format!(
            "the turn after held attention ended, and no Stop was posted in {}",
            milliseconds(watched)
        );
        judge_absence(
            views,
            launch,
            &[notification, accepted.started, ended],
            watched,
            said,
            tally,
        );
    }
}

pub(super) fn exit_while_held(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for hold in holds(launch) {
            let notification = hold.notification.started;
            let Some(ended) = ended_on_its_own(launch, hold.agent) else {
                continue;
            };
            let over = hold.cleared.is_some_and(|cleared| cleared.at() <= ended.at)
                || hold
                    .next_prompt(launch)
                    .is_some_and(|prompt| prompt.at() <= ended.at);
            if notification.at > ended.at || over {
                continue;
            }
            // A runner may see the end a little before the judge does.
            let exited = launch
                .posts_of(PostKind::Exited)
                .find(|post| post.at().saturating_add(CROSSING) >= ended.at);
            if let Some(exited) = exited {
                tally.held(
                    format!("{} was posted while attention was held", exited.name()),
                    &[notification, ended, exited.started],
                );
                continue;
            }
            let gone = launch
                .runner_exit()
                .filter(|exit| exit.at >= ended.at && launch.watched_after(exit.at) >= CROSSING);
            let watched = launch.watched_after(ended.at);
            // A runner whose input has ended may have ended the agent itself.
            if !posts_are_due(views, launch)
                || input_may_have_ended(launch)
                || (watched < DUE && gone.is_none())
            {
                continue;
            }
            let said = format!(
                "the agent ended while attention was held, and no exit was posted in {}",
                milliseconds(watched)
            );
            judge_absence(views, launch, &[notification, ended], watched, said, &mut tally);
        }
    }
    tally.finding()
}
