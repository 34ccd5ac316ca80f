//! Faults of living with agents as they are.

use std::collections::BTreeMap;

use reference_runner::{Crossing, Edge};
use serde_json::{Value, json};

use crate::Mutant;
use crate::altered::{Instead, on_crossing, on_launch, on_message_from_agent, on_message_to_agent, on_shown};
use crate::messages::{error, from_agent, is, is_answer, method_of, result, to_agent};
use crate::posts::post;
use crate::shown::STILL_WAITING_FOR_AGENT;

/// The kinds of updates that the protocol's first version has.
const KNOWN_UPDATES: [&str; 11] = [
    "agent_message_chunk",
    "agent_thought_chunk",
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "plan",
    "session_info_update",
    "tool_call",
    "tool_call_update",
    "usage_update",
    "user_message_chunk",
];

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "frames-without-version",
        clause: "robust.frames-valid",
        fault: "leaves the JSON-RPC version out of its prompts",
        edge: || {
            on_message_to_agent(|_, mut message| {
                message.as_object_mut()?.remove("jsonrpc");
                is(&message, "session/prompt").then(|| vec![to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "frames-with-plain-prompt",
        clause: "robust.frames-valid",
        fault: "sends a prompt's text where the protocol has a list of blocks",
        edge: || {
            on_message_to_agent(|_, mut message| {
                let text = crate::messages::prompt_text(&message)?.to_owned();
                message["params"]["prompt"] = text.into();
                Some(vec![to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "ids-shared",
        clause: "robust.id-spaces",
        fault: "takes a request of the agent's for the answer to its own request of that id",
        edge: ids_shared,
    },
    Mutant {
        name: "noise-ends-seat",
        clause: "robust.stdout-noise",
        fault: "ends at a line from the agent that is no message",
        edge: || {
            on_crossing(|_, crossing| {
                let Crossing::FromAgent(line) = crossing else {
                    return None;
                };
                let is_message = serde_json::from_str(line).is_ok_and(|message: Value| message.is_object());
                (!is_message).then(|| vec![Crossing::Exit(1)])
            })
        },
    },
    Mutant {
        name: "frames-by-read",
        clause: "robust.split-frames",
        fault: "takes what one read of the agent's output returns for whole messages",
        edge: || {
            on_agent_output(|bytes| {
                if !bytes.ends_with(b"\n") {
                    bytes.push(b'\n');
                }
            })
        },
    },
    Mutant {
        name: "text-by-read",
        clause: "robust.split-frames",
        fault: "decodes each read of the agent's output by itself",
        edge: || on_agent_output(|bytes| *bytes = String::from_utf8_lossy(bytes).into_owned().into_bytes()),
    },
    Mutant {
        name: "one-frame-a-read",
        clause: "robust.split-frames",
        fault: "takes only the first line out of each read of the agent's output",
        edge: || {
            on_agent_output(|bytes| {
                let first = bytes.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
                bytes.truncate(first.unwrap_or(bytes.len()));
            })
        },
    },
    Mutant {
        name: "large-frame-lost",
        clause: "robust.large-frame",
        fault: "drops lines of more than 64 KiB from the agent",
        edge: || {
            on_crossing(|_, crossing| match crossing {
                Crossing::FromAgent(line) => (line.len() > 64 * 1024).then(Vec::new),
                _ => None,
            })
        },
    },
    Mutant {
        name: "stderr-not-read",
        clause: "robust.stderr-flood",
        fault: "does not read the agent's stderr",
        edge: stderr_not_read,
    },
    Mutant {
        name: "unknown-update-fatal",
        clause: "robust.unknown-update",
        fault: "ends at an update of a kind it does not know",
        edge: || {
            on_message_from_agent(|_, message| {
                let kind = message.pointer("/params/update/sessionUpdate")?.as_str()?;
                (!KNOWN_UPDATES.contains(&kind)).then(|| vec![Crossing::Exit(1)])
            })
        },
    },
    Mutant {
        name: "late-update-as-work",
        clause: "robust.late-update",
        fault: "posts working for an update that comes after the turn's answer",
        edge: || {
            on_message_from_agent(|seen, message| {
                let is_late =
                    is(&message, "session/update") && seen.answered_prompt.is_some() && !seen.is_working();
                is_late.then(|| vec![from_agent(&message), post(seen, "PreToolUse", "active")])
            })
        },
    },
    Mutant {
        name: "prompt-error-ignored",
        clause: "robust.prompt-error",
        fault: "goes on waiting when a prompt was answered with an error",
        edge: || {
            on_message_from_agent(|seen, message| {
                (seen.ends_turn(&message) && message.get("error").is_some()).then(Vec::new)
            })
        },
    },
    Mutant {
        name: "prompt-error-as-cancelled",
        clause: "robust.prompt-error",
        fault: "takes an error for a cancelled turn",
        edge: || {
            on_message_from_agent(|seen, message| {
                let cancelled = result(message["id"].clone(), json!({"stopReason": "cancelled"}));
                (seen.ends_turn(&message) && message.get("error").is_some())
                    .then(|| vec![from_agent(&cancelled)])
            })
        },
    },
    Mutant {
        name: "silent-agent-not-shown",
        clause: "robust.silent-handshake",
        fault: "does not say that it still waits for the agent",
        edge: || on_shown(|_, text| text.contains(STILL_WAITING_FOR_AGENT).then(Vec::new)),
    },
];

/// Alters what each read of the agent's output returned.
fn on_agent_output(alter: fn(&mut Vec<u8>)) -> Box<dyn Edge> {
    on_crossing(move |_, crossing| {
        let Crossing::AgentOutput(bytes) = crossing else {
            return None;
        };
        let mut bytes = bytes.clone();
        alter(&mut bytes);
        Some(vec![Crossing::AgentOutput(bytes)])
    })
}

/// Numbers its own requests like the agent does, from 0 up, and keeps one table for both sides.
fn ids_shared() -> Box<dyn Edge> {
    let mut own: BTreeMap<String, Value> = BTreeMap::new();
    let mut next = 0;
    on_crossing(move |_, crossing| -> Instead {
        match crossing {
            Crossing::ToAgent(line) => {
                let mut message: Value = serde_json::from_str(line).ok()?;
                method_of(&message)?;
                let id = message.get("id")?.clone();
                message["id"] = next.into();
                own.insert(message["id"].to_string(), id);
                next += 1;
                Some(vec![to_agent(&message)])
            }
            Crossing::FromAgent(line) => {
                let mut message: Value = serde_json::from_str(line).ok()?;
                let id = own.remove(&message.get("id")?.to_string())?;
                if is_answer(&message) {
                    message["id"] = id;
                    return Some(vec![from_agent(&message)]);
                }
                Some(vec![from_agent(&error(id, -32603, "an answer without a result"))])
            }
            _ => None,
        }
    })
}

/// The agent writes its stderr into a pipe at whose other end nobody reads.
fn stderr_not_read() -> Box<dyn Edge> {
    const UNREAD: &str = r#"{ "$@" 2>&1 >&3 3>&- | sleep 3600; } 3>&1"#;
    on_launch(|facts| {
        let wrapped = ["sh", "-c", UNREAD, "sh"].map(str::to_owned);
        facts.agent.splice(0..0, wrapped);
    })
}
