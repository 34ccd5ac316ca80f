//! What a launch has shown so far, as far as scenarios wait for it.

use std::collections::HashMap;

use fake_openrig::reading::{ActivityReading, LaunchReading, Reading};
use serde_json::Value;

use super::idle_reports::IdleReports;
use super::shown::Shown;
use crate::history::views::Screen;
use crate::history::{Fact, Pane, PostFact, Process, Step, Wire};
use crate::scenario::{Condition, SeatState};

/// Something that can be counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Happening {
    Agent(String),
    Answered(String),
    Replied(String),
    Gate(String),
    InputEnded,
    AgentStarted,
    AgentEnded,
    Post(String),
    RunnerEnded,
}

/// The state of one launch. Every fact that is recorded goes through here too.
pub(crate) struct Observed {
    /// What happened, and how often.
    happened: HashMap<Happening, usize>,
    /// How many of a condition's occurrences have been waited for.
    used: HashMap<String, usize>,
    /// Requests to the agent by agent and id, and requests from it.
    asked_agent: HashMap<(u32, String), String>,
    asked_runner: HashMap<(u32, String), String>,
    pub(crate) reading: Option<Reading>,
    pub(crate) screen: Screen,
    shown: Shown,
    /// How often the seat has written to its pane, and how often when the present step began.
    outputs: (u64, u64),
    /// The idle reports since the seat was last anything else.
    pub(crate) idle: IdleReports,
    runtime: String,
}

impl Observed {
    /// `pane_is_awaited`: whether the scenario waits for a text in the pane, which takes remembering.
    pub(crate) fn new(size: (u16, u16), runtime: &str, pane_is_awaited: bool) -> Self {
        let screen = if pane_is_awaited {
            Screen::telling_what_scrolls_away(size)
        } else {
            Screen::new(size)
        };
        Self {
            happened: HashMap::new(),
            used: HashMap::new(),
            asked_agent: HashMap::new(),
            asked_runner: HashMap::new(),
            reading: None,
            screen,
            shown: Shown::default(),
            outputs: (0, 0),
            idle: IdleReports::default(),
            runtime: runtime.to_owned(),
        }
    }

    /// Takes a fact in.
    pub(crate) fn take(&mut self, fact: &Fact) {
        match fact {
            Fact::Pane(Pane::Output { bytes }) => {
                self.screen.feed(&bytes.0);
                self.shown.changed(&mut self.screen);
                self.outputs.0 += 1;
            }
            Fact::Step(Step::Resized { size }) => self.screen.resize(*size),
            Fact::Wire(wire) => self.take_wire(wire),
            Fact::Post(PostFact::Started { body, .. }) => {
                let body = serde_json::from_slice::<Value>(&body.0).unwrap_or_default();
                let field = |name: &str| {
                    body.get(name)
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .to_owned()
                };
                self.idle.take(&body, &self.runtime);
                self.happens(Happening::Post(format!(
                    "{}/{}",
                    field("hookEvent"),
                    field("subtype")
                )));
            }
            Fact::Process(Process::RunnerExited { .. } | Process::RunnerNotStarted { .. }) => {
                self.happens(Happening::RunnerEnded);
            }
            _ => {}
        }
    }

    fn happens(&mut self, what: Happening) {
        *self.happened.entry(what).or_default() += 1;
    }

    fn take_wire(&mut self, wire: &Wire) {
        match wire {
            Wire::AgentStarted { .. } => self.happens(Happening::AgentStarted),
            Wire::AgentEnded { .. } => self.happens(Happening::AgentEnded),
            Wire::EndOfInput { .. } => self.happens(Happening::InputEnded),
            Wire::Gate {
                name, passed: false, ..
            } => self.happens(Happening::Gate(name.clone())),
            Wire::ToAgent { agent, line } => {
                let Ok(message) = serde_json::from_slice::<Value>(&line.0) else {
                    return;
                };
                let id = message.get("id").map(|id| (*agent, id.to_string()));
                match (message.get("method").and_then(Value::as_str), id) {
                    (Some(method), id) => {
                        self.happens(Happening::Agent(method.to_owned()));
                        if let Some(id) = id {
                            self.asked_agent.insert(id, method.to_owned());
                        }
                    }
                    (None, Some(id)) => {
                        if let Some(method) = self.asked_runner.get(&id).cloned() {
                            self.happens(Happening::Replied(method));
                        }
                    }
                    (None, None) => {}
                }
            }
            Wire::FromAgent { agent, line } => {
                let Ok(message) = serde_json::from_slice::<Value>(&line.0) else {
                    return;
                };
                let Some(id) = message.get("id").map(|id| (*agent, id.to_string())) else {
                    return;
                };
                match message.get("method").and_then(Value::as_str) {
                    Some(method) => {
                        self.asked_runner.insert(id, method.to_owned());
                    }
                    None => {
                        if let Some(method) = self.asked_agent.get(&id).cloned() {
                            self.happens(Happening::Answered(method));
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Another step begins.
    pub(crate) fn begin_step(&mut self) {
        self.outputs.1 = self.outputs.0;
    }

    /// Whether an agent was ever started.
    pub(crate) fn agent_started(&self) -> bool {
        self.happened.contains_key(&Happening::AgentStarted)
    }

    /// Whether the runner has ended, or never began.
    pub(crate) fn runner_ended(&self) -> bool {
        self.happened.contains_key(&Happening::RunnerEnded)
    }

    /// Whether the condition holds now. One that counts occurrences uses one up.
    pub(crate) fn meets(&mut self, condition: &Condition) -> bool {
        match condition {
            Condition::Seat(state) => self.reads(*state),
            Condition::Pane(text) => self.shown.holds(&self.screen, text),
            Condition::Output => self.outputs.0 > self.outputs.1,
            Condition::Any(conditions) => conditions.iter().any(|condition| self.meets(condition)),
            counted => {
                let come = self
                    .happened
                    .iter()
                    .filter(|(happening, _)| self.matches(happening, counted))
                    .map(|(_, count)| count)
                    .sum::<usize>();
                let used = self.used.entry(format!("{counted:?}")).or_default();
                let meets = come > *used;
                // Endings stay true: there is nothing to come a second time.
                if meets && !matches!(counted, Condition::RunnerEnded) {
                    *used += 1;
                }
                meets
            }
        }
    }

    fn matches(&self, happening: &Happening, condition: &Condition) -> bool {
        match (happening, condition) {
            (Happening::Agent(come), Condition::Agent(wanted))
            | (Happening::Answered(come), Condition::Answered(wanted))
            | (Happening::Replied(come), Condition::Replied(wanted))
            | (Happening::Gate(come), Condition::Gate(wanted)) => come == wanted,
            (Happening::Post(come), Condition::Post(wanted)) => self.post_matches(come, wanted),
            (Happening::InputEnded, Condition::AgentInputEnded)
            | (Happening::AgentStarted, Condition::AgentStarted)
            | (Happening::AgentEnded, Condition::AgentEnded)
            | (Happening::RunnerEnded, Condition::RunnerEnded) => true,
            _ => false,
        }
    }

    fn post_matches(&self, come: &str, wanted: &str) -> bool {
        match wanted.split_once('/') {
            Some((event, "*")) => come.split_once('/').is_some_and(|(come, _)| come == event),
            Some((event, "_exited")) => come == format!("{event}/{}_exited", self.runtime),
            _ => come == wanted,
        }
    }

    fn reads(&self, state: SeatState) -> bool {
        let Some(reading) = self.reading else { return false };
        match state {
            SeatState::Ready => reading.launch == LaunchReading::Ready,
            SeatState::Resumed => reading.launch == LaunchReading::Resumed,
            SeatState::Missing => reading.launch == LaunchReading::Missing,
            SeatState::Working => reading.activity == ActivityReading::Working,
            SeatState::Idle => reading.activity == ActivityReading::Idle,
            SeatState::NeedsInput => reading.activity == ActivityReading::NeedsInput,
            SeatState::Exited => reading.activity == ActivityReading::Exited,
        }
    }
}

/// The reading in words.
pub(crate) fn in_words(reading: Reading) -> crate::history::Reading {
    crate::history::Reading {
        launch: reading.launch.as_str().into(),
        activity: reading.activity.as_str().into(),
    }
}
