//! `seatcheck judge`: judges recorded histories again, from the files alone.

use std::path::PathBuf;

use clap::Args;

use super::bundle::{self, RunFile};
use super::exit::Exit;
use super::run::{Format, show};
use crate::judgement;

/// Options of `judge`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// A folder that `seatcheck run --out` wrote.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    let run = RunFile::read(&options.folder)?;
    let mut judged = Vec::new();
    for scenario in &run.scenarios {
        let history = scenario
            .recorded
            .then(|| bundle::read_history(&options.folder, &scenario.id))
            .transpose()?;
        judged.push(judgement::judge(
            &scenario.id,
            &scenario.title,
            &scenario.exercises,
            scenario.took_ms,
            history.as_ref(),
            scenario.fault.clone(),
            scenario.cut_off,
        ));
    }
    let report = judgement::report(&run.facts, &judged);
    show(
        &report,
        options.format,
        Some(&options.folder.display().to_string()),
    )?;
    Ok(Exit::of_outcome(report.outcome))
}
