//! The lanes: how things cross the runner's edge, and how what the edge gave back is carried out.
//!
//! Each lane is one task that calls [`Lanes::pass`] for one thing after another, so its order is kept. What a
//! crossing means is written here once, for whichever lane meets it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    exit: watch::Sender<Option<i32>>,
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
            exit: watch::Sender::new(None),
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

    /// Changes to a code when a crossing asks for the end of the seat.
    pub(crate) fn exit_requests(&self) -> watch::Receiver<Option<i32>> {
        self.exit.subscribe()
    }

    /// Takes one thing over the edge, and carries out what the edge makes of it.
    pub(crate) async fn pass(&self, crossing: Crossing) {
        for crossing in self.cross(crossing) {
            self.carry_out(crossing).await;
        }
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
            Crossing::Shown(bytes) => self.output.write(bytes).await,
            Crossing::TerminalRaw(raw) => self.tell_fault(self.terminal.set_raw(raw)),
            Crossing::ToAgent(line) => {
                if let Some(agent) = self.agent.get() {
                    agent.write_line(&line).await;
                }
            }
            Crossing::FromAgent(line) => {
                if let Some(agent) = self.agent.get() {
                    agent.receive_line(&line);
                }
            }
            Crossing::Post(body) => self.posts.push(Waiting::Crossed(body)),
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
            Crossing::KillAgent => self.end_agent(Force::Kill),
            Crossing::Exit(code) => {
                self.exit.send_replace(Some(code));
            }
        }
    }

    /// Ends the agent, this hard. Without one there is nothing to end.
    pub(crate) fn end_agent(&self, force: Force) {
        if let Some(agent) = self.agent.get() {
            agent.end(force);
        }
    }

    /// The end of what is typed.
    pub(crate) async fn finish_typing(&self) {
        let inputs = self
            .decoder
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .finish();
        self.put_in(inputs).await;
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
    lanes.finish_typing().await;
}

/// The lane of what is shown: from the pane to the terminal, until the task is dropped.
pub(crate) async fn carry_shown(lanes: Arc<Lanes>, pane: Arc<Pane>) {
    loop {
        let bytes = pane.next().await;
        lanes.pass(Crossing::Shown(bytes)).await;
        pane.carried();
    }
}
