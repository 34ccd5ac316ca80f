//! What a clause is.

use serde::Serialize;

use super::Finding;
use crate::history::views::Views;

/// One clause of the contract and its judge.
pub struct Clause {
    /// `group.name`, fixed for ever: reports and baselines refer to it.
    pub id: &'static str,
    /// How much it weighs.
    pub level: Level,
    /// Where it comes from: `§6`, `list`, or `read` with what was read.
    pub basis: Basis,
    /// The clause in a sentence.
    pub text: &'static str,
    /// Judges one seat's history.
    pub judge: fn(&Views<'_>) -> Finding,
}

impl Clause {
    /// The group: what stands before the dot.
    #[must_use]
    pub fn group(&self) -> &'static str {
        self.id.split_once('.').map_or(self.id, |(group, _)| group)
    }

    /// Whether it is about the preset's text and the run as a whole, not about one seat.
    #[must_use]
    pub fn is_about_the_preset(&self) -> bool {
        self.group() == "declaration"
    }
}

/// A group's clauses in the order of the contract.
pub type Group = &'static [Clause];

/// Where a clause comes from, in the draft's own numbering; `read` marks our reading of a gap.
pub type Basis = &'static str;

/// How much a clause weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The draft states it: breaking it fails the run.
    Must,
    /// The draft implies it: breaking it is a warning.
    Should,
    /// Recorded, never failing: breaking it is a note.
    Info,
}

impl Level {
    /// `must`, `should` or `info`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Info => "info",
        }
    }
}
