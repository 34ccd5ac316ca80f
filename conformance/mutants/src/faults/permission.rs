//! Faults around permission requests, and the agent's other requests.

use std::time::Duration;

use reference_runner::{Crossing, Edge};
use serde_json::{Value, json};

use crate::Mutant;
use crate::altered::{Instead, on_crossing, on_message_from_agent, on_message_to_agent, on_post, on_shown};
use crate::messages::{error, from_agent, is, is_answer, is_update, method_of, result, to_agent};
use crate::posts::{self, STILL_IDLE, TURN_ENDED, post};
use crate::seen::Seen;
use crate::shown;

const REQUEST: &str = "session/request_permission";

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "permission-not-answered",
        clause: "permission.refused",
        fault: "never answers a permission request",
        edge: || on_refusal(|_| Vec::new()),
    },
    Mutant {
        name: "permission-granted",
        clause: "permission.refused",
        fault: "grants what is asked for",
        edge: permission_granted,
    },
    Mutant {
        name: "permission-answered-with-error",
        clause: "permission.refused",
        fault: "answers a permission request with an error",
        edge: || on_refusal(|reply| vec![to_agent(&error(reply["id"].clone(), -32603, "permission denied"))]),
    },
    Mutant {
        name: "permission-late",
        clause: "permission.at-once",
        fault: "refuses a permission after three seconds",
        edge: || on_refusal(|reply| vec![Crossing::Pause(Duration::from_secs(3)), to_agent(reply)]),
    },
    Mutant {
        name: "permission-needs-key",
        clause: "permission.at-once",
        fault: "refuses a permission when something is typed",
        edge: permission_needs_key,
    },
    Mutant {
        name: "permission-id-as-text",
        clause: "permission.id-echoed",
        fault: "turns the id of a permission request into text",
        edge: || {
            on_refusal(|reply| {
                let mut reply = reply.clone();
                if reply["id"].is_number() {
                    reply["id"] = reply["id"].to_string().into();
                }
                vec![to_agent(&reply)]
            })
        },
    },
    Mutant {
        name: "permission-first-only",
        clause: "permission.each",
        fault: "answers only a turn's first permission request",
        edge: permission_first_only,
    },
    Mutant {
        name: "permission-answered-twice",
        clause: "permission.each",
        fault: "answers each permission request twice",
        edge: || on_refusal(|reply| vec![to_agent(reply), to_agent(reply)]),
    },
    Mutant {
        name: "permission-not-shown",
        clause: "permission.shown",
        fault: "does not show what permission was asked for",
        edge: || on_shown(|_, text| text.contains(shown::PERMISSION_ASKED).then(Vec::new)),
    },
    Mutant {
        name: "permission-title-forgotten",
        clause: "permission.shown",
        fault: "does not look for the title that an earlier update gave",
        edge: || {
            on_message_from_agent(|_, mut message| {
                if !is_update(&message, "tool_call") && !is_update(&message, "tool_call_update") {
                    return None;
                }
                message["params"]["update"]["title"] = Value::Null;
                Some(vec![from_agent(&message)])
            })
        },
    },
    Mutant {
        name: "permission-not-posted",
        clause: "permission.posted",
        fault: "posts no Notification for a permission request",
        edge: || on_post(|_, body| posts::is(body, "Notification", "permission_prompt").then(Vec::new)),
    },
    Mutant {
        name: "held-turn-end-posted",
        clause: "permission.held",
        fault: "posts the turn's end although a permission holds attention",
        edge: || on_held_answer(|seen| post(seen, "Stop", TURN_ENDED)),
    },
    Mutant {
        name: "held-cancelled-posted",
        clause: "permission.held",
        fault: "posts Stop/cancelled although a permission holds attention",
        edge: held_cancelled_posted,
    },
    Mutant {
        name: "held-beat-posted",
        clause: "permission.held",
        fault: "goes on with idle beats while a permission holds attention",
        edge: || on_held_answer(|seen| post(seen, "Stop", STILL_IDLE)),
    },
    Mutant {
        name: "held-work-posted",
        clause: "permission.held",
        fault: "posts that the agent works on after a refused permission",
        edge: || {
            on_message_from_agent(|seen, message| {
                let works_on = is(&message, "session/update") && seen.is_attention_held && seen.is_working();
                works_on.then(|| vec![from_agent(&message), post(seen, "PreToolUse", "active")])
            })
        },
    },
    Mutant {
        name: "attention-kept",
        clause: "permission.cleared-by-prompt",
        fault: "never stops holding attention",
        edge: attention_kept,
    },
    Mutant {
        name: "attention-kept-through-next-turn",
        clause: "permission.cleared-by-prompt",
        fault: "posts no end of the turn after a refused permission",
        edge: attention_kept_through_next_turn,
    },
    Mutant {
        name: "held-exit-not-posted",
        clause: "permission.exit-while-held",
        fault: "posts no exit while a permission holds attention",
        edge: || on_post(|seen, body| (posts::is_exit(body) && seen.is_attention_held).then(Vec::new)),
    },
    Mutant {
        name: "permission-odd-ignored",
        clause: "permission.odd-requests",
        fault: "takes no notice of a permission request without options or tool call",
        edge: || {
            on_message_from_agent(|_, message| {
                let params = &message["params"];
                let has_options = params["options"]
                    .as_array()
                    .is_some_and(|options| !options.is_empty());
                let is_odd = !has_options || params["toolCall"]["toolCallId"].as_str().is_none();
                (is(&message, REQUEST) && is_odd).then(Vec::new)
            })
        },
    },
    Mutant {
        name: "permission-other-session-ignored",
        clause: "permission.odd-requests",
        fault: "takes no notice of a permission request that names another session",
        edge: || {
            on_message_from_agent(|seen, message| {
                let session = seen.session.as_deref()?;
                (is(&message, REQUEST) && message["params"]["sessionId"] != session).then(Vec::new)
            })
        },
    },
    Mutant {
        name: "request-served-emptily",
        clause: "permission.unknown-32601",
        fault: "answers an unknown request with an empty result",
        edge: || on_unknown_reply(|reply| vec![to_agent(&result(reply["id"].clone(), json!({})))]),
    },
    Mutant {
        name: "request-not-answered",
        clause: "permission.unknown-32601",
        fault: "does not answer an unknown request",
        edge: || on_unknown_reply(|_| Vec::new()),
    },
    Mutant {
        name: "request-other-error",
        clause: "permission.unknown-32601",
        fault: "answers an unknown request with error -32603",
        edge: || on_unknown_reply(|reply| vec![to_agent(&error(reply["id"].clone(), -32603, "not served"))]),
    },
    Mutant {
        name: "capabilities-untrue",
        clause: "permission.capabilities-honest",
        fault: "advertises files and terminals, and serves neither",
        edge: || {
            on_message_to_agent(|_, mut message| {
                if !is(&message, "initialize") {
                    return None;
                }
                message["params"]["clientCapabilities"] =
                    json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true});
                Some(vec![to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "notification-answered",
        clause: "permission.notifications-ignored",
        fault: "answers an unknown notification with an error",
        edge: || {
            on_message_from_agent(|_, message| {
                let is_unknown = method_of(&message).is_some_and(|method| method != "session/update")
                    && message.get("id").is_none();
                is_unknown.then(|| vec![to_agent(&error(Value::Null, -32601, "Method not found"))])
            })
        },
    },
];

/// What happens instead of refusing a permission.
fn on_refusal(instead: fn(&Value) -> Vec<Crossing>) -> Box<dyn Edge> {
    on_message_to_agent(move |seen, reply| {
        (seen.replied_method(&reply) == Some(REQUEST)).then(|| instead(&reply))
    })
}

/// What happens instead of answering a request that is not for a permission.
fn on_unknown_reply(instead: fn(&Value) -> Vec<Crossing>) -> Box<dyn Edge> {
    on_message_to_agent(move |seen, reply| {
        seen.replied_method(&reply)
            .is_some_and(|method| method != REQUEST)
            .then(|| instead(&reply))
    })
}

/// What is posted besides when a turn ends in which a permission was asked for.
fn on_held_answer(besides: fn(&Seen) -> Crossing) -> Box<dyn Edge> {
    on_message_from_agent(move |seen, message| {
        (seen.ends_turn(&message) && seen.is_permission_asked)
            .then(|| vec![from_agent(&message), besides(seen)])
    })
}

fn permission_granted() -> Box<dyn Edge> {
    let mut offered = Vec::new();
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::FromAgent(line) => {
                let message: Value = serde_json::from_str(line).ok()?;
                if is(&message, REQUEST) {
                    let option = message.pointer("/params/options/0/optionId").cloned();
                    offered.push((message["id"].clone(), option.unwrap_or_else(|| "allow".into())));
                }
                None
            }
            Crossing::ToAgent(line) => {
                let reply: Value = serde_json::from_str(line).ok()?;
                if seen.replied_method(&reply) != Some(REQUEST) {
                    return None;
                }
                let place = offered.iter().position(|(id, _)| *id == reply["id"])?;
                let (id, option) = offered.swap_remove(place);
                let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
                Some(vec![to_agent(&result(id, outcome))])
            }
            _ => None,
        }
    })
}

fn permission_needs_key() -> Box<dyn Edge> {
    let mut held = Vec::new();
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::ToAgent(line) => {
                let reply = serde_json::from_str(line).ok()?;
                (seen.replied_method(&reply) == Some(REQUEST)).then(|| {
                    held.push(crossing.clone());
                    Vec::new()
                })
            }
            Crossing::Typed(_) if !held.is_empty() => {
                Some(held.drain(..).chain([crossing.clone()]).collect())
            }
            _ => None,
        }
    })
}

fn permission_first_only() -> Box<dyn Edge> {
    let mut answered_in_turn = 0;
    on_message_to_agent(move |seen, message| {
        if is(&message, "session/prompt") {
            answered_in_turn = 0;
        } else if seen.replied_method(&message) == Some(REQUEST) {
            answered_in_turn += 1;
        }
        (is_answer(&message) && seen.replied_method(&message) == Some(REQUEST) && answered_in_turn > 1)
            .then(Vec::new)
    })
}

fn held_cancelled_posted() -> Box<dyn Edge> {
    on_message_from_agent(|seen, message| {
        let is_cancelled = seen.ends_turn(&message) && message["result"]["stopReason"] == "cancelled";
        (is_cancelled && seen.is_permission_asked)
            .then(|| vec![from_agent(&message), post(seen, "Stop", "cancelled")])
    })
}

fn attention_kept() -> Box<dyn Edge> {
    let mut is_held = false;
    on_post(move |_, body| {
        if posts::is(body, "Notification", "permission_prompt") {
            is_held = true;
            return None;
        }
        (is_held && !posts::is_exit(body)).then(Vec::new)
    })
}

fn attention_kept_through_next_turn() -> Box<dyn Edge> {
    let mut turns_ends_left_out = false;
    on_post(move |seen, body| {
        if posts::is(body, "UserPromptSubmit", "accepted") {
            turns_ends_left_out = seen.is_attention_held;
        }
        (turns_ends_left_out && body["hookEvent"] == "Stop" && !posts::is_exit(body)).then(Vec::new)
    })
}
