//! `seatcheck list`.

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::exit::Exit;
use crate::contract;
use crate::scenario::Library;

/// Options of `list`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// What to list.
    #[arg(value_enum)]
    what: What,
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
            let rows: Vec<ClauseRow> = contract::clauses()
                .map(|clause| ClauseRow {
                    id: clause.id,
                    level: clause.level.as_str(),
                    basis: clause.basis,
                    text: clause.text,
                })
                .collect();
            if json {
                println!("{}", serde_json::to_string_pretty(&rows)?);
            } else {
                let rows: Vec<[String; 4]> = rows
                    .iter()
                    .map(|row| [row.id, row.level, row.basis, row.text].map(str::to_owned))
                    .collect();
                print!("{}", reports::clause_table(&rows, super::width()));
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
                println!("{}", serde_json::to_string_pretty(&rows)?);
            } else {
                for scenario in scenarios {
                    println!("{}\n    {}", scenario.id, scenario.title);
                }
            }
        }
    }
    Ok(Exit::Done)
}
