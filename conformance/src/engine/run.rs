//! Runs many scenarios side by side.

use std::cmp::Reverse;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::driver::{Driver, Ending, Hurry, Shared};
use super::setup::Setup;
use crate::history::History;
use crate::scenario::Scenario;

/// One scenario that was run.
#[derive(Debug, Clone)]
pub struct SeatRun {
    /// Its place in the list that was given.
    pub index: usize,
    /// The scenario's id.
    pub scenario: String,
    /// What happened; `None` if the seat could not even be made.
    pub history: Option<History>,
    /// A fault of the kit itself: nothing of this seat can be trusted.
    pub fault: Option<String>,
    /// Every step was done.
    pub completed: bool,
    /// It was ended because no program of this run started an agent, or somebody interrupted.
    pub cut_off: bool,
    /// How long it took.
    pub took: Duration,
}

/// What a run tells while it goes.
#[derive(Debug)]
pub enum Progress {
    /// A scenario began.
    Began(String),
    /// A scenario ended.
    Ended(Box<SeatRun>),
}

/// Runs `scenarios`, `jobs` at a time, and gives them in their order. `interrupted` turning true ends every seat at
/// once; what was seen until then is still given.
pub async fn run(
    setup: Arc<Setup>,
    scenarios: Vec<Arc<Scenario>>,
    jobs: usize,
    mut interrupted: watch::Receiver<bool>,
    progress: mpsc::UnboundedSender<Progress>,
) -> Vec<SeatRun> {
    let shared = Arc::new(Shared::new());
    let (hurry_all, hurry) = watch::channel(None);
    let hurry_all = Arc::new(hurry_all);
    let on_interrupt = {
        let hurry_all = hurry_all.clone();
        tokio::spawn(async move {
            if interrupted.wait_for(|interrupted| *interrupted).await.is_ok() {
                hurry_all.send_replace(Some(Hurry::Interrupted));
            }
        })
    };
    let places = Arc::new(Semaphore::new(jobs.max(1)));
    let beginnings = Arc::new(Semaphore::new(at_once_at_the_beginning()));
    let any_agent = Arc::new(AtomicBool::new(false));
    let mut seats = JoinSet::new();
    // What takes longest begins first, or the end of the run waits for it alone.
    let mut in_order: Vec<_> = scenarios.into_iter().enumerate().collect();
    in_order.sort_by_key(|(_, scenario)| Reverse(scenario.least_time()));
    for (index, scenario) in in_order {
        let (setup, places, hurry, progress) =
            (setup.clone(), places.clone(), hurry.clone(), progress.clone());
        let (any_agent, hurry_all, beginnings) = (any_agent.clone(), hurry_all.clone(), beginnings.clone());
        let shared = shared.clone();
        seats.spawn(async move {
            // The semaphores are never closed.
            let _place = places.acquire().await;
            let mut hurry_first = hurry.clone();
            let beginning = tokio::select! {
                beginning = beginnings.acquire_owned() => beginning.ok(),
                _ = hurry_first.wait_for(Option::is_some) => None,
            };
            let _ = progress.send(Progress::Began(scenario.id.clone()));
            let (seat, no_agent) = one(
                index,
                &scenario,
                &setup,
                &shared,
                hurry,
                any_agent.clone(),
                beginning,
            )
            .await;
            if no_agent && !any_agent.load(Ordering::Relaxed) {
                hurry_all.send_if_modified(|hurry| {
                    let first = hurry.is_none();
                    hurry.get_or_insert(Hurry::NoAgent);
                    first
                });
            }
            let _ = progress.send(Progress::Ended(Box::new(seat.clone())));
            seat
        });
    }
    let mut runs = seats.join_all().await;
    on_interrupt.abort();
    runs.sort_by_key(|run| run.index);
    runs
}

/// How many seats may be at their beginning together. Starting programs is what costs; afterwards a seat mostly waits.
/// If all began at once, a runner in a slow language would look slow for the machine's sake.
fn at_once_at_the_beginning() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get) * 4
}

async fn one(
    index: usize,
    scenario: &Scenario,
    setup: &Setup,
    shared: &io::Result<Shared>,
    hurry: watch::Receiver<Option<Hurry>>,
    any_agent: Arc<AtomicBool>,
    beginning: Option<OwnedSemaphorePermit>,
) -> (SeatRun, bool) {
    let began = Instant::now();
    let mut run = SeatRun {
        index,
        scenario: scenario.id.clone(),
        history: None,
        fault: None,
        completed: false,
        cut_off: false,
        took: Duration::ZERO,
    };
    if hurry.borrow().is_some() {
        run.cut_off = true;
        return (run, false);
    }
    let mut no_agent = false;
    let driver = match shared {
        Ok(shared) => Driver::new(scenario, setup, shared, hurry, any_agent, beginning),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    };
    match driver {
        Ok(driver) => {
            let (history, ending, started) = driver.run().await;
            // The runner ended, or waited, without any agent.
            no_agent = !started && ending == Ending::TimedOut && history.first_cut().is_none();
            run.history = Some(history);
            run.completed = ending == Ending::Completed;
            run.cut_off = matches!(ending, Ending::Hurried(_));
            run.fault = match ending {
                Ending::Fault(fault) => Some(fault),
                _ => None,
            };
        }
        Err(error) => run.fault = Some(format!("the seat could not be made: {error}")),
    }
    run.took = began.elapsed();
    (run, no_agent)
}
