//! From histories to a report: every clause looks at every history, then verdicts over the whole run.

mod declaration;
mod outcome;
mod promotion;
mod scenario;
mod verdict;

use serde::{Deserialize, Serialize};

use reports::{Kit, LeftOut, Report, RunnerReport, SCHEMA, STATEMENT};

pub use scenario::{Judged, ScenarioFacts, judge};

use crate::contract::{ClauseSet, PresetText};
use crate::history::MissingAnswer;

/// What is known of a run beside its histories.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFacts {
    /// Name of the version of the contract that it was run for.
    pub contract: String,
    /// The preset's name.
    pub name: String,
    /// The runner's command.
    pub command: String,
    /// What the runner said when it was asked for its version.
    pub version: Option<String>,
    /// What was claimed of the runner.
    pub claims: reports::Claims,
    /// Answers that its profile pins as its agent's word for missing.
    pub missing: Vec<MissingAnswer>,
    /// The preset that declares it, if one was given.
    pub preset: Option<PresetText>,
    /// How the seats were reached.
    pub transport: String,
    /// What was selected, where it was not everything.
    pub part: Option<String>,
    /// Clauses that the selection is about; `None` for all.
    pub selected: Option<Vec<String>>,
    /// Scenarios that can't be done by this transport; their clauses are judged elsewhere.
    pub left_out: Vec<LeftOutScenario>,
    /// Names under which an agent could have been started.
    pub agent_names: Vec<String>,
    /// Somebody interrupted the run.
    pub interrupted: bool,
}

/// A scenario that the transport can't do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOutScenario {
    /// Its id.
    pub id: String,
    /// Why it can't be done.
    pub why: String,
    /// Clauses that it would have put to the test.
    pub exercises: Vec<String>,
}

/// Puts the report together. Pure: the same judged scenarios give the same report.
#[must_use]
pub fn report(contract: &ClauseSet, facts: &RunFacts, judged: &[Judged]) -> Report {
    let clauses = verdict::clauses(contract, facts, judged);
    let (outcome, reasons) = outcome::outcome(facts, judged, &clauses);
    Report {
        schema: SCHEMA.into(),
        outcome,
        reasons,
        statement: STATEMENT.into(),
        contract: contract.name.into(),
        kit: Kit {
            name: "seatcheck".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        },
        runner: RunnerReport {
            name: facts.name.clone(),
            command: facts.command.clone(),
            version: facts.version.clone(),
            pinned_missing: facts.missing.iter().map(MissingAnswer::to_json).collect(),
            producer: judged.iter().find_map(|judged| judged.producer.clone()),
            claims: facts.claims,
        },
        transport: facts.transport.clone(),
        part: facts.part.clone(),
        left_out: facts
            .left_out
            .iter()
            .map(|left_out| LeftOut {
                scenario: left_out.id.clone(),
                why: left_out.why.clone(),
            })
            .collect(),
        promotion: promotion::steps(contract, facts, judged),
        clauses,
        scenarios: judged.iter().map(|judged| judged.report.clone()).collect(),
    }
}
