//! What a judge says of one history, always with the events that decided it.

use crate::history::Event;

/// What a judge says of one seat's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Nothing in this history puts the clause to the test.
    NotExercised,
    /// The history itself proves that the clause does not concern this runner.
    NotApplicable(Decided),
    /// Put to the test, and kept.
    Held(Decided),
    /// Put to the test, and broken.
    Broken(Decided),
    /// Put to the test, but what happened can't be known, the machine being late, for instance.
    Inconclusive(Decided),
}

/// What was seen, and in which events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// One or two sentences for people.
    pub said: String,
    /// Sequence numbers of the deciding events, in order.
    pub events: Vec<u64>,
}

impl Decided {
    fn new(said: impl Into<String>, events: &[&Event]) -> Self {
        let mut events: Vec<u64> = events.iter().map(|event| event.sequence).collect();
        events.sort_unstable();
        events.dedup();
        Self {
            said: said.into(),
            events,
        }
    }
}

/// Gathers what a judge sees, instance by instance: one broken instance breaks the clause, however many held.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    held: Option<Decided>,
    instances: usize,
    broken: Option<Decided>,
    inconclusive: Option<Decided>,
    not_applicable: Option<Decided>,
}

impl Tally {
    /// An instance that kept the clause. The first one's words stand for all; the events of all are cited, within
    /// reason.
    pub(crate) fn held(&mut self, said: impl Into<String>, events: &[&Event]) {
        const CITED: usize = 12;
        self.instances += 1;
        let new = Decided::new(said, events);
        match &mut self.held {
            None => self.held = Some(new),
            Some(held) if held.events.len() < CITED => {
                held.events.extend(new.events);
                held.events.sort_unstable();
                held.events.dedup();
            }
            Some(_) => {}
        }
    }

    /// An instance that broke it. The first one is told.
    pub(crate) fn broken(&mut self, said: impl Into<String>, events: &[&Event]) {
        self.broken.get_or_insert_with(|| Decided::new(said, events));
    }

    /// An instance of which nothing certain can be said.
    pub(crate) fn inconclusive(&mut self, said: impl Into<String>, events: &[&Event]) {
        self.inconclusive
            .get_or_insert_with(|| Decided::new(said, events));
    }

    /// Proof that the clause does not concern this runner, if nothing else was seen.
    pub(crate) fn not_applicable(&mut self, said: impl Into<String>, events: &[&Event]) {
        self.not_applicable
            .get_or_insert_with(|| Decided::new(said, events));
    }

    /// The finding: broken before inconclusive before held before not applicable.
    pub(crate) fn finding(self) -> Finding {
        if let Some(broken) = self.broken {
            return Finding::Broken(broken);
        }
        if let Some(inconclusive) = self.inconclusive {
            return Finding::Inconclusive(inconclusive);
        }
        if let Some(mut held) = self.held {
            if self.instances > 1 {
                held.said = format!("{} ({} times)", held.said, self.instances);
            }
            return Finding::Held(held);
        }
        self.not_applicable
            .map_or(Finding::NotExercised, Finding::NotApplicable)
    }
}
