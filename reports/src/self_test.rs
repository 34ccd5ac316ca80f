//! What the self-test reports: which faults were caught, by which clauses.

use serde::{Deserialize, Serialize};

/// The whole self-test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Each runner with one fault.
    pub mutants: Vec<MutantReport>,
    /// The runners that do nothing.
    pub vacuous: Vec<VacuousReport>,
    /// Clauses that no mutant breaks.
    pub unproven: Vec<String>,
    /// Clauses that lack a scenario or a mutant, in words.
    pub gaps: Vec<String>,
}

impl SelfTest {
    /// Whether every mutant was caught by its clause, no vacuous runner passed anything, no clause is unproven and none lacks
    /// a scenario or a mutant.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.mutants.iter().all(|mutant| mutant.killed)
            && self.vacuous.iter().all(|runner| runner.passed.is_empty())
            && self.unproven.is_empty()
            && self.gaps.is_empty()
    }
}

/// A runner with one fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantReport {
    /// Its name.
    pub name: String,
    /// The clause that must catch it.
    pub clause: String,
    /// What it does wrong.
    pub fault: String,
    /// Every clause that was broken.
    pub caught_by: Vec<String>,
    /// Its clause is among them.
    pub killed: bool,
    /// What was said of its clause.
    pub said: Option<String>,
}

/// A runner that does nothing worth a pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VacuousReport {
    /// Its name.
    pub name: String,
    /// The clauses that passed; there must be none.
    pub passed: Vec<String>,
    /// What the run came to.
    pub outcome: String,
}
