//! Where a history is not whole: a seat that floods a lane can't make the engine keep everything.
//!
//! One rule makes this sound for every clause alike: what stands before the first cut is as true as any history that
//! ends early, and nothing after it is judged.

use serde::{Deserialize, Serialize};

use super::{Event, Fact, History, Lane, PostFact};

/// From this moment on, events of a lane are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// The lane.
    pub lane: Lane,
    /// How many events are missing, as far as was counted.
    pub events: u64,
    /// How many bytes of content they held, as far as was counted.
    pub bytes: u64,
    /// When the last of them came, in nanoseconds since the history's start.
    pub until: u64,
}

impl History {
    /// The event from which on this history is not whole.
    #[must_use]
    pub fn first_cut(&self) -> Option<&Event> {
        self.events
            .iter()
            .find(|event| matches!(event.fact, Fact::Cut(_) | Fact::Post(PostFact::Flooded { .. })))
    }

    /// The lanes that are not whole.
    #[must_use]
    pub fn cut_lanes(&self) -> Vec<Lane> {
        let cuts = self.events.iter().filter_map(|event| match &event.fact {
            Fact::Cut(cut) => Some(cut.lane),
            Fact::Post(PostFact::Flooded { .. }) => Some(Lane::Post),
            _ => None,
        });
        cuts.collect::<std::collections::BTreeSet<Lane>>()
            .into_iter()
            .collect()
    }

    /// What came before the first cut; `None` if there is none.
    #[must_use]
    pub fn before_the_cut(&self) -> Option<Self> {
        let cut = self.first_cut()?.sequence;
        Some(Self {
            header: self.header.clone(),
            events: self
                .events
                .iter()
                .take_while(|event| event.sequence < cut)
                .cloned()
                .collect(),
        })
    }
}
