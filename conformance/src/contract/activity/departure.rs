//! The end of an agent's process that nobody asked for, in a seat that had a conversation.

use crate::contract::grace::CROSSING;
use crate::contract::watch::{agent_lost, ended_on_its_own, input_may_have_ended};
use crate::history::views::{LaunchView, Post, PostKind};
use crate::history::{Event, Fact, Wire};

/// An agent's end.
pub(super) struct Departure<'h> {
    /// It was about to end; its last words stand before.
    pub(super) began: &'h Event,
    /// Its process was gone, or as far as the history goes.
    pub(super) ended: &'h Event,
}

/// The ends that a runner must report. One before the conversation was open, or right after, belongs to an
/// opening that failed; an agent whose input was ended, or that nobody could hear any more, may have been ended by the runner.
pub(super) fn departures<'h>(launch: &LaunchView<'h>) -> Vec<Departure<'h>> {
    let Some((_, opened)) = launch.conversation() else {
        return Vec::new();
    };
    if input_may_have_ended(launch) {
        return Vec::new();
    }
    launch
        .agents
        .iter()
        .filter_map(|agent| {
            let ended = ended_on_its_own(launch, agent.number)?;
            let began = agent_lost(launch, agent.number)?;
            let was_heard = !matches!(began.fact, Fact::Wire(Wire::StdoutClosed { .. }));
            // A runner may not have come to the open's answer yet, unless it has acted on it.
            let acted = launch.prompts.iter().any(|prompt| prompt.at() < began.at)
                || launch
                    .records
                    .iter()
                    .any(|record| record.event.at < began.at && record.is_of(&launch.facts.attempt));
            let open_was_heard = acted || began.at >= opened.at.saturating_add(CROSSING);
            (was_heard && open_was_heard).then_some(Departure { began, ended })
        })
        .collect()
}

/// The launch's exit reports, in order of arrival.
pub(super) fn exits<'v, 'h>(launch: &'v LaunchView<'h>) -> Vec<&'v Post<'h>> {
    launch
        .posts_of(PostKind::Exited)
        .filter(|post| post.at_the_hook)
        .collect()
}
