//! §3: the conversation is reported once, in the launch record, and nowhere else.

pub(super) mod absence;
mod content;
pub(super) mod opening;
#[cfg(test)]
mod tests;
mod without_record;
mod writing;

use serde_json::Value;

use super::clause::{Clause, Group, Level::*};
use super::finding::{Finding, Tally};
use super::quote::quoted;
use crate::history::views::{LaunchView, Views};
use opening::{all_openings, holds_text};

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "identity.record-written",
        level: Must,
        basis: "§3",
        text: "after a successful open the record appears at OPENRIG_LAUNCH_RESULT within the wait",
        judge: writing::record_written,
    },
    Clause {
        id: "identity.after-open",
        level: Must,
        basis: "§3",
        text: "no record before the agent answered the open or reopen",
        judge: writing::after_open,
    },
    Clause {
        id: "identity.shape",
        level: Must,
        basis: "§3",
        text: "the record is a JSON object: format 1, attempt, harness, producer, and exactly one of nativeRef and \
               error; error is \"missing\"",
        judge: content::shape,
    },
    Clause {
        id: "identity.attempt-exact",
        level: Must,
        basis: "§3",
        text: "attempt is this launch's OPENRIG_LAUNCH_ATTEMPT",
        judge: content::attempt_exact,
    },
    Clause {
        id: "identity.harness-exact",
        level: Must,
        basis: "§3",
        text: "harness is the preset's name",
        judge: content::harness_exact,
    },
    Clause {
        id: "identity.native-ref-exact",
        level: Must,
        basis: "§3",
        text: "nativeRef is the agent's conversation id, byte for byte (long, non-ASCII, slashes)",
        judge: content::native_ref_exact,
    },
    Clause {
        id: "identity.producer",
        level: Must,
        basis: "§3",
        text: "producer is non-empty text; it should name a version",
        judge: content::producer,
    },
    Clause {
        id: "identity.written-once",
        level: Must,
        basis: "§3",
        text: "once usable, the record does not change",
        judge: writing::written_once,
    },
    Clause {
        id: "identity.whole-file",
        level: Should,
        basis: "read",
        text: "no reader ever finds half a record",
        judge: writing::whole_file,
    },
    Clause {
        id: "identity.only-channel",
        level: Must,
        basis: "§3",
        text: "no post carries the conversation id or an eventFamily",
        judge: only_channel,
    },
    Clause {
        id: "identity.none-on-failed-open",
        level: Must,
        basis: "§3 §8",
        text: "no nativeRef when the open was refused, timed out, or the agent died",
        judge: without_record::none_on_failed_open,
    },
    Clause {
        id: "identity.runs-without-path",
        level: Must,
        basis: "§3",
        text: "without OPENRIG_LAUNCH_RESULT the seat still works",
        judge: without_record::runs_without_path,
    },
    Clause {
        id: "identity.stale-record",
        level: Should,
        basis: "read",
        text: "another attempt's record at the path is replaced",
        judge: writing::stale_record,
    },
    Clause {
        id: "identity.version-mismatch",
        level: Should,
        basis: "read (ACP)",
        text: "an agent that answers a protocol version the runner can't speak: no open, no record, said in the pane",
        judge: without_record::version_mismatch,
    },
];

fn only_channel(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let ids = conversation_ids(launch);
        let mut bodies = 0;
        for post in &launch.all_posts {
            let Some(body) = &post.body else { continue };
            bodies += 1;
            if let Some(id) = ids
                .iter()
                .find(|id| holds_text(body, &|text| text == id.as_str()))
            {
                tally.broken(
                    format!("{} carries the conversation id {}", post.name(), quoted(id)),
                    &[post.started],
                );
            }
            if holds_event_family(body) {
                tally.broken(format!("{} carries an eventFamily", post.name()), &[post.started]);
            }
        }
        let after_open = launch.conversation().and_then(|(_, opened)| {
            let mut later = launch
                .all_posts
                .iter()
                .filter(|post| post.at() >= opened.at && post.body.is_some());
            Some((opened, later.next_back()?))
        });
        if let Some((opened, last)) = after_open
            && !ids.is_empty()
        {
            tally.held(
                format!("none of {bodies} posts carries the conversation id or an eventFamily"),
                &[opened, last.started],
            );
        }
    }
    tally.finding()
}

/// The ids of this launch's conversations that no post could hold by chance.
fn conversation_ids(launch: &LaunchView<'_>) -> Vec<String> {
    const SHORTEST: usize = 6;
    let facts = launch.facts;
    let told = [
        &facts.attempt,
        &facts.generation,
        &facts.session_name,
        &facts.node_id,
        &facts.runtime,
    ];
    let given = all_openings(launch).filter_map(|exchange| {
        exchange
            .answers
            .first()?
            .text_at("/result/sessionId")
            .map(str::to_owned)
    });
    given
        .chain(facts.resume_ref.clone())
        .filter(|id| id.chars().count() >= SHORTEST && !told.contains(&id))
        .collect()
}

fn holds_event_family(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(holds_event_family),
        Value::Object(members) => members
            .iter()
            .any(|(key, member)| key == "eventFamily" && !member.is_null() || holds_event_family(member)),
        _ => false,
    }
}
