//! `seatcheck judge`: judges recorded histories again, from the files alone.

use std::path::PathBuf;

use clap::Args;

use super::bundle::{self, RunFile};
use super::exit::{Exit, Refusal};
use super::options::contract;
use super::run::{Format, show};
use crate::contract::ClauseSet;
use crate::judgement::{self, ScenarioFacts};

/// Options of `judge`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// A folder that `seatcheck run --out` wrote.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The version of the contract to judge by; that of the run if left out.
    #[arg(long, value_name = "NAME", value_parser = contract)]
    contract: Option<&'static ClauseSet>,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    let run = RunFile::read(&options.folder)?;
    let contract = match options.contract {
        Some(contract) => contract,
        None => contract(&run.facts.contract).map_err(|known| {
            Refusal::usage(
                format!(
                    "{}: the run was for contract {:?}, which this seatcheck does not know; {known}",
                    options.folder.display(),
                    run.facts.contract
                ),
                "judge it with the seatcheck that made it, or name a contract: --contract NAME",
            )
        })?,
    };
    let mut judged = Vec::new();
    for scenario in &run.scenarios {
        let history = scenario
            .recorded
            .then(|| bundle::read_history(&options.folder, &scenario.id))
            .transpose()?;
        let facts = ScenarioFacts {
            id: &scenario.id,
            title: &scenario.title,
            exercises: &scenario.exercises,
            took_ms: scenario.took_ms,
            fault: scenario.fault.clone(),
            cut_off: scenario.cut_off,
        };
        judged.push(judgement::judge(contract, facts, history.as_ref()));
    }
    let report = judgement::report(contract, &run.facts, &judged);
    show(
        &report,
        options.format,
        Some(&options.folder.display().to_string()),
    )?;
    Ok(Exit::of_outcome(report.outcome))
}
