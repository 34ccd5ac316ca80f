//! Composing message lines. All of them come without a newline.
//!
//! The fixed parts are spelled out and not serialised, since these lines are the agent's whole output.

use serde::Serialize;
use serde_json::{Value, value::RawValue};

pub(crate) fn notification(method: &str, params: Option<&Value>) -> Vec<u8> {
    let mut line = json(r#"{"jsonrpc":"2.0","method":"#, method);
    if let Some(params) = params {
        add(&mut line, r#","params":"#, params);
    }
    close(line, "}")
}

pub(crate) fn request(id: &Value, method: &str, params: Option<&Value>) -> Vec<u8> {
    let mut line = json(r#"{"jsonrpc":"2.0","id":"#, id);
    add(&mut line, r#","method":"#, method);
    if let Some(params) = params {
        add(&mut line, r#","params":"#, params);
    }
    close(line, "}")
}

pub(crate) fn success(id: &RawValue, result: &impl Serialize) -> Vec<u8> {
    let mut line = json(r#"{"jsonrpc":"2.0","id":"#, id);
    add(&mut line, r#","result":"#, result);
    close(line, "}")
}

/// The answer to a prompt.
pub(crate) fn stop(id: &RawValue, reason: &str) -> Vec<u8> {
    let mut line = json(r#"{"jsonrpc":"2.0","id":"#, id);
    add(&mut line, r#","result":{"stopReason":"#, reason);
    close(line, "}}")
}

pub(crate) fn failure(id: &RawValue, code: i64, message: &str, data: Option<&Value>) -> Vec<u8> {
    let mut line = json(r#"{"jsonrpc":"2.0","id":"#, id);
    add(&mut line, r#","error":{"code":"#, &code);
    add(&mut line, r#","message":"#, message);
    if let Some(data) = data {
        add(&mut line, r#","data":"#, data);
    }
    close(line, "}}")
}

/// A session/update with this `update`.
pub(crate) fn update(session: &str, update: &Value) -> Vec<u8> {
    let mut line = json(
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"#,
        session,
    );
    add(&mut line, r#","update":"#, update);
    close(line, "}}")
}

/// A session/update with a chunk of text; `kind` is its `sessionUpdate`.
pub(crate) fn chunk(session: &str, kind: &str, text: &str) -> Vec<u8> {
    let mut line = json(
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"#,
        session,
    );
    add(&mut line, r#","update":{"sessionUpdate":"#, kind);
    add(&mut line, r#","content":{"type":"text","text":"#, text);
    close(line, "}}}}")
}

/// Any value as a line.
pub(crate) fn line(message: &Value) -> Vec<u8> {
    json("", message)
}

/// Enough for most lines, so that they are not moved while they grow.
const ROOM: usize = 256;

fn json<V: Serialize + ?Sized>(head: &str, value: &V) -> Vec<u8> {
    let mut line = Vec::with_capacity(ROOM);
    add(&mut line, head, value);
    line
}

fn add<V: Serialize + ?Sized>(line: &mut Vec<u8>, head: &str, value: &V) {
    line.extend_from_slice(head.as_bytes());
    serde_json::to_writer(line, value).expect("values with text keys always have a JSON form");
}

fn close(mut line: Vec<u8>, tail: &str) -> Vec<u8> {
    line.extend_from_slice(tail.as_bytes());
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(line: Vec<u8>) -> String {
        String::from_utf8(line).unwrap()
    }

    fn id(text: &str) -> Box<RawValue> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn calls_are_spelled_as_json_rpc_has_them() {
        assert_eq!(
            text(notification("m\n", None)),
            r#"{"jsonrpc":"2.0","method":"m\n"}"#
        );
        let null = json!(null);
        assert_eq!(
            text(notification("m", Some(&null))),
            r#"{"jsonrpc":"2.0","method":"m","params":null}"#
        );
        assert_eq!(
            text(request(&null, "m", None)),
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#
        );
        assert_eq!(
            text(request(&json!("a\""), "m", Some(&json!([1])))),
            r#"{"jsonrpc":"2.0","id":"a\"","method":"m","params":[1]}"#
        );
    }

    #[test]
    fn answers_are_spelled_as_json_rpc_has_them() {
        assert_eq!(
            text(success(&id("1.0"), &json!(null))),
            r#"{"jsonrpc":"2.0","id":1.0,"result":null}"#
        );
        assert_eq!(
            text(stop(&id(r#""\u0061""#), "end_turn")),
            r#"{"jsonrpc":"2.0","id":"\u0061","result":{"stopReason":"end_turn"}}"#
        );
        assert_eq!(
            text(failure(&id("-7"), -32002, "n\to", Some(&json!({"a": 1})))),
            r#"{"jsonrpc":"2.0","id":-7,"error":{"code":-32002,"message":"n\to","data":{"a":1}}}"#
        );
        assert_eq!(
            text(failure(&id("null"), 400, "no", None)),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":400,"message":"no"}}"#
        );
    }

    #[test]
    fn updates_are_spelled_as_acp_has_them() {
        assert_eq!(
            text(update("é", &json!({"sessionUpdate": "x"}))),
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"é","update":{"sessionUpdate":"x"}}}"#
        );
        assert_eq!(
            text(chunk("s", "agent_message_chunk", "a\nb")),
            concat!(
                r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":"#,
                r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\nb"}}}}"#
            )
        );
    }
}
