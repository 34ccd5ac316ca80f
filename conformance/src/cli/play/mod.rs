//! `seatcheck play`.

mod keep;
mod person;
mod terminal;
mod tmux;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use fake_agent::script::{Action, Script};
use fake_openrig::board::{Board, Control};

use super::exit::{Exit, Refusal};
use super::runner::RunnerOptions;
use crate::engine::{self, Play};
use crate::scenario::{Launch, Library, Resume, Scenario, Step, Transport};
use person::Person;
use terminal::OwnTerminal;

/// Methods with an answer of the agent's own, which it asks about with `--ask`.
const ASKED: [&str; 9] = [
    "initialize",
    "authenticate",
    "session/new",
    "session/load",
    "session/resume",
    "session/list",
    "session/close",
    "session/set_mode",
    "session/set_config_option",
];

/// Options of `play`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The scenario whose agent is played and whose first launch is done: an id from `seatcheck list scenarios`, or a
    /// file. Its gates are opened on the board.
    #[arg(value_name = "SCENARIO")]
    scenario: Option<String>,
    /// The agent asks on the board what to answer to each request.
    #[arg(long, conflicts_with = "scenario")]
    ask: bool,
    #[command(flatten)]
    runner: RunnerOptions,
    /// Launch as a resume of this conversation.
    #[arg(long, value_name = "REF")]
    resume_ref: Option<String>,
    /// Launch with this model.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Launch with the text in this file as the first input.
    #[arg(long, value_name = "FILE")]
    input_file: Option<PathBuf>,
    /// Keep the history in this folder, so that `seatcheck judge` can judge what was played.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    match options.runner.transport() {
        Transport::Pty => {}
        Transport::Tmux => return tmux::start(),
        Transport::Pipe => {
            return Err(Refusal::usage(
                "a seat without a terminal can't be played",
                "leave --transport out to play in this terminal, or choose tmux for a pane of tmux",
            ));
        }
    }
    let mut setup = options.runner.setup()?;
    let scenario = options.scenario()?;
    let launch = options.launch(&scenario)?;
    if let Some(folder) = &options.out {
        super::run::prepare(folder)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let played = scenario_played(scenario);
    let (run, name) = runtime.block_on(async {
        let controls = vec![
            Control::Send,
            Control::Interrupt,
            Control::ClearAttention,
            Control::Launch,
        ];
        let (board, pressed) = Board::start(controls).await?;
        let board = Arc::new(board);
        eprintln!("board: {}", board.address());
        eprintln!("Ctrl-] leaves");
        let terminal = OwnTerminal::take()?;
        setup.size = terminal.size();
        let (person, ends) = Person::new(&terminal, &format!("seat {} {}", setup.name, board.address()))?;
        let play = Play {
            setup: setup.clone(),
            scenario: played.clone(),
            launch,
            board: board.clone(),
            pressed,
            hands: ends.hands,
            screen: ends.screen,
            stay: ends.stay,
        };
        let run = engine::play(play).await;
        person.leave().await;
        drop(terminal);
        board.close("it was left").await;
        anyhow::Ok((run, setup.name.clone()))
    })?;
    if let Some(folder) = &options.out {
        keep::keep(folder, &setup, &played, &run)?;
        eprintln!(
            "the history of seat {name} is kept: seatcheck judge {}",
            folder.display()
        );
    }
    match run.fault {
        Some(fault) => Err(anyhow::anyhow!(fault)),
        None => Ok(Exit::Done),
    }
}

impl Options {
    /// The scenario, before anything in it is done.
    fn scenario(&self) -> anyhow::Result<Scenario> {
        let Some(name) = &self.scenario else {
            let script = if self.ask { asking() } else { Script::default() };
            return Ok(plain(script));
        };
        let path = Path::new(name);
        if path.is_file() {
            let library = Library::read(path).map_err(|error| {
                Refusal::usage(
                    error.to_string(),
                    "the scenarios that come with seatcheck show the format",
                )
            })?;
            return library
                .scenarios
                .into_iter()
                .next()
                .context("the file holds no scenario");
        }
        Library::built_in()?
            .scenarios
            .into_iter()
            .find(|scenario| scenario.id == *name)
            .ok_or_else(|| {
                Refusal::usage(
                    format!("there is no scenario and no file {name:?}"),
                    "`seatcheck list scenarios` shows those that are built in",
                )
            })
    }

    /// The scenario's first launch, with what was asked for on the command line.
    fn launch(&self, scenario: &Scenario) -> anyhow::Result<Launch> {
        let mut launch = scenario
            .steps
            .iter()
            .find_map(|step| match step {
                Step::Launch(launch) => Some(launch.clone()),
                _ => None,
            })
            .unwrap_or_default();
        if let Some(reference) = &self.resume_ref {
            launch.resume = Some(Resume::Reference(reference.clone()));
        }
        if self.model.is_some() {
            launch.model.clone_from(&self.model);
        }
        if let Some(path) = &self.input_file {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Refusal::usage(
                    format!("{}: {error}", path.display()),
                    "name a text file with the first input",
                )
            })?;
            launch.first_input = Some(text);
        }
        Ok(launch)
    }
}

/// An agent that asks about everything.
fn asking() -> Script {
    let ask = || vec![Action::Ask];
    Script {
        on: ASKED.iter().map(|method| ((*method).to_owned(), ask())).collect(),
        otherwise: ask(),
        ..Script::default()
    }
}

fn plain(agent: Script) -> Scenario {
    Scenario {
        id: String::new(),
        title: String::new(),
        why: String::new(),
        seen: Vec::new(),
        exercises: Vec::new(),
        needs: Vec::new(),
        patience: None,
        transport: None,
        not_on: BTreeMap::new(),
        agent,
        agents: BTreeMap::new(),
        steps: Vec::new(),
    }
}

/// What is played is no run of the scenario: it promises to exercise nothing.
fn scenario_played(scenario: Scenario) -> Scenario {
    let id = if scenario.id.is_empty() {
        "play".to_owned()
    } else {
        format!("play/{}", scenario.id)
    };
    Scenario {
        id,
        title: format!(
            "Played by hand: {}",
            if scenario.title.is_empty() {
                "no scenario"
            } else {
                &scenario.title
            }
        ),
        exercises: Vec::new(),
        transport: None,
        steps: Vec::new(),
        ..scenario
    }
}
