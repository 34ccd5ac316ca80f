//! One page that holds everything and loads nothing: it works from a file, and prints.
//!
//! The page is written whole, so that it can be read without a script; the script filters, and draws a scenario's
//! timeline when it is opened, so that two hundred scenarios cost nothing until then. What strangers wrote reaches the
//! page as escaped text, and the drawing as data that the script only ever sets as text.

mod data;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::{ClauseReport, FindingReport, Outcome, Report, ScenarioReport, Timeline, Verdict};

const STYLE: &str = include_str!("../../templates/report.css");
const SCRIPT: &str = include_str!("../../templates/report.js");

/// A page that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum HtmlError {
    /// The template refused.
    #[error("the page can't be written: {0}")]
    Template(#[from] askama::Error),
    /// The data could not be written as JSON.
    #[error("the page's data can't be written: {0}")]
    Data(#[from] serde_json::Error),
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    report: &'a Report,
    style: &'a str,
    script: &'a str,
    policy: String,
    data: String,
    counts: Vec<Count>,
    problems: Vec<Problem<'a>>,
    unproven: Vec<&'a ClauseReport>,
    groups: Vec<&'a str>,
    verdicts: Vec<&'static str>,
    scenarios: Vec<Heading<'a>>,
}

/// How many clauses came to something.
struct Count {
    name: &'static str,
    class: &'static str,
    count: usize,
    /// What it means, for those who see the word for the first time.
    meaning: &'static str,
}

/// A clause that was broken, wherever it was.
struct Problem<'a> {
    clause: &'a ClauseReport,
    seen: Vec<(usize, &'a ScenarioReport, &'a FindingReport)>,
}

/// A scenario's line, before it is opened.
struct Heading<'a> {
    index: usize,
    scenario: &'a ScenarioReport,
    came_to: &'static str,
}

/// The whole page. Scenarios without a timeline show their findings alone.
///
/// # Errors
/// When the page or its data can't be written; nothing a stranger wrote brings that about.
pub fn html(report: &Report, timelines: &[Timeline]) -> Result<String, HtmlError> {
    let page = Page {
        report,
        style: STYLE,
        script: SCRIPT,
        policy: policy(),
        data: data::json(report, timelines)?,
        counts: counts(report),
        problems: problems(report),
        unproven: unproven(report),
        groups: groups(report),
        verdicts: verdicts(report),
        scenarios: report.scenarios.iter().enumerate().map(heading).collect(),
    };
    Ok(page.render()?)
}

/// Nothing may be loaded, and nothing run but our own style and script, which are named by their hashes.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn counts(report: &Report) -> Vec<Count> {
    let count = |verdicts: &[Verdict]| {
        report
            .clauses
            .iter()
            .filter(|clause| verdicts.contains(&clause.verdict))
            .count()
    };
    vec![
        Count {
            name: "passed",
            class: "pass",
            count: count(&[Verdict::Pass]),
            meaning: "held somewhere, broken nowhere",
        },
        Count {
            name: "failed",
            class: "fail",
            count: count(&[Verdict::Fail]),
            meaning: "a must was broken",
        },
        Count {
            name: "warnings and notes",
            class: "warning",
            count: count(&[Verdict::Warning, Verdict::Note]),
            meaning: "a should or an info was broken",
        },
        Count {
            name: "not checked",
            class: "unproven",
            count: count(&[
                Verdict::NotExercised,
                Verdict::Inconclusive,
                Verdict::HarnessError,
                Verdict::NotSelected,
            ]),
            meaning: "nothing is known of them",
        },
        Count {
            name: "do not apply",
            class: "other",
            count: count(&[Verdict::NotApplicable]),
            meaning: "proved not to concern this runner",
        },
    ]
}

fn problems(report: &Report) -> Vec<Problem<'_>> {
    report
        .clauses
        .iter()
        .filter(|clause| matches!(clause.verdict, Verdict::Fail | Verdict::Warning | Verdict::Note))
        .map(|clause| Problem {
            clause,
            seen: report
                .scenarios
                .iter()
                .enumerate()
                .flat_map(|(index, scenario)| {
                    scenario
                        .findings
                        .iter()
                        .filter(|finding| finding.clause == clause.id && finding.finding == "broken")
                        .map(move |finding| (index, scenario, finding))
                })
                .collect(),
        })
        .collect()
}

fn unproven(report: &Report) -> Vec<&ClauseReport> {
    report
        .clauses
        .iter()
        .filter(|clause| {
            matches!(
                clause.verdict,
                Verdict::NotExercised | Verdict::Inconclusive | Verdict::HarnessError | Verdict::NotSelected
            )
        })
        .collect()
}

fn groups(report: &Report) -> Vec<&str> {
    let mut groups: Vec<&str> = report.clauses.iter().map(group).collect();
    groups.dedup();
    groups
}

fn group(clause: &ClauseReport) -> &str {
    clause.id.split('.').next().unwrap_or_default()
}

fn verdicts(report: &Report) -> Vec<&'static str> {
    let mut verdicts: Vec<Verdict> = report.clauses.iter().map(|clause| clause.verdict).collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    verdicts.into_iter().map(Verdict::as_str).collect()
}

fn heading((index, scenario): (usize, &ScenarioReport)) -> Heading<'_> {
    let came_to = if scenario.fault.is_some() {
        "harness error"
    } else if scenario
        .findings
        .iter()
        .any(|finding| finding.finding == "broken")
    {
        "broken"
    } else if scenario.completed {
        "completed"
    } else {
        "not completed"
    };
    Heading {
        index,
        scenario,
        came_to,
    }
}

/// The class that colours a verdict. The word always stands beside the colour.
fn class(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Warning | Verdict::Note => "warning",
        Verdict::NotExercised | Verdict::Inconclusive | Verdict::HarnessError | Verdict::NotSelected => {
            "unproven"
        }
        Verdict::NotApplicable => "other",
    }
}

fn outcome_class(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Conformant => "pass",
        Outcome::NotConformant => "fail",
        Outcome::Inconclusive => "unproven",
    }
}

/// Event numbers as the script reads them.
fn numbers(events: &[u64]) -> String {
    events.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

/// Which scenario decided the clause.
fn index_of(report: &Report, clause: &ClauseReport) -> Option<usize> {
    let id = clause.scenario.as_ref()?;
    report.scenarios.iter().position(|scenario| scenario.id == *id)
}

#[cfg(test)]
mod tests;
