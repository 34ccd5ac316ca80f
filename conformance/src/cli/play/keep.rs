//! Keeps what was played as a run's folder.

use std::path::Path;

use super::super::bundle::{self, RunFile, ScenarioFile};
use super::super::run::{facts, judged, took_ms};
use crate::engine::{SeatRun, Setup};
use crate::judgement::{self, RunFacts};
use crate::scenario::Scenario;

/// Writes it into `folder`. What was played is about those clauses that it happened to put to the test.
pub(super) fn keep(folder: &Path, setup: &Setup, scenario: &Scenario, run: &SeatRun) -> anyhow::Result<()> {
    let judged = judged(setup.contract, run, scenario);
    let tested = judged
        .report
        .findings
        .iter()
        .map(|finding| finding.clause.clone())
        .collect();
    let facts = RunFacts {
        part: Some("what was played by hand".into()),
        selected: Some(tested),
        ..facts(setup)
    };
    if let Some(history) = &run.history {
        bundle::write_history(folder, &run.scenario, history)?;
    }
    let file = ScenarioFile {
        id: scenario.id.clone(),
        title: scenario.title.clone(),
        exercises: Vec::new(),
        took_ms: took_ms(run),
        fault: run.fault.clone(),
        cut_off: run.cut_off,
        recorded: run.history.is_some(),
    };
    let report = judgement::report(setup.contract, &facts, &[judged]);
    bundle::write(&folder.join("report.json"), &reports::write(&report)?)?;
    RunFile::new(facts, vec![file]).write(folder)
}
