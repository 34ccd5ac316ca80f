//! Faults of reopening a conversation.

use reference_runner::{Crossing, Edge};
use serde_json::{Value, json};

use crate::Mutant;
use crate::altered::{Instead, on_crossing, on_message_from_agent, on_message_to_agent, on_post, on_record};
use crate::messages::{from_agent, id_of, is, is_answer, is_update, request, result, to_agent};
use crate::pastes::{ENTER, typed_message};
use crate::posts::{self, TURN_ENDED, post};
use crate::records::{put_missing, put_with};
use crate::seen::Seen;

/// The id of a session/new that only a mutant sends.
const NEW_ID: &str = "new-1";

const RESOURCE_NOT_FOUND: i32 = -32002;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "load-not-advertised",
        clause: "resume.advertised-method",
        fault: "calls session/load whether or not the agent advertises it",
        edge: || {
            on_initialized(|mut message| {
                message["result"]["agentCapabilities"]["loadSession"] = true.into();
                message
            })
        },
    },
    Mutant {
        name: "resume-not-advertised",
        clause: "resume.advertised-method",
        fault: "calls session/resume whether or not the agent advertises it",
        edge: || {
            on_initialized(|mut message| {
                message["result"]["agentCapabilities"]["sessionCapabilities"] = json!({"resume": {}});
                message
            })
        },
    },
    Mutant {
        name: "reopen-reference-cut",
        clause: "resume.exact-ref",
        fault: "asks for the reference without its last character",
        edge: || {
            on_reopen(|mut message| {
                let mut reference = message["params"]["sessionId"].as_str()?.to_owned();
                reference.pop();
                message["params"]["sessionId"] = reference.into();
                Some(vec![to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "reopen-reference-ascii",
        clause: "resume.exact-ref",
        fault: "leaves out what is not ASCII when it asks for the reference",
        edge: || {
            on_reopen(|mut message| {
                let reference = message["params"]["sessionId"].as_str()?;
                let reference: String = reference.chars().filter(char::is_ascii).collect();
                message["params"]["sessionId"] = reference.into();
                Some(vec![to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "reopen-as-new",
        clause: "resume.never-new",
        fault: "opens a new conversation instead of reopening the one asked for",
        edge: reopen_as_new,
    },
    Mutant {
        name: "reopen-failure-as-new",
        clause: "resume.never-new",
        fault: "opens a new conversation when the reopen fails",
        edge: || new_after_failure(is_failed_reopen),
    },
    Mutant {
        name: "reopen-unadvertised-as-new",
        clause: "resume.never-new",
        fault: "opens a new conversation when the agent advertises no way to reopen one",
        edge: || {
            new_after_failure(|seen, message| seen.to_reopen.is_some() && is_without_reopening(seen, message))
        },
    },
    Mutant {
        name: "later-message-as-new",
        clause: "resume.never-new",
        fault: "opens a new conversation for the first message after a failed reopen",
        edge: later_message_as_new,
    },
    Mutant {
        name: "reopened-record-other-reference",
        clause: "resume.record-same-ref",
        fault: "records the reopened conversation under another reference",
        edge: || {
            on_record(|seen, record| {
                let reference = format!("{}-2", seen.to_reopen.as_deref()?);
                record
                    .get("nativeRef")
                    .is_some()
                    .then(|| vec![put_with(record, "nativeRef", reference)])
            })
        },
    },
    Mutant {
        name: "missing-not-recorded",
        clause: "resume.missing-on-agents-word",
        fault: "writes no record when the agent says that the conversation does not exist",
        edge: || on_record(|_, record| record.get("error").is_some().then(Vec::new)),
    },
    Mutant {
        name: "missing-only-by-session-id",
        clause: "resume.missing-on-agents-word",
        fault: "knows only one of the spellings in which agents name a missing conversation",
        edge: || {
            on_failed_reopen(|mut message| {
                let is_spelt_otherwise = message["error"]["data"].get("sessionId").is_none();
                message["error"]["data"] = json!({});
                is_spelt_otherwise.then_some(message)
            })
        },
    },
    Mutant {
        name: "any-error-as-missing",
        clause: "resume.unconfirmed-otherwise",
        fault: "takes any error at a reopen for missing",
        edge: || {
            on_failed_reopen(|mut message| {
                message["error"] = json!({"code": RESOURCE_NOT_FOUND, "message": "missing"});
                Some(message)
            })
        },
    },
    Mutant {
        name: "missing-file-as-missing",
        clause: "resume.unconfirmed-otherwise",
        fault: "takes the error code for missing, whatever its data is about",
        edge: || {
            on_failed_reopen(|mut message| {
                let is_code = message["error"]["code"] == RESOURCE_NOT_FOUND;
                message["error"].as_object_mut()?.remove("data");
                is_code.then_some(message)
            })
        },
    },
    Mutant {
        name: "death-as-missing",
        clause: "resume.unconfirmed-otherwise",
        fault: "records missing when the agent dies before it has reopened anything",
        edge: || {
            on_post(|seen, body| {
                let dies = posts::is_exit(body) && seen.to_reopen.is_some() && !seen.is_open;
                dies.then(|| vec![put_missing(seen), Crossing::Post(body.clone())])
            })
        },
    },
    Mutant {
        name: "unadvertised-as-missing",
        clause: "resume.unconfirmed-otherwise",
        fault: "records missing when the agent advertises no way to reopen",
        edge: || {
            on_message_from_agent(|seen, message| {
                let is_certain = seen.to_reopen.is_some() && is_without_reopening(seen, &message);
                is_certain.then(|| vec![from_agent(&message), put_missing(seen)])
            })
        },
    },
    Mutant {
        name: "unconfirmed-recorded",
        clause: "resume.unconfirmed-otherwise",
        fault: "records the reference it was asked for when the reopen fails",
        edge: || {
            on_message_from_agent(|seen, message| {
                let reference = seen.to_reopen.as_deref()?;
                let fails =
                    is_failed_reopen(seen, &message) && message["error"]["code"] != RESOURCE_NOT_FOUND;
                fails.then(|| {
                    vec![
                        from_agent(&message),
                        crate::records::put_reference(seen, reference),
                    ]
                })
            })
        },
    },
    Mutant {
        name: "replay-as-prompts",
        clause: "resume.replay-not-activity",
        fault: "posts accepted for replayed messages of a person",
        edge: || {
            on_replayed("user_message_chunk", |seen, _| {
                post(seen, "UserPromptSubmit", "accepted")
            })
        },
    },
    Mutant {
        name: "replay-as-turns",
        clause: "resume.replay-not-activity",
        fault: "posts idle for replayed answers",
        edge: || on_replayed("agent_message_chunk", |seen, _| post(seen, "Stop", TURN_ENDED)),
    },
    Mutant {
        name: "replayed-tools-as-turns",
        clause: "resume.replay-not-activity",
        fault: "posts idle for replayed tool calls",
        edge: || on_replayed("tool_call", |seen, _| post(seen, "Stop", TURN_ENDED)),
    },
    Mutant {
        name: "replay-submitted",
        clause: "resume.replay-not-activity",
        fault: "submits replayed messages of a person once more",
        edge: || on_replayed("user_message_chunk", |_, text| typed_message(text)),
    },
    Mutant {
        name: "reopened-prompts-elsewhere",
        clause: "resume.continues",
        fault: "sends the prompts of a reopened conversation to another session",
        edge: || {
            on_message_to_agent(|seen, mut message| {
                seen.to_reopen.as_deref()?;
                if !is(&message, "session/prompt") {
                    return None;
                }
                message["params"]["sessionId"] = "conversation-1".into();
                Some(vec![to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "failed-reopen-as-open",
        clause: "resume.no-prompt-after-failure",
        fault: "submits prompts after a failed reopen",
        edge: failed_reopen_as_open,
    },
    Mutant {
        name: "reopen-never-asked",
        clause: "declaration.resume-proven",
        fault: "declares resume, and never asks the agent to reopen anything",
        edge: || on_reopen(|_| Some(Vec::new())),
    },
];

fn is_reopen(method: Option<&str>) -> bool {
    matches!(method, Some("session/load" | "session/resume"))
}

/// Whether this message refuses to reopen the conversation.
fn is_failed_reopen(seen: &Seen, message: &Value) -> bool {
    is_reopen(seen.answered_method(message)) && message.get("error").is_some()
}

/// Whether this message is the agent's answer to initialize, and advertises no way to reopen.
fn is_without_reopening(seen: &Seen, message: &Value) -> bool {
    let capabilities = &message["result"]["agentCapabilities"];
    seen.answered_method(message) == Some("initialize")
        && capabilities["loadSession"] != true
        && !capabilities["sessionCapabilities"]["resume"].is_object()
}

/// Changes the agent's answer to initialize.
fn on_initialized(change: fn(Value) -> Value) -> Box<dyn Edge> {
    on_message_from_agent(move |seen, message| {
        let is_initialized =
            seen.answered_method(&message) == Some("initialize") && message.get("result").is_some();
        is_initialized.then(|| vec![from_agent(&change(message))])
    })
}

/// What happens instead of asking for the conversation.
fn on_reopen(instead: fn(Value) -> Instead) -> Box<dyn Edge> {
    on_message_to_agent(move |_, message| {
        if is(&message, "session/load") || is(&message, "session/resume") {
            instead(message)
        } else {
            None
        }
    })
}

/// Changes the agent's refusal to reopen the conversation; `None` leaves it.
fn on_failed_reopen(change: fn(Value) -> Option<Value>) -> Box<dyn Edge> {
    on_message_from_agent(move |seen, message| {
        if !is_failed_reopen(seen, &message) {
            return None;
        }
        change(message).map(|changed| vec![from_agent(&changed)])
    })
}

/// What else happens for an update of this kind that comes outside a turn of a reopened conversation.
fn on_replayed(kind: &'static str, besides: fn(&Seen, &str) -> Crossing) -> Box<dyn Edge> {
    on_message_from_agent(move |seen, message| {
        let is_replay = is_update(&message, kind) && seen.to_reopen.is_some() && !seen.is_working();
        let text = message
            .pointer("/params/update/content/text")
            .and_then(Value::as_str);
        is_replay.then(|| vec![from_agent(&message), besides(seen, text.unwrap_or_default())])
    })
}

fn session_new(id: Value) -> Value {
    request(id, "session/new", json!({"cwd": "/", "mcpServers": []}))
}

/// Sends a session/new of its own besides when a message from the agent is such a failure.
fn new_after_failure(is_failure: fn(&Seen, &Value) -> bool) -> Box<dyn Edge> {
    on_message_from_agent(move |seen, message| {
        if is_answer(&message) && message["id"] == NEW_ID {
            return Some(Vec::new());
        }
        is_failure(seen, &message).then(|| vec![from_agent(&message), to_agent(&session_new(NEW_ID.into()))])
    })
}

/// A new conversation takes the place of the reopened one, for prompts too.
fn reopen_as_new() -> Box<dyn Edge> {
    let mut asked: Option<String> = None;
    let mut opened: Option<Value> = None;
    on_crossing(move |_, crossing| -> Instead {
        match crossing {
            Crossing::ToAgent(line) => {
                let mut message: Value = serde_json::from_str(line).ok()?;
                if is(&message, "session/load") || is(&message, "session/resume") {
                    asked = Some(id_of(&message));
                    return Some(vec![to_agent(&session_new(message["id"].clone()))]);
                }
                message["params"].get("sessionId")?;
                message["params"]["sessionId"] = opened.clone()?;
                Some(vec![to_agent(&message)])
            }
            Crossing::FromAgent(line) => {
                let message: Value = serde_json::from_str(line).ok()?;
                if !is_answer(&message) || asked.as_ref() != Some(&id_of(&message)) {
                    return None;
                }
                asked = None;
                opened = Some(message["result"].get("sessionId")?.clone());
                Some(vec![from_agent(&result(message["id"].clone(), json!({})))])
            }
            _ => None,
        }
    })
}

fn later_message_as_new() -> Box<dyn Edge> {
    let mut has_failed = false;
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::FromAgent(line) => {
                let message: Value = serde_json::from_str(line).ok()?;
                has_failed |= is_failed_reopen(seen, &message);
                (is_answer(&message) && message["id"] == NEW_ID).then(Vec::new)
            }
            Crossing::Typed(bytes) if bytes.contains(&ENTER) => std::mem::take(&mut has_failed)
                .then(|| vec![crossing.clone(), to_agent(&session_new(NEW_ID.into()))]),
            _ => None,
        }
    })
}

/// The runner hears of a success, and writes no record.
fn failed_reopen_as_open() -> Box<dyn Edge> {
    let mut has_failed = false;
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::FromAgent(line) => {
                let message: Value = serde_json::from_str(line).ok()?;
                is_failed_reopen(seen, &message).then(|| {
                    has_failed = true;
                    vec![from_agent(&result(message["id"].clone(), json!({})))]
                })
            }
            Crossing::Record(_) => has_failed.then(Vec::new),
            _ => None,
        }
    })
}
