//! Drives one seat through one scenario.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, SystemTime};

use fake_agent::control;
use fake_agent::script::Script;
use fake_openrig::Token;
use fake_openrig::endpoint::{self, Endpoint, Exchange};
use fake_openrig::post::Post;
use fake_openrig::reading::SeatReading;
use fake_openrig::record::{Expected, LaunchRecord};
use fake_openrig::send;
use tokio::net::unix::OwnedWriteHalf;
use tokio::process::Child;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::lanes::{Observation, Seen, Sender, Tasks, Written, channel, order};
use super::observed::{Observed, in_words};
use super::recorder::Recorder;
use super::setup::Setup;
use crate::history::{
    Authorization, Bytes, Delivery, Fact, History, Pane, PostEnd, PostFact, Process, Reading, Step, TerminalSettings,
    Wire,
};
use crate::scenario::{self, Condition, EndpointFault, Scenario};
use crate::seat::clock;
use crate::seat::room::Room;
use crate::seat::supervisor::SupervisorFact;
use crate::seat::terminal::Terminal;

/// How often the engine looks at how late it is itself.
const TICK: Duration = Duration::from_millis(100);

/// Lateness below this is ordinary scheduling.
const WORTH_TELLING: Duration = Duration::from_millis(25);

/// After the runner's end, how long what is under way may still arrive.
const AFTER_THE_END: Duration = Duration::from_millis(500);

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

/// What stays the same over all launches of a seat.
pub(super) struct Identity {
    pub(super) session_name: String,
    pub(super) node_id: String,
    pub(super) token: Token,
}

/// A launch that was begun and not yet stopped.
pub(super) struct Running {
    /// Dropping the last handle hangs up.
    pub(super) terminal: Option<Terminal>,
    pub(super) writer: Option<mpsc::UnboundedSender<Written>>,
    pub(super) supervisor: Child,
    pub(super) orders: Option<OwnedWriteHalf>,
    pub(super) started: bool,
    pub(super) empty: bool,
    pub(super) ended: bool,
    pub(super) tasks: Tasks,
}

impl Running {
    /// Closes the terminal's master side, with the tasks that hold it.
    pub(super) fn hang_up(&mut self) {
        self.terminal = None;
        self.writer = None;
        self.tasks = Tasks::default();
    }
}

/// An agent that is connected.
struct ConnectedAgent {
    number: u32,
    orders: OwnedWriteHalf,
}

/// Drives one seat.
pub(crate) struct Driver<'s> {
    pub(super) scenario: &'s Scenario,
    pub(super) setup: &'s Setup,
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
    observations: mpsc::Receiver<Observation>,
    hurry: watch::Receiver<Option<Hurry>>,
    agents: HashMap<u64, ConnectedAgent>,
    agents_of_launch: u32,
    bodies: HashMap<u64, Vec<u8>>,
    last_reading: Option<Reading>,
    last_settings: Option<TerminalSettings>,
    bracketed: bool,
    expected: Option<Expected>,
    blocks: u32,
    /// Text stands in the runner's input that no Enter has followed.
    block_is_open: bool,
    ticker: tokio::time::Interval,
    pub(super) fault: Option<String>,
    // Lives as long as the seat.
    _lanes: Tasks,
}

impl<'s> Driver<'s> {
    /// A seat in a folder of its own, with its endpoint, not yet launched.
    pub(crate) fn new(scenario: &'s Scenario, setup: &'s Setup, hurry: watch::Receiver<Option<Hurry>>) -> io::Result<Self> {
        let room = Room::new()?;
        let blueprint = fake_openrig::launch::Launch::new(room.openrig_home(), "dev-builder@rig", &setup.name)
            .map_err(io::Error::other)?;
        let (sender, observations) = channel();
        let mut lanes = Tasks::default();
        let (endpoint, exchanges) =
            Endpoint::start(endpoint::EndpointOptions::from(&blueprint)).map_err(io::Error::other)?;
        lanes.pass_exchanges(exchanges, sender.clone());
        lanes.listen(&room.socket(), sender.clone())?;
        let recorder = Recorder::new(scenario, blueprint.token.reveal());
        let mut ticker = tokio::time::interval(TICK);
        ticker.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        Ok(Self {
            scenario,
            setup,
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
            agents_of_launch: 0,
            bodies: HashMap::new(),
            last_reading: None,
            last_settings: None,
            bracketed: false,
            expected: None,
            blocks: 0,
            block_is_open: false,
            ticker,
            fault: None,
            _lanes: lanes,
        })
    }

    /// Does all steps, stops the seat, and gives the history.
    pub(crate) async fn run(mut self) -> (History, Ending, bool) {
        let mut ending = self.steps().await.unwrap_or_else(|error| Ending::Fault(error.to_string()));
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
            match step {
                scenario::Step::Launch(launch) => self.begin(launch).await?,
                scenario::Step::Send(send) => self.send(send).await?,
                scenario::Step::SendRaw(text) => {
                    self.paste(text, text).await?;
                    self.pass(send::ENTER_DELAY).await;
                    self.enter().await?;
                }
                scenario::Step::Paste(text) => {
                    let whole = pending_text(&scenario.steps, index);
                    self.paste(text, &whole).await?;
                }
                scenario::Step::Type(text) => {
                    let whole = pending_text(&scenario.steps, index);
                    self.type_keys(text, &whole).await?;
                }
                scenario::Step::Enter => self.enter().await?,
                scenario::Step::Interrupt => {
                    self.record(Fact::Step(Step::Interrupted));
                    self.write(vec![3]).await?;
                }
                scenario::Step::Until(condition) => {
                    if !self.until(condition).await {
                        return Ok(self.hurry.borrow().map_or(Ending::TimedOut, Ending::Hurried));
                    }
                }
                scenario::Step::Quiet(delay) => {
                    self.pass(delay.duration()).await;
                    let lasted_ms = u64::try_from(delay.duration().as_millis()).unwrap_or(u64::MAX);
                    self.record(Fact::Step(Step::Quiet { lasted_ms }));
                }
                scenario::Step::Release(gate) => self.release(gate).await?,
                scenario::Step::Endpoint(fault) => self.set_endpoint(*fault)?,
                scenario::Step::ClearAttention => {
                    self.record(Fact::Step(Step::ClearedAttention));
                    if let Some(reading) = &mut self.reading {
                        reading.cleared();
                    }
                    self.tell_reading();
                }
                scenario::Step::Stop => self.stop().await?,
            }
            if let Some(hurry) = *self.hurry.borrow() {
                return Ok(Ending::Hurried(hurry));
            }
        }
        Ok(Ending::Completed)
    }

    async fn begin(&mut self, launch: &scenario::Launch) -> io::Result<()> {
        self.stop().await?;
        self.agents_of_launch = 0;
        self.last_settings = None;
        self.last_reading = None;
        self.bracketed = false;
        self.launch(launch).await
    }

    /// Adds a fact of this moment to the history and to what is known.
    pub(super) fn record(&mut self, fact: Fact) {
        self.record_at(clock::now(), fact);
    }

    fn record_at(&mut self, at: u64, fact: Fact) {
        if let Fact::Step(Step::Launched(facts)) = &fact {
            self.expected = Some(Expected { attempt: facts.attempt.clone(), harness: facts.runtime.clone() });
        }
        self.observed.take(&fact);
        self.recorder.add(at, fact);
    }

    /// Whether everything is to end at once.
    pub(super) fn hurried(&self) -> bool {
        self.hurry.borrow().is_some()
    }

    // --- waiting ---------------------------------------------------------------------------------------------

    async fn until(&mut self, condition: &Condition) -> bool {
        let began = Instant::now();
        let limit = self.setup.patience;
        let mut deadline = began + limit;
        let mut cut_short = None;
        loop {
            if self.observed.meets(condition) {
                self.record(Fact::Step(Step::Awaited {
                    what: condition.to_string(),
                    took_ms: milliseconds(began.elapsed()),
                    limit_ms: milliseconds(limit),
                }));
                return true;
            }
            if cut_short.is_none() {
                if self.observed.runner_ended() {
                    cut_short = Some("the runner had ended".to_owned());
                    deadline = deadline.min(Instant::now() + AFTER_THE_END);
                } else if !self.observed.agent_started() {
                    // A program that starts no agent by now will not: the rest of the patience is left to the others.
                    let no_agent = began + limit.mul_f64(0.75);
                    if Instant::now() >= no_agent {
                        cut_short = Some("no agent had been started".to_owned());
                        deadline = Instant::now();
                    } else {
                        deadline = no_agent;
                    }
                } else {
                    deadline = began + limit;
                }
            }
            let went_on = self.pump(deadline).await;
            if self.hurried() || (!went_on && (cut_short.is_some() || Instant::now() >= began + limit)) {
                if self.observed.meets(condition) {
                    continue;
                }
                let screen = self.observed.screen.lines();
                self.record(Fact::Step(Step::TimedOut {
                    what: condition.to_string(),
                    limit_ms: milliseconds(began.elapsed()),
                    cut_short,
                    screen,
                }));
                return false;
            }
        }
    }

    /// Lets that time pass while taking everything in.
    pub(super) async fn pass(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while !self.hurried() && self.pump(until).await {}
    }

    /// Takes in what comes next. False when the deadline came first, or everything is to end at once.
    pub(super) async fn pump(&mut self, deadline: Instant) -> bool {
        let mut hurry = self.hurry.clone();
        if hurry.borrow().is_some() {
            return false;
        }
        tokio::select! {
            went_on = self.pump_in_hurry(deadline) => went_on,
            _ = hurry.wait_for(Option::is_some) => false,
        }
    }

    /// The same, whether or not everything is to end.
    pub(super) async fn pump_in_hurry(&mut self, deadline: Instant) -> bool {
        let now = clock::now();
        let reading_change = self
            .reading
            .as_ref()
            .and_then(|reading| reading.next_change(now))
            .map(|at| Instant::now() + Duration::from_nanos(at.saturating_sub(now)));
        let reading_changes = async {
            match reading_change {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(observation) = self.observations.recv() => {
                self.take(observation).await;
                self.take_waiting();
            }
            tick = self.ticker.tick() => self.tell_lateness(tick),
            () = reading_changes => self.tell_reading(),
            () = tokio::time::sleep_until(deadline) => return false,
        }
        true
    }

    /// Takes in what has come already.
    pub(super) fn take_waiting(&mut self) {
        while let Ok(observation) = self.observations.try_recv() {
            // Only an agent's arrival has something to be waited for, and that is sent by a task of its own.
            self.take_now(observation);
        }
    }

    async fn take(&mut self, observation: Observation) {
        self.take_now(observation);
        tokio::task::yield_now().await;
    }

    fn tell_lateness(&mut self, tick: Instant) {
        let late = tick.elapsed();
        if late >= WORTH_TELLING {
            self.record(Fact::Lag { late_ms: milliseconds(late) });
        }
    }

    pub(super) async fn wait_for_supervisor(&mut self) -> io::Result<()> {
        let limit = Instant::now() + self.setup.patience;
        while self.running.as_ref().is_some_and(|running| running.orders.is_none()) {
            if !self.pump_in_hurry(limit).await {
                return Err(io::Error::other("the seat's supervisor did not come up"));
            }
        }
        Ok(())
    }

    pub(super) async fn wait_for_start(&mut self) -> io::Result<()> {
        let limit = Instant::now() + self.setup.patience;
        while self.running.as_ref().is_some_and(|running| !running.started && !running.ended) {
            if !self.pump_in_hurry(limit).await {
                return Err(io::Error::other("the runner's program was not started"));
            }
        }
        Ok(())
    }

    // --- taking in -------------------------------------------------------------------------------------------

    fn take_now(&mut self, Observation { at, what }: Observation) {
        match what {
            Seen::Output(bytes) => {
                self.record_at(at, Fact::Pane(Pane::Output { bytes: Bytes(bytes) }));
                let on = self.observed.screen.bracketed_paste();
                if on != self.bracketed {
                    self.bracketed = on;
                    self.record_at(at, Fact::Pane(Pane::BracketedPaste { on }));
                }
            }
            Seen::PaneClosed => self.record_at(at, Fact::Pane(Pane::Closed)),
            Seen::SupervisorCame(orders) => {
                if let Some(running) = &mut self.running {
                    running.orders = Some(orders);
                }
            }
            Seen::Supervisor(fact) => self.take_supervisor(at, fact),
            Seen::SupervisorGone => {
                if let Some(running) = &mut self.running {
                    if !running.ended {
                        self.fault = Some("the seat's supervisor was killed".into());
                    }
                    running.ended = true;
                }
            }
            Seen::AgentCame { agent, hello, orders } => self.take_agent(at, agent, *hello, orders),
            Seen::Agent { agent, fact } => self.take_agent_fact(at, agent, fact),
            Seen::AgentGone { agent } => {
                if let Some(gone) = self.agents.remove(&agent) {
                    self.record_at(at, Fact::Wire(Wire::AgentEnded { agent: gone.number }));
                }
            }
            Seen::Exchange(exchange) => self.take_exchange(exchange),
            Seen::Record(fact) => {
                if let (Some(content), Some(expected), Some(reading)) =
                    (&fact.content, &self.expected, &mut self.reading)
                {
                    reading.record(&LaunchRecord::read(&content.0, expected));
                }
                self.record_at(at, Fact::Record(fact));
                self.tell_reading();
            }
        }
        self.tell_settings();
    }

    fn take_supervisor(&mut self, at: u64, fact: SupervisorFact) {
        let Some(running) = &mut self.running else { return };
        let told = match fact {
            SupervisorFact::Supervising { .. } => return,
            SupervisorFact::Started { pid } => {
                running.started = true;
                Process::RunnerStarted { pid }
            }
            SupervisorFact::NotStarted { why } => {
                running.started = true;
                Process::RunnerNotStarted { why }
            }
            SupervisorFact::Exited { code, signal } => {
                running.started = true;
                Process::RunnerExited { code, signal }
            }
            SupervisorFact::Empty => {
                running.empty = true;
                return;
            }
            SupervisorFact::Survivor(process) => Process::Survivor {
                pid: process.pid,
                process_group: process.process_group,
                session: process.session,
                command: process.command,
            },
            SupervisorFact::Ended => {
                running.ended = true;
                return;
            }
        };
        self.record_at(at, Fact::Process(told));
    }

    fn take_agent(&mut self, at: u64, agent: u64, hello: control::Hello, orders: OwnedWriteHalf) {
        self.agents_of_launch += 1;
        let number = self.agents_of_launch;
        let text = |bytes: &control::Bytes| String::from_utf8_lossy(bytes.as_slice()).into_owned();
        self.record_at(
            at,
            Fact::Wire(Wire::AgentStarted {
                agent: number,
                pid: hello.pid,
                arguments: hello.arguments.iter().map(text).collect(),
                environment: hello.environment.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
            }),
        );
        let connected = ConnectedAgent { number, orders };
        let script = control::Order::Script(Box::new(self.script.clone()));
        // Small enough for the socket's buffer, so that this never waits; if it can't be sent the agent is gone.
        let mut line = serde_json::to_vec(&script).unwrap_or_default();
        line.push(b'\n');
        match connected.orders.try_write(&line) {
            Ok(written) if written == line.len() => {
                self.agents.insert(agent, connected);
            }
            Ok(_) => self.fault = Some("the agent's script is too long for its socket".into()),
            Err(_) => self.record_at(at, Fact::Wire(Wire::AgentEnded { agent: number })),
        }
    }

    fn take_agent_fact(&mut self, at: u64, agent: u64, fact: control::Fact) {
        let Some(agent) = self.agents.get(&agent).map(|agent| agent.number) else { return };
        let bytes = |bytes: control::Bytes| Bytes(bytes.into_vec());
        let wire = match fact {
            control::Fact::Hello(_) => return,
            control::Fact::Received { line, .. } => Wire::ToAgent { agent, line: bytes(line) },
            control::Fact::Sent { line } => {
                let line = bytes(line);
                self.note_conversation(&line.0);
                Wire::FromAgent { agent, line }
            }
            control::Fact::RawSent { bytes: raw } => Wire::FromAgentRaw { agent, bytes: bytes(raw) },
            control::Fact::EndOfInput => Wire::EndOfInput { agent },
            control::Fact::Gate { name, state } => {
                Wire::Gate { agent, name, passed: state == control::GateState::Passed }
            }
            control::Fact::Child { pid, own_session } => Wire::Child { agent, pid, own_session },
            control::Fact::StdoutClosed | control::Fact::StdoutFailed { .. } => Wire::StdoutClosed { agent },
            control::Fact::Stderr { bytes } => Wire::Stderr { agent, bytes },
            control::Fact::Ending(exit) => match exit {
                fake_agent::script::Exit::Code(code) => Wire::Ending { agent, code: Some(code.into()), signal: None },
                fake_agent::script::Exit::Signal(name) => {
                    Wire::Ending { agent, code: None, signal: Some(name.number().to_string()) }
                }
            },
            control::Fact::Trouble { text } => {
                self.fault.get_or_insert_with(|| format!("the agent's script could not be carried out: {text}"));
                Wire::Trouble { agent, text }
            }
        };
        self.record_at(at, Fact::Wire(wire));
    }

    /// Remembers the id that an agent gave to a new conversation, for a later resume.
    fn note_conversation(&mut self, line: &[u8]) {
        let message = serde_json::from_slice::<serde_json::Value>(line).unwrap_or_default();
        if let Some(id) = message.pointer("/result/sessionId").and_then(serde_json::Value::as_str) {
            self.conversation = Some(id.to_owned());
        }
    }

    fn take_exchange(&mut self, exchange: Exchange) {
        match exchange {
            Exchange::Started { id, at, method, path, authorization, body, body_cut, .. } => {
                self.bodies.insert(id, body.clone());
                let authorization = match authorization {
                    endpoint::Authorization::Right => Authorization::Right,
                    endpoint::Authorization::Wrong => Authorization::Wrong,
                    endpoint::Authorization::Absent => Authorization::Absent,
                    endpoint::Authorization::OtherHeader => Authorization::OtherHeader,
                };
                let body = Bytes(body);
                self.record_at(at, Fact::Post(PostFact::Started { id, method, path, authorization, body, body_cut }));
            }
            Exchange::Ended { id, at, how, recorded } => {
                let body = self.bodies.remove(&id).unwrap_or_default();
                let how = match how {
                    endpoint::Ending::Answered { status } => PostEnd::Answered { status },
                    endpoint::Ending::GivenUp => PostEnd::GivenUp,
                    endpoint::Ending::AnswerCut | endpoint::Ending::Hung | endpoint::Ending::Reset => PostEnd::Broken,
                };
                self.record_at(at, Fact::Post(PostFact::Ended { id, how }));
                if recorded
                    && let Some(post) = Post::parse(&body)
                    && let Some(reading) = &mut self.reading
                {
                    reading.post(&post, at);
                    self.tell_reading();
                }
            }
            // Nothing can be read from a connection that brought no request.
            Exchange::ConnectionReset { .. } | Exchange::NoRequest { .. } => {}
            Exchange::Flooded { at, count } => self.record_at(at, Fact::Post(PostFact::Flooded { count })),
        }
    }

    fn tell_reading(&mut self) {
        let Some(reading) = &self.reading else { return };
        let reading = reading.at(clock::now());
        self.observed.reading = Some(reading);
        let words = in_words(reading);
        if self.last_reading.as_ref() != Some(&words) {
            self.last_reading = Some(words.clone());
            self.record(Fact::Reading(words));
        }
    }

    fn tell_settings(&mut self) {
        let Some(terminal) = self.running.as_ref().and_then(|running| running.terminal.as_ref()) else { return };
        if let Ok(settings) = terminal.settings()
            && self.last_settings != Some(settings)
        {
            self.last_settings = Some(settings);
            self.record(Fact::Pane(Pane::Settings(settings)));
        }
    }

    // --- doing -----------------------------------------------------------------------------------------------

    async fn send(&mut self, message: &scenario::Send) -> io::Result<()> {
        let text = send::envelope(
            &message.from,
            &self.identity.session_name,
            &message.text,
            &send::sent_at(SystemTime::now()),
        );
        let before = self.observed.screen.lines();
        self.paste(&text, &text).await?;
        let block = self.blocks;
        self.pass(send::ENTER_DELAY).await;
        self.enter().await?;
        if message.verify {
            // OpenRig looks half a second after Enter.
            self.pass(Duration::from_millis(500)).await;
            let after = self.observed.screen.lines();
            let found = send::verify(&before, &after, &text) == send::Verified::Delivered;
            self.record(Fact::Step(Step::Verified { block, found }));
        }
        Ok(())
    }

    /// Pastes `text`; `whole` is what the message will be at its Enter.
    async fn paste(&mut self, text: &str, whole: &str) -> io::Result<()> {
        let bracketed = self.observed.screen.bracketed_paste();
        let delivery = if bracketed { Delivery::Paste } else { Delivery::Raw };
        self.begin_block(whole, delivery);
        self.write(send::paste(text, bracketed)).await
    }

    async fn type_keys(&mut self, text: &str, whole: &str) -> io::Result<()> {
        self.begin_block(whole, Delivery::Typed);
        for key in text.chars() {
            self.write(key.to_string().into_bytes()).await?;
        }
        Ok(())
    }

    fn begin_block(&mut self, whole: &str, delivery: Delivery) {
        if !self.block_is_open {
            self.block_is_open = true;
            self.blocks += 1;
            self.record(Fact::Step(Step::Sent { block: self.blocks, text: whole.into(), delivery }));
        }
    }

    async fn enter(&mut self) -> io::Result<()> {
        if self.block_is_open {
            self.block_is_open = false;
            self.record(Fact::Step(Step::Entered { block: self.blocks }));
        } else {
            self.record(Fact::Step(Step::Typed { bytes: Bytes(send::ENTER.to_vec()) }));
        }
        self.write(send::ENTER.to_vec()).await
    }

    /// Writes to the terminal, taking everything in meanwhile: a seat that answers while it is written to must not
    /// stand still.
    async fn write(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        let Some(writer) = self.running.as_ref().and_then(|running| running.writer.clone()) else { return Ok(()) };
        let (done, mut written) = oneshot::channel();
        self.record(Fact::Pane(Pane::Input { bytes: Bytes(bytes.clone()) }));
        if writer.send(Written { bytes, done }).is_err() {
            return Ok(());
        }
        let deadline = Instant::now() + self.setup.patience;
        loop {
            tokio::select! {
                biased;
                // A terminal that is closed takes nothing: the awaits that follow say what that means.
                _ = &mut written => return Ok(()),
                went_on = self.pump(deadline) => if !went_on { return Ok(()) },
            }
        }
    }

    async fn release(&mut self, gate: &str) -> io::Result<()> {
        self.record(Fact::Step(Step::Opened { gate: gate.to_owned() }));
        for agent in self.agents.values_mut() {
            // An agent that is gone is told by its own lane.
            let _ = order(&mut agent.orders, &control::Order::Open(gate.to_owned())).await;
        }
        Ok(())
    }

    fn set_endpoint(&mut self, fault: EndpointFault) -> io::Result<()> {
        self.record(Fact::Step(Step::Endpoint { fault: fault.to_string() }));
        let fault = match fault {
            EndpointFault::Healthy => endpoint::Fault::Healthy,
            EndpointFault::Hang => endpoint::Fault::Hang,
            EndpointFault::Slow(delay) => endpoint::Fault::Slow(delay.duration()),
            EndpointFault::Refuse => endpoint::Fault::Refuse,
            EndpointFault::Reset => endpoint::Fault::Reset,
            EndpointFault::Status(status) => endpoint::Fault::Status(status),
            EndpointFault::BadBody => endpoint::Fault::BadBody,
        };
        self.endpoint.set(fault).map_err(io::Error::other)
    }
}

/// The whole text of the message that begins at `index`: everything pasted or typed up to its Enter.
fn pending_text(steps: &[scenario::Step], index: usize) -> String {
    steps[index..]
        .iter()
        .take_while(|step| !matches!(step, scenario::Step::Enter | scenario::Step::Stop))
        .filter_map(|step| match step {
            scenario::Step::Paste(text) | scenario::Step::Type(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
