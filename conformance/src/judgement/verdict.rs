//! Clause by clause over a whole run.

use reports::{ClauseReport, FindingReport, Verdict};

use super::{Judged, RunFacts};
use crate::contract::{self, Clause, Level};

pub(super) fn clauses(facts: &RunFacts, judged: &[Judged]) -> Vec<ClauseReport> {
    contract::clauses()
        .map(|clause| over_run(clause, facts, judged))
        .collect()
}

fn over_run(clause: &Clause, facts: &RunFacts, judged: &[Judged]) -> ClauseReport {
    let find = |word: &str| {
        judged.iter().find_map(|judged| {
            let finding = judged
                .report
                .findings
                .iter()
                .find(|found| found.clause == clause.id && found.finding == word)?;
            Some((judged, finding))
        })
    };
    let exercising = || {
        judged
            .iter()
            .filter(|judged| judged.exercises.iter().any(|id| id == clause.id))
    };
    let selected = facts
        .selected
        .as_ref()
        .is_none_or(|selected| selected.iter().any(|id| id == clause.id));
    let decide = |verdict, found: Option<(&Judged, &FindingReport)>| make(clause, verdict, found);

    if let Some(found) = find("broken") {
        let verdict = match clause.level {
            Level::Must => Verdict::Fail,
            Level::Should => Verdict::Warning,
            Level::Info => Verdict::Note,
        };
        return decide(verdict, Some(found));
    }
    if let Some(undeclared) = undeclared(clause, facts) {
        return ClauseReport {
            said: Some(undeclared),
            ..decide(Verdict::NotApplicable, None)
        };
    }
    if !selected {
        return ClauseReport {
            said: left_out(clause, facts),
            ..decide(Verdict::NotSelected, None)
        };
    }
    if let Some(found) = find("held") {
        return decide(Verdict::Pass, Some(found));
    }
    if let Some(found) = find("inconclusive") {
        return decide(Verdict::Inconclusive, Some(found));
    }
    if let Some(faulty) = exercising().find(|judged| judged.report.fault.is_some()) {
        let said = format!(
            "{}: {}",
            faulty.report.id,
            faulty.report.fault.clone().unwrap_or_default()
        );
        return ClauseReport {
            said: Some(said),
            ..decide(Verdict::HarnessError, None)
        };
    }
    if let Some(found) = find("not-applicable") {
        return decide(Verdict::NotApplicable, Some(found));
    }
    // A scenario that went its whole way, with nothing broken in it, and still did not put its clause to the test:
    // that is the scenario's fault, not the runner's.
    let vacuous = exercising().find(|judged| {
        judged.report.completed
            && !judged
                .report
                .findings
                .iter()
                .any(|finding| finding.finding == "broken")
    });
    if let Some(vacuous) = vacuous {
        let said = format!(
            "{} went its whole way and did not put it to the test",
            vacuous.report.id
        );
        return ClauseReport {
            said: Some(said),
            ..decide(Verdict::HarnessError, None)
        };
    }
    let said = exercising().find_map(|judged| {
        judged
            .report
            .stopped_at
            .as_ref()
            .map(|stopped_at| format!("{}: {stopped_at}", judged.report.id))
    });
    ClauseReport {
        said,
        ..decide(Verdict::NotExercised, None)
    }
}

/// Which scenario would have put the clause to the test, and why it can't by this transport.
fn left_out(clause: &Clause, facts: &RunFacts) -> Option<String> {
    facts
        .left_out
        .iter()
        .find(|scenario| scenario.exercises.iter().any(|id| id == clause.id))
        .map(|scenario| {
            format!(
                "{} can't be done by {}: {}",
                scenario.id, facts.transport, scenario.why
            )
        })
}

/// Why the clause can't concern a runner that does not declare what it hangs on.
fn undeclared(clause: &Clause, facts: &RunFacts) -> Option<String> {
    (clause.group() == "resume" && !facts.claims.resume)
        .then(|| "the runner does not declare resume".to_owned())
}

fn make(clause: &Clause, verdict: Verdict, found: Option<(&Judged, &FindingReport)>) -> ClauseReport {
    ClauseReport {
        id: clause.id.into(),
        level: clause.level.as_str().into(),
        basis: clause.basis.into(),
        text: clause.text.into(),
        verdict,
        said: found.map(|(_, finding)| finding.said.clone()),
        scenario: found.map(|(judged, _)| judged.report.id.clone()),
        events: found.map_or_else(Vec::new, |(_, finding)| finding.events.clone()),
    }
}
