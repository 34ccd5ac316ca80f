//! The six steps of the promotion journey.

use reports::{PromotionStep, Verdict};

use super::{Judged, RunFacts};
use crate::contract::{ClauseSet, Level};

/// The steps as the draft's §10 names them.
const STEPS: [&str; 6] = [
    "a seat starts and reads ready only after the handshake",
    "one multi-line message becomes one prompt",
    "the seat reads working, then idle",
    "a refused permission reads needs input",
    "/abort ends a turn as cancelled",
    "a resume reopens the same conversation, and a missing one is refused, never replaced",
];

/// The steps that were run, in order; none if none was.
pub(super) fn steps(contract: &ClauseSet, facts: &RunFacts, judged: &[Judged]) -> Vec<PromotionStep> {
    let mut steps = Vec::new();
    for (number, title) in (1..).zip(STEPS) {
        let prefix = format!("promotion/{number}-");
        let scenarios: Vec<&Judged> = judged
            .iter()
            .filter(|judged| judged.report.id.starts_with(&prefix))
            .collect();
        if scenarios.is_empty() {
            if number == 6 && !facts.claims.resume && !steps.is_empty() {
                steps.push(PromotionStep {
                    step: number,
                    title: title.into(),
                    verdict: Verdict::NotApplicable,
                    scenario: String::new(),
                    said: Some("the runner does not declare resume".into()),
                });
            }
            continue;
        }
        let worst = scenarios
            .iter()
            .map(|scenario| (verdict(contract, scenario), scenario))
            .min_by_key(|((verdict, _), _)| *verdict);
        if let Some(((verdict, said), scenario)) = worst {
            steps.push(PromotionStep {
                step: number,
                title: title.into(),
                verdict,
                scenario: scenario.report.id.clone(),
                said,
            });
        }
    }
    steps
}

/// A step passes when its scenario went its whole way, put all its clauses to the test, and no must was broken.
fn verdict(contract: &ClauseSet, judged: &Judged) -> (Verdict, Option<String>) {
    let report = &judged.report;
    let broken = report.findings.iter().find(|finding| {
        finding.finding == "broken"
            && contract
                .clause(&finding.clause)
                .is_some_and(|clause| clause.level == Level::Must)
    });
    if let Some(broken) = broken {
        return (Verdict::Fail, Some(format!("{}: {}", broken.clause, broken.said)));
    }
    if let Some(fault) = &report.fault {
        return (Verdict::HarnessError, Some(fault.clone()));
    }
    if !report.completed {
        let said = report
            .stopped_at
            .clone()
            .unwrap_or_else(|| "it was ended early".into());
        return (Verdict::NotExercised, Some(said));
    }
    let unproven = report.findings.iter().find(|finding| {
        judged.exercises.contains(&finding.clause)
            && matches!(&*finding.finding, "not-exercised" | "inconclusive")
    });
    match unproven {
        Some(unproven) => (
            Verdict::Inconclusive,
            Some(format!("{}: {}", unproven.clause, unproven.said)),
        ),
        None => (Verdict::Pass, None),
    }
}
