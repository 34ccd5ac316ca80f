//! The answers that the agent gives where the script does not say otherwise.

use serde_json::{Map, Value, json};

use crate::agent::{Agent, Context};

/// The result for a request, or `None` for a method that the agent does not have.
pub(crate) fn answer(agent: &Agent, context: &Context) -> Option<Value> {
    let capabilities = &agent.script.capabilities;
    let session_capability = |name| !capabilities["sessionCapabilities"][name].is_null();
    match context.method.as_str() {
        "initialize" => Some(initialize(agent)),
        "session/new" => Some(json!({"sessionId": context.session})),
        "session/load" if capabilities["loadSession"] == true => Some(Value::Null),
        "session/resume" if session_capability("resume") => Some(json!({})),
        "session/close" if session_capability("close") => Some(json!({})),
        "session/list" if session_capability("list") => Some(list(agent)),
        "session/prompt" => Some(json!({"stopReason": "end_turn"})),
        "session/set_mode" | "session/set_model" | "session/set_config_option" | "authenticate" => {
            Some(json!({}))
        }
        _ => None,
    }
}

fn initialize(agent: &Agent) -> Value {
    let script = &agent.script;
    let mut result = Map::new();
    result.insert("protocolVersion".into(), script.protocol_version.clone());
    result.insert("agentCapabilities".into(), script.capabilities.clone());
    if let Some(info) = &script.info {
        result.insert("agentInfo".into(), json!(info));
    }
    result.insert("authMethods".into(), json!([]));
    Value::Object(result)
}

fn list(agent: &Agent) -> Value {
    // The protocol wants a directory for each; all of them are said to belong to this one.
    let directory = std::env::current_dir().unwrap_or_default();
    let directory = directory.to_string_lossy();
    let entry = |id| json!({"sessionId": id, "cwd": directory});
    json!({"sessions": agent.conversations().into_iter().map(entry).collect::<Vec<_>>()})
}
