//! What outlives the runner: `shutdown.no-orphans` and `shutdown.survivors-declared`.

use super::stop::{GIVEN, Kind, Left, Stop};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{MILLISECOND, machine_was_late};
use crate::contract::quote::quoted;
use crate::history::Event;
use crate::history::views::{LaunchView, Views, milliseconds};

/// Once the runner and its agents are gone, nobody is left who could end a process in a session of its own: the engine
/// waits no longer than this for it, less a little for its own clocks.
const ALONE: u64 = 900 * MILLISECOND;

pub(super) fn no_orphans(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some(stop) = Stop::of(launch) else { continue };
        // A runner that is still there may still end them: that it is there is judged for itself.
        let Some(exit) = launch.runner_exit() else {
            continue;
        };
        let left = stop.left();
        let orphan = left
            .iter()
            .find(|left| matches!(left.kind, Kind::Agent | Kind::AgentsGroup));
        match orphan {
            Some(orphan) if stop.had_its_time(orphan) => {
                let what = match orphan.kind {
                    Kind::Agent => "the agent",
                    _ => "a process of the agent's group",
                };
                let said = outlived(what, orphan, &stop);
                let events = [stop.began, exit, orphan.event];
                let limits = declared_limits(views).unwrap_or_default();
                if limits.iter().any(|limit| excuses_the_group(limit)) {
                    tally.held(format!("{said}, as limits says"), &events);
                } else if machine_was_late(views, stop.began.at, orphan.event.at, GIVEN) {
                    tally.inconclusive(said, &events);
                } else {
                    tally.broken(said, &events);
                }
            }
            Some(_) => {}
            None => {
                if let (Some(over), Some(there)) = (stop.over, something_to_end(launch, &stop)) {
                    tally.held(
                        "nothing of the agent's process group outlived the stop",
                        &[there, stop.began, exit, over],
                    );
                }
            }
        }
    }
    tally.finding()
}

/// What of the agent's group was there when the stop began: the agent, or a child that it left.
fn something_to_end<'h>(launch: &LaunchView<'h>, stop: &Stop<'_, 'h>) -> Option<&'h Event> {
    let agent = launch
        .agents
        .iter()
        .find(|agent| agent.ended.is_none_or(|ended| ended.at >= stop.began.at))
        .map(|agent| agent.started);
    let child = stop
        .children()
        .find(|(_, own_session, event)| !own_session && event.at < stop.began.at)
        .map(|(_, _, event)| event);
    child.or(agent)
}

pub(super) fn survivors_declared(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some(stop) = Stop::of(launch) else { continue };
        let Some(exit) = launch.runner_exit() else {
            continue;
        };
        let left = stop.left();
        let survivor = left.iter().find(|left| left.kind == Kind::Elsewhere);
        let Some(survivor) = survivor else {
            let child = stop
                .children()
                .find(|(_, own_session, event)| *own_session && event.at < stop.began.at);
            if let (Some((_, _, child)), Some(over)) = (child, stop.over) {
                tally.held(
                    "a child in a session of its own was ended too",
                    &[child, stop.began, over],
                );
            }
            continue;
        };
        let alone = survivor.event.at.saturating_sub(exit.at.max(stop.began.at)) >= ALONE;
        if !alone && !stop.had_its_time(survivor) {
            continue;
        }
        let said = outlived("a process in a session of its own", survivor, &stop);
        let events = [stop.began, exit, survivor.event];
        match declared_limits(views) {
            None => tally.not_applicable(
                format!("{said}; no preset was given, so there are no limits that could name it"),
                &events,
            ),
            Some(limits) if limits.iter().any(|limit| speaks_of_survivors(limit)) => {
                tally.held(format!("{said}, as limits says"), &events);
            }
            Some(_) if machine_was_late(views, stop.began.at, survivor.event.at, ALONE) => {
                tally.inconclusive(said, &events);
            }
            Some(_) => tally.broken(format!("{said}, and limits does not name it"), &events),
        }
    }
    tally.finding()
}

fn outlived(what: &str, left: &Left<'_>, stop: &Stop<'_, '_>) -> String {
    format!(
        "{what} (process {}, {}) was still there {} after {}",
        left.pid,
        quoted(left.command),
        milliseconds(left.event.at.saturating_sub(stop.began.at)),
        stop.way()
    )
}

/// What the preset's limits say; `None` where there is no preset.
fn declared_limits<'v>(views: &'v Views<'_>) -> Option<&'v [String]> {
    views.history.header.declared.limits.as_deref()
}

/// Whether a limit says that something of the agent's group survives. One about sessions of their own speaks of those
/// alone.
fn excuses_the_group(limit: &str) -> bool {
    let lower = limit.to_lowercase();
    speaks_of_survivors(limit) && (lower.contains("group") || !lower.contains("session"))
}

/// Whether a limit is about what survives a stop.
pub(super) fn speaks_of_survivors(limit: &str) -> bool {
    const WORDS: [&str; 8] = [
        "surviv",
        "outliv",
        "left running",
        "lives on",
        "live on",
        "keeps running",
        "own session",
        "session of its own",
    ];
    let limit = limit.to_lowercase();
    WORDS.iter().any(|word| limit.contains(word))
}
