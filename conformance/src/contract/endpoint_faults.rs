//! When the endpoint was told to misbehave, and whether this launch's posts can be counted at all.

use crate::history::views::{LaunchView, Views};
use crate::history::{Event, Fact, Step};

const HEALTHY: &str = "healthy";

/// One stretch of time in which the endpoint misbehaved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault<'h> {
    /// In the scenario's word: `hang`, `refuse`, `reset`, `status …`, …
    pub(super) name: &'h str,
    /// The step that set it.
    pub(super) set: &'h Event,
    /// The step that ended it, if one did.
    pub(super) ended: Option<&'h Event>,
}

impl Fault<'_> {
    pub(super) fn covers(&self, at: u64) -> bool {
        self.set.at <= at && self.ended.is_none_or(|ended| at < ended.at)
    }

    /// Whether the endpoint reads requests and never answers them.
    pub(super) fn hangs(&self) -> bool {
        self.name.to_lowercase().starts_with("hang")
    }
}

/// The faults of the whole history, in order: one that was set before a launch is still in force in it.
pub(super) fn faults<'h>(views: &Views<'h>) -> Vec<Fault<'h>> {
    let mut faults: Vec<Fault<'h>> = Vec::new();
    for event in &views.history.events {
        let Fact::Step(Step::Endpoint { fault }) = &event.fact else {
            continue;
        };
        if let Some(open) = faults.last_mut()
            && open.ended.is_none()
        {
            open.ended = Some(event);
        }
        if fault != HEALTHY {
            faults.push(Fault {
                name: fault,
                set: event,
                ended: None,
            });
        }
    }
    faults
}

/// The fault in force at that time.
pub(super) fn fault_at<'f, 'h>(faults: &'f [Fault<'h>], at: u64) -> Option<&'f Fault<'h>> {
    faults.iter().find(|fault| fault.covers(at))
}

/// Whether every post of this launch must have been seen: the endpoint was healthy all the time. In an outage a runner
/// may lose posts, late ones may come in a bunch, and nothing can be counted (reading 3).
pub(super) fn posts_are_all_seen(views: &Views<'_>, launch: &LaunchView<'_>) -> bool {
    let end = launch.events.last().map_or(launch.event.at, |event| event.at);
    let disturbed = faults(views)
        .iter()
        .any(|fault| fault.set.at <= end && fault.ended.is_none_or(|ended| ended.at >= launch.event.at));
    !disturbed && !launch.posts_may_be_lost()
}

/// Whether a post that is absent from this launch is missing: all are seen, and the runner knew where to post.
pub(super) fn posts_are_due(views: &Views<'_>, launch: &LaunchView<'_>) -> bool {
    posts_are_all_seen(views, launch) && knows_where_to_post(launch)
}

/// Whether the runner was told of the endpoint in the plain way, or has found it: one that does not find it where it
/// was told in another way fails `activity.endpoint-*`, not each clause here.
pub(super) fn knows_where_to_post(launch: &LaunchView<'_>) -> bool {
    let told = launch.facts.endpoint_told.to_lowercase();
    let told_plainly =
        told == "all" || (told.starts_with("url") && !told.contains("stale") && !told.contains("file"));
    told_plainly || launch.all_posts.iter().any(|post| post.at_the_hook)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::history_builder::HistoryBuilder;

    #[test]
    fn a_fault_ends_with_the_next_order() {
        let history = HistoryBuilder::empty()
            .endpoint("refuse")
            .launch(|_| {})
            .endpoint("hang")
            .endpoint("healthy")
            .launch(|_| {})
            .history();
        let views = Views::new(&history);
        let faults = faults(&views);
        let spans: Vec<_> = faults
            .iter()
            .map(|fault| {
                (
                    fault.name,
                    fault.set.sequence,
                    fault.ended.map(|event| event.sequence),
                )
            })
            .collect();
        assert_eq!(spans, [("refuse", 1, Some(4)), ("hang", 4, Some(5))]);
        assert!(!posts_are_all_seen(&views, &views.launches[0]));
        assert!(posts_are_all_seen(&views, &views.launches[1]));
        let at_launch = views.launches[0].event.at;
        assert_eq!(
            fault_at(&faults, at_launch).map(|fault| fault.name),
            Some("refuse")
        );
    }

    #[test]
    fn posts_are_due_where_the_runner_was_told_to_post() {
        let told = |how: &str| {
            let how = how.to_owned();
            HistoryBuilder::empty().launch(move |facts| facts.endpoint_told = how)
        };
        let due = |builder: &HistoryBuilder| {
            let history = builder.history();
            let views = Views::new(&history);
            posts_are_due(&views, &views.launches[0])
        };
        assert!(due(&told("all")));
        assert!(due(&told("url")));
        assert!(!due(&told("nothing")));
        assert!(!due(&told("url_and_token_file")));
        assert!(due(&told("file").post("Stop", "idle")));
    }
}
