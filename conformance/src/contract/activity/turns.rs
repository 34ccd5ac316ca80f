//! Which posts speak of which turn.
//!
//! The nth accepted belongs to the nth prompt, and what stands between it and the next accepted to that turn. That
//! holds only where every post was seen and the counts agree; elsewhere nothing is attributed, and the clauses that
//! need it are not exercised.

use crate::contract::endpoint_faults::posts_are_all_seen;
use crate::contract::grace::CROSSING;
use crate::contract::watch::agent_lost;
use crate::history::views::{LaunchView, Post, PostKind, Prompt, Views};

/// A prompt and the posts that speak of it.
pub(in crate::contract) struct Turn<'v, 'h> {
    pub(in crate::contract) prompt: &'v Prompt<'h>,
    pub(in crate::contract) accepted: &'v Post<'h>,
    /// What was posted after accepted and before the next accepted.
    pub(in crate::contract) posts: Vec<&'v Post<'h>>,
    /// The next prompt's accepted.
    pub(in crate::contract) next_accepted: Option<&'v Post<'h>>,
}

/// The launch's turns with their posts, or `None` if the posts can't be attributed.
pub(in crate::contract) fn turns<'v, 'h>(
    views: &Views<'h>,
    launch: &'v LaunchView<'h>,
) -> Option<Vec<Turn<'v, 'h>>> {
    if !posts_are_all_seen(views, launch) {
        return None;
    }
    let posts = in_order_sent(launch);
    let places: Vec<usize> = (0..posts.len())
        .filter(|place| posts[*place].kind == PostKind::Accepted)
        .collect();
    if !counts_agree(launch, &posts, &places) {
        return None;
    }
    let turns = places.iter().zip(&launch.prompts).enumerate();
    Some(
        turns
            .map(|(index, (place, prompt))| {
                let next = places.get(index + 1).copied();
                Turn {
                    prompt,
                    accepted: posts[*place],
                    posts: posts[*place + 1..next.unwrap_or(posts.len())].to_vec(),
                    next_accepted: next.map(|next| posts[next]),
                }
            })
            .collect(),
    )
}

/// The posts in the order of their sequence, which is the order of the facts (reading 1); in the order of arrival
/// where sequences can't be relied on.
pub(in crate::contract) fn in_order_sent<'v, 'h>(launch: &'v LaunchView<'h>) -> Vec<&'v Post<'h>> {
    let mut posts: Vec<&Post<'h>> = launch.posts.iter().filter(|post| post.at_the_hook).collect();
    let mut sequences: Vec<Option<u64>> = posts.iter().map(|post| post.sequence()).collect();
    sequences.sort_unstable();
    let reliable =
        sequences.iter().all(Option::is_some) && sequences.windows(2).all(|pair| pair[0] != pair[1]);
    if reliable {
        posts.sort_by_key(|post| post.sequence());
    }
    posts
}

/// Each accepted has its prompt, and each prompt its accepted, but for a last one whose accepted is still to come.
fn counts_agree(launch: &LaunchView<'_>, posts: &[&Post<'_>], places: &[usize]) -> bool {
    let each_has_its_prompt = places
        .iter()
        .enumerate()
        .all(|(index, place)| follows(launch, posts[*place], index));
    let last_is_missing = places.len() + 1 == launch.prompts.len()
        && places
            .last()
            .is_none_or(|place| !follows(launch, posts[*place], launch.prompts.len() - 1));
    each_has_its_prompt && (places.len() == launch.prompts.len() || last_is_missing)
}

/// Whether that accepted can be the one of the prompt with this index: it may be a little before the agent's read
/// (reading 31).
fn follows(launch: &LaunchView<'_>, accepted: &Post<'_>, index: usize) -> bool {
    launch
        .prompts
        .get(index)
        .is_some_and(|prompt| accepted.at().saturating_add(CROSSING) >= prompt.at())
}

impl<'v, 'h> Turn<'v, 'h> {
    /// The posts of this turn that are Stops, but not exits.
    pub(in crate::contract) fn stops(&self) -> impl Iterator<Item = &'v Post<'h>> {
        self.posts
            .iter()
            .copied()
            .filter(|post| post.kind.is_non_exit_stop())
    }

    /// Whether another prompt was in flight beside this one; then an answer or a Stop can't be told from the other's.
    pub(in crate::contract) fn overlaps(&self, launch: &LaunchView<'_>) -> bool {
        launch.prompts.iter().any(|other| {
            other.number != self.prompt.number
                && (other.in_flight_at(self.prompt.at()) || self.prompt.in_flight_at(other.at()))
        })
    }

    /// Whether attention may be held in this turn: permission was asked for around it, or a Notification posted.
    pub(in crate::contract) fn may_hold_attention(&self, launch: &LaunchView<'_>) -> bool {
        let from = self.prompt.at().saturating_sub(CROSSING);
        let until = self
            .prompt
            .answered_at()
            .map_or(u64::MAX, |at| at.saturating_add(CROSSING));
        let asked = launch
            .permissions()
            .any(|asked| (from..=until).contains(&asked.request.event.at));
        let notified = self
            .posts
            .iter()
            .any(|post| post.field("hookEvent") == Some("Notification"));
        asked || notified
    }

    /// Whether the agent was lost before `at`: then its turn ended in a way of its own.
    pub(in crate::contract) fn is_lost_before(&self, launch: &LaunchView<'_>, at: u64) -> bool {
        agent_lost(launch, self.prompt.exchange.request.agent).is_some_and(|lost| lost.at <= at)
    }
}
