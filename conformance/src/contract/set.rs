//! Versions of the contract: each a set of clauses under a name that reports, histories and baselines keep.

use std::fmt;

use super::clause::{Clause, Group};
use super::declaration::{self, DeclarationClause};
use super::{activity, cancel, evidence, handoff, identity, input, permission, resume, robust, shutdown};

/// One version of the contract.
pub struct ClauseSet {
    /// Its name; a report and a history say which one they used.
    pub name: &'static str,
    /// Clauses about the preset, which are judged once over a run.
    pub(crate) declaration: &'static [DeclarationClause],
    /// Clauses about what a seat does, which are judged on every history.
    groups: &'static [Group],
}

/// Every version that is known, oldest first. A set is frozen: what a later draft asks stands in a set of its own.
const SETS: &[ClauseSet] = &[ClauseSet {
    name: "0.7.6-draft",
    declaration: declaration::CLAUSES,
    groups: &[
        identity::CLAUSES,
        activity::CLAUSES,
        input::CLAUSES,
        cancel::CLAUSES,
        permission::CLAUSES,
        resume::CLAUSES,
        handoff::CLAUSES,
        shutdown::CLAUSES,
        evidence::CLAUSES,
        robust::CLAUSES,
    ],
}];

impl ClauseSet {
    /// The set of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        SETS.iter().find(|set| set.name == name)
    }

    /// The set that is used where none is named.
    #[must_use]
    pub fn usual() -> &'static Self {
        &SETS[SETS.len() - 1]
    }

    /// The names of all sets, oldest first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SETS.iter().map(|set| set.name)
    }

    /// Whether any set has a clause of that id.
    #[must_use]
    pub fn any_has(id: &str) -> bool {
        SETS.iter().any(|set| set.clause(id).is_some())
    }

    /// Every clause, group by group.
    pub fn clauses(&self) -> impl Iterator<Item = &'static Clause> + use<> {
        let about_the_preset = self.declaration.iter().map(|declaration| &declaration.clause);
        about_the_preset.chain(self.groups.iter().copied().flatten())
    }

    /// The clause of that id.
    #[must_use]
    pub fn clause(&self, id: &str) -> Option<&'static Clause> {
        self.clauses().find(|clause| clause.id == id)
    }
}

impl fmt::Debug for ClauseSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ClauseSet").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn sets_are_found_by_their_names() {
        for name in ClauseSet::names() {
            assert_eq!(ClauseSet::named(name).map(|set| set.name), Some(name));
        }
        assert!(ClauseSet::named("0.7.6").is_none());
    }

    #[test]
    fn no_id_stands_twice() {
        let mut seen = BTreeSet::new();
        for clause in ClauseSet::usual().clauses() {
            assert!(seen.insert(clause.id), "{} stands twice", clause.id);
        }
    }

    /// Ids, levels and bases are fixed for ever: reports, baselines and outside checks refer to them.
    #[test]
    fn the_draft_is_frozen() {
        let mut frozen = String::new();
        for clause in ClauseSet::named("0.7.6-draft").unwrap().clauses() {
            let _ = writeln!(frozen, "{} {} {}", clause.id, clause.level.as_str(), clause.basis);
        }
        insta::assert_snapshot!("clauses_of_0_7_6_draft", frozen);
    }
}
