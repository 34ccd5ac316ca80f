//! The reference runner passes, and the same is judged from the files alone.

use crate::support::{Seatcheck, complaints};
use reports::Outcome;

#[test]
fn the_reference_runner_passes_and_is_judged_alike_from_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let seatcheck = Seatcheck::new();
    let done = seatcheck.run(["run", "--format", "json", "--out", out]);
    seatcheck.assert_nothing_left();
    let report = done.report();
    assert_eq!(complaints(&report), Vec::<String>::new());
    assert_eq!((done.code, report.outcome), (Some(0), Outcome::Conformant));
    assert_eq!(
        report.promotion.iter().map(|step| step.step).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6]
    );

    // Another scenario that holds the clause would hide one that only says it puts it to the test.
    let idle: Vec<String> = report
        .scenarios
        .iter()
        .flat_map(|scenario| {
            let findings = scenario.findings.iter();
            findings
                .filter(|finding| finding.finding == "not-exercised")
                .map(|finding| format!("{} does not exercise {}", scenario.id, finding.clause))
        })
        .collect();
    assert_eq!(idle, Vec::<String>::new());

    let again = seatcheck.run(["judge", out, "--format", "json"]);
    assert_eq!(again.stdout, done.stdout);
    assert_eq!(
        std::fs::read_to_string(folder.path().join("report.json")).unwrap(),
        done.stdout
    );
    rendered_in_every_format(&seatcheck, out, &done.stdout);
}

fn rendered_in_every_format(seatcheck: &Seatcheck, out: &str, json: &str) {
    let render = |format: &str| {
        let done = seatcheck.run(["report", out, "--format", format]);
        assert_eq!(done.code, Some(0), "{format}: {}", done.stderr);
        done.stdout
    };
    assert_eq!(render("json"), json);
    for (format, wanted) in [
        ("table", "outcome: conformant"),
        ("markdown", "# ✅ `dsh`: conformant"),
        ("html", "<h1>dsh: conformant</h1>"),
        ("junit", "failures=\"0\" errors=\"0\""),
        ("badge", "\"message\": \"conformant\""),
    ] {
        assert!(render(format).contains(wanted), "{format} without {wanted}");
    }
    // Nothing wants attention.
    assert_eq!(render("github"), "");
    // Each scenario's events are in the page.
    assert!(render("html").contains("session/prompt"));
}
