//! When and how the record was written.

use serde_json::Value;

use super::super::finding::{Finding, Tally};
use super::super::grace::CROSSING;
use super::super::quote::quoted;
use super::super::watch::cited;
use super::opening::{all_openings, judge_absence, of_attempt, opened, written};
use crate::history::views::{Exchange, LaunchView, RecordVersion, Views, milliseconds};
use crate::history::{Event, Fact, RecordChange, RecordFact};

pub(super) fn record_written(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        // One that leaves another attempt's record is judged by identity.stale-record.
        if !launch.facts.stale_record {
            judge_written(views, launch, &mut tally);
        }
    }
    tally.finding()
}

pub(super) fn stale_record(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        if launch.facts.stale_record {
            judge_written(views, launch, &mut tally);
        }
    }
    tally.finding()
}

fn judge_written(views: &Views<'_>, launch: &LaunchView<'_>, tally: &mut Tally) {
    let Some(opened) = opened(launch) else { return };
    let mut records = written(launch)
        .filter(|version| version.body.is_some())
        .peekable();
    if records.peek().is_none() {
        judge_absence(views, launch, &opened, tally);
    }
    // A record that stood before the answer is for identity.after-open to judge.
    let answer = opened.answer.event;
    if let Some(version) = records.find(|version| version.event.at >= answer.at) {
        tally.held(
            format!(
                "the record appeared {} after the answer to {}",
                milliseconds(version.event.at - answer.at),
                opened.exchange.method()
            ),
            &[answer, version.event],
        );
    }
}

pub(super) fn after_open(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        if !launch.facts.record_path_given {
            continue;
        }
        for version in of_attempt(launch) {
            judge_order(launch, version, &mut tally);
        }
        for opening in all_openings(launch) {
            judge_patience(launch, opening, &mut tally);
        }
    }
    tally.finding()
}

fn judge_order(launch: &LaunchView<'_>, version: &RecordVersion<'_>, tally: &mut Tally) {
    let Some(word) = first_word(launch, version) else {
        let asked = all_openings(launch).map(|opening| opening.request.event).next();
        let events: Vec<&Event> = asked.into_iter().chain([version.event]).collect();
        return tally.broken(
            "there is a record, and the agent answered no open or reopen",
            &events,
        );
    };
    if version.event.at < word.at {
        tally.broken(
            format!(
                "the record was there {} before the agent's answer",
                milliseconds(word.at - version.event.at)
            ),
            &[version.event, word],
        );
        return;
    }
    // Only the answer itself could tell a new conversation's id: proof that the record waited for it.
    let told = opened(launch)
        .filter(|_| !launch.is_resume())
        .filter(|opened| opened.answer.text_at("/result/sessionId") == version.field("nativeRef"));
    if let Some(opened) = told {
        tally.held(
            "the record holds an id that only the answer told",
            &[opened.answer.event, version.event],
        );
    }
}

/// The first thing the agent said that a record could rest on: an answer to an open or reopen, or, for `missing`, its
/// list of sessions (reading 32).
fn first_word<'h>(launch: &LaunchView<'h>, version: &RecordVersion<'_>) -> Option<&'h Event> {
    let by_list = launch.is_resume() && version.field("error").is_some();
    let lists = launch
        .requests
        .iter()
        .filter(|exchange| by_list && exchange.method() == "session/list");
    all_openings(launch)
        .chain(lists)
        .filter_map(|exchange| exchange.answers.first())
        .map(|answer| answer.event)
        .min_by_key(|event| event.sequence)
}

/// An answer that kept the runner waiting, and no record meanwhile.
fn judge_patience(launch: &LaunchView<'_>, opening: &Exchange<'_>, tally: &mut Tally) {
    let asked = opening.request.event;
    let answer = opening.answers.first().map(|answer| answer.event);
    let until = answer.map_or_else(|| launch.end_of_free_run(), |answer| answer.at);
    let waited = until.saturating_sub(asked.at);
    let early = of_attempt(launch).any(|version| version.event.at < until);
    // A runner that writes no record where one belongs is not patient.
    let never = opening.succeeded() && of_attempt(launch).next().is_none();
    if waited < CROSSING || early || never {
        return;
    }
    let events = answer.map_or_else(|| cited(launch, &[asked]), |answer| vec![asked, answer]);
    tally.held(
        format!(
            "{} waited {} for its answer, without a record",
            opening.method(),
            milliseconds(waited)
        ),
        &events,
    );
}

pub(super) fn written_once(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some(first) = of_attempt(launch).find(|version| is_usable(version)) else {
            continue;
        };
        let later = |version: &&RecordVersion<'_>| {
            version.event.sequence > first.event.sequence && version.event.at <= launch.end_of_free_run()
        };
        match launch
            .records
            .iter()
            .filter(later)
            .find(|version| changes(first, version))
        {
            Some(version) => tally.broken(
                format!(
                    "{} after it was usable the record {}",
                    milliseconds(version.event.at.saturating_sub(first.event.at)),
                    became(version)
                ),
                &[first.event, version.event],
            ),
            None if launch.watched_after(first.event.at) >= CROSSING => tally.held(
                format!(
                    "the record did not change in {}",
                    milliseconds(launch.watched_after(first.event.at))
                ),
                &cited(launch, &[first.event]),
            ),
            None => {}
        }
    }
    tally.finding()
}

/// Whether OpenRig could go by it.
fn is_usable(version: &RecordVersion<'_>) -> bool {
    match (version.field("nativeRef"), version.field("error")) {
        (Some(native_ref), None) => !native_ref.is_empty(),
        (None, Some(error)) => error == "missing",
        _ => false,
    }
}

/// Whether a later version says something else. The same said again in other bytes is no change, and what could not
/// be read tells nothing.
fn changes(first: &RecordVersion<'_>, later: &RecordVersion<'_>) -> bool {
    later.change == RecordChange::Removed || (later.raw.is_some() && later.body != first.body)
}

fn became(version: &RecordVersion<'_>) -> String {
    match (version.change, version.raw) {
        (RecordChange::Removed, _) => "was removed".into(),
        (_, Some([])) => "was empty".into(),
        (_, raw) => format!(
            "became {}",
            quoted(&String::from_utf8_lossy(raw.unwrap_or_default()))
        ),
    }
}

pub(super) fn whole_file(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for version in written(launch).filter(|version| version.event.at <= launch.end_of_free_run()) {
            let Some(raw) = version.raw.filter(|_| !was_cut(version)) else {
                continue;
            };
            // The name was there before the bytes were: that this reader met none but whole ones was luck.
            if version.change == RecordChange::Modified {
                tally.broken(
                    "the record was written in place, where a reader can find it empty or half",
                    &[version.event],
                );
                continue;
            }
            if serde_json::from_slice::<Value>(raw).is_ok() {
                let how = if version.change == RecordChange::MovedIn {
                    "moved in whole"
                } else {
                    "found whole"
                };
                tally.held(format!("the record was {how}"), &[version.event]);
                continue;
            }
            let seen = if raw.is_empty() {
                "an empty file".to_owned()
            } else {
                format!("{} bytes that are no whole JSON", raw.len())
            };
            tally.broken(format!("a reader could find {seen}"), &[version.event]);
        }
    }
    tally.finding()
}

fn was_cut(version: &RecordVersion<'_>) -> bool {
    matches!(
        &version.event.fact,
        Fact::Record(RecordFact { note: Some(_), .. })
    )
}
