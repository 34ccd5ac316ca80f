//! Manners of the launch record, and of leaving.

use std::time::Duration;

use reference_runner::{Crossing, Edge};
use serde_json::json;

use super::Manner;
use crate::altered::{Instead, on_crossing, on_message_from_agent};
use crate::messages::from_agent;
use crate::posts;

pub(super) const TERSE: &[Manner] = &[
    Manner {
        reading: 40,
        does: "writes its record in place",
        edge: || {
            on_crossing(|_, crossing| match crossing {
                Crossing::Record(bytes) => Some(vec![Crossing::RecordInPlace(bytes.clone())]),
                _ => None,
            })
        },
    },
    Manner {
        reading: 13,
        does: "leaves a conversation unconfirmed that was not found without a word about which",
        edge: not_found_without_data_is_no_word,
    },
    Manner {
        reading: 14,
        does: "records the reference though the answer names another conversation",
        edge: || {
            on_message_from_agent(|seen, mut message| {
                let reopened = matches!(
                    seen.answered_method(&message),
                    Some("session/load" | "session/resume")
                );
                let answer = message.get_mut("result").filter(|_| reopened)?;
                answer.as_object_mut()?.remove("sessionId")?;
                Some(vec![from_agent(&message)])
            })
        },
    },
    Manner {
        reading: 18,
        does: "stays for a while after the agent's exit",
        edge: || {
            let mut has_exited = false;
            on_crossing(move |_, crossing| -> Instead {
                match crossing {
                    Crossing::Post(body) if posts::is_exit(body) => has_exited = true,
                    Crossing::TerminalRaw(false) if has_exited => {
                        return Some(vec![Crossing::Pause(STAYS), crossing.clone()]);
                    }
                    _ => {}
                }
                None
            })
        },
    },
];

/// Longer than any scenario looks on after an exit.
const STAYS: Duration = Duration::from_secs(2);

fn not_found_without_data_is_no_word() -> Box<dyn Edge> {
    on_message_from_agent(|seen, mut message| {
        let reopened = matches!(
            seen.answered_method(&message),
            Some("session/load" | "session/resume")
        );
        let error = message.get_mut("error").filter(|_| reopened)?;
        if error["code"] != -32002 || error.get("data").is_some_and(|data| !data.is_null()) {
            return None;
        }
        error["code"] = json!(-32603);
        Some(vec![from_agent(&message)])
    })
}
