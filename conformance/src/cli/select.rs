//! Which scenarios are run: suite, names, clauses, declarations.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use glob::Pattern;

use super::exit::Refusal;
use crate::contract::{Clause, ClauseSet};
use crate::engine::Claims;
use crate::judgement::LeftOutScenario;
use crate::scenario::{Library, Scenario, Transport};

/// What to select.
#[derive(Debug, Args)]
pub(super) struct Selection {
    /// Which suite to run.
    #[arg(long, value_enum, default_value_t = Suite::Full)]
    suite: Suite,
    /// Run only scenarios whose id matches, such as `cancel/*`.
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
    /// Run only scenarios that exercise a clause that matches, such as `permission.*`.
    #[arg(long, value_name = "GLOB")]
    clause: Vec<String>,
    /// Run the scenarios of this file or folder instead of the built-in ones.
    #[arg(long, value_name = "PATH")]
    scenario: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Everything.
    Full,
    /// The six steps of the promotion journey.
    Promotion,
}

/// What was selected.
#[derive(Debug)]
pub(super) struct Selected {
    pub(super) scenarios: Vec<Scenario>,
    /// In words, where it is not everything.
    pub(super) part: Option<String>,
    /// The clauses that a part is about.
    pub(super) clauses: Option<Vec<String>>,
    /// Scenarios that were selected and can't be done by this transport.
    pub(super) left_out: Vec<LeftOutScenario>,
}

impl Selection {
    /// Reads the library and selects.
    pub(super) fn select(
        &self,
        contract: &ClauseSet,
        claims: Claims,
        transport: Transport,
    ) -> anyhow::Result<Selected> {
        let only = patterns("--only", &self.only)?;
        let clause = patterns("--clause", &self.clause)?;
        for pattern in &clause {
            if !contract.clauses().any(|known| pattern.matches(known.id)) {
                return Err(Refusal::nothing_selected(
                    format!("--clause {pattern} matches no clause"),
                    "`seatcheck list clauses` shows them all",
                ));
            }
        }
        let mut scenarios = self.read_library()?;
        let all = scenarios.len();
        let declared = |scenario: &Scenario| scenario.needs.iter().all(|need| claims.has(*need));
        scenarios.retain(|scenario| {
            (self.suite == Suite::Full || scenario.is_promotion())
                && (only.is_empty() || only.iter().any(|pattern| pattern.matches(&scenario.id)))
                && (clause.is_empty()
                    || scenario
                        .exercises
                        .iter()
                        .any(|id| clause.iter().any(|pattern| pattern.matches(id))))
        });
        let wanted = scenarios.len();
        scenarios.retain(declared);
        let declared = scenarios.len();
        // With pipes alone only what is about them makes sense; nothing is said of the rest.
        scenarios
            .retain(|scenario| transport != Transport::Pipe || scenario.transport == Some(Transport::Pipe));
        let left_out = leave_out(&mut scenarios, transport);
        if scenarios.is_empty() {
            let what = if declared > 0 {
                "no selected scenario can be done by this transport"
            } else if wanted > 0 {
                "every selected scenario needs something that the runner does not declare"
            } else {
                "no scenario is selected"
            };
            let about_the_preset = !clause.is_empty()
                && contract
                    .clauses()
                    .filter(|known| clause.iter().any(|pattern| pattern.matches(known.id)))
                    .all(Clause::is_about_the_preset);
            let hint = if about_the_preset {
                "`seatcheck lint PRESET` judges what is about the preset's text".to_owned()
            } else {
                format!("`seatcheck list scenarios` shows all {all}")
            };
            return Err(Refusal::nothing_selected(what, hint));
        }
        let part = self.in_words(transport, !left_out.is_empty());
        let exercised = |known: &Clause| {
            scenarios
                .iter()
                .any(|scenario| scenario.exercises.iter().any(|id| id == known.id))
        };
        let preset_too = !clause.is_empty() || self.in_words(transport, false).is_none();
        let clauses = part.is_some().then(|| {
            contract
                .clauses()
                // A preset's text needs no scenario to be judged: where only the transport left something out, all is.
                .filter(|known| exercised(known) || (preset_too && known.is_about_the_preset()))
                .filter(|known| clause.is_empty() || clause.iter().any(|pattern| pattern.matches(known.id)))
                .map(|known| known.id.to_owned())
                .collect()
        });
        Ok(Selected {
            scenarios,
            part,
            clauses,
            left_out,
        })
    }

    fn read_library(&self) -> anyhow::Result<Vec<Scenario>> {
        if self.scenario.is_empty() {
            return Ok(Library::built_in()?.scenarios);
        }
        let mut scenarios = Vec::new();
        for path in &self.scenario {
            let library = Library::read(path).map_err(|error| {
                Refusal::usage(
                    error.to_string(),
                    "the scenarios that come with seatcheck show the format",
                )
            })?;
            scenarios.extend(library.scenarios);
        }
        Ok(scenarios)
    }

    fn in_words(&self, transport: Transport, left_out: bool) -> Option<String> {
        let mut words = Vec::new();
        if transport == Transport::Pipe || left_out {
            words.push(format!("--transport {}", transport.as_str()));
        }
        if self.suite == Suite::Promotion {
            words.push("--suite promotion".to_owned());
        }
        words.extend(self.only.iter().map(|glob| format!("--only {glob}")));
        words.extend(self.clause.iter().map(|glob| format!("--clause {glob}")));
        words.extend(
            self.scenario
                .iter()
                .map(|path| format!("--scenario {}", path.display())),
        );
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// Takes out what this transport can't do.
fn leave_out(scenarios: &mut Vec<Scenario>, transport: Transport) -> Vec<LeftOutScenario> {
    let mut left_out = Vec::new();
    scenarios.retain(|scenario| {
        let way = scenario.transport.unwrap_or(transport);
        let why = scenario.not_on.get(&way);
        left_out.extend(why.map(|why| LeftOutScenario {
            id: scenario.id.clone(),
            why: why.clone(),
            exercises: scenario.exercises.clone(),
        }));
        why.is_none()
    });
    left_out
}

fn patterns(flag: &str, globs: &[String]) -> anyhow::Result<Vec<Pattern>> {
    globs
        .iter()
        .map(|glob| {
            Pattern::new(glob).map_err(|error| {
                Refusal::usage(
                    format!("{flag} {glob}: {error}"),
                    "`*` stands for anything, `?` for one character",
                )
            })
        })
        .collect()
}
