//! The preset as a run's evidence holds it, and what is said of it.

use std::path::Path;

use fake_openrig::preset::{Preset, place_of};
use serde::{Deserialize, Serialize};

use super::Reopened;
use crate::contract::finding::{Decided, Finding};

/// A preset file: its name and its whole text, so that it can be judged again without the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetText {
    /// As it was named.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// A place in a preset's text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// What the declaration's judges look at.
pub(crate) struct Declaration<'r> {
    pub(crate) file: &'r PresetText,
    pub(crate) parsed: fake_openrig::Result<Preset>,
    /// What the run's scenarios showed of reopening, each under its id; `None` where nothing was run.
    pub(crate) reopened: Option<Vec<(&'r str, &'r Reopened)>>,
}

impl<'r> Declaration<'r> {
    pub(crate) fn new(file: &'r PresetText, reopened: Option<Vec<(&'r str, &'r Reopened)>>) -> Self {
        Self {
            parsed: Preset::parse(&file.text, Path::new(&file.file)),
            file,
            reopened,
        }
    }

    /// Where the field's value stands.
    pub(super) fn place(&self, field: &str) -> Option<Place> {
        place_of(&self.file.text, field).map(|(line, column)| Place { line, column })
    }

    /// The preset, if it declares a runner; else what there is to say instead.
    pub(super) fn runner(&self) -> Result<&Preset, DeclarationFinding> {
        match &self.parsed {
            Ok(preset) if preset.runner => Ok(preset),
            Ok(_) => Err(DeclarationFinding::not_applicable(
                "the preset does not say runner: true, so OpenRig takes its command for no runner",
            )
            .at(self.place("runner"))),
            Err(_) => Err(DeclarationFinding::unread()),
        }
    }
}

/// What a judge says of a preset, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclarationFinding {
    pub(crate) finding: Finding,
    pub(crate) place: Option<Place>,
    /// The scenario whose history decided, if one did.
    pub(crate) scenario: Option<String>,
}

impl DeclarationFinding {
    fn new(finding: Finding) -> Self {
        Self {
            finding,
            place: None,
            scenario: None,
        }
    }

    pub(super) fn held(said: impl Into<String>) -> Self {
        Self::new(Finding::Held(words(said)))
    }

    pub(super) fn broken(said: impl Into<String>) -> Self {
        Self::new(Finding::Broken(words(said)))
    }

    pub(super) fn not_applicable(said: impl Into<String>) -> Self {
        Self::new(Finding::NotApplicable(words(said)))
    }

    /// The file is no preset at all, so that it says nothing of this.
    pub(super) fn unread() -> Self {
        Self::new(Finding::NotExercised)
    }

    pub(super) fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }

    /// Decided by events of that scenario's history.
    pub(super) fn seen_in(mut self, scenario: &str, events: &[u64]) -> Self {
        self.scenario = Some(scenario.to_owned());
        if let Finding::Held(decided) | Finding::Broken(decided) = &mut self.finding {
            decided.events = events.to_vec();
        }
        self
    }

    /// What is said, if anything is.
    pub(crate) fn decided(&self) -> Option<&Decided> {
        match &self.finding {
            Finding::Held(decided)
            | Finding::Broken(decided)
            | Finding::Inconclusive(decided)
            | Finding::NotApplicable(decided) => Some(decided),
            Finding::NotExercised => None,
        }
    }
}

fn words(said: impl Into<String>) -> Decided {
    Decided {
        said: said.into(),
        events: Vec::new(),
    }
}
