//! One scenario's history, judged by every clause.

use std::collections::BTreeMap;

use reports::{FindingReport, ScenarioReport};

use crate::contract::declaration::Reopened;
use crate::contract::{self, ClauseSet, Finding};
use crate::history::views::{RecordVersion, Views, in_words, milliseconds};
use crate::history::{Event, Fact, History, Lane, Step, Wire};

/// One scenario, judged.
#[derive(Debug, Clone)]
pub struct Judged {
    /// What goes into the report.
    pub report: ScenarioReport,
    /// The clauses it said it exercises.
    pub exercises: Vec<String>,
    /// It was ended early from outside.
    pub cut_off: bool,
    /// An agent was started.
    pub agent_started: bool,
    /// What the runner's record names as its producer.
    pub producer: Option<String>,
    /// The runner that could not be started, and why.
    pub not_started: Option<String>,
    /// What its history shows of reopening conversations.
    pub(crate) reopened: Reopened,
}

/// What is known of one scenario that was run, beside its history.
#[derive(Debug, Clone)]
pub struct ScenarioFacts<'s> {
    /// Its id.
    pub id: &'s str,
    /// What it shows.
    pub title: &'s str,
    /// The clauses it says it exercises.
    pub exercises: &'s [String],
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// A fault of the kit that the engine saw; with one, nothing is judged.
    pub fault: Option<String>,
    /// It was ended early from outside.
    pub cut_off: bool,
}

/// Judges a history by the clauses of `contract`.
#[must_use]
pub fn judge(contract: &ClauseSet, facts: ScenarioFacts<'_>, history: Option<&History>) -> Judged {
    let ScenarioFacts {
        id,
        title,
        exercises,
        took_ms,
        fault,
        cut_off,
    } = facts;
    let empty: Vec<Event> = Vec::new();
    let events = history.map_or(&empty, |history| &history.events);
    let stopped = events.iter().find_map(|event| match &event.fact {
        Fact::Step(Step::TimedOut {
            what,
            limit_ms,
            cut_short,
            screen,
        }) => {
            let why = cut_short.as_ref().map_or(String::new(), |why| format!(": {why}"));
            Some((format!("waited {limit_ms} ms for {what}{why}"), screen.clone()))
        }
        _ => None,
    });
    let fault = fault.or_else(|| {
        events.iter().find_map(|event| match &event.fact {
            Fact::Wire(Wire::Trouble { text, .. }) => {
                Some(format!("the agent's script could not be carried out: {text}"))
            }
            _ => None,
        })
    });
    let mut findings = Vec::new();
    let mut producer = None;
    let mut reopened = Reopened::default();
    let mut agent_started = false;
    if let Some(history) = history {
        let views = Views::new(history);
        agent_started = views.launches.iter().any(|launch| !launch.agents.is_empty());
        producer = views
            .launches
            .iter()
            .flat_map(|launch| {
                launch
                    .records
                    .iter()
                    .filter(|record| record.is_of(&launch.facts.attempt))
            })
            .find_map(|record: &RecordVersion<'_>| record.field("producer").map(str::to_owned));
        if fault.is_none() {
            reopened = contract::reopened(&views);
            findings = contract
                .clauses()
                .filter(|clause| !clause.is_about_the_preset())
                .filter_map(|clause| finding_report(clause.id, (clause.judge)(&views), exercises))
                .collect();
        }
    }
    let completed = history.is_some() && stopped.is_none() && fault.is_none() && !cut_off;
    let stopped_early = stopped.is_some();
    let (stopped_at, screen) = stopped.map_or((None, Vec::new()), |(what, screen)| (Some(what), screen));
    Judged {
        report: ScenarioReport {
            id: id.to_owned(),
            title: title.to_owned(),
            took_ms,
            completed,
            stopped_at,
            screen,
            last_events: if stopped_early {
                last_events(events)
            } else {
                Vec::new()
            },
            fault,
            findings,
        },
        exercises: exercises.to_vec(),
        cut_off,
        agent_started,
        producer,
        reopened,
        not_started: events.iter().find_map(|event| match &event.fact {
            Fact::Process(crate::history::Process::RunnerNotStarted { why }) => Some(why.clone()),
            _ => None,
        }),
    }
}

/// The last events of every lane before the wait that was in vain ended.
fn last_events(events: &[Event]) -> Vec<String> {
    const OF_A_LANE: usize = 3;
    let mut seen: BTreeMap<Lane, usize> = BTreeMap::new();
    let before = events
        .iter()
        .rev()
        .skip_while(|event| !matches!(event.fact, Fact::Step(Step::TimedOut { .. })));
    let mut last: Vec<&Event> = before
        .filter(|event| {
            let count = seen.entry(event.lane()).or_default();
            *count += 1;
            *count <= OF_A_LANE
        })
        .collect();
    last.reverse();
    last.into_iter()
        .map(|event| {
            format!(
                "{} at {}: {}",
                event.sequence,
                milliseconds(event.at),
                in_words(event)
            )
        })
        .collect()
}

fn finding_report(clause: &str, finding: Finding, exercises: &[String]) -> Option<FindingReport> {
    let (word, decided) = match finding {
        Finding::Held(decided) => ("held", decided),
        Finding::Broken(decided) => ("broken", decided),
        Finding::Inconclusive(decided) => ("inconclusive", decided),
        Finding::NotApplicable(decided) => ("not-applicable", decided),
        Finding::NotExercised => {
            return exercises.iter().any(|id| id == clause).then(|| FindingReport {
                clause: clause.to_owned(),
                finding: "not-exercised".into(),
                said: "nothing in this history puts it to the test".into(),
                events: Vec::new(),
            });
        }
    };
    Some(FindingReport {
        clause: clause.to_owned(),
        finding: word.into(),
        said: decided.said,
        events: decided.events,
    })
}
