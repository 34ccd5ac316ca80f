//! Edges that alter some crossings and let everything else through.
//!
//! A fault is a function that gets what has crossed so far and the crossing at hand, and says what happens
//! instead: `None` lets it cross unchanged. The constructors differ only in which crossings the function sees.

use reference_runner::{Crossing, Edge, LaunchFacts};
use serde_json::Value;

use crate::seen::Seen;

/// What happens instead of a crossing; `None`: the crossing itself.
pub(crate) type Instead = Option<Vec<Crossing>>;

struct Altered<L, C> {
    seen: Seen,
    launch: L,
    crossing: C,
}

impl<L, C> Edge for Altered<L, C>
where
    L: FnMut(&mut LaunchFacts) + Send,
    C: FnMut(&Seen, &Crossing) -> Instead + Send,
{
    fn launched(&mut self, facts: &mut LaunchFacts) {
        // What mutants make themselves goes by the launch as it was, not by what a fault makes of it.
        self.seen.launched(facts);
        (self.launch)(facts);
    }

    fn cross(&mut self, crossing: Crossing) -> Vec<Crossing> {
        let instead = (self.crossing)(&self.seen, &crossing);
        self.seen.note(&crossing);
        instead.unwrap_or_else(|| vec![crossing])
    }
}

/// Alters what the launch environment says.
pub(crate) fn on_launch(alter: impl FnMut(&mut LaunchFacts) + Send + 'static) -> Box<dyn Edge> {
    on_launch_and_crossing(alter, |_, _| None)
}

/// Alters crossings of every kind.
pub(crate) fn on_crossing(alter: impl FnMut(&Seen, &Crossing) -> Instead + Send + 'static) -> Box<dyn Edge> {
    on_launch_and_crossing(|_| {}, alter)
}

/// Alters what the launch environment says, and crossings of every kind.
pub(crate) fn on_launch_and_crossing(
    launch: impl FnMut(&mut LaunchFacts) + Send + 'static,
    crossing: impl FnMut(&Seen, &Crossing) -> Instead + Send + 'static,
) -> Box<dyn Edge> {
    Box::new(Altered {
        seen: Seen::default(),
        launch,
        crossing,
    })
}

/// Alters activity posts.
pub(crate) fn on_post(mut alter: impl FnMut(&Seen, &Value) -> Instead + Send + 'static) -> Box<dyn Edge> {
    on_crossing(move |seen, crossing| match crossing {
        Crossing::Post(body) => alter(seen, body),
        _ => None,
    })
}

/// Alters launch records.
pub(crate) fn on_record(mut alter: impl FnMut(&Seen, Value) -> Instead + Send + 'static) -> Box<dyn Edge> {
    on_crossing(move |seen, crossing| match crossing {
        Crossing::Record(bytes) => alter(seen, serde_json::from_slice(bytes).ok()?),
        _ => None,
    })
}

/// Alters messages to the agent.
pub(crate) fn on_message_to_agent(
    mut alter: impl FnMut(&Seen, Value) -> Instead + Send + 'static,
) -> Box<dyn Edge> {
    on_crossing(move |seen, crossing| match crossing {
        Crossing::ToAgent(line) => alter(seen, serde_json::from_str(line).ok()?),
        _ => None,
    })
}

/// Alters messages from the agent. Lines that are no JSON cross unseen.
pub(crate) fn on_message_from_agent(
    mut alter: impl FnMut(&Seen, Value) -> Instead + Send + 'static,
) -> Box<dyn Edge> {
    on_crossing(move |seen, crossing| match crossing {
        Crossing::FromAgent(line) => alter(seen, serde_json::from_str(line).ok()?),
        _ => None,
    })
}

/// Alters what is typed.
pub(crate) fn on_typed(mut alter: impl FnMut(&Seen, &[u8]) -> Instead + Send + 'static) -> Box<dyn Edge> {
    on_crossing(move |seen, crossing| match crossing {
        Crossing::Typed(bytes) => alter(seen, bytes),
        _ => None,
    })
}

/// Alters what is shown. The runner shows UTF-8, whole lines or pieces of an answer at a time.
pub(crate) fn on_shown(mut alter: impl FnMut(&Seen, &str) -> Instead + Send + 'static) -> Box<dyn Edge> {
    on_crossing(move |seen, crossing| match crossing {
        Crossing::Shown(bytes) => alter(seen, std::str::from_utf8(bytes).ok()?),
        _ => None,
    })
}
