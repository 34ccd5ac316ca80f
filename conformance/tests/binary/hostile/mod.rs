//! Runners that do their worst. Each run ends in its time with a true verdict, and nothing of it is left.

mod floods;
mod processes;
mod records;
mod terminal;

use std::time::{Duration, Instant};

use reports::{Outcome, Report, Verdict};
use tempfile::TempDir;

use crate::support::{Done, Seatcheck, program, python};

/// No hostile run takes longer, on a busy machine and in a debug build: a stop takes 10 s, an await 6 s.
const IN_ITS_TIME: Duration = Duration::from_secs(60);

/// A run of `hostile_runner.py` that ended as it should.
struct Hostile {
    report: Report,
    /// The scenario's history, as it was written.
    history: String,
}

impl Hostile {
    /// Runs one manner through one scenario. `None` where there is no Python.
    fn run(manner: &str, scenario: &str) -> Option<Self> {
        let python = python()?;
        let runner = program("hostile_runner.py");
        Some(Self::of(
            scenario,
            "6s",
            &[python, runner.to_str().unwrap(), manner],
        ))
    }

    /// Runs any command, and sees to what must hold whatever it does.
    fn of(scenario: &str, patience: &str, command: &[&str]) -> Self {
        let seatcheck = Seatcheck::new();
        let out = TempDir::new().unwrap();
        let began = Instant::now();
        let arguments = [
            "run",
            "--only",
            scenario,
            "--patience",
            patience,
            "--format",
            "json",
            "--out",
        ];
        let mut arguments: Vec<&str> = arguments.to_vec();
        arguments.extend([out.path().to_str().unwrap(), "--"]);
        arguments.extend(command);
        let done: Done = seatcheck.run(arguments);
        let took = began.elapsed();
        assert!(took < IN_ITS_TIME, "{took:?}\n{}", done.stderr);
        seatcheck.assert_nothing_left();
        let said = done.stdout.clone() + &done.stderr;
        assert!(!said.contains('\x1b'), "an escape code of the seat's: {said:?}");
        let report = done.report();
        let history = std::fs::read_to_string(
            out.path()
                .join("scenarios")
                .join(&report.scenarios[0].id)
                .join("history.jsonl"),
        );
        assert_eq!(
            std::fs::read_to_string(out.path().join("report.json")).unwrap(),
            done.stdout,
            "the report that was written is not the one that was shown"
        );
        Self {
            report,
            history: history.unwrap(),
        }
    }

    fn verdict(&self, clause: &str) -> Verdict {
        let found = self.report.clauses.iter().find(|found| found.id == clause);
        found.unwrap().verdict
    }

    fn passed(&self) -> Vec<&str> {
        let clauses = self.report.clauses.iter();
        clauses
            .filter(|clause| clause.verdict == Verdict::Pass)
            .map(|clause| clause.id.as_str())
            .collect()
    }

    /// Fails unless `clause`, and so the run, is broken.
    fn assert_breaks(&self, clause: &str) {
        assert_eq!(
            self.verdict(clause),
            Verdict::Fail,
            "{clause}: {:#?}",
            self.report.reasons
        );
        assert_eq!(self.report.outcome, Outcome::NotConformant);
    }

    /// Fails unless nothing was broken, and nothing is called kept for lack of evidence either.
    fn assert_open(&self) {
        assert_eq!(
            self.report.outcome,
            Outcome::Inconclusive,
            "{:#?}",
            self.report.reasons
        );
    }

    /// Fails unless the report and the history say that something of this lane is not kept.
    fn assert_cut(&self, lane: &str) {
        let says = |reason: &String| reason.contains("the evidence was cut");
        assert!(self.report.reasons.iter().any(says), "{:#?}", self.report.reasons);
        assert!(
            self.history
                .lines()
                .any(|line| line.contains(&format!("\"cut\":{{\"lane\":\"{lane}\""))),
            "no cut of {lane} is in the history"
        );
        assert_eq!(self.passed(), Vec::<&str>::new());
    }
}
