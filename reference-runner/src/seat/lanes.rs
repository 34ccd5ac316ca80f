//! The lanes: how things cross the runner's edge, and how what the edge gave back is carried out.
//!
//! Each lane is one task that calls [`Lanes::pass`] for one thing after another, so its order is kept. What a
//! crossing means is written here once, for whichever lane meets it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::signal::unix::SignalKind;
use tokio::sync::{mpsc, watch};

use crate::adapter::Force;
use crate::adapter::process::AgentPort;
use crate::edge::{Crossing, Edge};
use crate::error::Error;
use crate::seat::activity::endpoint::Endpoint;
use crate::seat::activity::http;
use crate::seat::activity::poster::{PostQueue, Waiting};
use crate::seat::input::{Decoder, Input};
use crate::seat::pane::Pane;
use crate::seat::record;
use crate::seat::shutdown::{Ending, Signals};
use crate::seat::terminal::{Output, Terminal};

/// What the lanes lead to.
pub(crate) struct Lanes {
    edge: Mutex<Box<dyn Edge>>,
    terminal: Terminal,
    output: Output,
    pane: Arc<Pane>,
    decoder: Mutex<Decoder>,
    inputs: mpsc::Sender<Input>,
    posts: PostQueue,
    endpoint: Option<Endpoint>,
    record_path: Option<PathBuf>,
    agent: OnceLock<AgentPort>,
    ending: watch::Sender<Option<Ending>>,
    input_ended: watch::Sender<bool>,
}

/// The parts that [`Lanes::new`] puts together.
pub(crate) struct Parts {
    pub(crate) edge: Box<dyn Edge>,
    pub(crate) terminal: Terminal,
    pub(crate) output: Output,
    pub(crate) pane: Arc<Pane>,
    pub(crate) decoder: Decoder,
    pub(crate) inputs: mpsc::Sender<Input>,
    pub(crate) endpoint: Option<Endpoint>,
    pub(crate) record_path: Option<PathBuf>,
}

impl Lanes {
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            edge: Mutex::new(parts.edge),
            terminal: parts.terminal,
            output: parts.output,
            pane: parts.pane,
            decoder: Mutex::new(parts.decoder),
            inputs: parts.inputs,
            posts: PostQueue::new(),
            endpoint: parts.endpoint,
            record_path: parts.record_path,
            agent: OnceLock::new(),
            ending: watch::Sender::new(None),
            input_ended: watch::Sender::new(false),
        }
    }

    /// Lines to and from the agent go here from now on.
    pub(crate) fn connect_agent(&self, agent: AgentPort) {
        // A seat starts one agent; a second call would be a mistake and changes nothing.
        let _ = self.agent.set(agent);
    }

    pub(crate) fn posts(&self) -> &PostQueue {
        &self.posts
    }

    pub(crate) fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    pub(crate) fn output(&self) -> &Output {
        &self.output
    }

    /// Tells when something that crossed asks for the end of the seat, and why.
    pub(crate) fn ending(&self) -> watch::Receiver<Option<Ending>> {
        self.ending.subscribe()
    }

    /// Tells when everything that was piped in has become input.
    pub(crate) fn input_ended(&self) -> watch::Receiver<bool> {
        self.input_ended.subscribe()
    }

    /// Takes one thing over the edge, and carries out what the edge makes of it.
    pub(crate) async fn pass(&self, crossing: Crossing) {
        for crossing in self.cross(crossing) {
            self.carry_out(crossing).await;
        }
    }

    /// What the edge makes of one read of the agent's output.
    pub(crate) fn agent_output(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut bytes = self
            .cross(Crossing::AgentOutput(bytes))
            .into_iter()
            .filter_map(|crossing| match crossing {
                Crossing::AgentOutput(bytes) => Some(bytes),
                _ => None,
            });
        let mut all = bytes.next().unwrap_or_default();
        all.extend(bytes.flatten());
        all
    }

    /// What the edge makes of this crossing.
    pub(crate) fn cross(&self, crossing: Crossing) -> Vec<Crossing> {
        self.edge
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .cross(crossing)
    }

    /// Carries out one crossing that has passed the edge.
    pub(crate) async fn carry_out(&self, crossing: Crossing) {
        match crossing {
            Crossing::Typed(bytes) => {
                let inputs = self
                    .decoder
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take(&bytes);
                self.put_in(inputs).await;
            }
            Crossing::EndOfInput => self.end_input().await,
            Crossing::Signal(number) if number == SignalKind::interrupt().as_raw_value() => {
                self.put_in(vec![Input::Abort { discarded: false }]).await;
            }
            Crossing::Signal(number) => self.end(Ending::Signal(number)),
            Crossing::Shown(bytes) => self.output.write(bytes).await,
            Crossing::TerminalRaw(raw) => self.tell_fault(self.terminal.set_raw(raw)),
            Crossing::ToAgent(line) => {
                if let Some(agent) = self.agent.get() {
                    agent.write_line(&line).await;
                }
            }
            Crossing::FromAgent(line) => {
                if let Some(agent) = self.agent.get() {
                    agent.receive_line(line);
                }
            }
            // Taken where it is read.
            Crossing::AgentOutput(_) => {}
            Crossing::Post(body) => self.posts.push(Waiting::Crossed(body)),
            Crossing::PostTwiceIfLost(body) => self.posts.push(Waiting::CrossedTwiceIfLost(body)),
            Crossing::PostConcurrently(body) => {
                if let Some(endpoint) = self.endpoint.clone() {
                    tokio::spawn(async move { http::post(&endpoint, &body.to_string()).await });
                }
            }
            Crossing::Record(bytes) => {
                if let Some(path) = &self.record_path {
                    self.tell_fault(record::put(path, &bytes));
                }
            }
            Crossing::RecordInPlace(bytes) => {
                if let Some(path) = &self.record_path {
                    self.tell_fault(record::overwrite(path, &bytes));
                }
            }
            Crossing::Pause(duration) => tokio::time::sleep(duration).await,
            Crossing::AwaitPosts => self.posts.settled().await,
            Crossing::CloseAgentInput => self.end_agent(Force::Ask),
            Crossing::TerminateAgent => self.end_agent(Force::Terminate),
            Crossing::KillAgent => self.end_agent(Force::Kill),
            Crossing::Exit(code) => self.end(Ending::Requested(code)),
        }
    }

    /// Asks for the end of the seat. What asked first counts.
    fn end(&self, ending: Ending) {
        self.ending.send_if_modified(|known| {
            let is_first = known.is_none();
            known.get_or_insert(ending);
            is_first
        });
    }

    /// Without an agent there is nothing to end.
    fn end_agent(&self, force: Force) {
        if let Some(agent) = self.agent.get() {
            agent.end(force);
        }
    }

    async fn end_input(&self) {
        let inputs = self
            .decoder
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .finish();
        self.put_in(inputs).await;
        // A terminal that has ended is gone. A pipe that has ended has said all it had to say, and gets its
        // answers.
        if self.terminal.is_terminal() {
            self.end(Ending::EndOfInput);
        } else {
            self.input_ended.send_replace(true);
        }
    }

    async fn put_in(&self, inputs: Vec<Input>) {
        for input in inputs {
            // After the seat's end nobody takes input any more.
            let _ = self.inputs.send(input).await;
        }
    }

    fn tell_fault(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.pane.error(&error.to_string(), error.hint());
        }
    }
}

/// The lane of what is typed: from the terminal to the decoder, until the end of input.
pub(crate) async fn carry_typing(lanes: Arc<Lanes>, mut reads: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = reads.recv().await {
        lanes.pass(Crossing::Typed(bytes)).await;
    }
    lanes.pass(Crossing::EndOfInput).await;
}

/// The lane of signals, until the task is dropped.
pub(crate) async fn carry_signals(lanes: Arc<Lanes>, mut signals: Signals) {
    loop {
        let number = signals.next().await;
        lanes.pass(Crossing::Signal(number)).await;
    }
}

/// The lane of what is shown: from the pane to the terminal, until the task is dropped.
pub(crate) async fn carry_shown(lanes: Arc<Lanes>, pane: Arc<Pane>) {
    loop {
        let bytes = pane.next().await;
        lanes.pass(Crossing::Shown(bytes)).await;
        pane.carried();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seat::input::Source;
    use serde_json::json;

    /// Gives back what it was told to, whatever crosses.
    struct Instead(Vec<Crossing>);

    impl Edge for Instead {
        fn cross(&mut self, _: Crossing) -> Vec<Crossing> {
            self.0.clone()
        }
    }

    fn lanes(instead: Vec<Crossing>, record_path: Option<PathBuf>) -> (Arc<Lanes>, mpsc::Receiver<Input>) {
        let (sender, inputs) = mpsc::channel(16);
        let lanes = Lanes::new(Parts {
            edge: Box::new(Instead(instead)),
            terminal: Terminal::find().unwrap(),
            output: Output::start().unwrap(),
            pane: Arc::new(Pane::new(false)),
            decoder: Decoder::new(Source::Terminal),
            inputs: sender,
            endpoint: None,
            record_path,
        });
        (Arc::new(lanes), inputs)
    }

    #[tokio::test]
    async fn what_the_edge_returns_happens_in_order_whatever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let instead = vec![
            Crossing::Record(b"first, and longer".to_vec()),
            Crossing::RecordInPlace(b"second".to_vec()),
            Crossing::Typed(b"one\r".to_vec()),
            Crossing::Signal(2),
            Crossing::Post(json!({"sequence": 1})),
            Crossing::Exit(3),
            Crossing::Signal(15),
        ];
        let (lanes, mut inputs) = lanes(instead, Some(path.clone()));
        lanes.pass(Crossing::Typed(b"never typed\r".to_vec())).await;
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(inputs.recv().await, Some(Input::Block("one".to_owned())));
        assert_eq!(inputs.recv().await, Some(Input::Abort { discarded: false }));
        assert!(inputs.is_empty());
        assert!(!lanes.posts().is_settled());
        assert_eq!(
            *lanes.ending().borrow(),
            Some(Ending::Requested(3)),
            "the first request counts"
        );
    }

    #[tokio::test]
    async fn nothing_returned_is_nothing_done() {
        let (lanes, inputs) = lanes(Vec::new(), None);
        for crossing in [
            Crossing::Typed(b"one\r".to_vec()),
            Crossing::Signal(15),
            Crossing::EndOfInput,
        ] {
            lanes.pass(crossing).await;
        }
        assert!(inputs.is_empty());
        assert_eq!(*lanes.ending().borrow(), None);
    }
}
