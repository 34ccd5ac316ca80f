//! The report: what was run, what was found, what it comes to.

use serde::{Deserialize, Serialize};

/// The format of `report.json`: name and major version.
pub const SCHEMA: &str = "seatcheck-report/1";

/// What a report is, and is not.
pub const STATEMENT: &str = "compatibility evidence for the versions named, not certification";

/// One run of one runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// What it all comes to.
    pub outcome: Outcome,
    /// Why, in sentences; empty when there is nothing to say against it.
    pub reasons: Vec<String>,
    /// [`STATEMENT`].
    pub statement: String,
    /// The name of the clause set.
    pub contract: String,
    /// The program that judged.
    pub kit: Kit,
    /// The runner that was judged.
    pub runner: RunnerReport,
    /// How the seats were reached: `pty`, `tmux` or `pipe`. Scenarios about a missing terminal always use pipes.
    pub transport: String,
    /// What was selected, where it was not everything.
    pub part: Option<String>,
    /// Scenarios that can't be done by this transport.
    pub left_out: Vec<LeftOut>,
    /// The promotion journey.
    pub promotion: Vec<PromotionStep>,
    /// Clause by clause, in the contract's order.
    pub clauses: Vec<ClauseReport>,
    /// Scenario by scenario.
    pub scenarios: Vec<ScenarioReport>,
}

/// A scenario that was left out because the transport can't do it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The scenario.
    pub scenario: String,
    /// Why it can't be done.
    pub why: String,
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kit {
    /// `seatcheck`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The runner under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerReport {
    /// The preset's name.
    pub name: String,
    /// The command it was started with.
    pub command: String,
    /// What it answered when it was asked for its version, as its profile says how.
    pub version: Option<String>,
    /// Answers of its agent that were taken for "there is no such conversation" because its profile says so, as JSON.
    pub pinned_missing: Vec<String>,
    /// What its launch records name as their producer: the versions this report is about.
    pub producer: Option<String>,
    /// What was claimed of it.
    pub claims: Claims,
}

/// What a runner declares and need not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// `resume: true`.
    pub resume: bool,
    /// `first_input: true`.
    pub first_input: bool,
    /// `passes_model: true`.
    pub passes_model: bool,
}

/// What a run comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Every must was put to the test or is proved not to apply, and none was broken.
    Conformant,
    /// A must was broken.
    NotConformant,
    /// Neither can be said.
    Inconclusive,
}

impl Outcome {
    /// The word, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conformant => "conformant",
            Self::NotConformant => "not conformant",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// What is said of a clause over a whole run, or of a promotion step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A must was broken.
    Fail,
    /// The kit itself failed where it mattered.
    HarnessError,
    /// Put to the test, and what happened can't be known.
    Inconclusive,
    /// Never put to the test.
    NotExercised,
    /// A should was broken.
    Warning,
    /// An info was broken.
    Note,
    /// Held somewhere, broken nowhere.
    Pass,
    /// Proved not to concern this runner.
    NotApplicable,
    /// Not part of what was run.
    NotSelected,
}

impl Verdict {
    /// The word, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::HarnessError => "harness-error",
            Self::Inconclusive => "inconclusive",
            Self::NotExercised => "not-exercised",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::Pass => "pass",
            Self::NotApplicable => "not-applicable",
            Self::NotSelected => "not-selected",
        }
    }
}

/// One of the six steps of the promotion journey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromotionStep {
    /// 1 to 6.
    pub step: u32,
    /// What it shows.
    pub title: String,
    /// Whether it showed it.
    pub verdict: Verdict,
    /// The scenario that shows it.
    pub scenario: String,
    /// Why it did not pass.
    pub said: Option<String>,
}

/// One clause over the whole run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClauseReport {
    /// `group.name`.
    pub id: String,
    /// `must`, `should` or `info`.
    pub level: String,
    /// Where it comes from.
    pub basis: String,
    /// The clause.
    pub text: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What decided it.
    pub said: Option<String>,
    /// The scenario that decided it.
    pub scenario: Option<String>,
    /// The deciding events of that scenario's history.
    pub events: Vec<u64>,
}

/// One scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioReport {
    /// Its id.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Every step was done.
    pub completed: bool,
    /// What was awaited when it went no further.
    pub stopped_at: Option<String>,
    /// The screen at that moment.
    pub screen: Vec<String>,
    /// The last events of every lane at that moment, in words.
    pub last_events: Vec<String>,
    /// A fault of the kit or of the scenario.
    pub fault: Option<String>,
    /// What was found in its history; clauses it has nothing to say about are left out.
    pub findings: Vec<FindingReport>,
}

/// What one history says of one clause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingReport {
    /// The clause's id.
    pub clause: String,
    /// `held`, `broken`, `not-exercised`, `not-applicable` or `inconclusive`.
    pub finding: String,
    /// What was seen.
    pub said: String,
    /// The deciding events: sequence numbers in the scenario's history.
    pub events: Vec<u64>,
}
