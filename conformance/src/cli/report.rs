//! `seatcheck report`: renders a run's report again, from its files alone.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::bundle::{self, RunFile};
use super::exit::Exit;
use super::output::say;
use crate::evidence;

/// Options of `report`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// A folder that `seatcheck run --out` wrote.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// How to render it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write it to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables for a terminal.
    Table,
    /// One page that holds everything, with each scenario's timeline, and loads nothing.
    Html,
    /// For a pull request or a wiki.
    Markdown,
    /// JUnit: a suite for each group, a case for each clause.
    Junit,
    /// Annotations for a GitHub workflow.
    Github,
    /// report.json.
    Json,
    /// A badge for the shields endpoint.
    Badge,
}

pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    let run = RunFile::read(&options.folder)?;
    let report = bundle::read_report(&options.folder)?;
    let text = match options.format {
        Format::Table => reports::table(
            &report,
            super::width(),
            Some(&options.folder.display().to_string()),
        ),
        Format::Html => html(options, &run, &report)?,
        Format::Markdown => reports::markdown(&report),
        Format::Junit => reports::junit(&report)?,
        Format::Github => reports::github_annotations(&report),
        Format::Json => reports::write(&report)?,
        Format::Badge => reports::badge(&report)?,
    };
    match &options.output {
        Some(path) => bundle::write(path, &text)?,
        None => say(&text)?,
    }
    Ok(Exit::Done)
}

/// The page, with the timelines of every scenario that left a history.
fn html(options: &Options, run: &RunFile, report: &reports::Report) -> anyhow::Result<String> {
    let mut timelines = Vec::new();
    for scenario in run.scenarios.iter().filter(|scenario| scenario.recorded) {
        let history = bundle::read_history(&options.folder, &scenario.id)?;
        timelines.push(evidence::timeline(&scenario.id, &history));
    }
    Ok(reports::html(report, &timelines)?)
}
