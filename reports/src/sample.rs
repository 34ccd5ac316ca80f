//! A report for tests: one broken must, one that passed, and a stranger's words that try to be more than words.

use crate::{
    Claims, ClauseReport, FindingReport, Kit, Outcome, PromotionStep, Report, RunnerReport, SCHEMA,
    STATEMENT, ScenarioReport, Verdict,
};

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

pub(crate) fn sample() -> Report {
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
