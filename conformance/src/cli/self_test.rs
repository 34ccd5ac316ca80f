//! `seatcheck self-test`: runners with one fault each, and runners that do nothing, against the kit itself.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use fake_openrig::preset::Preset;
use mutants::Mutant;
use reports::{MutantReport, SelfTest, VacuousReport, Verdict};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use super::exit::Exit;
use super::options::duration;
use super::output::{say, say_json};
use super::run::Format;
use crate::contract::{ClauseSet, PresetText};
use crate::coverage;
use crate::engine::{self, Claims, RunnerCommand, Setup};
use crate::hidden;
use crate::history::Declared;
use crate::judgement;
use crate::scenario::{Library, Scenario, Transport};

/// Options of `self-test`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Only mutants whose name matches.
    #[arg(long, value_name = "GLOB")]
    mutant: Option<glob::Pattern>,
    /// How long anything awaited may take. A faulty runner makes the kit wait this long for what does not come.
    #[arg(long, value_name = "TIME", default_value = "6s", value_parser = duration)]
    patience: Duration,
    /// How many mutants run side by side.
    #[arg(long, value_name = "N", default_value_t = 12)]
    jobs: usize,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Runners that do nothing worth a pass, as programs.
const VACUOUS: [(&str, &[&str]); 4] = [
    ("exits at once", &["/bin/true"]),
    ("silent", &["sleep", "1000"]),
    ("echo", &["/bin/cat"]),
    ("crash", &["/bin/sh", "-c", "kill -SEGV $$"]),
];

pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    let contract = ClauseSet::usual();
    let library = Library::built_in()?.scenarios;
    let gaps = coverage::gaps(contract, &library);
    let library: Vec<Arc<Scenario>> = library.into_iter().map(Arc::new).collect();
    let seatcheck = std::env::current_exe()?;
    if let Some(stray) = mutants::all()
        .iter()
        .find(|mutant| contract.clause(mutant.clause).is_none())
    {
        anyhow::bail!(
            "the mutant {} is meant for {}, which is no clause of {}",
            stray.name,
            stray.clause,
            contract.name
        );
    }
    let chosen: Vec<&'static Mutant> = mutants::all()
        .iter()
        .filter(|mutant| {
            options
                .mutant
                .as_ref()
                .is_none_or(|pattern| pattern.matches(mutant.name))
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut result = runtime.block_on(test(options, &library, &seatcheck, &chosen))?;
    // A selection proves nothing about what it leaves out.
    if options.mutant.is_none() {
        result.gaps = gaps;
    }
    match options.format {
        Format::Json => say_json(&result)?,
        Format::Table => say(&reports::self_test_table(&result, super::width()))?,
    }
    Ok(if result.passed() {
        Exit::Done
    } else {
        Exit::NotConformant
    })
}

async fn test(
    options: &Options,
    library: &[Arc<Scenario>],
    seatcheck: &Path,
    chosen: &[&'static Mutant],
) -> anyhow::Result<SelfTest> {
    let places = Arc::new(Semaphore::new(options.jobs.max(1)));
    let mut running = JoinSet::new();
    for (index, mutant) in chosen.iter().copied().enumerate() {
        let scenarios: Vec<Arc<Scenario>> = library
            .iter()
            .filter(|scenario| scenario.exercises.iter().any(|id| id == mutant.clause))
            .cloned()
            .collect();
        let words = vec![
            seatcheck.to_string_lossy().into_owned(),
            hidden::MUTANT.into(),
            mutant.name.into(),
            "--liveness".into(),
            "1".into(),
        ];
        let preset = PresetText {
            file: "reference-runner/dsh.yaml".into(),
            text: reference_runner::PRESET.into(),
        };
        let setup = setup(seatcheck, words, options.patience, Some(preset));
        let places = places.clone();
        running.spawn(async move {
            // The semaphore is never closed.
            let _place = places.acquire_owned().await;
            let report = one(setup, scenarios).await;
            (index, report)
        });
    }
    let mut reports: Vec<Option<MutantReport>> = vec![None; chosen.len()];
    let mut done = 0;
    while let Some(joined) = running.join_next().await {
        let (index, report) = joined?;
        let mutant = chosen[index];
        let caught_by: Vec<String> = report
            .clauses
            .iter()
            .filter(|clause| matches!(clause.verdict, Verdict::Fail | Verdict::Warning | Verdict::Note))
            .map(|clause| clause.id.clone())
            .collect();
        let killed = caught_by.iter().any(|id| id == mutant.clause);
        done += 1;
        eprintln!(
            "{done}/{} {}: {}",
            chosen.len(),
            mutant.name,
            if killed { "killed" } else { "SURVIVED" }
        );
        reports[index] = Some(MutantReport {
            name: mutant.name.into(),
            clause: mutant.clause.into(),
            fault: mutant.fault.into(),
            caught_by,
            killed,
            said: report
                .clauses
                .iter()
                .find(|clause| clause.id == mutant.clause)
                .map(|clause| {
                    format!(
                        "{}: {}",
                        clause.verdict.as_str(),
                        clause.said.as_deref().unwrap_or_default()
                    )
                }),
        });
    }
    let mutants: Vec<MutantReport> = reports.into_iter().flatten().collect();
    // A selection proves nothing about the clauses it leaves out.
    let unproven = if options.mutant.is_some() {
        Vec::new()
    } else {
        unproven(&mutants)
    };
    Ok(SelfTest {
        unproven,
        gaps: Vec::new(),
        vacuous: vacuous(options, library, seatcheck).await,
        mutants,
    })
}

fn setup(seatcheck: &Path, words: Vec<String>, patience: Duration, preset: Option<PresetText>) -> Arc<Setup> {
    Arc::new(Setup {
        seatcheck: seatcheck.to_owned(),
        runner: RunnerCommand::Program(words),
        name: "dsh".into(),
        agent_names: vec!["dsh".into()],
        claims: Claims {
            resume: true,
            first_input: true,
            passes_model: true,
        },
        declared: Declared {
            limits: preset
                .as_ref()
                .and_then(|preset| Preset::parse(&preset.text, Path::new(&preset.file)).ok())
                .map(|preset| preset.limits),
            missing: Vec::new(),
        },
        preset,
        version_command: None,
        contract: ClauseSet::usual(),
        patience,
        environment: Vec::new(),
        transport: Transport::Pty,
        size: super::runner::SIZE,
    })
}

/// Clauses that no mutant was caught by.
fn unproven(mutants: &[MutantReport]) -> Vec<String> {
    let caught: BTreeSet<&str> = mutants
        .iter()
        .flat_map(|mutant| mutant.caught_by.iter().map(String::as_str))
        .collect();
    ClauseSet::usual()
        .clauses()
        .filter(|clause| !caught.contains(clause.id) && coverage::is_breakable(clause))
        .map(|clause| clause.id.to_owned())
        .collect()
}

async fn vacuous(options: &Options, library: &[Arc<Scenario>], seatcheck: &Path) -> Vec<VacuousReport> {
    let mut running = JoinSet::new();
    for (index, (_, words)) in VACUOUS.iter().enumerate() {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let setup = setup(seatcheck, words, options.patience, None);
        let scenarios = library.to_vec();
        running.spawn(async move { (index, one(setup, scenarios).await) });
    }
    let mut results = running.join_all().await;
    results.sort_by_key(|(index, _)| *index);
    results
        .into_iter()
        .map(|(index, report)| VacuousReport {
            name: VACUOUS[index].0.into(),
            passed: report
                .clauses
                .iter()
                .filter(|clause| clause.verdict == Verdict::Pass)
                .map(|clause| clause.id.clone())
                .collect(),
            outcome: report.outcome.as_str().into(),
        })
        .collect()
}

/// Runs one runner through these scenarios and judges it.
async fn one(setup: Arc<Setup>, scenarios: Vec<Arc<Scenario>>) -> reports::Report {
    let (contract, facts) = (setup.contract, super::run::facts(&setup));
    let (_interrupt, interrupted) = watch::channel(false);
    // Progress is told runner by runner.
    let (tell, _) = mpsc::unbounded_channel();
    let runs = engine::run(setup, scenarios.clone(), scenarios.len(), interrupted, tell).await;
    let judged: Vec<_> = runs
        .iter()
        .map(|run| super::run::judged(contract, run, &scenarios[run.index]))
        .collect();
    judgement::report(contract, &facts, &judged)
}
