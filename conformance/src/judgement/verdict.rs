//! Clause by clause over a whole run.

use reports::{ClauseReport, FindingReport, Verdict};

use super::{Judged, RunFacts, declaration};
use crate::contract::{Clause, ClauseSet, Level};

pub(super) fn clauses(contract: &ClauseSet, facts: &RunFacts, judged: &[Judged]) -> Vec<ClauseReport> {
    let about_the_preset = declaration::clauses(contract, facts, judged);
    let others = contract
        .clauses()
        .filter(|clause| !clause.is_about_the_preset())
        .map(|clause| over_run(clause, facts, judged));
    about_the_preset.into_iter().chain(others).collect()
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
        return decide(broken(clause.level), Some(found));
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

/// What a broken clause of this level comes to.
pub(super) fn broken(level: Level) -> Verdict {
    match level {
        Level::Must => Verdict::Fail,
        Level::Should => Verdict::Warning,
        Level::Info => Verdict::Note,
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

/// Why the clause can't concern a runner that does not declare what it hangs on: the preset's own word, or what was
/// said on the command line in its place.
fn undeclared(clause: &Clause, facts: &RunFacts) -> Option<String> {
    let claims = &facts.claims;
    let (field, declared) = match (clause.group(), clause.id) {
        ("resume", _) => ("resume", claims.resume),
        (_, "handoff.first-input") => ("first_input", claims.first_input),
        (_, "handoff.first-input-not-on-resume") if claims.first_input => ("resume", claims.resume),
        (_, "handoff.first-input-not-on-resume") => ("first_input", false),
        (_, "handoff.model" | "handoff.model-unapplied") => ("passes_model", claims.passes_model),
        _ => return None,
    };
    (!declared).then(|| match &facts.preset {
        Some(preset) => format!("{} does not declare {field}", preset.file),
        None => format!(
            "it is not claimed that the runner declares {field} (--{})",
            field.replace('_', "-")
        ),
    })
}

pub(super) fn make(
    clause: &Clause,
    verdict: Verdict,
    found: Option<(&Judged, &FindingReport)>,
) -> ClauseReport {
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
