//! JSON-RPC messages: what one is, and making one.

use reference_runner::Crossing;
use serde_json::{Value, json};

pub(crate) fn method_of(message: &Value) -> Option<&str> {
    message.get("method")?.as_str()
}

/// The id as JSON, so that the number 1 and the text "1" differ.
pub(crate) fn id_of(message: &Value) -> String {
    message["id"].to_string()
}

/// Whether the message is a call of this method, with or without an id.
pub(crate) fn is(message: &Value, method: &str) -> bool {
    method_of(message) == Some(method)
}

pub(crate) fn is_answer(message: &Value) -> bool {
    method_of(message).is_none() && message.get("id").is_some()
}

/// Whether the message is a session/update of this kind.
pub(crate) fn is_update(message: &Value, kind: &str) -> bool {
    is(message, "session/update") && message["params"]["update"]["sessionUpdate"] == kind
}

pub(crate) fn request(id: Value, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(crate) fn result(id: Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(crate) fn error(id: Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// A session/cancel for this session.
pub(crate) fn cancel(session: &str) -> Value {
    notification("session/cancel", json!({"sessionId": session}))
}

pub(crate) fn to_agent(message: &Value) -> Crossing {
    Crossing::ToAgent(message.to_string())
}

pub(crate) fn from_agent(message: &Value) -> Crossing {
    Crossing::FromAgent(message.to_string())
}

/// The text of a session/prompt as the runner sends it: one text block.
pub(crate) fn prompt_text(message: &Value) -> Option<&str> {
    if !is(message, "session/prompt") {
        return None;
    }
    message.pointer("/params/prompt/0/text")?.as_str()
}
