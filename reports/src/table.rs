//! For a terminal. Everything is said in words; colour adds nothing that is not said.

use std::fmt::Write as _;

use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Modify, Style, Width};

use crate::{ClauseReport, Outcome, Report, STATEMENT, ScenarioReport, SelfTest, Verdict};

/// The whole report in `width` columns: promotion steps, clauses, every failure, the outcome. `evidence` is where the
/// histories lie, if they were kept.
#[must_use]
pub fn report(report: &Report, width: usize, evidence: Option<&str>) -> String {
    let mut text = String::new();
    promotion(report, width, &mut text);
    clause_verdicts(report, width, &mut text);
    for clause in &report.clauses {
        if matches!(
            clause.verdict,
            Verdict::Fail | Verdict::Warning | Verdict::Note | Verdict::Inconclusive
        ) {
            problem(report, clause, &mut text);
        }
    }
    for scenario in &report.scenarios {
        stopped(scenario, &mut text);
    }
    outcome(report, evidence, &mut text);
    text
}

fn promotion(report: &Report, width: usize, text: &mut String) {
    if report.promotion.is_empty() {
        return;
    }
    let mut builder = Builder::default();
    builder.push_record(["", "the promotion journey", "verdict"]);
    for step in &report.promotion {
        let title = match &step.said {
            Some(said) => format!("{}\n{}", step.title, plain(said)),
            None => step.title.clone(),
        };
        builder.push_record([step.step.to_string(), title, step.verdict.as_str().to_owned()]);
    }
    push_table(builder, 1, width, 24, text);
}

fn clause_verdicts(report: &Report, width: usize, text: &mut String) {
    let mut builder = Builder::default();
    builder.push_record(["clause", "level", "verdict", "what was seen"]);
    for clause in report
        .clauses
        .iter()
        .filter(|clause| clause.verdict != Verdict::NotSelected)
    {
        builder.push_record([
            clause.id.clone(),
            clause.level.clone(),
            clause.verdict.as_str().to_owned(),
            plain(clause.said.as_deref().unwrap_or_default()),
        ]);
    }
    push_table(builder, 3, width, 66, text);
    let not_selected = report
        .clauses
        .iter()
        .filter(|clause| clause.verdict == Verdict::NotSelected)
        .count();
    if not_selected > 0 {
        let were = if not_selected == 1 {
            "clause was"
        } else {
            "clauses were"
        };
        let _ = writeln!(text, "{not_selected} {were} not selected.\n");
    }
}

/// A table whose column `wide` takes what `width` leaves beside the others, which need `others`.
fn push_table(builder: Builder, wide: usize, width: usize, others: usize, text: &mut String) {
    let mut table = builder.build();
    let rest = width.saturating_sub(others).max(24);
    table
        .with(Style::sharp())
        .with(Modify::new(Columns::one(wide)).with(Width::wrap(rest).keep_words(true)));
    let _ = writeln!(text, "{table}\n");
}

/// One broken clause with everything that is needed to understand it and to see it again.
fn problem(report: &Report, clause: &ClauseReport, text: &mut String) {
    let _ = writeln!(
        text,
        "{}: {} ({}, {})",
        clause.verdict.as_str(),
        clause.id,
        clause.level,
        clause.basis
    );
    let _ = writeln!(text, "  the clause  {}", clause.text);
    let found = report.scenarios.iter().filter_map(|scenario| {
        let finding = scenario.findings.iter().find(|finding| {
            finding.clause == clause.id && matches!(&*finding.finding, "broken" | "inconclusive")
        })?;
        Some((scenario, finding))
    });
    let mut others = Vec::new();
    for (index, (scenario, finding)) in found.enumerate() {
        if index > 0 {
            others.push(scenario.id.as_str());
            continue;
        }
        let events: Vec<String> = finding.events.iter().map(u64::to_string).collect();
        let _ = writeln!(text, "  scenario    {}: {}", scenario.id, scenario.title);
        let _ = writeln!(text, "  seen        {}", plain(&finding.said));
        let _ = writeln!(text, "  events      {} of its history", events.join(", "));
        let _ = writeln!(
            text,
            "  again       seatcheck run --only {} -- {}",
            scenario.id,
            plain(&report.runner.command)
        );
    }
    // What is about the preset or the whole run stands in no scenario's findings.
    if !report
        .scenarios
        .iter()
        .any(|scenario| has_problem(scenario, clause))
    {
        if let Some(scenario) = &clause.scenario {
            let events: Vec<String> = clause.events.iter().map(u64::to_string).collect();
            let _ = writeln!(
                text,
                "  scenario    {scenario}, events {} of its history",
                events.join(", ")
            );
        }
        let _ = writeln!(
            text,
            "  seen        {}",
            plain(clause.said.as_deref().unwrap_or_default())
        );
    }
    if !others.is_empty() {
        let _ = writeln!(text, "  also in     {}", others.join(", "));
    }
    text.push('\n');
}

fn has_problem(scenario: &ScenarioReport, clause: &ClauseReport) -> bool {
    scenario
        .findings
        .iter()
        .any(|finding| finding.clause == clause.id && matches!(&*finding.finding, "broken" | "inconclusive"))
}

fn stopped(scenario: &ScenarioReport, text: &mut String) {
    if let Some(fault) = &scenario.fault {
        let _ = writeln!(text, "harness error: {}\n  {}\n", scenario.id, plain(fault));
    }
    let Some(stopped_at) = &scenario.stopped_at else {
        return;
    };
    let _ = writeln!(text, "stopped: {}\n  {}", scenario.id, plain(stopped_at));
    let shown: Vec<&String> = scenario.screen.iter().filter(|line| !line.is_empty()).collect();
    if !shown.is_empty() {
        let _ = writeln!(text, "  the screen then:");
        const LINES: usize = 8;
        for line in &shown[shown.len().saturating_sub(LINES)..] {
            let _ = writeln!(text, "  | {}", plain(line));
        }
    }
    if !scenario.last_events.is_empty() {
        let _ = writeln!(text, "  the last events of every lane:");
        for event in &scenario.last_events {
            let _ = writeln!(text, "    {}", plain(event));
        }
    }
    text.push('\n');
}

/// Somebody else's words without anything a terminal would act on.
fn plain(line: &str) -> String {
    line.chars()
        .map(|character| {
            if character.is_control() {
                '\u{fffd}'
            } else {
                character
            }
        })
        .collect()
}

fn outcome(report: &Report, evidence: Option<&str>, text: &mut String) {
    let count = |verdict| {
        report
            .clauses
            .iter()
            .filter(|clause| clause.verdict == verdict)
            .count()
    };
    let counts: Vec<String> = [
        Verdict::Pass,
        Verdict::Fail,
        Verdict::Warning,
        Verdict::Note,
        Verdict::NotApplicable,
        Verdict::NotExercised,
        Verdict::Inconclusive,
        Verdict::HarnessError,
    ]
    .into_iter()
    .filter(|verdict| count(*verdict) > 0)
    .map(|verdict| format!("{} {}", count(verdict), verdict.as_str()))
    .collect();
    let _ = writeln!(text, "{} clauses: {}", report.clauses.len(), counts.join(", "));
    let _ = writeln!(
        text,
        "runner: {} ({})",
        plain(&report.runner.name),
        plain(&report.runner.command)
    );
    if let Some(version) = &report.runner.version {
        let _ = writeln!(text, "its version: {}", plain(version));
    }
    for answer in &report.runner.pinned_missing {
        let _ = writeln!(text, "its profile takes for missing: {}", plain(answer));
    }
    if let Some(producer) = &report.runner.producer {
        let _ = writeln!(text, "it says it is: {}", plain(producer));
    }
    let _ = writeln!(text, "transport: {}", plain(&report.transport));
    if let Some(part) = &report.part {
        let _ = writeln!(text, "only a part was run: {part}");
    }
    for left_out in &report.left_out {
        let _ = writeln!(
            text,
            "left out: {} ({})",
            plain(&left_out.scenario),
            plain(&left_out.why)
        );
    }
    if let Some(evidence) = evidence {
        let _ = writeln!(text, "evidence: {evidence}");
    }
    for reason in &report.reasons {
        let _ = writeln!(text, "- {}", plain(reason));
    }
    let part = if report.part.is_some() && report.outcome == Outcome::Conformant {
        ", as far as it was run"
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "outcome: {}{part} with contract {}",
        report.outcome.as_str(),
        report.contract
    );
    let _ = writeln!(text, "This is {STATEMENT}.");
}

/// The clauses themselves, without any run: rows of id, level, basis, how many scenarios and mutants, and text.
#[must_use]
pub fn clauses(rows: &[[String; 6]], width: usize) -> String {
    let mut builder = Builder::default();
    builder.push_record(["clause", "level", "basis", "scenarios", "mutants", "text"]);
    for row in rows {
        builder.push_record(row.clone());
    }
    let mut text = String::new();
    push_table(builder, 5, width, 88, &mut text);
    text
}

/// The self-test's matrix.
#[must_use]
pub fn self_test(result: &SelfTest, width: usize) -> String {
    let mut text = String::new();
    let mut builder = Builder::default();
    builder.push_record(["mutant", "its clause", "killed", "caught by"]);
    for mutant in &result.mutants {
        builder.push_record([
            mutant.name.clone(),
            mutant.clause.clone(),
            if mutant.killed { "yes" } else { "SURVIVED" }.to_owned(),
            match &mutant.said {
                Some(said) if !mutant.killed => said.clone(),
                _ => mutant.caught_by.join(", "),
            },
        ]);
    }
    push_table(builder, 3, width, 84, &mut text);
    let mut builder = Builder::default();
    builder.push_record(["vacuous runner", "outcome", "passed clauses"]);
    for runner in &result.vacuous {
        builder.push_record([
            runner.name.clone(),
            runner.outcome.clone(),
            runner.passed.join(", "),
        ]);
    }
    push_table(builder, 2, width, 44, &mut text);
    let killed = result.mutants.iter().filter(|mutant| mutant.killed).count();
    let _ = writeln!(
        text,
        "{killed} of {} mutants were caught by their own clause",
        result.mutants.len()
    );
    if !result.unproven.is_empty() {
        let _ = writeln!(text, "no mutant breaks: {}", result.unproven.join(", "));
    }
    if !result.gaps.is_empty() {
        let _ = writeln!(text, "gaps: {}", result.gaps.join(", "));
    }
    let _ = writeln!(
        text,
        "self-test: {}",
        if result.passed() { "passed" } else { "FAILED" }
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Claims, FindingReport, Kit, PromotionStep, RunnerReport, SCHEMA};

    fn clause(id: &str, verdict: Verdict, said: &str) -> ClauseReport {
        ClauseReport {
            id: id.into(),
            level: "must".into(),
            basis: "§6".into(),
            text: format!("what {id} asks"),
            verdict,
            said: Some(said.into()),
            scenario: Some("cancel/plain".into()),
            events: vec![7, 9],
        }
    }

    fn sample() -> Report {
        Report {
            schema: SCHEMA.into(),
            outcome: Outcome::NotConformant,
            reasons: vec!["broken: cancel.posted".into()],
            statement: STATEMENT.into(),
            contract: "0.7.6-draft".into(),
            kit: Kit {
                name: "seatcheck".into(),
                version: "1.0".into(),
            },
            runner: RunnerReport {
                version: None,
                pinned_missing: Vec::new(),
                name: "dsh".into(),
                command: "./runner --flag".into(),
                producer: Some("runner 1.0\u{1b}[31m".into()),
                claims: Claims {
                    resume: true,
                    first_input: false,
                    passes_model: false,
                },
            },
            transport: "pty".into(),
            part: None,
            left_out: Vec::new(),
            promotion: vec![PromotionStep {
                step: 5,
                title: "/abort ends a turn as cancelled".into(),
                verdict: Verdict::Fail,
                scenario: "promotion/5".into(),
                said: Some("cancel.posted: none came".into()),
            }],
            clauses: vec![
                clause("cancel.notification", Verdict::Pass, "session/cancel has no id"),
                clause(
                    "cancel.posted",
                    Verdict::Fail,
                    "no Stop/cancelled came\u{1b}]0;title\u{7} in 5000 ms",
                ),
                clause("input.raw-mode", Verdict::NotSelected, ""),
            ],
            scenarios: vec![ScenarioReport {
                id: "cancel/plain".into(),
                title: "A cancel is told".into(),
                took_ms: 5_200,
                completed: false,
                stopped_at: Some("waited 5000 ms for the post Stop/cancelled".into()),
                screen: vec![
                    "you ▸ work".into(),
                    String::new(),
                    "\u{1b}[2Jcancel requested".into(),
                ],
                last_events: vec!["9 at 812 ms: agent → runner: {…}".into()],
                fault: None,
                findings: vec![FindingReport {
                    clause: "cancel.posted".into(),
                    finding: "broken".into(),
                    said: "no Stop/cancelled came in 5000 ms".into(),
                    events: vec![7, 9],
                }],
            }],
        }
    }

    #[test]
    fn a_report_as_people_read_it() {
        insta::assert_snapshot!(report(&sample(), 100, Some("evidence")));
    }

    #[test]
    fn nothing_of_a_stranger_reaches_the_terminal_as_a_command() {
        let text = report(&sample(), 100, None);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
    }

    #[test]
    fn a_report_survives_its_file() {
        let text = crate::write(&sample()).unwrap();
        assert_eq!(crate::read(&text).unwrap(), sample());
        let newer = text.replace(SCHEMA, "seatcheck-report/2");
        assert!(
            crate::read(&newer)
                .unwrap_err()
                .to_string()
                .contains("seatcheck-report/2")
        );
    }
}
