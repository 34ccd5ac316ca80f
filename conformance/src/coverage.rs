//! What puts each clause to the test: the scenarios that exercise it, and the mutants that break it.

use crate::contract::{Clause, ClauseSet};
use crate::scenario::Scenario;

/// Clauses that no runner can break, each with the reason; every other one needs a mutant.
const UNBREAKABLE: &[(&str, &str)] = &[
    (
        "declaration.shape",
        "it is about the preset's text: presets that break it stand in its tests",
    ),
    (
        "declaration.maintainer",
        "it is about the preset's text: presets that break it stand in its tests",
    ),
    (
        "declaration.launch-result-required",
        "it is about the preset's text: presets that break it stand in its tests",
    ),
    (
        "declaration.not-names-conversation",
        "it is about the preset's text: presets that break it stand in its tests",
    ),
    (
        "declaration.limits-named",
        "it is about the preset's text: presets that break it stand in its tests",
    ),
    (
        "shutdown.survivors-declared",
        "the same runner keeps it with one preset and breaks it with another: its tests have both",
    ),
];

/// What puts one clause to the test.
pub(crate) struct Coverage<'l> {
    /// Ids of the scenarios that exercise it.
    pub(crate) scenarios: Vec<&'l str>,
    /// Names of the mutants that are made to break it.
    pub(crate) mutants: Vec<&'static str>,
    /// Why no runner can break it, if none can.
    pub(crate) unbreakable: Option<&'static str>,
}

impl<'l> Coverage<'l> {
    /// What of this library puts the clause to the test.
    pub(crate) fn of(clause: &Clause, library: &'l [Scenario]) -> Self {
        Self {
            scenarios: library
                .iter()
                .filter(|scenario| scenario.exercises.iter().any(|id| id == clause.id))
                .map(|scenario| scenario.id.as_str())
                .collect(),
            mutants: mutants::all()
                .iter()
                .filter(|mutant| mutant.clause == clause.id)
                .map(|mutant| mutant.name)
                .collect(),
            unbreakable: UNBREAKABLE
                .iter()
                .find(|(id, _)| *id == clause.id)
                .map(|(_, why)| *why),
        }
    }

    /// What is missing, in words.
    fn gap(&self) -> Option<&'static str> {
        match self.unbreakable {
            Some(_) if !self.mutants.is_empty() => Some("is said to be unbreakable and has a mutant"),
            // What is about the text needs no scenario either.
            Some(_) => None,
            None if self.scenarios.is_empty() => Some("has no scenario"),
            None if self.mutants.is_empty() => Some("has no mutant"),
            None => None,
        }
    }
}

/// Whether a runner can break it.
pub(crate) fn is_breakable(clause: &Clause) -> bool {
    !UNBREAKABLE.iter().any(|(id, _)| *id == clause.id)
}

/// Every clause that lacks a scenario or a mutant, in words.
pub(crate) fn gaps(contract: &ClauseSet, library: &[Scenario]) -> Vec<String> {
    contract
        .clauses()
        .filter_map(|clause| {
            let gap = Coverage::of(clause, library).gap()?;
            Some(format!("{} {gap}", clause.id))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Library;

    #[test]
    fn every_clause_has_a_scenario_and_a_mutant() {
        let library = Library::built_in().unwrap().scenarios;
        for name in ClauseSet::names() {
            let contract = ClauseSet::named(name).unwrap();
            assert_eq!(gaps(contract, &library), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn every_exception_names_a_clause() {
        for (id, _) in UNBREAKABLE {
            assert!(ClauseSet::any_has(id), "{id}");
        }
    }
}
