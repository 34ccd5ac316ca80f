//! What a history means, derived once and shared by all judges: launches, messages, prompts, posts, records.
//!
//! Pure: built from the events alone. A view holds references into the history, so a judge can always name the
//! events that decided.

mod blocks;
mod finder;
mod launch;
mod pane;
mod posts;
mod prompts;
mod queries;
mod records;
mod repeats;
mod wire;
mod words;

pub use blocks::Block;
pub use launch::LaunchView;
pub use pane::Screen;
pub(crate) use pane::squeezed;
pub use posts::{Post, PostKind};
pub use prompts::{Ending, Prompt};
pub(crate) use queries::Query;
pub use records::RecordVersion;
pub(crate) use repeats::repeated;
pub use wire::{Agent, Exchange, Message, Shape};
pub use words::in_words;

use super::{Event, Fact, History};

/// A history and everything that judges derive from it.
pub struct Views<'h> {
    /// The history itself.
    pub history: &'h History,
    /// The seat's launches, in order.
    pub launches: Vec<LaunchView<'h>>,
}

impl<'h> Views<'h> {
    /// Derives the views of `history`.
    #[must_use]
    pub fn new(history: &'h History) -> Self {
        let last = history.events.iter().map(|event| event.launch).max().unwrap_or(0);
        let launches = (1..=last)
            .filter_map(|number| LaunchView::new(history, number))
            .collect();
        Self { history, launches }
    }

    /// The greatest lateness of the engine's own ticker between two times, in nanoseconds: how far the machine
    /// itself can be blamed for what came late there.
    #[must_use]
    pub fn lag_between(&self, from: u64, to: u64) -> u64 {
        self.history
            .events
            .iter()
            .filter_map(|event| match event.fact {
                // The ticker says it woke late at `at`, so it was held up during the time before.
                Fact::Lag { late_ms } => {
                    let late = late_ms.saturating_mul(1_000_000);
                    (event.at >= from && event.at.saturating_sub(late) <= to).then_some(late)
                }
                _ => None,
            })
            .max()
            .unwrap_or(0)
    }
}

/// Milliseconds for people, from nanoseconds.
#[must_use]
pub fn milliseconds(nanoseconds: u64) -> String {
    let micros = nanoseconds / 1_000;
    if micros >= 100_000 {
        format!("{} ms", micros / 1_000)
    } else {
        format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100)
    }
}

pub(crate) fn of_launch(history: &History, number: u32) -> impl Iterator<Item = &Event> {
    history.events.iter().filter(move |event| event.launch == number)
}
