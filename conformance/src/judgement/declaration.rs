//! The clauses about the preset: judged once, by its text and by what the whole run showed.

use reports::{ClauseReport, Verdict};

use super::verdict::{broken, make};
use super::{Judged, RunFacts};
use crate::contract::declaration::{Declaration, DeclarationClause, DeclarationFinding};
use crate::contract::{ClauseSet, Finding, PresetText};

pub(super) fn clauses(contract: &ClauseSet, facts: &RunFacts, judged: &[Judged]) -> Vec<ClauseReport> {
    let reopened = judged
        .iter()
        .map(|judged| (judged.report.id.as_str(), &judged.reopened))
        .collect();
    let declaration = facts
        .preset
        .as_ref()
        .map(|preset| (preset, Declaration::new(preset, Some(reopened))));
    contract
        .declaration
        .iter()
        .map(|about| match &declaration {
            Some((preset, declaration)) => over_run(about, facts, judged, preset, (about.judge)(declaration)),
            None if !selected(about, facts) => make(&about.clause, Verdict::NotSelected, None),
            None => ClauseReport {
                said: Some("no preset was given".into()),
                ..make(&about.clause, Verdict::NotApplicable, None)
            },
        })
        .collect()
}

fn over_run(
    about: &DeclarationClause,
    facts: &RunFacts,
    judged: &[Judged],
    preset: &PresetText,
    found: DeclarationFinding,
) -> ClauseReport {
    let verdict = match &found.finding {
        Finding::Broken(_) => broken(about.clause.level),
        _ if !selected(about, facts) => Verdict::NotSelected,
        Finding::NotApplicable(_) => Verdict::NotApplicable,
        Finding::Held(_) => Verdict::Pass,
        Finding::Inconclusive(_) => Verdict::Inconclusive,
        Finding::NotExercised if kit_failed(about, judged) => Verdict::HarnessError,
        Finding::NotExercised => Verdict::NotExercised,
    };
    let mut report = make(&about.clause, verdict, None);
    if verdict == Verdict::NotSelected {
        return report;
    }
    report.said = Some(match found.decided() {
        Some(decided) => format!("{}: {}", place(preset, &found), decided.said),
        None => format!("{}: the run did not show it", place(preset, &found)),
    });
    report.events = found
        .decided()
        .map_or_else(Vec::new, |decided| decided.events.clone());
    report.scenario = found.scenario;
    report
}

fn selected(about: &DeclarationClause, facts: &RunFacts) -> bool {
    facts
        .selected
        .as_ref()
        .is_none_or(|selected| selected.iter().any(|id| id == about.clause.id))
}

/// Whether a scenario that was to show it failed by the kit's own fault.
fn kit_failed(about: &DeclarationClause, judged: &[Judged]) -> bool {
    judged.iter().any(|judged| {
        judged.report.fault.is_some() && judged.exercises.iter().any(|id| id == about.clause.id)
    })
}

/// File, line and column, as far as they are known.
fn place(preset: &PresetText, found: &DeclarationFinding) -> String {
    match found.place {
        Some(place) => format!("{}:{}:{}", preset.file, place.line, place.column),
        None => preset.file.clone(),
    }
}
