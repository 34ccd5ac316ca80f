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
    /// Where the history is not whole, in words.
    pub cut: Option<String>,
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
        let whole = history.before_the_cut();
        let views = Views::new(whole.as_ref().unwrap_or(history));
        let cut_lanes = history.cut_lanes();
        let of_the_end = (!cut_lanes.is_empty()).then(|| Views::new(history));
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
                .filter_map(|clause| {
                    let finding = match &of_the_end {
                        None => (clause.judge)(&views),
                        Some(of_the_end) if does_not_read(clause.id, &cut_lanes) => {
                            (clause.judge)(of_the_end)
                        }
                        Some(_) => until_the_cut((clause.judge)(&views), &cut_lanes),
                    };
                    finding_report(clause.id, finding, exercises)
                })
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
        cut: history
            .and_then(History::first_cut)
            .map(|cut| format!("event {}: {}", cut.sequence, in_words(cut))),
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

/// Whether the clause's judge reads none of these lanes. How a seat ends shows in its processes, the wire and the steps,
/// and matters most for a seat that behaves badly otherwise.
fn does_not_read(clause: &str, lanes: &[Lane]) -> bool {
    const OF_THE_END: [&str; 4] = [
        "shutdown.hangup",
        "shutdown.terminate",
        "shutdown.no-orphans",
        "shutdown.survivors-declared",
    ];
    OF_THE_END.contains(&clause)
        && lanes
            .iter()
            .all(|lane| matches!(lane, Lane::Pane | Lane::Post | Lane::Record | Lane::Reading))
}

/// What can be said of a clause where the history is not whole: nothing is known of what came after, so nothing is kept
/// for certain, and what was broken before stays broken. But a flooded wire holds the agent itself up, and then how its
/// lines stand to everything else proves nothing.
fn until_the_cut(finding: Finding, lanes: &[Lane]) -> Finding {
    match finding {
        Finding::Broken(decided) if !lanes.contains(&Lane::Wire) => Finding::Broken(decided),
        Finding::Held(mut decided) | Finding::NotApplicable(mut decided) | Finding::Broken(mut decided) => {
            decided.said += "; more came than is kept, so this is not certain";
            Finding::Inconclusive(decided)
        }
        other => other,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::history_builder::HistoryBuilder;
    use crate::history::{Cut, PostFact};

    fn opened() -> HistoryBuilder {
        HistoryBuilder::launched().opened()
    }

    fn with_wrong_harness(history: HistoryBuilder) -> HistoryBuilder {
        history.record_with(|record| record["harness"] = "acp".into())
    }

    fn cut(history: HistoryBuilder, lane: Lane) -> HistoryBuilder {
        history.fact(Fact::Cut(Cut {
            lane,
            events: 1,
            bytes: 1,
            until: 0,
        }))
    }

    fn judged(history: &HistoryBuilder) -> Judged {
        let history = history.clone().watch_seconds(10).stopping().history();
        let facts = ScenarioFacts {
            id: "a/b",
            title: "",
            exercises: &[],
            took_ms: 0,
            fault: None,
            cut_off: false,
        };
        judge(ClauseSet::usual(), facts, Some(&history))
    }

    fn found(judged: &Judged, word: &str) -> Vec<String> {
        let findings = judged.report.findings.iter();
        findings
            .filter(|finding| finding.finding == word)
            .map(|finding| finding.clause.clone())
            .collect()
    }

    #[test]
    fn nothing_is_kept_for_certain_where_the_evidence_was_cut() {
        let ready = HistoryBuilder::ready();
        assert!(!found(&judged(&ready), "held").is_empty());
        for lane in [Lane::Pane, Lane::Wire, Lane::Post, Lane::Record, Lane::Process] {
            let judged = judged(&cut(ready.clone(), lane));
            assert_eq!(found(&judged, "held"), Vec::<String>::new());
            assert_eq!(found(&judged, "broken"), Vec::<String>::new());
            assert!(found(&judged, "inconclusive").contains(&"identity.harness-exact".to_owned()));
            assert!(judged.cut.is_some());
        }
        let flooded = ready.fact(Fact::Post(PostFact::Flooded { count: 1 }));
        assert_eq!(found(&judged(&flooded), "held"), Vec::<String>::new());
    }

    #[test]
    fn what_was_broken_before_stays_broken_unless_the_agent_was_held_up() {
        let broken = |lane| found(&judged(&cut(with_wrong_harness(opened()), lane)), "broken");
        assert!(broken(Lane::Pane).contains(&"identity.harness-exact".to_owned()));
        assert_eq!(broken(Lane::Wire), Vec::<String>::new());
    }

    #[test]
    fn nothing_that_came_later_is_judged() {
        let later = with_wrong_harness(cut(opened(), Lane::Post));
        assert_eq!(found(&judged(&later), "broken"), Vec::<String>::new());
    }
}
