//! Drives one seat through one scenario.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fake_agent::script::Script;
use fake_openrig::Token;
use fake_openrig::endpoint::{self, Endpoint};
use fake_openrig::reading::SeatReading;
use fake_openrig::record::Expected;
use tokio::net::unix::OwnedWriteHalf;
use tokio::process::Child;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

use super::board_feed::BoardFeed;
use super::lanes::{Observation, Sender, Tasks, Written, channel, order};
use super::observed::Observed;
use super::recorder::Recorder;
use super::sending::pending_text;
use super::setup::Setup;
use crate::history::{Fact, History, Reading, Step, TerminalSettings};
use crate::scenario::{self, Scenario, Transport};
use crate::seat::clock;
use crate::seat::connection::Connection;
use crate::seat::record_watch::RecordWatcher;
use crate::seat::room::{Room, RunFolder};
use crate::seat::supervisor::Order;

/// How often the engine looks at how late it is itself.
const TICK: Duration = Duration::from_millis(100);

/// Why everything is to end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hurry {
    /// Somebody pressed Ctrl-C, or asked to terminate.
    Interrupted,
    /// No seat of this run has started an agent: the program is no runner, or does not find its agent.
    NoAgent,
}

/// How the scenario went, apart from any verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Every step was done.
    Completed,
    /// Something awaited did not come.
    TimedOut,
    /// It was ended early.
    Hurried(Hurry),
    /// The kit itself failed.
    Fault(String),
}

/// What all seats of a run share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) folder: RunFolder,
    pub(super) records: Arc<RecordWatcher>,
}

impl Shared {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            folder: RunFolder::new()?,
            records: Arc::new(RecordWatcher::new()?),
        })
    }
}

/// What stays the same over all launches of a seat.
pub(super) struct Identity {
    pub(super) session_name: String,
    pub(super) node_id: String,
    pub(super) token: Token,
}

/// A launch that was begun and not yet stopped.
pub(super) struct Running {
    /// Dropping a terminal's last handle hangs up.
    pub(super) connection: Option<Connection>,
    pub(super) writer: Option<mpsc::UnboundedSender<Written>>,
    /// What writes to the seat.
    pub(super) writing: Tasks,
    pub(super) supervisor: Child,
    pub(super) orders: Option<OwnedWriteHalf>,
    pub(super) started: bool,
    pub(super) empty: bool,
    /// What is left of the seat since the runner's end, as last told.
    pub(super) left: Option<Vec<u32>>,
    /// Children that agents started in sessions of their own.
    pub(super) apart: Vec<u32>,
    /// Everything that the seat wrote has been read.
    pub(super) pane_closed: bool,
    /// The supervisor will not pass a hang-up on.
    pub(super) keeps_hangup: bool,
    pub(super) ended: bool,
    pub(super) tasks: Tasks,
}

impl Running {
    /// Whether the only processes left are ones that live until somebody ends them, and nobody of the seat is there who
    /// could.
    pub(super) fn is_abandoned(&self) -> bool {
        self.left
            .as_ref()
            .is_some_and(|left| !left.is_empty() && left.iter().all(|pid| self.apart.contains(pid)))
    }

    /// Sends an order to the supervisor. One that was killed has no use for it, and its lane says that it is gone.
    pub(super) async fn order(&mut self, what: &Order) {
        if let Some(orders) = &mut self.orders {
            let _ = order(orders, what).await;
        }
    }

    /// Closes the terminal's master side, with the tasks that hold it, or the pipe that is the seat's input.
    pub(super) fn close(&mut self) {
        let connection = self.connection.take();
        self.writer = None;
        self.writing = Tasks::default();
        if !matches!(connection, Some(Connection::Pipes)) {
            self.tasks = Tasks::default();
        }
    }
}

/// An agent that is connected.
pub(super) struct ConnectedAgent {
    pub(super) number: u32,
    pub(super) orders: OwnedWriteHalf,
}

/// Drives one seat.
pub(crate) struct Driver<'s> {
    pub(super) scenario: &'s Scenario,
    pub(super) setup: &'s Setup,
    pub(super) transport: Transport,
    pub(super) room: Room,
    pub(super) endpoint: Endpoint,
    pub(super) identity: Identity,
    pub(super) recorder: Recorder,
    pub(super) observed: Observed,
    pub(super) reading: Option<SeatReading>,
    pub(super) script: Script,
    pub(super) sender: Sender,
    pub(super) running: Option<Running>,
    /// The conversation that the newest successful open gave.
    pub(super) conversation: Option<String>,
    pub(super) observations: mpsc::Receiver<Observation>,
    pub(super) hurry: watch::Receiver<Option<Hurry>>,
    pub(super) agents: HashMap<u64, ConnectedAgent>,
    /// Which launch this is; 0 before the first.
    pub(super) launch: u32,
    /// When it began.
    pub(super) launch_began: u64,
    pub(super) agents_of_launch: u32,
    /// Requests to the endpoint that have not ended: their launch and body.
    pub(super) requests: HashMap<u64, (u32, Vec<u8>)>,
    pub(super) last_reading: Option<Reading>,
    pub(super) last_settings: Option<TerminalSettings>,
    pub(super) bracketed: bool,
    pub(super) expected: Option<Expected>,
    pub(super) blocks: u32,
    /// Text stands in the runner's input that no Enter has followed.
    pub(super) block_is_open: bool,
    pub(super) ticker: tokio::time::Interval,
    pub(super) records: Arc<RecordWatcher>,
    /// Whether any seat of this run has started an agent.
    pub(super) any_agent: Arc<AtomicBool>,
    /// Held until the first agent is there, or the runner has ended.
    pub(super) beginning: Option<OwnedSemaphorePermit>,
    pub(super) fault: Option<String>,
    /// A board that shows the seat, where somebody plays it.
    pub(super) feed: Option<BoardFeed>,
    /// Where the pane's bytes go too.
    pub(super) mirror: Option<mpsc::Sender<Vec<u8>>>,
    // Lives as long as the seat.
    pub(super) _lanes: Tasks,
}

impl<'s> Driver<'s> {
    /// A seat in a folder of its own, with its endpoint, not yet launched.
    pub(crate) fn new(
        scenario: &'s Scenario,
        setup: &'s Setup,
        shared: &Shared,
        hurry: watch::Receiver<Option<Hurry>>,
        any_agent: Arc<AtomicBool>,
        beginning: Option<OwnedSemaphorePermit>,
    ) -> io::Result<Self> {
        let room = Room::new(&shared.folder)?;
        let blueprint =
            fake_openrig::launch::Launch::new(room.openrig_home(), "dev-builder@rig", &setup.name)
                .map_err(io::Error::other)?;
        let (sender, observations) = channel();
        let mut lanes = Tasks::default();
        let (endpoint, exchanges) =
            Endpoint::start(endpoint::EndpointOptions::from(&blueprint)).map_err(io::Error::other)?;
        lanes.pass_exchanges(exchanges, sender.clone());
        lanes.listen(&room.socket(), sender.clone())?;
        let recorder = Recorder::new(setup, scenario, blueprint.token.reveal());
        let mut ticker = tokio::time::interval(TICK);
        ticker.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        Ok(Self {
            scenario,
            setup,
            transport: scenario.transport.unwrap_or(setup.transport),
            room,
            endpoint,
            identity: Identity {
                session_name: blueprint.session_name,
                node_id: blueprint.node_id,
                token: blueprint.token,
            },
            recorder,
            observed: Observed::new(setup.size, &setup.name),
            reading: None,
            script: Script::default(),
            sender,
            running: None,
            conversation: None,
            observations,
            hurry,
            agents: HashMap::new(),
            launch: 0,
            launch_began: 0,
            agents_of_launch: 0,
            requests: HashMap::new(),
            last_reading: None,
            last_settings: None,
            bracketed: false,
            expected: None,
            blocks: 0,
            block_is_open: false,
            ticker,
            records: shared.records.clone(),
            any_agent,
            beginning,
            fault: None,
            feed: None,
            mirror: None,
            _lanes: lanes,
        })
    }

    /// Does all steps, stops the seat, and gives the history.
    pub(crate) async fn run(mut self) -> (History, Ending, bool) {
        let ending = self
            .steps()
            .await
            .unwrap_or_else(|error| Ending::Fault(error.to_string()));
        self.finish(ending).await
    }

    /// Stops the seat, and gives the history.
    pub(super) async fn finish(mut self, mut ending: Ending) -> (History, Ending, bool) {
        if let Err(error) = self.stop().await {
            ending = Ending::Fault(format!("the seat could not be stopped: {error}"));
        }
        if let Some(fault) = self.fault.take() {
            ending = Ending::Fault(fault);
        }
        let started = self.observed.agent_started();
        let (history, dropped) = self.recorder.finish();
        if dropped > 0 && ending == Ending::Completed {
            ending = Ending::Fault(format!("{dropped} events were more than is kept of one seat"));
        }
        (history, ending, started)
    }

    async fn steps(&mut self) -> io::Result<Ending> {
        let scenario = self.scenario;
        for (index, step) in scenario.steps.iter().enumerate() {
            self.observed.begin_step();
            match step {
                scenario::Step::Launch(launch) => self.begin_launch(launch).await?,
                scenario::Step::Send(send) => self.send(send).await?,
                scenario::Step::SendRaw(text) => self.send_raw(text).await?,
                scenario::Step::Paste(text) => {
                    let whole = pending_text(&scenario.steps, index);
                    self.paste(text, &whole).await?;
                }
                scenario::Step::PasteLarge(large) => {
                    let whole = pending_text(&scenario.steps, index);
                    self.paste(large.text(), &whole).await?;
                }
                scenario::Step::PasteInPieces(pieces) => {
                    let whole = pending_text(&scenario.steps, index);
                    self.paste_in_pieces(pieces, &whole).await?;
                }
                scenario::Step::Burst(texts) => self.burst(texts).await?,
                scenario::Step::Type(text) => {
                    let whole = pending_text(&scenario.steps, index);
                    self.type_keys(text, &whole).await?;
                }
                scenario::Step::Enter => self.enter().await?,
                scenario::Step::Interrupt => self.interrupt().await?,
                scenario::Step::Until(condition) => {
                    if !self.until(condition).await {
                        return Ok(self.hurry.borrow().map_or(Ending::TimedOut, Ending::Hurried));
                    }
                }
                scenario::Step::Linger(linger) => self.linger(linger).await,
                scenario::Step::IdleThrough(idle) => self.idle_through(idle).await,
                scenario::Step::Quiet(delay) => {
                    self.pass(delay.duration()).await;
                    let lasted_ms = u64::try_from(delay.duration().as_millis()).unwrap_or(u64::MAX);
                    self.record(Fact::Step(Step::Quiet { lasted_ms }));
                }
                scenario::Step::Release(gate) => self.release(gate).await?,
                scenario::Step::Endpoint(fault) => self.set_endpoint(*fault)?,
                scenario::Step::ClearAttention => self.clear_attention(),
                scenario::Step::Resize(size) => self.resize((size.rows, size.columns))?,
                scenario::Step::Stop => self.stop().await?,
                scenario::Step::StopBy(how) => self.stop_by(*how).await?,
            }
            if let Some(hurry) = *self.hurry.borrow() {
                return Ok(Ending::Hurried(hurry));
            }
        }
        Ok(Ending::Completed)
    }

    pub(super) async fn begin_launch(&mut self, launch: &scenario::Launch) -> io::Result<()> {
        self.stop().await?;
        self.agents_of_launch = 0;
        self.last_settings = None;
        self.last_reading = None;
        self.bracketed = false;
        self.block_is_open = false;
        self.launch(launch).await
    }

    /// Adds a fact of this moment to the history and to what is known.
    pub(super) fn record(&mut self, fact: Fact) {
        self.record_at(self.launch, clock::now(), fact);
    }

    /// Adds a fact of some launch. One of an earlier launch changes nothing of what is known of this one.
    pub(super) fn record_at(&mut self, launch: u32, at: u64, fact: Fact) {
        if let Fact::Step(Step::Launched(facts)) = &fact {
            self.expected = Some(Expected {
                attempt: facts.attempt.clone(),
                harness: facts.runtime.clone(),
            });
        }
        if launch == self.launch {
            self.observed.take(&fact);
            if let Some(feed) = &mut self.feed {
                feed.saw(at, &self.recorder.without_token(fact.clone()));
            }
        }
        self.recorder.add(launch, at, fact);
    }

    /// Whether everything is to end at once.
    pub(super) fn hurried(&self) -> bool {
        self.hurry.borrow().is_some()
    }
}
