//! What is driven: the runner's command, what it claims, and how patient the engine is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fake_openrig::preset::Preset;

use crate::contract::{ClauseSet, PresetText};
use crate::history::Declared;
use crate::scenario::{Need, Transport};

/// Everything a run needs to know beside the scenarios.
#[derive(Debug, Clone)]
pub struct Setup {
    /// This program, which is also the fake agent and the seat's supervisor.
    pub seatcheck: PathBuf,
    /// The runner.
    pub runner: RunnerCommand,
    /// The preset's name: OPENRIG_RUNTIME, the record's harness, the exit's prefix.
    pub name: String,
    /// Names that an agent is found under, first on PATH.
    pub agent_names: Vec<String>,
    /// What the runner says it can do.
    pub claims: Claims,
    /// What else was declared of it, for the judges.
    pub declared: Declared,
    /// The preset that declares it, if one was given.
    pub preset: Option<PresetText>,
    /// A line for the shell that prints the runner's version, if it is known how to ask.
    pub version_command: Option<String>,
    /// The version of the contract that it is measured by.
    pub contract: &'static ClauseSet,
    /// How long each await may take.
    pub patience: Duration,
    /// Variables of the seat beside those that every seat has; `{agent}` in a value stands for the agent's path.
    pub environment: Vec<(String, String)>,
    /// The way to a seat, where a scenario does not fix it.
    pub transport: Transport,
    /// Rows and columns of the terminal.
    pub size: (u16, u16),
}

/// How the runner is started.
#[derive(Debug, Clone)]
pub enum RunnerCommand {
    /// A program and its arguments; `{agent}` in an argument stands for the agent's path.
    Program(Vec<String>),
    /// A line for the shell, as a preset's `command` is.
    Shell(String),
}

/// What the runner declares and need not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claims {
    /// `resume: true`.
    pub resume: bool,
    /// `first_input: true`.
    pub first_input: bool,
    /// `passes_model: true`.
    pub passes_model: bool,
}

impl Claims {
    /// Whether `need` is declared.
    #[must_use]
    pub fn has(&self, need: Need) -> bool {
        match need {
            Need::Resume => self.resume,
            Need::FirstInput => self.first_input,
            Need::PassesModel => self.passes_model,
        }
    }
}

impl From<&Preset> for Claims {
    fn from(preset: &Preset) -> Self {
        Self {
            resume: preset.resume,
            first_input: preset.first_input,
            passes_model: preset.passes_model,
        }
    }
}

impl From<Claims> for reports::Claims {
    fn from(claims: Claims) -> Self {
        Self {
            resume: claims.resume,
            first_input: claims.first_input,
            passes_model: claims.passes_model,
        }
    }
}

impl RunnerCommand {
    /// The command for people and reports.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Program(words) => words.join(" "),
            Self::Shell(line) => line.clone(),
        }
    }

    /// Puts more words at its end.
    pub(crate) fn append(&mut self, more: &[String]) {
        match self {
            Self::Program(words) => words.extend(more.iter().cloned()),
            Self::Shell(line) => {
                for word in more {
                    line.push_str(" '");
                    line.push_str(&word.replace('\'', r"'\''"));
                    line.push('\'');
                }
            }
        }
    }

    /// The words to start it by, with the agent's path in place.
    pub(crate) fn words(&self, agent: &Path) -> Vec<String> {
        let agent = agent.to_string_lossy();
        match self {
            Self::Program(words) => words.iter().map(|word| word.replace("{agent}", &agent)).collect(),
            Self::Shell(line) => vec!["/bin/sh".into(), "-c".into(), line.replace("{agent}", &agent)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_words_stay_words_in_a_shell_line() {
        let mut line = RunnerCommand::Shell("printf '%s|' first".into());
        line.append(&["it's".into(), "{agent}".into(), "$HOME two".into()]);
        let words = line.words(Path::new("/seat/dsh"));
        let output = std::process::Command::new(&words[0])
            .args(&words[1..])
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "first|it's|/seat/dsh|$HOME two|"
        );
    }
}
