//! The folder of a run: report.json, run.json, and each scenario's history.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::exit::Refusal;
use crate::history::{self, History};
use crate::judgement::RunFacts;

/// The format of `run.json`.
const FORMAT: &str = "seatcheck-run/1";

/// What judging again needs beside the histories.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunFile {
    format: String,
    pub(super) facts: RunFacts,
    pub(super) scenarios: Vec<ScenarioFile>,
}

/// One scenario of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioFile {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) exercises: Vec<String>,
    pub(super) took_ms: u64,
    pub(super) fault: Option<String>,
    pub(super) cut_off: bool,
    /// Whether there is a history.
    pub(super) recorded: bool,
}

impl RunFile {
    pub(super) fn new(facts: RunFacts, scenarios: Vec<ScenarioFile>) -> Self {
        Self {
            format: FORMAT.into(),
            facts,
            scenarios,
        }
    }

    /// Reads it from a run's folder.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("run.json");
        let bad = |why: String| {
            Refusal::usage(
                format!("{}: {why}", path.display()),
                "name a folder that `seatcheck run --out FOLDER` wrote",
            )
        };
        let text = fs::read_to_string(&path).map_err(|error| bad(error.to_string()))?;
        let run: Self = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        if run.format != FORMAT {
            return Err(bad(format!(
                "the format is {:?}; this seatcheck reads {FORMAT:?}",
                run.format
            )));
        }
        Ok(run)
    }

    /// Writes it, last of all: a folder without it is no finished run.
    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        write(
            &folder.join("run.json"),
            &(serde_json::to_string_pretty(self)? + "\n"),
        )
    }
}

/// Writes one history into its place.
pub(super) fn write_history(folder: &Path, id: &str, history: &History) -> anyhow::Result<()> {
    let path = history_path(folder, id)?;
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("{} can't be made", parent.display()))?;
    }
    let file = File::create(&path).with_context(|| format!("{} can't be written", path.display()))?;
    history::write(history, BufWriter::new(file))
        .with_context(|| format!("{} can't be written", path.display()))
}

/// Reads the report as it was recorded.
pub(super) fn read_report(folder: &Path) -> anyhow::Result<reports::Report> {
    let path = folder.join("report.json");
    let bad = |why: String| {
        Refusal::usage(
            format!("{}: {why}", path.display()),
            "name a folder that `seatcheck run --out FOLDER` wrote",
        )
    };
    let text = fs::read_to_string(&path).map_err(|error| bad(error.to_string()))?;
    reports::read(&text).map_err(|error| bad(error.to_string()))
}

/// Reads one history.
pub(super) fn read_history(folder: &Path, id: &str) -> anyhow::Result<History> {
    let path = history_path(folder, id)?;
    let bad = |why: String| {
        Refusal::usage(
            format!("{}: {why}", path.display()),
            "the file is not as seatcheck wrote it; run again",
        )
    };
    let file = File::open(&path).map_err(|error| bad(error.to_string()))?;
    history::read(BufReader::new(file)).map_err(|error| bad(error.to_string()))
}

/// Writes a text file.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("{} can't be written", path.display()))
}

/// Where a scenario's history lies. The id may come from a stranger's file: no path leaves the folder.
fn history_path(folder: &Path, id: &str) -> anyhow::Result<PathBuf> {
    let inside = Path::new(id);
    let plain = !id.is_empty()
        && inside
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
    if !plain {
        return Err(Refusal::usage(
            format!("{id:?} can't be a scenario's id"),
            "an id is a path of plain names, such as cancel/ignored",
        ));
    }
    Ok(folder.join("scenarios").join(inside).join("history.jsonl"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_leads_out_of_the_folder() {
        for bad in ["../x", "/etc/passwd", "a/../../b", ""] {
            assert!(history_path(Path::new("bundle"), bad).is_err(), "{bad}");
        }
        assert!(history_path(Path::new("bundle"), "cancel/ignored").is_ok());
    }
}
