//! `seatcheck lint`: the clauses about the preset, judged from its text alone.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::exit::Exit;
use super::located::{line_of, marked};
use super::options::contract;
use super::output::{say, say_json};
use super::run::Format;
use super::runner::preset_text;
use crate::contract::declaration::{Declaration, DeclarationClause, DeclarationFinding};
use crate::contract::{Clause, ClauseSet, Finding, Level, PresetText};

/// Options of `lint`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Preset files, format 1.
    #[arg(value_name = "PRESET", required = true)]
    presets: Vec<PathBuf>,
    /// The version of the contract to judge by.
    #[arg(long, value_name = "NAME", default_value = ClauseSet::usual().name, value_parser = contract)]
    contract: &'static ClauseSet,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// One preset, judged.
#[derive(Debug, Serialize)]
struct Linted {
    preset: String,
    contract: &'static str,
    clauses: Vec<Row>,
}

/// One clause of one preset.
#[derive(Debug, Serialize)]
struct Row {
    id: &'static str,
    level: Level,
    basis: &'static str,
    /// `held`, `broken`, `not-applicable` or `not-exercised`.
    finding: &'static str,
    said: String,
    line: Option<usize>,
    column: Option<usize>,
    /// That line of the preset.
    text: Option<String>,
}

pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    let texts = options
        .presets
        .iter()
        .map(|path| preset_text(path))
        .collect::<anyhow::Result<Vec<PresetText>>>()?;
    let linted: Vec<Linted> = texts.iter().map(|text| lint(options.contract, text)).collect();
    match options.format {
        Format::Json => say_json(&linted)?,
        Format::Table => {
            for (linted, text) in linted.iter().zip(&texts) {
                say(&shown(linted, text))?;
            }
        }
    }
    let a_must_is_broken = linted
        .iter()
        .flat_map(|linted| &linted.clauses)
        .any(|row| row.finding == "broken" && row.level == Level::Must);
    Ok(if a_must_is_broken {
        Exit::NotConformant
    } else {
        Exit::Done
    })
}

fn lint(contract: &'static ClauseSet, text: &PresetText) -> Linted {
    let declaration = Declaration::new(text, None);
    Linted {
        preset: text.file.clone(),
        contract: contract.name,
        clauses: contract
            .declaration
            .iter()
            .map(|about: &DeclarationClause| row(&about.clause, text, &(about.judge)(&declaration)))
            .collect(),
    }
}

fn row(clause: &Clause, text: &PresetText, found: &DeclarationFinding) -> Row {
    let finding = match found.finding {
        Finding::Held(_) => "held",
        Finding::Broken(_) => "broken",
        Finding::NotApplicable(_) => "not-applicable",
        Finding::Inconclusive(_) | Finding::NotExercised => "not-exercised",
    };
    Row {
        id: clause.id,
        level: clause.level,
        basis: clause.basis,
        finding,
        said: found.decided().map_or_else(
            || "the preset's text alone can't show it".into(),
            |decided| decided.said.clone(),
        ),
        line: found.place.map(|place| place.line),
        column: found.place.map(|place| place.column),
        text: found.place.map(|place| line_of(&text.text, place.line)),
    }
}

/// What is wrong, place by place, as compilers say it; then a line on the rest.
fn shown(linted: &Linted, text: &PresetText) -> String {
    let mut shown = String::new();
    for row in &linted.clauses {
        let kind = match (row.finding, row.level) {
            ("broken", Level::Must) => "error",
            ("broken", _) => "warning",
            // What is unknown to format 1 is worth a look.
            ("held", _) if row.id == "declaration.shape" && row.line.is_some() => "note",
            ("not-applicable", _) if row.id == "declaration.launch-result-required" => "note",
            ("not-exercised", _) if row.line.is_some() => "note",
            _ => continue,
        };
        let place = match (row.line, row.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", linted.preset),
            _ => linted.preset.clone(),
        };
        let _ = writeln!(shown, "{place}: {kind}: {}", row.said);
        if let (Some(line), Some(column)) = (row.line, row.column) {
            let _ = writeln!(shown, "{}", marked(&text.text, line, column));
        }
        let _ = writeln!(shown, "    {} ({}, {})\n", row.id, row.level.as_str(), row.basis);
    }
    let count = |finding| linted.clauses.iter().filter(|row| row.finding == finding).count();
    let _ = writeln!(
        shown,
        "{}: {} of {} clauses held, {} broken (contract {})",
        linted.preset,
        count("held"),
        linted.clauses.len(),
        count("broken"),
        linted.contract
    );
    shown
}
