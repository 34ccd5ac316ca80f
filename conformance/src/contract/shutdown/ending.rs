//! Whether runner and agent end at all: `shutdown.hangup`, `shutdown.terminate` and `shutdown.end-of-input`.
//!
//! How the runner ends is its own affair: by an exit with any code, or by a signal, which takes those that find their
//! terminal gone.

use super::stop::{GIVEN, Kind, Stop};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::machine_was_late;
use crate::contract::quote::quoted;
use crate::history::views::{Views, milliseconds};

pub(super) fn hangup(views: &Views<'_>) -> Finding {
    judge(views, &["hangup", "hangup_signal"])
}

pub(super) fn terminate(views: &Views<'_>) -> Finding {
    judge(views, &["terminate"])
}

pub(super) fn end_of_input(views: &Views<'_>) -> Finding {
    judge(views, &["end_of_input"])
}

fn judge(views: &Views<'_>, ways: &[&str]) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some(stop) = Stop::of(launch).filter(|stop| ways.contains(&stop.how)) else {
            continue;
        };
        if !stop.runner_lived() {
            continue;
        }
        // A program that never started an agent shows nothing by ending.
        let has_agent = !launch.agents.is_empty();
        let left = stop.left();
        let mine = left
            .iter()
            .find(|left| matches!(left.kind, Kind::Runner | Kind::Agent));
        if let Some(left) = mine {
            if !stop.had_its_time(left) {
                continue;
            }
            let who = match left.kind {
                Kind::Agent => "the agent",
                _ => "the runner",
            };
            let said = format!(
                "{who} (process {}, {}) lived on {} after {}",
                left.pid,
                quoted(left.command),
                milliseconds(left.event.at.saturating_sub(stop.began.at)),
                stop.way()
            );
            let events = [stop.began, left.event];
            if machine_was_late(views, stop.began.at, left.event.at, GIVEN) {
                tally.inconclusive(said, &events);
            } else {
                tally.broken(said, &events);
            }
        } else if has_agent && let (Some(exit), Some(over)) = (stop.runner_exit(), stop.over) {
            let agent = launch.agents.last().and_then(|agent| agent.ended);
            let mut events = vec![stop.began, exit, over];
            events.extend(agent);
            tally.held(
                format!(
                    "the runner ended {} after {}, and no agent was left",
                    milliseconds(exit.at.saturating_sub(stop.began.at)),
                    stop.way()
                ),
                &events,
            );
        }
    }
    tally.finding()
}
