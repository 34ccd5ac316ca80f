//! Markdown, for a pull request or a wiki. What a stranger wrote stands in code spans and blocks, where nothing of it
//! links, mentions or draws.

use std::fmt::Write as _;

use crate::{ClauseReport, Outcome, Report, ScenarioReport, Verdict};

/// The whole report.
#[must_use]
pub fn report(report: &Report) -> String {
    let mut text = String::new();
    head(report, &mut text);
    promotion(report, &mut text);
    groups(report, &mut text);
    problems(report, &mut text);
    unproven(report, &mut text);
    every_clause(report, &mut text);
    text
}

fn head(report: &Report, text: &mut String) {
    let mark = match report.outcome {
        Outcome::Conformant => "✅",
        Outcome::NotConformant => "❌",
        Outcome::Inconclusive => "❔",
    };
    let part = if report.part.is_some() {
        ", as far as it was run"
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "# {mark} {}: {}{part}\n\nOpenRig runner contract {}. This is {}.\n",
        code(&report.runner.name),
        report.outcome.as_str(),
        report.contract,
        report.statement
    );
    for reason in &report.reasons {
        let _ = writeln!(text, "- {}", code(reason));
    }
    let _ = writeln!(text, "\n| | |\n|---|---|");
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "| {name} | {} |", cell(&code(value)));
    };
    row("runner", &report.runner.command);
    row(
        "it says it is",
        report.runner.producer.as_deref().unwrap_or("nothing"),
    );
    row(
        "judged by",
        &format!("{} {}", report.kit.name, report.kit.version),
    );
    if let Some(part) = &report.part {
        row("only a part was run", part);
    }
    text.push('\n');
}

fn promotion(report: &Report, text: &mut String) {
    if report.promotion.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "## The promotion journey\n\n| | step | verdict |\n|---|---|---|"
    );
    for step in &report.promotion {
        let said = step
            .said
            .as_ref()
            .map_or(String::new(), |said| format!("<br>{}", cell(&code(said))));
        let _ = writeln!(
            text,
            "| {} | {}{said} | {} |",
            step.step,
            cell(&step.title),
            shown(step.verdict)
        );
    }
    text.push('\n');
}

/// Groups with counts: what was not checked stands beside what passed.
fn groups(report: &Report, text: &mut String) {
    const COLUMNS: [(&str, &[Verdict]); 6] = [
        ("pass", &[Verdict::Pass]),
        ("fail", &[Verdict::Fail]),
        ("warning, note", &[Verdict::Warning, Verdict::Note]),
        (
            "unproven",
            &[
                Verdict::NotExercised,
                Verdict::Inconclusive,
                Verdict::HarnessError,
            ],
        ),
        ("does not apply", &[Verdict::NotApplicable]),
        ("not selected", &[Verdict::NotSelected]),
    ];
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let _ = writeln!(
        text,
        "## Groups\n\n| group | {} |\n|---|{}",
        names.join(" | "),
        "--:|".repeat(COLUMNS.len())
    );
    let mut seen: Vec<&str> = Vec::new();
    for clause in &report.clauses {
        let group = group(clause);
        if seen.contains(&group) {
            continue;
        }
        seen.push(group);
        let counts: Vec<String> = COLUMNS
            .iter()
            .map(|(_, verdicts)| {
                let count = report
                    .clauses
                    .iter()
                    .filter(|other| self::group(other) == group && verdicts.contains(&other.verdict))
                    .count();
                if count == 0 {
                    String::new()
                } else {
                    count.to_string()
                }
            })
            .collect();
        let _ = writeln!(text, "| {group} | {} |", counts.join(" | "));
    }
    text.push('\n');
}

fn group(clause: &ClauseReport) -> &str {
    clause.id.split('.').next().unwrap_or_default()
}

fn problems(report: &Report, text: &mut String) {
    let problems: Vec<&ClauseReport> = report
        .clauses
        .iter()
        .filter(|clause| matches!(clause.verdict, Verdict::Fail | Verdict::Warning | Verdict::Note))
        .collect();
    if problems.is_empty() {
        return;
    }
    let _ = writeln!(text, "## What was broken\n");
    for clause in problems {
        problem(report, clause, text);
    }
}

fn problem(report: &Report, clause: &ClauseReport, text: &mut String) {
    let _ = writeln!(
        text,
        "### {} {}\n\n{} ({}, {})\n",
        shown(clause.verdict),
        code(&clause.id),
        clause.text,
        clause.level,
        clause.basis
    );
    let broken: Vec<&ScenarioReport> = report
        .scenarios
        .iter()
        .filter(|scenario| {
            scenario
                .findings
                .iter()
                .any(|finding| finding.clause == clause.id && finding.finding == "broken")
        })
        .collect();
    for scenario in &broken {
        for finding in scenario
            .findings
            .iter()
            .filter(|finding| finding.clause == clause.id && finding.finding == "broken")
        {
            let events: Vec<String> = finding.events.iter().map(u64::to_string).collect();
            let _ = writeln!(
                text,
                "- {}, events {}: {}",
                code(&scenario.id),
                events.join(", "),
                code(&finding.said)
            );
        }
    }
    if let Some(scenario) = broken.first() {
        let again = format!(
            "seatcheck run --only {} -- {}",
            scenario.id, report.runner.command
        );
        let _ = writeln!(text, "\n{}", block(&again));
    }
}

fn unproven(report: &Report, text: &mut String) {
    let unproven: Vec<&ClauseReport> = report
        .clauses
        .iter()
        .filter(|clause| {
            matches!(
                clause.verdict,
                Verdict::NotExercised | Verdict::Inconclusive | Verdict::HarnessError
            )
        })
        .collect();
    let not_selected = report
        .clauses
        .iter()
        .filter(|clause| clause.verdict == Verdict::NotSelected)
        .count();
    if unproven.is_empty() && not_selected == 0 {
        return;
    }
    let _ = writeln!(text, "## What was not checked\n");
    for clause in unproven {
        let said = clause.said.as_deref().unwrap_or("nothing put it to the test");
        let _ = writeln!(
            text,
            "- {} {} ({}): {}",
            shown(clause.verdict),
            code(&clause.id),
            clause.level,
            code(said)
        );
    }
    if not_selected > 0 {
        let _ = writeln!(text, "- {not_selected} clauses were not selected");
    }
    text.push('\n');
}

fn every_clause(report: &Report, text: &mut String) {
    let _ = writeln!(
        text,
        "<details><summary>Every clause</summary>\n\n| clause | level | verdict | what was seen |\n|---|---|---|---|"
    );
    for clause in &report.clauses {
        let said = clause
            .said
            .as_ref()
            .map_or(String::new(), |said| cell(&code(said)));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {said} |",
            code(&clause.id),
            clause.level,
            shown(clause.verdict)
        );
    }
    text.push_str("\n</details>\n");
}

/// A verdict with a sign for the eye; the word says it all.
fn shown(verdict: Verdict) -> String {
    let sign = match verdict {
        Verdict::Pass => "✅",
        Verdict::Fail => "❌",
        Verdict::Warning | Verdict::Note => "⚠️",
        Verdict::NotExercised | Verdict::Inconclusive | Verdict::HarnessError => "❔",
        Verdict::NotApplicable | Verdict::NotSelected => "➖",
    };
    format!("{sign} {}", verdict.as_str())
}

/// One line of somebody else's words as a code span, fenced by more backticks than stand together in it.
fn code(words: &str) -> String {
    let plain: String = words
        .chars()
        .map(|character| match character {
            '\n' | '\t' => ' ',
            control if control.is_control() => '\u{fffd}',
            other => other,
        })
        .collect();
    if plain.trim().is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&plain) + 1);
    let space = if plain.starts_with('`') || plain.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{space}{plain}{space}{fence}")
}

fn block(words: &str) -> String {
    let plain: String = words
        .chars()
        .filter(|character| *character == '\n' || !character.is_control())
        .collect();
    let fence = "`".repeat(longest_run(&plain).max(2) + 1);
    format!("{fence}\n{plain}\n{fence}\n")
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0)
}

/// What stands in a table's cell: there even a code span ends at a bar.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::sample;

    #[test]
    fn a_report_as_people_read_it() {
        insta::assert_snapshot!(report(&sample()));
    }

    #[test]
    fn no_stranger_leaves_his_code_span() {
        assert_eq!(code("a ``b`` @c"), "```a ``b`` @c```");
        assert_eq!(code("`x"), "`` `x ``");
        assert_eq!(code("two\nlines\u{1b}[2J"), "`two lines\u{fffd}[2J`");
        assert_eq!(cell(&code("a|b")), "`a\\|b`");
        assert!(block("```\n<script>").starts_with("````\n"));
    }
}
