//! Shows a seat that is played on its board.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fake_agent::control::Told;
use fake_agent::script::{Action, Exit, Permission};
use fake_openrig::board::{
    Answer, AskShown, Board, BoardEvent, LineShown, Observer, SeatShown, Watched, Way, shown,
};
use fake_openrig::endpoint::Exchange;
use fake_openrig::launch::Launch;
use fake_openrig::reading::SeatReading;
use fake_openrig::record::Expected;
use fake_openrig::record_watch::RecordFile;

use crate::history::views::Screen;
use crate::history::{Fact, Pane, Process, RecordFact, Wire};
use crate::seat::clock;

/// How much of a line is shown, in characters.
const LINE: usize = 2000;

/// How much of a name is shown, in characters.
const NAME: usize = 400;

/// How long OpenRig waits for a launch record.
const RECORD_WAIT: Duration = Duration::from_secs(30);

/// The pane is shown no more often than this: nobody reads faster.
const PANE_EVERY: Duration = Duration::from_millis(50);

pub(super) struct BoardFeed {
    board: Arc<Board>,
    observer: Option<Observer>,
    /// The agent's open questions by the board's number for them: its connection, and its own number.
    asks: BTreeMap<u64, (u64, u64)>,
    asked: u64,
    pane_changed: bool,
    pane_told: u64,
    record_wait: Option<u64>,
}

impl BoardFeed {
    pub(super) fn new(board: Arc<Board>) -> Self {
        Self {
            board,
            observer: None,
            asks: BTreeMap::new(),
            asked: 0,
            pane_changed: false,
            pane_told: 0,
            record_wait: None,
        }
    }

    pub(super) fn launched(&mut self, launch: &Launch, command: &str) {
        let now = clock::now();
        let watched = Watched {
            seat: SeatReading::new(launch.into()),
            expected: Expected {
                attempt: launch.attempt.clone(),
                harness: launch.runtime.clone(),
            },
        };
        match &mut self.observer {
            Some(observer) => observer.launched(watched, now),
            None => self.observer = Some(Observer::new(watched, now)),
        }
        self.asks.clear();
        self.record_wait = Some(now.saturating_add(nanoseconds(RECORD_WAIT)));
        let text = |text: &str| shown(text, NAME);
        self.board.tell(BoardEvent::Launched(SeatShown {
            session: text(&launch.session_name),
            runtime: text(&launch.runtime),
            resume: launch.resume_ref.as_deref().map(text),
            command: Some(text(command)),
            at: self.wall(now),
        }));
        if let Some(observer) = &self.observer {
            self.board.tell(observer.reading(now));
        }
    }

    pub(super) fn exchange(&mut self, exchange: &Exchange) {
        self.observed(|observer, now| observer.exchange(exchange, now));
    }

    pub(super) fn cleared(&mut self) {
        self.observed(Observer::cleared);
    }

    /// The reading may have changed by itself.
    pub(super) fn changes(&mut self) {
        self.observed(Observer::changes);
    }

    /// A fact of the launch that is on.
    pub(super) fn saw(&mut self, at: u64, fact: &Fact) {
        let bytes = |bytes: &[u8]| shown(&String::from_utf8_lossy(bytes), LINE);
        match fact {
            Fact::Pane(Pane::Output { .. }) => self.pane_changed = true,
            Fact::Record(record) => self.record(record),
            Fact::Wire(Wire::ToAgent { line, .. }) => self.line(at, Way::ToAgent, bytes(&line.0)),
            Fact::Wire(Wire::FromAgent { line: raw, .. } | Wire::FromAgentRaw { bytes: raw, .. }) => {
                self.line(at, Way::ToRunner, bytes(&raw.0));
            }
            Fact::Wire(Wire::Gate { name, passed, .. }) => self.board.tell(if *passed {
                BoardEvent::Opened(name.clone())
            } else {
                BoardEvent::Waiting(name.clone())
            }),
            Fact::Process(process) => self.process(at, process),
            Fact::Wire(wire) => {
                if let Some(note) = agent_note(wire) {
                    self.line(at, Way::Note, note);
                }
            }
            _ => {}
        }
    }

    fn record(&mut self, record: &RecordFact) {
        let file = match (&record.content, &record.note) {
            (Some(content), _) => RecordFile::Bytes(content.0.clone()),
            (None, Some(note)) => RecordFile::Unreadable(note.clone()),
            (None, None) => RecordFile::Absent,
        };
        self.observed(|observer, now| observer.record(&file, now));
    }

    fn process(&mut self, at: u64, process: &Process) {
        match process {
            Process::RunnerStarted { pid } => {
                self.line(at, Way::Note, format!("the runner started, process {pid}"));
            }
            Process::Survivor { pid, command, .. } => {
                self.line(
                    at,
                    Way::Note,
                    format!("left running: {pid} {}", shown(command, NAME)),
                );
            }
            ended => {
                if let Some(how) = how_it_ended(ended) {
                    self.asks.clear();
                    self.board.tell(BoardEvent::RunnerEnded(how));
                }
            }
        }
    }

    /// The agent at this connection asks what to do.
    pub(super) fn asks(&mut self, connection: u64, ask: u64, method: &str) {
        self.asked += 1;
        self.asks.insert(self.asked, (connection, ask));
        self.board.tell(BoardEvent::Asks(AskShown {
            id: self.asked,
            at: self.wall(clock::now()),
            method: shown(method, NAME),
        }));
    }

    /// An answer to one of the agent's questions: the connection, and the order. None if it is not open any more.
    pub(super) fn answer(&mut self, id: u64, answer: Answer) -> Option<(u64, Told)> {
        let (connection, ask) = *self.asks.get(&id)?;
        let (actions, more) = actions(answer);
        if !more {
            self.answered(id);
        }
        Some((connection, Told { ask, actions, more }))
    }

    /// Nobody waits for answers any more.
    pub(super) fn agent_gone(&mut self, connection: u64) {
        let ids: Vec<u64> = self.asks.keys().copied().collect();
        for id in ids {
            if self.asks.get(&id).is_some_and(|(of, _)| *of == connection) {
                self.answered(id);
            }
        }
    }

    fn answered(&mut self, id: u64) {
        self.asks.remove(&id);
        self.board.tell(BoardEvent::Answered(id));
    }

    /// When something is to be shown that nothing else brings about.
    pub(super) fn due(&self) -> Option<u64> {
        let pane = self
            .pane_changed
            .then(|| self.pane_told.saturating_add(nanoseconds(PANE_EVERY)));
        [pane, self.record_wait].into_iter().flatten().min()
    }

    /// Shows what is due.
    pub(super) fn tick(&mut self, screen: &Screen) {
        let now = clock::now();
        if self.record_wait.is_some_and(|at| now >= at) {
            self.record_wait = None;
            self.observed(Observer::wait_over);
        }
        if self.pane_changed && now >= self.pane_told.saturating_add(nanoseconds(PANE_EVERY)) {
            self.pane_changed = false;
            self.pane_told = now;
            let lines = screen.lines();
            self.board.tell(BoardEvent::Pane(
                lines.iter().map(|line| shown(line, LINE)).collect(),
            ));
        }
    }

    fn observed(&mut self, see: impl FnOnce(&mut Observer, u64) -> Vec<BoardEvent>) {
        if let Some(observer) = &mut self.observer {
            for event in see(observer, clock::now()) {
                self.board.tell(event);
            }
        }
    }

    fn line(&self, at: u64, way: Way, text: String) {
        let at = self.wall(at);
        self.board.tell(BoardEvent::Line(LineShown { at, way, text }));
    }

    fn wall(&self, at: u64) -> u64 {
        self.observer.as_ref().map_or(0, |observer| observer.wall(at))
    }
}

/// How the runner ended, in words, if this says so.
pub(super) fn how_it_ended(process: &Process) -> Option<String> {
    match process {
        Process::RunnerNotStarted { why } => Some(format!("it could not be started: {}", shown(why, NAME))),
        Process::RunnerExited {
            signal: Some(signal), ..
        } => Some(format!("signal {signal} ended it")),
        Process::RunnerExited { code, .. } => Some(format!("it exited with code {}", code.unwrap_or(0))),
        _ => None,
    }
}

fn agent_note(wire: &Wire) -> Option<String> {
    Some(match wire {
        Wire::AgentStarted { pid, arguments, .. } => {
            format!(
                "an agent started, process {pid}: {}",
                shown(&arguments.join(" "), NAME)
            )
        }
        Wire::AgentEnded { .. } => "the agent's process is gone".to_owned(),
        Wire::EndOfInput { .. } => "the agent's input has ended".to_owned(),
        Wire::StdoutClosed { .. } => "the agent's output is closed".to_owned(),
        Wire::Stderr { bytes, .. } => format!("the agent wrote {bytes} bytes to its standard error"),
        Wire::Child { pid, .. } => format!("the agent started a child, process {pid}"),
        Wire::Trouble { text, .. } => format!("the agent could not do it: {}", shown(text, NAME)),
        _ => return None,
    })
}

/// What the agent is to do, and whether it asks again.
fn actions(answer: Answer) -> (Vec<Action>, bool) {
    match answer {
        Answer::Usual => (vec![Action::Answer], false),
        Answer::Say(text) => (vec![Action::Say(text)], true),
        Answer::Permission(title) => {
            // Its answer may take for ever: what else is ordered must not wait for it.
            let permission = Permission {
                title: Some(title),
                wait: false,
                ..Permission::default()
            };
            (vec![Action::Permission(permission)], true)
        }
        Answer::End(reason) => (vec![Action::End(reason)], false),
        Answer::Error { code, message } => {
            let data = None;
            (vec![Action::Error { code, message, data }], false)
        }
        Answer::Silence => (Vec::new(), false),
        Answer::Exit(code) => (vec![Action::Exit(Exit::Code(code))], false),
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
