//! Which runner is driven, from the command line, a preset and a profile.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use fake_openrig::preset::Preset;

use super::exit::Refusal;
use super::options::{contract, duration};
use super::profile::{Profile, is_agent_name};
use crate::contract::{ClauseSet, PresetText};
use crate::engine::{Claims, RunnerCommand, Setup};
use crate::hidden;
use crate::history::Declared;
use crate::scenario::Transport;

/// The runner and what is said of it.
#[derive(Debug, Args)]
pub(super) struct RunnerOptions {
    /// The community preset (format 1) that declares the runner; its `command` is run unless one is given after `--`.
    #[arg(long, value_name = "FILE")]
    preset: Option<PathBuf>,
    /// A file that names the preset, the agent's names, arguments, environment, what the agent answers for a missing
    /// conversation, and how to ask the runner its version.
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    profile: Option<PathBuf>,
    /// Where there is no preset: its name, which is OPENRIG_RUNTIME and the record's harness [default: dsh]
    #[arg(long, value_name = "NAME", conflicts_with = "preset")]
    name: Option<String>,
    /// A name under which the runner finds its agent on PATH; the preset's name and `dsh` always stand there.
    #[arg(long, value_name = "NAME")]
    agent_name: Vec<String>,
    /// Where there is no preset: whether the runner declares `resume` [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", conflicts_with = "preset")]
    resume: Option<bool>,
    /// Where there is no preset: whether the runner declares `first_input` [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", conflicts_with = "preset")]
    first_input: Option<bool>,
    /// Where there is no preset: whether the runner declares `passes_model` [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", conflicts_with = "preset")]
    passes_model: Option<bool>,
    /// A variable of this environment that the seat gets too.
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// How the seat is reached. A scenario about a missing terminal uses pipes whatever is said here.
    #[arg(long, value_enum, default_value_t = Transport::Pty)]
    transport: Transport,
    /// How long anything awaited may take. Below 5s, what does not come can't be called missing, only unproven.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration)]
    patience: Duration,
    /// The version of the contract to judge by.
    #[arg(long, value_name = "NAME", default_value = ClauseSet::usual().name, value_parser = contract)]
    contract: &'static ClauseSet,
    /// The runner's command; `{agent}` in it stands for the path of the agent.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

/// Rows and columns of a seat's terminal.
pub(super) const SIZE: (u16, u16) = (50, 160);

impl RunnerOptions {
    /// How the seat is reached.
    pub(super) fn transport(&self) -> Transport {
        self.transport
    }

    /// What to drive.
    pub(super) fn setup(&self) -> anyhow::Result<Setup> {
        let profile = self
            .profile
            .as_deref()
            .map(Profile::read)
            .transpose()?
            .unwrap_or_default();
        let preset = self.preset(&profile)?;
        let declared = preset.as_ref().map(|preset| &preset.declared);
        let seatcheck = std::env::current_exe()?;
        let mut runner = match declared {
            _ if !self.command.is_empty() => RunnerCommand::Program(found_from_here(&self.command)?),
            Some(declared) if !self.is_reference(&profile) => RunnerCommand::Shell(declared.command.clone()),
            _ => reference(&seatcheck),
        };
        runner.append(&profile.arguments);
        let name = declared.map_or_else(
            || self.name.clone().unwrap_or_else(|| "dsh".into()),
            |preset| preset.name.clone(),
        );
        let claims = declared.map_or(
            Claims {
                resume: self.resume.unwrap_or(true),
                first_input: self.first_input.unwrap_or(false),
                passes_model: self.passes_model.unwrap_or(false),
            },
            Claims::from,
        );
        Ok(Setup {
            seatcheck,
            runner,
            agent_names: self.agent_names(&profile, &name)?,
            name,
            claims,
            declared: Declared {
                limits: declared.map(|preset| preset.limits.clone()),
                missing: profile.missing(),
            },
            preset: preset.map(|preset| preset.text),
            contract: self.contract,
            version_command: profile.version_command.clone(),
            patience: self.patience,
            environment: self.environment(&profile)?,
            transport: self.transport,
            size: SIZE,
        })
    }

    /// Whether nothing names a runner, so that ours is driven.
    fn is_reference(&self, profile: &Profile) -> bool {
        self.command.is_empty() && self.preset.is_none() && profile.preset.is_none()
    }

    /// The preset that was named; the reference runner's own if no runner is named and nothing is claimed in its place.
    fn preset(&self, profile: &Profile) -> anyhow::Result<Option<ReadPreset>> {
        if let Some(path) = self.preset.as_ref().or(profile.preset.as_ref()) {
            self.refuse_claims(profile)?;
            return ReadPreset::read(path).map(Some);
        }
        if self.is_reference(profile) && !self.claims_anything() {
            return ReadPreset::of_reference().map(Some);
        }
        Ok(None)
    }

    fn claims_anything(&self) -> bool {
        self.name.is_some()
            || [self.resume, self.first_input, self.passes_model]
                .iter()
                .any(Option::is_some)
    }

    /// The command line can't know that a profile names a preset.
    fn refuse_claims(&self, profile: &Profile) -> anyhow::Result<()> {
        if profile.preset.is_some() && self.claims_anything() {
            return Err(Refusal::usage(
                "the profile names a preset, which says what the runner declares",
                "leave --name, --resume, --first-input and --passes-model out, or the profile's preset",
            ));
        }
        Ok(())
    }

    fn agent_names(&self, profile: &Profile, name: &str) -> anyhow::Result<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        let given = self.agent_name.iter().cloned().chain(profile.agent_names());
        for name in given.chain(["dsh".to_owned(), name.to_owned()]) {
            if !is_agent_name(&name) {
                return Err(Refusal::usage(
                    format!("{name:?} can't be an agent's name"),
                    "a name is what the runner starts: a plain word without a slash",
                ));
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// The profile's variables, then those of this environment that are asked for.
    fn environment(&self, profile: &Profile) -> anyhow::Result<Vec<(String, String)>> {
        let mut variables: Vec<(String, String)> = profile.environment().collect();
        for name in &self.env {
            let value = std::env::var(name).map_err(|error| {
                Refusal::usage(
                    format!("--env {name}: {error}"),
                    "name a variable that is set here",
                )
            })?;
            variables.push((name.clone(), value));
        }
        Ok(variables)
    }
}

/// A preset with the text it was read from.
struct ReadPreset {
    text: PresetText,
    declared: Preset,
}

impl ReadPreset {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let text = preset_text(path)?;
        Self::parse(text)
    }

    fn of_reference() -> anyhow::Result<Self> {
        Self::parse(PresetText {
            file: "reference-runner/dsh.yaml".into(),
            text: reference_runner::PRESET.into(),
        })
    }

    fn parse(text: PresetText) -> anyhow::Result<Self> {
        let declared = Preset::parse(&text.text, Path::new(&text.file)).map_err(refused)?;
        for note in &declared.notes {
            eprintln!("note: {}: {note}", text.file);
        }
        Ok(Self { text, declared })
    }
}

/// A preset file's text, whatever it says.
pub(super) fn preset_text(path: &Path) -> anyhow::Result<PresetText> {
    Ok(PresetText {
        file: path.display().to_string(),
        text: Preset::read(path).map_err(refused)?,
    })
}

fn refused(error: fake_openrig::Error) -> anyhow::Error {
    let why = std::error::Error::source(&error).map_or(String::new(), |source| format!(": {source}"));
    Refusal::usage(
        format!("{error}{why}"),
        "a preset has format 1, a name and a command; `runner: true` makes it a runner's",
    )
}

/// The reference runner as a command.
pub(super) fn reference(seatcheck: &Path) -> RunnerCommand {
    RunnerCommand::Program(vec![
        seatcheck.to_string_lossy().into_owned(),
        hidden::REFERENCE_RUNNER.into(),
        // So short that a run shows whether a seat stays idle.
        "--liveness".into(),
        "1".into(),
    ])
}

/// The command as it is found from the seat's own folder: words that name a file from here, by a path or with an
/// ending, become absolute. Plain words stay words.
fn found_from_here(command: &[String]) -> anyhow::Result<Vec<String>> {
    let absolute = |word: &String| -> String {
        let path = Path::new(word);
        let looks_like_a_file = word.contains('/') || path.extension().is_some();
        if looks_like_a_file && !path.is_absolute() && path.is_file() {
            std::path::absolute(path)
                .map_or_else(|_| word.clone(), |path| path.to_string_lossy().into_owned())
        } else {
            word.clone()
        }
    };
    let words: Vec<String> = command.iter().map(absolute).collect();
    let program = &words[0];
    let exists = if program.contains('/') {
        Path::new(program).exists()
    } else {
        std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).exists()))
    };
    if exists || program.contains("{agent}") {
        return Ok(words);
    }
    Err(Refusal::usage(
        format!("there is no program {program:?}"),
        "give its path, or put its folder on PATH; what follows `--` is the command as you would type it",
    ))
}
