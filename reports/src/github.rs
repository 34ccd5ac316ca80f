//! Annotations for a GitHub workflow: one line on standard output for each clause that wants attention. The step's
//! summary is the Markdown report.

use std::fmt::Write as _;

use crate::{ClauseReport, Outcome, Report, Verdict};

/// The workflow commands, a line each: what fails is an error, what is unproven or a should a warning, an info a notice.
#[must_use]
pub fn annotations(report: &Report) -> String {
    let mut text = String::new();
    for clause in &report.clauses {
        let command = match clause.verdict {
            Verdict::Fail => "error",
            Verdict::HarnessError | Verdict::Inconclusive | Verdict::NotExercised
                if clause.level == "must" =>
            {
                "error"
            }
            Verdict::HarnessError | Verdict::Inconclusive | Verdict::NotExercised | Verdict::Warning => {
                "warning"
            }
            Verdict::Note => "notice",
            Verdict::Pass | Verdict::NotApplicable | Verdict::NotSelected => continue,
        };
        let title = format!("{} {}", clause.verdict.as_str(), clause.id);
        let _ = writeln!(
            text,
            "::{command} title={}::{}",
            property(&title),
            data(&message(clause))
        );
    }
    if report.outcome != Outcome::Conformant {
        let said = format!(
            "{} with the runner contract {}",
            report.outcome.as_str(),
            report.contract
        );
        let _ = writeln!(text, "::error title=seatcheck::{}", data(&said));
    }
    text
}

fn message(clause: &ClauseReport) -> String {
    let mut message = clause.text.clone();
    if let Some(said) = &clause.said {
        let _ = write!(message, "\nseen: {said}");
    }
    if let Some(scenario) = &clause.scenario {
        let _ = write!(message, "\nscenario: {scenario}");
    }
    message
}

/// A command's message: nothing of it may end the line or begin another command.
fn data(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|character| match character {
            '\n' => '\n',
            control if control.is_control() => '\u{fffd}',
            other => other,
        })
        .collect();
    plain.replace('%', "%25").replace('\n', "%0A")
}

/// A command's property, which ends at a comma or colon too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::sample;

    #[test]
    fn annotations_of_a_report() {
        insta::assert_snapshot!(annotations(&sample()));
    }

    #[test]
    fn no_stranger_writes_a_command_of_his_own() {
        let mut report = sample();
        report.clauses[1].said = Some("x\n::set-output name=y::z\r\n::error::%0A".into());
        let text = annotations(&report);
        assert!(
            text.lines().all(|line| line.starts_with("::error title=")),
            "{text}"
        );
        assert!(text.contains("%250A"), "{text}");
    }
}
