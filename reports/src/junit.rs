//! JUnit, for what shows test results: a suite for each group, a case for each clause.
//!
//! A clause that does not apply is skipped; a must that was never put to the test is an error, since who reads only colours
//! must not take it for a pass. What was not selected is left out.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};

use crate::{ClauseReport, Report, Verdict};

/// A document that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the JUnit document can't be written: {0}")]
pub struct JunitError(#[from] quick_junit::SerializeError);

/// The whole document.
///
/// # Errors
/// When the writer of XML refuses.
pub fn junit(report: &Report) -> Result<String, JunitError> {
    let mut document = quick_junit::Report::new(format!("seatcheck: {}", report.runner.name));
    let mut suites: Vec<(String, TestSuite)> = Vec::new();
    for clause in report
        .clauses
        .iter()
        .filter(|clause| clause.verdict != Verdict::NotSelected)
    {
        let group = clause.id.split('.').next().unwrap_or_default().to_owned();
        if suites.last().is_none_or(|(name, _)| *name != group) {
            suites.push((group.clone(), suite(report, &group)));
        }
        if let Some((_, suite)) = suites.last_mut() {
            suite.add_test_case(case(report, clause));
        }
    }
    document.add_test_suites(suites.into_iter().map(|(_, suite)| suite));
    Ok(document.to_string()?)
}

fn suite(report: &Report, group: &str) -> TestSuite {
    let mut suite = TestSuite::new(group);
    for (name, value) in [
        ("statement", Some(report.statement.as_str())),
        ("contract", Some(report.contract.as_str())),
        ("kit", Some(report.kit.version.as_str())),
        ("runner", report.runner.producer.as_deref()),
        ("part", report.part.as_deref()),
    ] {
        if let Some(value) = value {
            suite.add_property(Property::new(name, value));
        }
    }
    suite
}

fn case(report: &Report, clause: &ClauseReport) -> TestCase {
    let must = clause.level == "must";
    let mut status = match clause.verdict {
        Verdict::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::HarnessError | Verdict::Inconclusive | Verdict::NotExercised if must => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
        Verdict::HarnessError | Verdict::Inconclusive | Verdict::NotExercised | Verdict::NotApplicable => {
            TestCaseStatus::skipped()
        }
        Verdict::Warning | Verdict::Note | Verdict::Pass | Verdict::NotSelected => TestCaseStatus::success(),
    };
    status.set_type(clause.verdict.as_str());
    if let Some(said) = &clause.said {
        status.set_message(format!("{}: {said}", clause.verdict.as_str()));
    }
    status.set_description(details(report, clause));
    let mut case = TestCase::new(&clause.id, status);
    case.set_classname(format!(
        "seatcheck.{}",
        clause.id.split('.').next().unwrap_or_default()
    ));
    case.set_time(took(report, clause));
    for (name, value) in [
        ("clause", clause.id.as_str()),
        ("level", &clause.level),
        ("basis", &clause.basis),
        ("verdict", clause.verdict.as_str()),
        ("text", &clause.text),
    ] {
        case.add_property(Property::new(name, value));
    }
    case
}

/// The time of the scenario that decided it.
fn took(report: &Report, clause: &ClauseReport) -> Duration {
    let took_ms = report
        .scenarios
        .iter()
        .find(|scenario| Some(&scenario.id) == clause.scenario.as_ref())
        .map_or(0, |scenario| scenario.took_ms);
    Duration::from_millis(took_ms)
}

fn details(report: &Report, clause: &ClauseReport) -> String {
    let mut lines = vec![format!("clause: {}", clause.text)];
    lines.extend(clause.said.iter().map(|said| format!("seen: {said}")));
    if let Some(scenario) = &clause.scenario {
        lines.push(format!("scenario: {scenario}"));
        let events: Vec<String> = clause.events.iter().map(u64::to_string).collect();
        lines.push(format!("events: {}", events.join(", ")));
        lines.push(format!(
            "again: seatcheck run --only {scenario} -- {}",
            report.runner.command
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::sample;

    #[test]
    fn a_document() {
        let text = junit(&sample()).unwrap();
        insta::with_settings!({filters => vec![(r#"uuid="[^"]+""#, r#"uuid="…""#)]}, {
            insta::assert_snapshot!(text);
        });
    }

    #[test]
    fn an_unexercised_must_is_never_green() {
        let mut report = sample();
        report.clauses[0].verdict = Verdict::NotExercised;
        let text = junit(&report).unwrap();
        assert!(text.contains(r#"errors="1""#), "{text}");
        report.clauses[0].verdict = Verdict::NotApplicable;
        let text = junit(&report).unwrap();
        assert!(
            text.contains("<skipped") && text.contains(r#"errors="0""#),
            "{text}"
        );
    }

    #[test]
    fn control_characters_leave_the_document_well_formed() {
        let text = junit(&sample()).unwrap();
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
    }
}
