//! Which runner is driven, from the command line and a preset.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use fake_openrig::preset::Preset;

use super::exit::Refusal;
use super::options::duration;
use crate::engine::{Claims, RunnerCommand, Setup};
use crate::hidden;
use crate::scenario::Transport;

/// The runner and what is said of it.
#[derive(Debug, Args)]
pub(super) struct RunnerOptions {
    /// The community preset (format 1) that declares the runner; its `command` is run unless one is given after `--`.
    #[arg(long, value_name = "FILE")]
    preset: Option<PathBuf>,
    /// The preset's name where there is no preset: OPENRIG_RUNTIME, and the record's harness.
    #[arg(long, value_name = "NAME", default_value = "dsh", conflicts_with = "preset")]
    name: String,
    /// A name under which the runner finds its agent on PATH; the preset's name and `dsh` always stand there.
    #[arg(long, value_name = "NAME")]
    agent_name: Vec<String>,
    /// Whether the runner declares `resume` where there is no preset.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, conflicts_with = "preset")]
    resume: bool,
    /// The runner declares `first_input` where there is no preset.
    #[arg(long, conflicts_with = "preset")]
    first_input: bool,
    /// The runner declares `passes_model` where there is no preset.
    #[arg(long, conflicts_with = "preset")]
    passes_model: bool,
    /// A variable of this environment that the seat gets too.
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// How the seat is reached. A scenario about a missing terminal uses pipes whatever is said here.
    #[arg(long, value_enum, default_value_t = Transport::Pty)]
    transport: Transport,
    /// How long anything awaited may take. Below 5s, what does not come can't be called missing, only unproven.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration)]
    patience: Duration,
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
        let preset = self.preset.as_deref().map(read_preset).transpose()?;
        let seatcheck = std::env::current_exe()?;
        let runner = if !self.command.is_empty() {
            RunnerCommand::Program(found_from_here(&self.command)?)
        } else if let Some(preset) = &preset {
            RunnerCommand::Shell(preset.command.clone())
        } else {
            reference(&seatcheck)
        };
        let name = preset
            .as_ref()
            .map_or_else(|| self.name.clone(), |preset| preset.name.clone());
        let mut agent_names = self.agent_name.clone();
        for known in ["dsh", &name] {
            if !agent_names.iter().any(|name| name == known) {
                agent_names.push(known.to_owned());
            }
        }
        if let Some(bad) = agent_names
            .iter()
            .find(|name| name.is_empty() || name.contains('/') || name.starts_with('.'))
        {
            return Err(Refusal::usage(
                format!("{bad:?} can't be an agent's name"),
                "a name is what the runner starts: a plain word without a slash",
            ));
        }
        let claims = preset.as_ref().map_or(
            Claims {
                resume: self.resume,
                first_input: self.first_input,
                passes_model: self.passes_model,
            },
            |preset| Claims {
                resume: preset.resume,
                first_input: preset.first_input,
                passes_model: preset.passes_model,
            },
        );
        let environment = self
            .env
            .iter()
            .map(|name| {
                std::env::var(name)
                    .map(|value| (name.clone(), value))
                    .map_err(|error| {
                        Refusal::usage(
                            format!("--env {name}: {error}"),
                            "name a variable that is set here",
                        )
                    })
            })
            .collect::<Result<_, _>>()?;
        Ok(Setup {
            seatcheck,
            runner,
            name,
            agent_names,
            claims,
            patience: self.patience,
            environment,
            transport: self.transport,
            size: SIZE,
        })
    }
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

fn read_preset(path: &Path) -> anyhow::Result<Preset> {
    let preset = Preset::load(path).map_err(|error| {
        Refusal::usage(
            error.to_string(),
            "a preset has format 1, a name and a command; `runner: true` makes it a runner's",
        )
    })?;
    for note in &preset.notes {
        eprintln!("note: {}: {note}", path.display());
    }
    Ok(preset)
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
