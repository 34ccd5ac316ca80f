//! Presets that keep the clauses and presets that break them.

use super::preset::Declaration;
use super::{PresetText, Reopened};
use crate::contract::finding::Decided;
use crate::contract::{ClauseSet, Finding};

const GOOD: &str = "\
format: 1
name: dsh
command: dsh-seat
maintainer: the dsh people
runner: true
launch_result: true
resume: true
limits:
  - a prompt whose whole text is /abort can't be sent
  - a Ctrl-C byte inside a paste also aborts
  - without a TTY, input is read line by line
  - this isn't a binary-safe channel
  - permission requests are refused (first version)
  - a tool in its own session keeps running after a stop
  - fork unsupported
";

/// The finding, and the line it points at.
fn judge(id: &str, text: &str, reopened: Option<&[(&str, &Reopened)]>) -> (Finding, Option<usize>) {
    let text = PresetText {
        file: "dsh.yaml".into(),
        text: text.into(),
    };
    let declaration = Declaration::new(&text, reopened.map(<[_]>::to_vec));
    let about = ClauseSet::usual()
        .declaration
        .iter()
        .find(|about| about.clause.id == id)
        .unwrap();
    let found = (about.judge)(&declaration);
    (found.finding, found.place.map(|place| place.line))
}

fn assert_held(id: &str, text: &str) {
    let (finding, _) = judge(id, text, None);
    assert!(matches!(finding, Finding::Held(_)), "{id}: {finding:?}");
}

/// What is said of a broken clause; it must point at that line.
fn broken(id: &str, text: &str, at: usize) -> String {
    let (finding, line) = judge(id, text, None);
    let Finding::Broken(decided) = finding else {
        panic!("{id} should be broken: {finding:?}");
    };
    assert_eq!(line, Some(at), "{id}: {}", decided.said);
    decided.said
}

fn without(line: &str) -> String {
    GOOD.replace(&format!("{line}\n"), "")
}

#[test]
fn a_good_preset_and_the_reference_runners_keep_all_that_is_in_the_text() {
    for about in ClauseSet::usual().declaration {
        if about.clause.id != "declaration.resume-proven" {
            assert_held(about.clause.id, GOOD);
            assert_held(about.clause.id, reference_runner::PRESET);
        }
    }
}

#[test]
fn shape() {
    let id = "declaration.shape";
    assert!(broken(id, &GOOD.replace("format: 1", "format: 2"), 1).contains("format"));
    assert!(broken(id, &without("command: dsh-seat"), 1).contains("command"));
    assert!(broken(id, &GOOD.replace("resume: true", "resume: 'true'"), 7).contains("resume"));
    assert!(broken(id, &GOOD.replace("name: dsh", "name: ''"), 2).contains("name"));
    broken(id, "no preset", 1);
    broken(id, "format: 1\nname: [", 2);
    let (finding, line) = judge(id, &GOOD.replace("resume:", "resumes:"), None);
    let Finding::Held(decided) = finding else {
        panic!("an unknown field is a note: {finding:?}");
    };
    assert!(
        decided.said.contains("\"resumes\"") && line == Some(7),
        "{decided:?} {line:?}"
    );
}

#[test]
fn what_is_no_preset_says_nothing_of_the_rest() {
    for about in &ClauseSet::usual().declaration[1..] {
        let (finding, _) = judge(about.clause.id, "format: 2", None);
        assert_eq!(finding, Finding::NotExercised, "{}", about.clause.id);
    }
}

#[test]
fn maintainer() {
    let id = "declaration.maintainer";
    broken(id, &without("maintainer: the dsh people"), 2);
    broken(id, &GOOD.replace("the dsh people", "' '"), 4);
}

#[test]
fn launch_result_required() {
    let id = "declaration.launch-result-required";
    broken(id, &without("launch_result: true"), 5);
    broken(
        id,
        &GOOD.replace("launch_result: true", "launch_result: false"),
        6,
    );
    let (finding, _) = judge(id, &without("runner: true"), None);
    assert!(matches!(finding, Finding::NotApplicable(_)), "{finding:?}");
}

#[test]
fn not_names_conversation() {
    let id = "declaration.not-names-conversation";
    broken(id, &GOOD.replace("resume: true", "names_conversation: true"), 7);
    assert_held(id, &GOOD.replace("resume: true", "names_conversation: false"));
    let plain = GOOD.replace("runner: true", "names_conversation: true");
    let (finding, _) = judge(id, &plain, None);
    assert!(matches!(finding, Finding::NotApplicable(_)), "{finding:?}");
}

#[test]
fn limits_named() {
    let id = "declaration.limits-named";
    let (before, _) = GOOD.split_once("limits:").unwrap();
    let none = broken(id, before, 5);
    for topic in [
        "/abort",
        "Ctrl-C",
        "TTY",
        "binary",
        "permission",
        "survives",
        "unsupported",
    ] {
        assert!(none.contains(topic), "{topic}: {none}");
    }
    for (limit, topic) in GOOD.lines().filter(|line| line.starts_with("  - ")).zip([
        "the /abort prompt",
        "Ctrl-C in a paste",
        "input without a TTY",
        "not binary-safe",
        "permission requests refused",
        "what survives a stop",
        "what is unsupported",
    ]) {
        let said = broken(id, &without(limit), 9);
        assert!(said.ends_with(&format!("speak of {topic}")), "{limit}: {said}");
    }
}

#[test]
fn the_same_limits_in_other_words() {
    assert_held(
        "declaration.limits-named",
        "format: 1\nname: x\ncommand: x\nrunner: true\nlimits:\n  - '/abort alone is always a command'\n  - '^C in pasted \
         text cancels'\n  - each line is a message when stdin is a pipe\n  - text only (UTF-8)\n  - approval prompts are \
         always denied\n  - commands still in flight when the seat is killed are not ended\n  - no support for images\n",
    );
}

fn shown(part: &str) -> Reopened {
    let decided = Some(Decided {
        said: part.into(),
        events: vec![3],
    });
    let mut reopened = Reopened::default();
    match part {
        "twice" => reopened.twice = decided,
        "refused" => reopened.missing_refused = decided,
        _ => reopened.disproved = decided,
    }
    reopened
}

#[test]
fn resume_is_proved_by_both_and_disproved_by_one() {
    let id = "declaration.resume-proven";
    let (twice, refused, against) = (shown("twice"), shown("refused"), shown("against"));
    let judge = |seen: &[(&str, &Reopened)]| judge(id, GOOD, Some(seen));
    let both = judge(&[("a", &twice), ("b", &refused)]);
    assert!(matches!(both, (Finding::Held(_), Some(7))), "{both:?}");
    for half in [&[("a", &twice)][..], &[("b", &refused)], &[]] {
        assert_eq!(judge(half).0, Finding::NotExercised);
    }
    let disproved = judge(&[("a", &twice), ("b", &refused), ("c", &against)]);
    assert!(
        matches!(disproved, (Finding::Broken(_), Some(7))),
        "{disproved:?}"
    );
}

#[test]
fn resume_is_not_proved_by_a_text_and_need_not_be_where_it_is_not_declared() {
    let id = "declaration.resume-proven";
    assert_eq!(judge(id, GOOD, None).0, Finding::NotExercised);
    let (finding, _) = judge(id, &without("resume: true"), None);
    assert!(matches!(finding, Finding::NotApplicable(_)), "{finding:?}");
}
