//! What is no record: never opened for long, never followed, never read whole, and never taken for one.

use super::Hostile;

const A_LAUNCH: &str = "promotion/1-*";

fn no_record(manner: &str) {
    let Some(run) = Hostile::run(manner, A_LAUNCH) else {
        return;
    };
    run.assert_breaks("identity.record-written");
    assert!(run.history.len() < 3_000_000, "{}", run.history.len());
}

#[test]
fn a_fifo() {
    no_record("record-is-a-fifo");
}

#[test]
fn a_directory() {
    no_record("record-is-a-directory");
}

#[test]
fn a_link() {
    let Some(run) = Hostile::run("record-is-a-link", A_LAUNCH) else {
        return;
    };
    run.assert_breaks("identity.record-written");
    assert!(!run.history.contains("root:"), "the link was followed");
}

#[test]
fn a_sparse_gigabyte() {
    no_record("record-is-sparse");
}

#[test]
fn a_written_gigabyte() {
    let Some(run) = Hostile::run("record-is-a-gigabyte", A_LAUNCH) else {
        return;
    };
    assert_ne!(run.report.outcome, reports::Outcome::Conformant);
    assert!(!run.passed().contains(&"identity.record-written"));
    assert!(run.history.len() < 48 << 20, "{}", run.history.len());
}

#[test]
fn garbage() {
    no_record("record-is-garbage");
}

#[test]
fn one_that_never_rests() {
    let Some(run) = Hostile::run("record-never-rests", A_LAUNCH) else {
        return;
    };
    assert_ne!(run.report.outcome, reports::Outcome::Conformant);
    assert!(!run.passed().contains(&"identity.record-written"));
}
