//! Taking in: every observation becomes an event of the history, and moves what is known of the seat.

use std::sync::atomic::Ordering;

use fake_agent::control;
use fake_openrig::endpoint::{self, Exchange};
use fake_openrig::post::Post;
use fake_openrig::record::LaunchRecord;
use tokio::net::unix::OwnedWriteHalf;

use super::driver::{ConnectedAgent, Driver};
use super::lanes::{Observation, Seen};
use super::observed::in_words;
use crate::history::{Authorization, Bytes, Fact, Lane, Pane, PostEnd, PostFact, Process, Wire};
use crate::seat::clock;
use crate::seat::connection::Connection;
use crate::seat::supervisor::SupervisorFact;

impl Driver<'_> {
    pub(super) fn take_now(&mut self, Observation { at, launch, what }: Observation) {
        let launch = launch.unwrap_or_else(|| self.launch_at(at));
        let of_this_launch = launch == self.launch;
        match what {
            Seen::Output(bytes) => {
                self.record_at(launch, at, Fact::Pane(Pane::Output { bytes: Bytes(bytes) }));
                self.answer_terminal();
                let on = self.observed.screen.bracketed_paste();
                if of_this_launch && on != self.bracketed {
                    self.bracketed = on;
                    self.record_at(launch, at, Fact::Pane(Pane::BracketedPaste { on }));
                }
            }
            Seen::PaneClosed => {
                if let Some(running) = self.running.as_mut().filter(|_| of_this_launch) {
                    running.pane_closed = true;
                }
                self.record_at(launch, at, Fact::Pane(Pane::Closed));
            }
            Seen::SupervisorCame(orders) => {
                if let Some(running) = self.running.as_mut().filter(|_| of_this_launch) {
                    running.orders = Some(orders);
                }
            }
            Seen::Supervisor(fact) => self.take_supervisor(launch, at, fact),
            Seen::SupervisorGone => {
                if let Some(running) = self.running.as_mut().filter(|_| of_this_launch) {
                    if !running.ended {
                        self.supervisor_is_gone = true;
                        self.fault = Some("the seat's supervisor is gone".into());
                    }
                    running.ended = true;
                }
            }
            Seen::AgentCame { agent, hello, orders } => self.take_agent(launch, at, agent, *hello, orders),
            Seen::Agent { agent, fact } => self.take_agent_fact(launch, at, agent, fact),
            Seen::AgentGone { agent } => {
                if let Some(feed) = &mut self.feed {
                    feed.agent_gone(agent);
                }
                if let Some(gone) = self.agents.remove(&agent) {
                    self.record_at(launch, at, Fact::Wire(Wire::AgentEnded { agent: gone.number }));
                }
            }
            Seen::Exchange(exchange) => self.take_exchange(launch, exchange),
            Seen::TooMuch { lane } => self.lost(launch, at, lane, 0),
            Seen::Record(fact) => {
                if let (Some(content), Some(expected), Some(reading)) =
                    (&fact.content, &self.expected, &mut self.reading)
                {
                    reading.record(&LaunchRecord::read(&content.0, expected));
                }
                self.record_at(launch, at, Fact::Record(fact));
                self.tell_reading();
            }
        }
        self.tell_settings();
    }

    /// The launch that was on at that time: what is older than the newest launch belongs to the one before.
    fn launch_at(&self, at: u64) -> u32 {
        if at < self.launch_began {
            self.launch.saturating_sub(1).max(1)
        } else {
            self.launch
        }
    }

    fn take_supervisor(&mut self, launch: u32, at: u64, fact: SupervisorFact) {
        let current = self.launch;
        let Some(running) = self.running.as_mut().filter(|_| launch == current) else {
            return;
        };
        let told = match fact {
            SupervisorFact::Supervising { .. } => return,
            SupervisorFact::Hosted { terminal } => {
                running.hosted = true;
                if let Some(Connection::Tmux(pane)) = &running.connection
                    && let Err(error) = pane.open_terminal(&terminal)
                {
                    self.fault = Some(format!("the pane's terminal can't be opened: {error}"));
                }
                return;
            }
            SupervisorFact::NotHosted { why } => {
                self.fault = Some(why);
                return;
            }
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
                self.beginning = None;
                Process::RunnerExited { code, signal }
            }
            SupervisorFact::Empty => {
                running.empty = true;
                return;
            }
            SupervisorFact::Left { pids } => {
                running.left = Some(pids);
                return;
            }
            SupervisorFact::KeepsHangup => {
                running.keeps_hangup = true;
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
        self.record_at(launch, at, Fact::Process(told));
    }

    fn take_agent(
        &mut self,
        launch: u32,
        at: u64,
        agent: u64,
        hello: control::Hello,
        orders: OwnedWriteHalf,
    ) {
        self.agents_of_launch += 1;
        self.any_agent.store(true, Ordering::Relaxed);
        self.beginning = None;
        let number = self.agents_of_launch;
        let (started, left_out) = started(number, hello);
        self.record_at(launch, at, Fact::Wire(started));
        if left_out > 0 {
            self.lost(launch, at, Lane::Wire, left_out as u64);
        }
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
            Err(_) => self.record_at(launch, at, Fact::Wire(Wire::AgentEnded { agent: number })),
        }
    }

    fn take_agent_fact(&mut self, launch: u32, at: u64, connection: u64, fact: control::Fact) {
        let Some(agent) = self.agents.get(&connection).map(|agent| agent.number) else {
            return;
        };
        let bytes = |bytes: control::Bytes| Bytes(bytes.into_vec());
        let wire = match fact {
            control::Fact::Hello(_) => return,
            // Its beginning is no line that a judge could read.
            control::Fact::Received {
                line,
                unfinished: Some(control::Unfinished::TooLong),
            } => return self.lost(launch, at, Lane::Wire, line.as_slice().len() as u64),
            control::Fact::Received { line, .. } => Wire::ToAgent {
                agent,
                line: bytes(line),
            },
            control::Fact::Sent { line } => {
                let line = bytes(line);
                self.note_conversation(&line.0);
                Wire::FromAgent { agent, line }
            }
            control::Fact::Framed { lines, writes } => Wire::Framed { agent, lines, writes },
            control::Fact::RawSent { bytes: raw } => Wire::FromAgentRaw {
                agent,
                bytes: bytes(raw),
            },
            control::Fact::EndOfInput => Wire::EndOfInput { agent },
            control::Fact::Gate { name, state } => Wire::Gate {
                agent,
                name,
                passed: state == control::GateState::Passed,
            },
            control::Fact::Asks { ask, method } => {
                // The lines that follow from the answer are what counts for the history.
                if let Some(feed) = &mut self.feed {
                    feed.asks(connection, ask, &method);
                }
                return;
            }
            control::Fact::Child { pid, own_session } => {
                if let Some(running) = self.running.as_mut().filter(|_| own_session) {
                    running.apart.push(pid);
                }
                Wire::Child {
                    agent,
                    pid,
                    own_session,
                }
            }
            control::Fact::StdoutClosed | control::Fact::StdoutFailed { .. } => Wire::StdoutClosed { agent },
            control::Fact::Stderr { bytes } => Wire::Stderr { agent, bytes },
            control::Fact::Ending(exit) => match exit {
                fake_agent::script::Exit::Code(code) => Wire::Ending {
                    agent,
                    code: Some(code.into()),
                    signal: None,
                },
                fake_agent::script::Exit::Signal(name) => Wire::Ending {
                    agent,
                    code: None,
                    signal: Some(name.number().to_string()),
                },
            },
            control::Fact::Trouble { text } => {
                // Whoever plays sees it, and goes on.
                if self.feed.is_none() {
                    self.fault.get_or_insert_with(|| {
                        format!("the agent's script could not be carried out: {text}")
                    });
                }
                Wire::Trouble { agent, text }
            }
        };
        self.record_at(launch, at, Fact::Wire(wire));
    }

    /// Remembers the id that an agent gave to a new conversation, for a later resume.
    fn note_conversation(&mut self, line: &[u8]) {
        let message = serde_json::from_slice::<serde_json::Value>(line).unwrap_or_default();
        if let Some(id) = message
            .pointer("/result/sessionId")
            .and_then(serde_json::Value::as_str)
        {
            self.conversation = Some(id.to_owned());
        }
    }

    fn take_exchange(&mut self, launch: u32, exchange: Exchange) {
        if let Some(feed) = &mut self.feed {
            feed.exchange(&exchange);
        }
        match exchange {
            Exchange::Started {
                id,
                at,
                method,
                path,
                authorization,
                body,
                body_cut,
                ..
            } => {
                self.requests.insert(id, (launch, body.clone()));
                let authorization = match authorization {
                    endpoint::Authorization::Right => Authorization::Right,
                    endpoint::Authorization::Wrong => Authorization::Wrong,
                    endpoint::Authorization::Absent => Authorization::Absent,
                    endpoint::Authorization::OtherHeader => Authorization::OtherHeader,
                };
                let body = Bytes(body);
                self.record_at(
                    launch,
                    at,
                    Fact::Post(PostFact::Started {
                        id,
                        method,
                        path,
                        authorization,
                        body,
                        body_cut,
                    }),
                );
            }
            Exchange::Ended {
                id,
                at,
                how,
                recorded,
            } => {
                let (launch, body) = self.requests.remove(&id).unwrap_or((launch, Vec::new()));
                let how = match how {
                    endpoint::Ending::Answered { status } => PostEnd::Answered { status },
                    endpoint::Ending::GivenUp => PostEnd::GivenUp,
                    endpoint::Ending::AnswerCut | endpoint::Ending::Hung | endpoint::Ending::Reset => {
                        PostEnd::Broken
                    }
                };
                self.record_at(launch, at, Fact::Post(PostFact::Ended { id, how }));
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
            Exchange::Flooded { at, count } => {
                self.record_at(launch, at, Fact::Post(PostFact::Flooded { count }))
            }
        }
    }

    pub(super) fn tell_reading(&mut self) {
        let Some(reading) = &self.reading else { return };
        let reading = reading.at(clock::now());
        self.observed.reading = Some(reading);
        if let Some(feed) = &mut self.feed {
            feed.changes();
        }
        let words = in_words(reading);
        if self.last_reading.as_ref() != Some(&words) {
            self.last_reading = Some(words.clone());
            self.record(Fact::Reading(words));
        }
    }

    pub(super) fn tell_settings(&mut self) {
        let settings = self
            .running
            .as_ref()
            .and_then(|running| running.connection.as_ref())
            .and_then(Connection::settings);
        if let Some(settings) = settings
            && self.last_settings != Some(settings)
        {
            self.last_settings = Some(settings);
            self.record(Fact::Pane(Pane::Settings(settings)));
        }
    }
}

/// How an agent was started, and how many bytes of its arguments and environment are more than is kept.
fn started(agent: u32, hello: control::Hello) -> (Wire, usize) {
    /// No runner that a person set up comes near it.
    const KEPT: usize = 256 << 10;
    let mut size = 0;
    let mut left_out = 0;
    let mut has_room = |bytes: usize| {
        let fits = size + bytes <= KEPT;
        *(if fits { &mut size } else { &mut left_out }) += bytes;
        fits
    };
    let text = |bytes: control::Bytes| String::from_utf8_lossy(bytes.as_slice()).into_owned();
    let arguments = hello
        .arguments
        .into_iter()
        .filter(|argument| has_room(argument.as_slice().len()))
        .map(text)
        .collect();
    let environment = hello
        .environment
        .into_iter()
        .filter(|(name, value)| has_room(name.len() + value.as_slice().len()))
        .map(|(name, value)| (name, text(value)))
        .collect();
    let started = Wire::AgentStarted {
        agent,
        pid: hello.pid,
        arguments,
        environment,
    };
    (started, left_out)
}
