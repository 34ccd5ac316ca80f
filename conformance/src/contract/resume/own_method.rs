//! A way to reopen that is the agent's own: allowed by §8 if the preset's limits name it (reading 15).

use super::super::finding::Tally;
use super::super::identity::opening::{of_attempt, openings};
use crate::history::views::{Exchange, LaunchView, Views};

/// Judges a launch that was brought back by a method of the agent's own, and by no other.
pub(super) fn judge(views: &Views<'_>, launch: &LaunchView<'_>, reference: &str, tally: &mut Tally) {
    let standard = |call: &Exchange<'_>| matches!(call.method(), "session/load" | "session/resume");
    if openings(launch).any(standard) {
        return;
    }
    let Some(call) = openings(launch).find(|call| call.succeeded()) else {
        return;
    };
    let record = of_attempt(launch).find(|version| version.field("nativeRef") == Some(reference));
    let (Some(record), Some(limits)) = (record, &views.history.header.declared.limits) else {
        return;
    };
    let named = limits.iter().any(|limit| limit.contains(call.method()));
    let events = [launch.event, call.request.event, record.event];
    if named {
        tally.held(
            format!("reopened by {}, which the limits name", call.method()),
            &events,
        );
    } else {
        tally.broken(
            format!(
                "reopened by {}, a method of the agent's own that the limits do not name",
                call.method()
            ),
            &events,
        );
    }
}
