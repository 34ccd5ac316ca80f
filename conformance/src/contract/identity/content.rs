//! What the record says.

use serde_json::Value;

use super::super::finding::{Finding, Tally};
use super::super::grace::DUE;
use super::super::quote::quoted;
use super::super::watch::cited;
use super::opening::{all_openings, written};
use crate::history::views::{LaunchView, RecordVersion, Views};
use crate::history::{Fact, RecordFact};

pub(super) fn shape(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for version in written(launch) {
            match &version.body {
                Some(body) => match fault(body) {
                    Some(fault) => tally.broken(fault, &[version.event]),
                    None => tally.held("the record has what it must have", &[version.event]),
                },
                None => judge_unreadable(launch, version, &mut tally),
            }
        }
    }
    tally.finding()
}

/// What is wrong with a record's fields; a null counts as absent.
fn fault(body: &Value) -> Option<String> {
    let field = |name: &str| body.get(name).filter(|value| !value.is_null());
    if field("format").and_then(Value::as_f64) != Some(1.0) {
        return Some(format!("format is {}, not 1", shown(field("format"))));
    }
    for name in ["attempt", "harness", "producer"] {
        if !field(name).is_some_and(Value::is_string) {
            return Some(format!("{name} is {}, not a text", shown(field(name))));
        }
    }
    match (field("nativeRef"), field("error")) {
        (Some(Value::String(reference)), None) if !reference.is_empty() => None,
        (Some(other), None) => Some(format!(
            "nativeRef is {}, not the id of a conversation",
            shown(Some(other))
        )),
        (None, Some(Value::String(error))) if error == "missing" => None,
        (None, Some(error)) => Some(format!("error is {}, not \"missing\"", shown(Some(error)))),
        (Some(_), Some(_)) => Some("both nativeRef and error are there".into()),
        (None, None) => Some("neither nativeRef nor error is there".into()),
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => "absent".into(),
        Some(Value::String(text)) => quoted(text),
        Some(other) => quoted(&other.to_string()),
    }
}

/// A version that is no JSON object: a half-written one if another follows, else a fault.
fn judge_unreadable(launch: &LaunchView<'_>, version: &RecordVersion<'_>, tally: &mut Tally) {
    let is_json = version
        .raw
        .is_some_and(|raw| serde_json::from_slice::<Value>(raw).is_ok());
    let is_last = launch
        .records
        .last()
        .is_some_and(|last| last.event.sequence == version.event.sequence);
    let is_final = is_last && launch.watched_after(version.event.at) >= DUE;
    if !is_json && !is_final {
        return;
    }
    let seen = match version.raw {
        Some(raw) => format!("it begins with {}", quoted(&String::from_utf8_lossy(raw))),
        None => note(version).unwrap_or("it could not be read").to_owned(),
    };
    tally.broken(
        format!("the record is no JSON object: {seen}"),
        &cited(launch, &[version.event]),
    );
}

fn note<'h>(version: &RecordVersion<'h>) -> Option<&'h str> {
    match &version.event.fact {
        Fact::Record(RecordFact { note, .. }) => note.as_deref(),
        _ => None,
    }
}

pub(super) fn attempt_exact(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        judge_field(
            launch,
            "attempt",
            &launch.facts.attempt,
            "OPENRIG_LAUNCH_ATTEMPT",
            &mut tally,
        );
    }
    tally.finding()
}

pub(super) fn harness_exact(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        judge_field(
            launch,
            "harness",
            &launch.facts.runtime,
            "the preset's name",
            &mut tally,
        );
    }
    tally.finding()
}

fn judge_field(launch: &LaunchView<'_>, name: &str, expected: &str, source: &str, tally: &mut Tally) {
    for version in written(launch) {
        let Some(body) = &version.body else { continue };
        if version.field(name) == Some(expected) {
            tally.held(
                format!("{name} is {source}, {}", quoted(expected)),
                &[version.event],
            );
        } else {
            tally.broken(
                format!(
                    "{name} is {}; {source} is {}",
                    shown(body.get(name)),
                    quoted(expected)
                ),
                &[version.event],
            );
        }
    }
}

pub(super) fn native_ref_exact(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for version in written(launch).filter(|version| version.body.is_some()) {
            match &launch.facts.resume_ref {
                Some(reference) => judge_resumed(version, reference, &mut tally),
                None => judge_opened(launch, version, &mut tally),
            }
        }
    }
    tally.finding()
}

fn judge_resumed(version: &RecordVersion<'_>, reference: &str, tally: &mut Tally) {
    match version.field("nativeRef") {
        Some(native_ref) if native_ref == reference => {
            tally.held(
                format!("nativeRef is OPENRIG_RESUME_REF, {}", quoted(reference)),
                &[version.event],
            );
        }
        Some(native_ref) => tally.broken(
            format!(
                "nativeRef is {}; OPENRIG_RESUME_REF is {}",
                quoted(native_ref),
                quoted(reference)
            ),
            &[version.event],
        ),
        None => {}
    }
}

/// Against every id that the agent gave before; without one it is for other clauses to judge.
fn judge_opened(launch: &LaunchView<'_>, version: &RecordVersion<'_>, tally: &mut Tally) {
    let given: Vec<_> = all_openings(launch)
        .filter_map(|exchange| exchange.answers.first())
        .filter(|answer| answer.event.at <= version.event.at)
        .filter_map(|answer| Some((answer.text_at("/result/sessionId")?, answer.event)))
        .collect();
    let Some((last_id, last_answer)) = given.last().copied() else {
        return;
    };
    match version.field("nativeRef") {
        Some(native_ref) => match given.iter().find(|(id, _)| *id == native_ref) {
            Some((id, answer)) => {
                tally.held(
                    format!("nativeRef is the agent's id, {}", quoted(id)),
                    &[*answer, version.event],
                );
            }
            None => tally.broken(
                format!(
                    "nativeRef is {}; the agent's id is {}",
                    quoted(native_ref),
                    quoted(last_id)
                ),
                &[last_answer, version.event],
            ),
        },
        None if version.field("error").is_some() => tally.broken(
            format!(
                "the record says {}; the agent opened {}",
                shown_error(version),
                quoted(last_id)
            ),
            &[last_answer, version.event],
        ),
        None => {}
    }
}

fn shown_error(version: &RecordVersion<'_>) -> String {
    quoted(version.field("error").unwrap_or_default())
}

pub(super) fn producer(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for version in views.launches.iter().flat_map(written) {
        let Some(body) = &version.body else { continue };
        match version.field("producer") {
            Some(producer) if !producer.trim().is_empty() => {
                let has_version = producer.chars().any(|character| character.is_ascii_digit());
                let note = if has_version {
                    ""
                } else {
                    ", which names no version"
                };
                tally.held(
                    format!("producer is {}{note}", quoted(producer)),
                    &[version.event],
                );
            }
            _ => tally.broken(
                format!("producer is {}", shown(body.get("producer"))),
                &[version.event],
            ),
        }
    }
    tally.finding()
}
