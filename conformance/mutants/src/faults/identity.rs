//! Faults of the launch record.

use std::time::Duration;

use reference_runner::{Crossing, Edge};
use serde_json::Value;

use crate::Mutant;
use crate::altered::{Instead, on_crossing, on_message_from_agent, on_message_to_agent, on_post, on_record};
use crate::messages::{from_agent, is, to_agent};
use crate::posts;
use crate::records::{bytes_of, put_reference, put_with};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "record-never",
        clause: "identity.record-written",
        fault: "writes no launch record",
        edge: || on_record(|_, _| Some(Vec::new())),
    },
    Mutant {
        name: "record-on-asking",
        clause: "identity.after-open",
        fault: "writes a record when it asks for a new conversation",
        edge: || {
            on_message_to_agent(|seen, message| {
                let early = put_reference(seen, "conversation-to-come");
                is(&message, "session/new").then(|| vec![early, to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "record-on-initialize",
        clause: "identity.after-open",
        fault: "writes a record when the agent has answered initialize",
        edge: || {
            on_message_from_agent(|seen, message| {
                let reference = seen.to_reopen.as_deref().unwrap_or("conversation-to-come");
                let is_initialized = seen.answered_method(&message) == Some("initialize");
                is_initialized.then(|| vec![put_reference(seen, reference), from_agent(&message)])
            })
        },
    },
    Mutant {
        name: "record-reopened-on-asking",
        clause: "identity.after-open",
        fault: "records the conversation to reopen when it asks for it",
        edge: || {
            on_message_to_agent(|seen, message| {
                let reference = seen.to_reopen.as_deref()?;
                let asks = is(&message, "session/load") || is(&message, "session/resume");
                asks.then(|| vec![put_reference(seen, reference), to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "record-reference-and-error",
        clause: "identity.shape",
        fault: "gives both a nativeRef and an error",
        edge: || {
            on_record(|_, record| {
                record
                    .get("nativeRef")
                    .is_some()
                    .then(|| vec![put_with(record, "error", "none")])
            })
        },
    },
    Mutant {
        name: "record-error-in-words",
        clause: "identity.shape",
        fault: "gives a sentence instead of the error \"missing\"",
        edge: || {
            on_record(|_, record| {
                let is_error = record.get("error").is_some();
                is_error.then(|| vec![put_with(record, "error", "the conversation was not found")])
            })
        },
    },
    Mutant {
        name: "record-format-as-text",
        clause: "identity.shape",
        fault: "gives the format as text",
        edge: || record_with(|_| ("format", "1".into())),
    },
    Mutant {
        name: "record-other-attempt",
        clause: "identity.attempt-exact",
        fault: "names another attempt in the record",
        edge: || record_with(|_| ("attempt", "attempt-1".into())),
    },
    Mutant {
        name: "record-names-protocol",
        clause: "identity.harness-exact",
        fault: "names the protocol as the harness",
        edge: || record_with(|_| ("harness", "acp".into())),
    },
    Mutant {
        name: "record-reference-cut",
        clause: "identity.native-ref-exact",
        fault: "cuts the conversation's id at 32 characters",
        edge: || reference_as(|reference| reference.chars().take(32).collect()),
    },
    Mutant {
        name: "record-reference-ascii",
        clause: "identity.native-ref-exact",
        fault: "replaces what is not ASCII in the conversation's id",
        edge: || reference_as(|reference| reference.replace(|character: char| !character.is_ascii(), "?")),
    },
    Mutant {
        name: "record-reference-last-part",
        clause: "identity.native-ref-exact",
        fault: "records only what follows the last slash of the conversation's id",
        edge: || reference_as(|reference| reference.rsplit('/').next().unwrap_or_default().to_owned()),
    },
    Mutant {
        name: "record-producer-empty",
        clause: "identity.producer",
        fault: "leaves the producer empty",
        edge: || record_with(|_| ("producer", "".into())),
    },
    Mutant {
        name: "record-rewritten",
        clause: "identity.written-once",
        fault: "writes the record again at the end of each turn, with the turns in it",
        edge: record_rewritten,
    },
    Mutant {
        name: "record-in-two-parts",
        clause: "identity.whole-file",
        fault: "writes the record in place, in two parts",
        edge: || {
            on_record(|_, record| {
                let bytes = bytes_of(&record);
                let half = bytes[..bytes.len() / 2].to_vec();
                let pause = Crossing::Pause(Duration::from_millis(400));
                Some(vec![
                    Crossing::RecordInPlace(half),
                    pause,
                    Crossing::RecordInPlace(bytes),
                ])
            })
        },
    },
    Mutant {
        name: "post-names-conversation",
        clause: "identity.only-channel",
        fault: "puts the conversation's id into its posts",
        edge: || {
            on_post(|seen, body| {
                let session = seen.session.as_deref()?;
                Some(vec![posts::with(body, "nativeSessionId", session)])
            })
        },
    },
    Mutant {
        name: "post-names-family",
        clause: "identity.only-channel",
        fault: "puts an eventFamily into its posts",
        edge: || on_post(|_, body| Some(vec![posts::with(body, "eventFamily", "identity")])),
    },
    Mutant {
        name: "record-after-refused-open",
        clause: "identity.none-on-failed-open",
        fault: "records an id of its own when the agent refuses to open",
        edge: || {
            on_message_from_agent(|seen, message| {
                let is_refused =
                    seen.answered_method(&message) == Some("session/new") && message.get("error").is_some();
                is_refused.then(|| vec![from_agent(&message), put_reference(seen, "unnamed")])
            })
        },
    },
    Mutant {
        name: "record-after-agents-death",
        clause: "identity.none-on-failed-open",
        fault: "records an id of its own when the agent dies before it has opened",
        edge: || {
            on_post(|seen, body| {
                let is_dead = posts::is_exit(body) && !seen.is_open;
                is_dead.then(|| vec![put_reference(seen, "unnamed"), Crossing::Post(body.clone())])
            })
        },
    },
    Mutant {
        name: "record-path-needed",
        clause: "identity.runs-without-path",
        fault: "ends when there is no OPENRIG_LAUNCH_RESULT",
        edge: || {
            on_crossing(|seen, crossing| {
                let needs_it = *crossing == Crossing::TerminalRaw(true) && seen.record_path.is_none();
                needs_it.then(|| vec![crossing.clone(), Crossing::Exit(1)])
            })
        },
    },
    Mutant {
        name: "record-stale-kept",
        clause: "identity.stale-record",
        fault: "leaves a record that is there already",
        edge: || on_record(|seen, _| seen.record_path.as_ref()?.exists().then(Vec::new)),
    },
    Mutant {
        name: "version-not-looked-at",
        clause: "identity.version-mismatch",
        fault: "opens whatever protocol version the agent answers",
        edge: || {
            on_message_from_agent(|seen, mut message| {
                let is_initialized = seen.answered_method(&message) == Some("initialize");
                if !is_initialized || message.get("result").is_none() {
                    return None;
                }
                message["result"]["protocolVersion"] = 1.into();
                Some(vec![from_agent(&message)])
            })
        },
    },
];

/// Sets one field of every record.
fn record_with(field: fn(&Value) -> (&'static str, Value)) -> Box<dyn Edge> {
    on_record(move |_, record| {
        let (name, value) = field(&record);
        Some(vec![put_with(record, name, value)])
    })
}

/// Changes the nativeRef of every record that has one.
fn reference_as(change: fn(&str) -> String) -> Box<dyn Edge> {
    on_record(move |_, record| {
        let changed = change(record.get("nativeRef")?.as_str()?);
        Some(vec![put_with(record, "nativeRef", changed)])
    })
}

fn record_rewritten() -> Box<dyn Edge> {
    let mut written: Option<Value> = None;
    let mut turns = 0;
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::Record(bytes) => {
                written = serde_json::from_slice(bytes).ok();
                None
            }
            Crossing::FromAgent(line) => {
                let message: Value = serde_json::from_str(line).ok()?;
                let record = written.clone().filter(|_| seen.ends_turn(&message))?;
                turns += 1;
                let producer = format!("reference-runner after {turns} turns");
                Some(vec![from_agent(&message), put_with(record, "producer", producer)])
            }
            _ => None,
        }
    })
}
