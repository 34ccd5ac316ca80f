//! What has nothing to do with a verdict does not move it: other lanes may be late by what two observers may differ, and
//! events that no clause is about may stand anywhere.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::conformant::{all, assert_nothing_broken};
use super::{ClauseSet, Finding};
use crate::history::views::Views;
use crate::history::{Bytes, Event, Fact, History, Lane, Pane, Step, Wire};

const MILLISECOND: u64 = 1_000_000;

/// Facts that no clause is about.
fn unrelated() -> Vec<Fact> {
    vec![
        Fact::Lag { late_ms: 30 },
        Fact::Wire(Wire::Stderr { agent: 1, bytes: 80 }),
        Fact::Wire(Wire::Gate {
            agent: 1,
            name: "elsewhere".into(),
            passed: false,
        }),
        Fact::Pane(Pane::Output {
            bytes: Bytes::from("\u{1b}[0m"),
        }),
        Fact::Step(Step::Quiet { lasted_ms: 0 }),
        Fact::Step(Step::Opened {
            gate: "elsewhere".into(),
        }),
    ]
}

/// Lanes whose events reach the engine by a way of their own, later than they happened.
fn comes_late(lane: Lane) -> bool {
    matches!(lane, Lane::Pane | Lane::Post | Lane::Record | Lane::Reading)
}

fn words(history: &History) -> BTreeMap<&'static str, &'static str> {
    let views = Views::new(history);
    ClauseSet::usual()
        .clauses()
        .map(|clause| {
            let word = match (clause.judge)(&views) {
                Finding::Held(_) => "held",
                Finding::Broken(_) => "broken",
                Finding::Inconclusive(_) => "inconclusive",
                Finding::NotApplicable(_) => "not applicable",
                Finding::NotExercised => "not exercised",
            };
            (clause.id, word)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Everything that comes by the terminal, the endpoint or the file arrives a little later, in its own lane's order.
    #[test]
    fn lanes_may_be_late(delays in proptest::collection::vec(0..80 * MILLISECOND, 64)) {
        for (manner, history) in all() {
            let mut newest: BTreeMap<Lane, u64> = BTreeMap::new();
            // The endpoint itself is switched by the engine: a post can't come on the other side of that.
            let switched: Vec<u64> = history
                .events
                .iter()
                .filter(|event| matches!(event.fact, Fact::Step(Step::Endpoint { .. })))
                .map(|event| event.at)
                .collect();
            let late = |(index, event): (usize, &Event)| {
                let lane = event.lane();
                let mut event = event.clone();
                if comes_late(lane) {
                    let newest = newest.entry(lane).or_default();
                    let limit = switched.iter().find(|at| **at > event.at).copied().unwrap_or(u64::MAX);
                    event.at = (event.at + delays[index % delays.len()]).min(limit - 1).max(*newest);
                    *newest = event.at;
                }
                event
            };
            let events = history.events.iter().enumerate().map(late).collect();
            assert_nothing_broken(manner, &History::new(history.header.clone(), events));
        }
    }

    /// What no clause is about stands anywhere, and every finding is what it was.
    #[test]
    fn other_events_move_nothing(places in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..12)) {
        let facts = unrelated();
        for (manner, history) in all() {
            let mut events = history.events.clone();
            for (place, fact) in &places {
                let neighbour = place.get(&history.events);
                events.push(Event { sequence: 0, fact: fact.get(&facts).clone(), ..neighbour.clone() });
            }
            let more = History::new(history.header.clone(), events);
            prop_assert_eq!(words(&more), words(&history), "{}", manner);
        }
    }
}
