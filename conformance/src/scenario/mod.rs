//! A scenario: a scripted agent and what is done to one seat. Data only; it asserts nothing.

mod condition;
mod large_text;
mod library;
mod load;
mod step;
mod transport;

use std::collections::BTreeMap;
use std::time::Duration;

use fake_agent::script::{Delay, Script};
use serde::Deserialize;

pub use condition::{Condition, SeatState};
pub use large_text::LargeText;
pub use library::{Library, LibraryError};
pub use load::{ScenarioError, load};
pub use step::{
    EndpointFault, EndpointTold, IdleThrough, Launch, Linger, Pieces, Resume, Send, Size, Step, StopBy,
};
pub use transport::Transport;

/// A scenario, checked: what it names exists.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file's path within its library without the ending: `cancel/ignored`.
    pub id: String,
    /// What it shows, in a sentence.
    pub title: String,
    /// The kind of fault that it catches.
    pub why: String,
    /// Public reports of that kind.
    pub seen: Vec<String>,
    /// Clauses that it must put to the test.
    pub exercises: Vec<String>,
    /// What the runner must have declared for it to make sense.
    pub needs: Vec<Need>,
    /// What is awaited here may rightly take so long: the patience is never less.
    pub patience: Option<Delay>,
    /// The only way to the seat by which it makes sense, whatever the run's is: `pipe` for what is about a missing terminal.
    pub transport: Option<Transport>,
    /// Ways to the seat by which it can't be done, each with its reason: its clauses are judged elsewhere.
    pub not_on: BTreeMap<Transport, String>,
    /// The agent for launches that name none.
    pub agent: Script,
    /// Other agents, by name.
    pub agents: BTreeMap<String, Script>,
    /// What is done, in order.
    pub steps: Vec<Step>,
}

/// Something that a runner declares and need not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// `resume: true`.
    Resume,
    /// `first_input: true`.
    FirstInput,
    /// `passes_model: true`.
    PassesModel,
}

impl Need {
    /// The field of the preset.
    #[must_use]
    pub fn field(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::FirstInput => "first_input",
            Self::PassesModel => "passes_model",
        }
    }
}

impl Scenario {
    /// The script of the agent with that name; the default one for `None`.
    #[must_use]
    pub fn script(&self, name: Option<&str>) -> &Script {
        name.and_then(|name| self.agents.get(name)).unwrap_or(&self.agent)
    }

    /// How long it takes at the least: its quiet windows, and OpenRig's pause before each Enter.
    #[must_use]
    pub fn least_time(&self) -> Duration {
        let of_step = |step: &Step| match step {
            Step::Quiet(delay) => delay.duration(),
            Step::Send(_) | Step::SendRaw(_) => fake_openrig::send::ENTER_DELAY,
            _ => Duration::ZERO,
        };
        self.steps.iter().map(of_step).sum()
    }

    /// Whether it is one of the six steps of the promotion journey.
    #[must_use]
    pub fn is_promotion(&self) -> bool {
        self.id.starts_with("promotion/")
    }

    /// Whether it waits for a text in the pane.
    pub(crate) fn awaits_pane(&self) -> bool {
        fn of(condition: &Condition) -> bool {
            match condition {
                Condition::Pane(_) => true,
                Condition::Any(conditions) => conditions.iter().any(of),
                _ => false,
            }
        }
        self.steps
            .iter()
            .any(|step| matches!(step, Step::Until(condition) if of(condition)))
    }
}
