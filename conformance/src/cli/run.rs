//! `seatcheck run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

use super::bundle::{self, RunFile, ScenarioFile};
use super::exit::{Exit, Refusal};
use super::output::say;
use super::progress::ProgressShown;
use super::runner::RunnerOptions;
use super::select::{Selected, Selection};
use super::version;
use crate::contract::ClauseSet;
use crate::engine::{self, Progress, SeatRun, Setup};
use crate::judgement::{self, Judged, RunFacts, ScenarioFacts};
use crate::scenario::Scenario;

/// Options of `run`.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    runner: RunnerOptions,
    /// How many seats run side by side. They mostly wait, so many more than there are cores pay off [default: 64 for
    /// each core, or as many as may be open files for]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Write report.json and each scenario's history into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Tables for people.
    Table,
    /// report.json.
    Json,
}

pub(super) fn run(options: Options) -> anyhow::Result<Exit> {
    let setup = Arc::new(options.runner.setup()?);
    let selected = options
        .selection
        .select(setup.contract, setup.claims, setup.transport)?;
    let scenarios: Vec<Arc<Scenario>> = selected.scenarios.iter().cloned().map(Arc::new).collect();
    let jobs = jobs(options.jobs, scenarios.len())?;
    if let Some(folder) = &options.out {
        prepare(folder)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let version = runtime.block_on(version::ask(&setup))?;
    let (runs, interrupted) = runtime.block_on(drive(setup.clone(), scenarios, jobs))?;
    let facts = RunFacts {
        version,
        part: selected.part.clone(),
        left_out: selected.left_out.clone(),
        selected: selected.clauses.clone(),
        interrupted,
        ..facts(&setup)
    };
    let judged: Vec<Judged> = runs
        .iter()
        .map(|run| judged(setup.contract, run, &selected.scenarios[run.index]))
        .collect();
    let report = judgement::report(setup.contract, &facts, &judged);
    if let Some(folder) = &options.out {
        write(folder, facts, &selected, &runs, &report)?;
    }
    let evidence = options.out.as_ref().map(|folder| folder.display().to_string());
    show(&report, options.format, evidence.as_deref())?;
    Ok(Exit::of_outcome(report.outcome))
}

/// Judges what a scenario left behind.
pub(super) fn judged(contract: &ClauseSet, run: &SeatRun, scenario: &Scenario) -> Judged {
    let facts = ScenarioFacts {
        id: &scenario.id,
        title: &scenario.title,
        exercises: &scenario.exercises,
        took_ms: took_ms(run),
        fault: run.fault.clone(),
        cut_off: run.cut_off,
    };
    judgement::judge(contract, facts, run.history.as_ref())
}

/// Prints a report on standard output.
pub(super) fn show(report: &reports::Report, format: Format, evidence: Option<&str>) -> anyhow::Result<()> {
    let text = match format {
        Format::Table => reports::table(report, super::width(), evidence),
        Format::Json => reports::write(report)?,
    };
    Ok(say(&text)?)
}

async fn drive(
    setup: Arc<Setup>,
    scenarios: Vec<Arc<Scenario>>,
    jobs: usize,
) -> anyhow::Result<(Vec<SeatRun>, bool)> {
    let (interrupt, interrupted) = watch::channel(false);
    let mut ctrl_c = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = ctrl_c.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        eprintln!("interrupted: ending every seat");
        interrupt.send_replace(true);
        // The receivers must not take the sender's end for an answer.
        std::future::pending::<()>().await;
    });
    let mut shown = ProgressShown::new(scenarios.len());
    let (tell, mut told) = mpsc::unbounded_channel::<Progress>();
    let telling = tokio::spawn(async move {
        while let Some(progress) = told.recv().await {
            shown.tell(&progress);
        }
        shown.finish();
    });
    let runs = engine::run(setup, scenarios, jobs, interrupted.clone(), tell).await;
    telling.await?;
    let interrupted = *interrupted.borrow();
    Ok((runs, interrupted))
}

/// What is known of a run that is not interrupted and is about everything.
pub(super) fn facts(setup: &Setup) -> RunFacts {
    RunFacts {
        contract: setup.contract.name.to_owned(),
        name: setup.name.clone(),
        command: setup.runner.shown(),
        version: None,
        claims: setup.claims.into(),
        transport: setup.transport.as_str().into(),
        missing: setup.declared.missing.clone(),
        preset: setup.preset.clone(),
        part: None,
        left_out: Vec::new(),
        selected: None,
        agent_names: setup.agent_names.clone(),
        interrupted: false,
    }
}

/// How many seats run side by side. What was asked for and would fail seat by seat, with reasons that nobody could follow,
/// is refused; what nobody asked for adapts.
fn jobs(asked: Option<usize>, scenarios: usize) -> anyhow::Result<usize> {
    let usual = std::thread::available_parallelism().map_or(2, std::num::NonZero::get) * 64;
    let seats = asked.unwrap_or(usual).clamp(1, scenarios.max(1));
    let Err(few) = crate::seat::file_limit::raise_for(seats) else {
        return Ok(seats);
    };
    let fitting = usize::try_from(few.seats).unwrap_or(seats);
    if asked.is_none() && fitting > 0 {
        return Ok(fitting);
    }
    Err(Refusal::usage(
        format!(
            "{seats} seats side by side need about {} open files, and {} are allowed",
            few.need, few.may
        ),
        format!(
            "run fewer with `--jobs {}`, or allow more with `ulimit -n {}`",
            fitting.max(1),
            few.need
        ),
    ))
}

/// A folder of an earlier run is replaced file by file; anything else in the way is refused.
pub(super) fn prepare(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("{} can't be made", folder.display()))?;
    let old = folder.join("scenarios");
    if folder.join("run.json").exists() && old.exists() {
        std::fs::remove_dir_all(&old).with_context(|| format!("{} can't be replaced", old.display()))?;
    }
    Ok(())
}

fn write(
    folder: &Path,
    facts: RunFacts,
    selected: &Selected,
    runs: &[SeatRun],
    report: &reports::Report,
) -> anyhow::Result<()> {
    let mut files = Vec::new();
    for run in runs {
        if let Some(history) = &run.history {
            bundle::write_history(folder, &run.scenario, history)?;
        }
        let scenario = &selected.scenarios[run.index];
        files.push(ScenarioFile {
            id: scenario.id.clone(),
            title: scenario.title.clone(),
            exercises: scenario.exercises.clone(),
            took_ms: took_ms(run),
            fault: run.fault.clone(),
            cut_off: run.cut_off,
            recorded: run.history.is_some(),
        });
    }
    bundle::write(&folder.join("report.json"), &reports::write(report)?)?;
    RunFile::new(facts, files).write(folder)
}

pub(super) fn took_ms(run: &SeatRun) -> u64 {
    u64::try_from(run.took.as_millis()).unwrap_or(u64::MAX)
}
