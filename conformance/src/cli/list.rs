//! `seatcheck list`.

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::exit::Exit;
use super::options::contract;
use super::output::{say, say_json};
use crate::contract::ClauseSet;
use crate::coverage::Coverage;
use crate::scenario::Library;

/// Options of `list`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// What to list.
    #[arg(value_enum)]
    what: What,
    /// The version of the contract.
    #[arg(long, value_name = "NAME", default_value = ClauseSet::usual().name, value_parser = contract)]
    contract: &'static ClauseSet,
    /// How.
    #[arg(long, value_enum, default_value_t = super::run::Format::Table)]
    format: super::run::Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// The clauses of the contract.
    Clauses,
    /// The built-in scenarios.
    Scenarios,
}

#[derive(Serialize)]
struct ClauseRow {
    id: &'static str,
    level: &'static str,
    basis: &'static str,
    text: &'static str,
    scenarios: Vec<String>,
    mutants: Vec<&'static str>,
    /// Why no runner can break it, where none can.
    #[serde(skip_serializing_if = "Option::is_none")]
    unbreakable: Option<&'static str>,
}

#[derive(Serialize)]
struct ScenarioRow {
    id: String,
    title: String,
    why: String,
    seen: Vec<String>,
    exercises: Vec<String>,
}

pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    let json = options.format == super::run::Format::Json;
    match options.what {
        What::Clauses => {
            let library = Library::built_in()?.scenarios;
            let rows: Vec<ClauseRow> = options
                .contract
                .clauses()
                .map(|clause| {
                    let coverage = Coverage::of(clause, &library);
                    ClauseRow {
                        id: clause.id,
                        level: clause.level.as_str(),
                        basis: clause.basis,
                        text: clause.text,
                        scenarios: coverage.scenarios.iter().map(|id| (*id).to_owned()).collect(),
                        mutants: coverage.mutants,
                        unbreakable: coverage.unbreakable,
                    }
                })
                .collect();
            if json {
                say_json(&rows)?;
            } else {
                let rows: Vec<[String; 6]> = rows
                    .iter()
                    .map(|row| {
                        [
                            row.id.to_owned(),
                            row.level.to_owned(),
                            row.basis.to_owned(),
                            count(row.scenarios.len(), row.unbreakable),
                            count(row.mutants.len(), row.unbreakable),
                            row.text.to_owned(),
                        ]
                    })
                    .collect();
                say(&format!(
                    "{}contract {}; scenarios and mutants by name, and why some need none (–): --format json\n",
                    reports::clause_table(&rows, super::width()),
                    options.contract.name
                ))?;
            }
        }
        What::Scenarios => {
            let scenarios = Library::built_in()?.scenarios;
            if json {
                let rows: Vec<ScenarioRow> = scenarios
                    .into_iter()
                    .map(|scenario| ScenarioRow {
                        id: scenario.id,
                        title: scenario.title,
                        why: scenario.why,
                        seen: scenario.seen,
                        exercises: scenario.exercises,
                    })
                    .collect();
                say_json(&rows)?;
            } else {
                let lines = scenarios
                    .iter()
                    .map(|scenario| format!("{}\n    {}\n", scenario.id, scenario.title));
                say(&lines.collect::<String>())?;
            }
        }
    }
    Ok(Exit::Done)
}

/// How many there are; a dash where there need be none.
fn count(number: usize, unbreakable: Option<&str>) -> String {
    match (number, unbreakable) {
        (0, Some(_)) => "–".into(),
        _ => number.to_string(),
    }
}
