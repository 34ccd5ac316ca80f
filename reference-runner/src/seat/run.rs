//! Runs one seat from start to end: sets up the terminal and the lanes, starts the agent, loops, and leaves.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::Seat;
use super::activity::poster;
use super::input::{Decoder, Input, Source};
use super::lanes::{self, Lanes, Parts};
use super::pane::Pane;
use super::shutdown::{self, Ending, Signals};
use super::terminal::{self, Output, Terminal};
use crate::adapter::acp::Acp;
use crate::adapter::{Adapter, EventReceiver, Job, Refusal, Work, events};
use crate::edge::{Crossing, Edge};
use crate::error::Error;
use crate::launch::LaunchFacts;
use crate::options::Options;

/// How long opening may take before the pane says that the seat still waits, and how often it says so again.
const FIRST_REMINDER: Duration = Duration::from_secs(3);
const LATER_REMINDERS: Duration = Duration::from_secs(30);

/// The exit code for a command that can't be started, as a shell gives it.
const NOT_STARTED: u8 = 127;

/// Runs a seat in this process's terminal and gives its exit code.
pub(crate) fn run(options: Options, mut edge: Box<dyn Edge>) -> Result<u8, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::Runtime)?;
    let mut facts = LaunchFacts::of_this_process(options);
    edge.launched(&mut facts);
    let result = runtime.block_on(run_seat::<Acp>(facts, edge));
    // The terminal's threads may wait for a terminal that will never answer; they end with the process.
    runtime.shutdown_background();
    result
}

async fn run_seat<A: Adapter>(facts: LaunchFacts, edge: Box<dyn Edge>) -> Result<u8, Error> {
    // Watched before anything is started: a stop that comes early must still end the agent.
    let signals = Signals::watch()?;
    let terminal = Terminal::find()?;
    let is_terminal = terminal.is_terminal();
    let pane = Arc::new(Pane::new(is_terminal));
    let (input_sender, inputs) = mpsc::channel(16);
    let lanes = Arc::new(Lanes::new(Parts {
        edge,
        terminal,
        output: Output::start()?,
        pane: Arc::clone(&pane),
        decoder: Decoder::new(if is_terminal {
            Source::Terminal
        } else {
            Source::Lines
        }),
        inputs: input_sender,
        endpoint: facts.endpoint.clone(),
        record_path: facts.record_path.clone(),
    }));
    tokio::spawn(lanes::carry_shown(Arc::clone(&lanes), Arc::clone(&pane)));
    tokio::spawn(poster::run(
        Arc::clone(&lanes),
        facts.endpoint.clone(),
        facts.first_sequence,
        Arc::clone(&pane),
    ));
    if is_terminal {
        lanes.pass(Crossing::TerminalRaw(true)).await;
        pane.codes(terminal::PASTE_ON);
    }
    tokio::spawn(lanes::carry_signals(Arc::clone(&lanes), signals));
    tokio::spawn(lanes::carry_typing(
        Arc::clone(&lanes),
        terminal::start_reading()?,
    ));
    let code = match start_agent::<A>(&facts, &lanes, &pane) {
        Ok((adapter, work, events)) => {
            let inlets = Inlets {
                events,
                inputs,
                ending: lanes.ending(),
                input_ended: lanes.input_ended(),
            };
            live(
                Seat::new(adapter, work, facts, Arc::clone(&lanes), Arc::clone(&pane)),
                inlets,
            )
            .await
        }
        Err(error) => {
            pane.error(&error.to_string(), error.hint());
            NOT_STARTED
        }
    };
    shutdown::leave_terminal(&lanes, &pane).await;
    Ok(code)
}

/// Starts the agent of a job that the adapter finds possible.
fn start_agent<A: Adapter>(
    facts: &LaunchFacts,
    lanes: &Arc<Lanes>,
    pane: &Pane,
) -> Result<(A, Work, EventReceiver), Error> {
    let job = Job {
        command: facts.agent.clone(),
        working_directory: facts.working_directory.clone(),
        model: facts.model.clone(),
    };
    let job = A::check(job).map_err(|Refusal(reason)| Error::Refused(reason))?;
    let cap = A::cap_for(&job);
    pane.notice(&format!(
        "{} {}: {}, {} turn at a time",
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_VERSION"),
        cap.key,
        cap.turns
    ));
    pane.notice(
        "type or paste a message, then Enter; it shows once it is submitted; /abort or Ctrl-C cancels a turn",
    );
    let (sender, receiver) = events::channel();
    let (adapter, work) = A::start(job, Arc::clone(lanes), sender)?;
    Ok((adapter, work, receiver))
}

/// What the seat's loop listens to.
struct Inlets {
    events: EventReceiver,
    inputs: mpsc::Receiver<Input>,
    ending: watch::Receiver<Option<Ending>>,
    input_ended: watch::Receiver<bool>,
}

/// The seat's life, from opening the conversation to its exit code.
async fn live<A: Adapter>(mut seat: Seat<A>, mut inlets: Inlets) -> u8 {
    seat.open();
    let ending = listen(&mut seat, &mut inlets).await;
    shutdown::end(&mut seat, &mut inlets.events, ending).await
}

async fn listen<A: Adapter>(seat: &mut Seat<A>, inlets: &mut Inlets) -> Ending {
    // OpenRig waits for two intervals. A beat a little early leaves time for one that is late.
    let liveness = Duration::from_secs(u64::from(seat.facts.liveness_seconds));
    let mut beats = ticks(liveness * 3 / 4, liveness * 3 / 4);
    let mut reminders = ticks(FIRST_REMINDER, LATER_REMINDERS);
    let mut input_has_ended = false;
    loop {
        tokio::select! {
            Ok(ending) = inlets.ending.wait_for(Option::is_some) => {
                return ending.unwrap_or(Ending::EndOfInput);
            }
            Some(event) = inlets.events.receive() => {
                seat.take_event(event).await;
                if seat.exit.is_some() {
                    return Ending::AgentExited;
                }
            }
            Some(input) = inlets.inputs.recv() => seat.take_input(input),
            Ok(_) = inlets.input_ended.wait_for(|ended| *ended), if !input_has_ended => input_has_ended = true,
            _ = beats.tick() => seat.beat(),
            _ = reminders.tick() => seat.remind(),
        }
        if input_has_ended && inlets.inputs.is_empty() && seat.turns.is_drained() {
            return Ending::EndOfInput;
        }
    }
}

fn ticks(first: Duration, then: Duration) -> Interval {
    let mut ticks = interval_at(Instant::now() + first, then);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
