//! What a run comes to, and why: the one place where "conformant" is decided.

use reports::{ClauseReport, Outcome, Verdict};

use super::{Judged, RunFacts};

pub(super) fn outcome(
    facts: &RunFacts,
    judged: &[Judged],
    clauses: &[ClauseReport],
) -> (Outcome, Vec<String>) {
    let mut reasons = Vec::new();
    let failed = named(clauses, Verdict::Fail, "must");
    if !failed.is_empty() {
        reasons.push(format!("broken: {}", failed.join(", ")));
    }
    let mut doubts = doubts(facts, judged, clauses);
    let outcome = if !failed.is_empty() {
        Outcome::NotConformant
    } else if doubts.is_empty() {
        Outcome::Conformant
    } else {
        Outcome::Inconclusive
    };
    reasons.append(&mut doubts);
    (outcome, reasons)
}

/// Everything that keeps a run without a broken must from being called conformant.
fn doubts(facts: &RunFacts, judged: &[Judged], clauses: &[ClauseReport]) -> Vec<String> {
    let mut doubts = Vec::new();
    if facts.interrupted {
        doubts.push("the run was interrupted: this report is partial".to_owned());
    }
    for judged in judged {
        if let Some(cut) = &judged.cut {
            doubts.push(format!("{}: the evidence was cut at {cut}", judged.report.id));
        }
    }
    for judged in judged {
        if let Some(fault) = &judged.report.fault {
            doubts.push(format!("{}: {fault}", judged.report.id));
        }
    }
    if let Some(why) = judged.iter().find_map(|judged| judged.not_started.as_ref()) {
        doubts.push(format!(
            "the runner was not started: {why}; is the program's name right, and is it executable?"
        ));
    } else if !judged.is_empty() && !judged.iter().any(|judged| judged.agent_started) {
        doubts.push(format!(
            "no agent was ever started, so little could be judged; {} stood first on PATH: if the runner starts \
             another name, pass --agent-name NAME, or put {{agent}} where its command takes the agent's path",
            facts.agent_names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ));
        return doubts;
    }
    for (verdict, words) in [
        (Verdict::HarnessError, "the kit itself failed on"),
        (Verdict::NotExercised, "never put to the test:"),
        (Verdict::Inconclusive, "could not be decided:"),
    ] {
        let named = named(clauses, verdict, "must");
        if !named.is_empty() {
            doubts.push(format!("{words} {}", named.join(", ")));
        }
    }
    for judged in judged {
        let report = &judged.report;
        let explained = report.findings.iter().any(|finding| finding.finding == "broken");
        if let Some(stopped_at) = &report.stopped_at
            && !explained
        {
            doubts.push(format!("{} {stopped_at}, and no clause explains it", report.id));
        }
    }
    if !facts.interrupted && judged.iter().any(|judged| judged.cut_off) {
        doubts.push("some scenarios were not run to their end".to_owned());
    }
    doubts
}

fn named(clauses: &[ClauseReport], verdict: Verdict, level: &str) -> Vec<String> {
    clauses
        .iter()
        .filter(|clause| clause.verdict == verdict && clause.level == level)
        .map(|clause| clause.id.clone())
        .collect()
}
