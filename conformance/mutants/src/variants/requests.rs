//! Manners of asking and answering the agent.

use std::collections::BTreeMap;

use reference_runner::{Crossing, Edge};
use serde_json::{Value, json};

use super::Manner;
use crate::altered::{Instead, on_crossing, on_message_to_agent};
use crate::messages::{error, from_agent, is, is_answer, request, to_agent};

/// The numbering stands at the end: whatever else is sent gets a number, too.
pub(super) const TERSE: &[Manner] = &[
    Manner {
        reading: 28,
        does: "refuses elicitation for its parameters (-32602)",
        edge: || {
            on_message_to_agent(|seen, mut message| {
                let asked = seen.replied_method(&message)?.to_owned();
                let error = message
                    .get_mut("error")
                    .filter(|_| asked.starts_with("elicitation/"))?;
                error["code"] = json!(-32602);
                Some(vec![to_agent(&message)])
            })
        },
    },
    Manner {
        reading: 41,
        does: "numbers its requests from 0 up, as the agent does",
        edge: numbered,
    },
];

pub(super) const EAGER: &[Manner] = &[
    Manner {
        reading: 32,
        does: "asks for the list of conversations first, where there is one, and believes it",
        edge: listed_first,
    },
    Manner {
        reading: 34,
        does: "sets the agent's first mode where it offers modes",
        edge: mode_set,
    },
];

fn numbered() -> Box<dyn Edge> {
    let mut own_ids: BTreeMap<u64, Value> = BTreeMap::new();
    let mut next = 0;
    on_crossing(move |_, crossing| -> Instead {
        match crossing {
            Crossing::ToAgent(line) => {
                let mut message: Value = serde_json::from_str(line).ok()?;
                message.get("method")?;
                let own = message.get("id")?.clone();
                message["id"] = json!(next);
                own_ids.insert(next, own);
                next += 1;
                Some(vec![to_agent(&message)])
            }
            Crossing::FromAgent(line) => {
                let mut message: Value = serde_json::from_str(line).ok()?;
                // Answers may come twice: an id stays known.
                let own = own_ids
                    .get(&message["id"].as_u64()?)
                    .filter(|_| is_answer(&message))?;
                message["id"] = own.clone();
                Some(vec![from_agent(&message)])
            }
            _ => None,
        }
    })
}

const LIST: &str = "asked-by-the-variant-list";
const MODE: &str = "asked-by-the-variant-mode";

fn listed_first() -> Box<dyn Edge> {
    let mut offers_list = false;
    let mut reopening: Option<Value> = None;
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::ToAgent(line) if offers_list => {
                let message: Value = serde_json::from_str(line).ok()?;
                if !is(&message, "session/load") && !is(&message, "session/resume") {
                    return None;
                }
                // A second way to reopen is tried after the first failed; the list was read by then.
                offers_list = false;
                reopening = Some(message);
                Some(vec![to_agent(&request(LIST.into(), "session/list", json!({})))])
            }
            Crossing::FromAgent(line) => {
                let message: Value = serde_json::from_str(line).ok()?;
                if seen.answered_method(&message) == Some("initialize") {
                    offers_list =
                        message["result"]["agentCapabilities"]["sessionCapabilities"]["list"].is_object();
                }
                if message["id"] != LIST || !is_answer(&message) {
                    return None;
                }
                let asked = reopening.take()?;
                Some(vec![
                    if is_unlisted(&message["result"], &asked["params"]["sessionId"]) {
                        let mut answer = error(asked["id"].clone(), -32002, "it is not in the agent's list");
                        answer["error"]["data"] = json!({"sessionId": asked["params"]["sessionId"]});
                        from_agent(&answer)
                    } else {
                        to_agent(&asked)
                    },
                ])
            }
            _ => None,
        }
    })
}

/// Whether a list that was read to its end does not hold the conversation.
fn is_unlisted(list: &Value, session: &Value) -> bool {
    let sessions = list["sessions"].as_array();
    let is_whole = list.get("nextCursor").is_none_or(Value::is_null);
    sessions.is_some_and(|sessions| is_whole && sessions.iter().all(|entry| entry["sessionId"] != *session))
}

fn mode_set() -> Box<dyn Edge> {
    on_crossing(move |seen, crossing| -> Instead {
        let Crossing::FromAgent(line) = crossing else {
            return None;
        };
        let message: Value = serde_json::from_str(line).ok()?;
        if is_answer(&message) && message["id"] == MODE {
            return Some(Vec::new());
        }
        let method = seen.answered_method(&message)?;
        let mode = message.pointer("/result/modes/availableModes/0/id")?;
        let session = match method {
            "session/new" => message["result"]["sessionId"].clone(),
            "session/load" | "session/resume" => json!(seen.to_reopen),
            _ => return None,
        };
        let params = json!({"sessionId": session, "modeId": mode});
        Some(vec![
            to_agent(&request(MODE.into(), "session/set_mode", params)),
            crossing.clone(),
        ])
    })
}
