//! What counts as the agent's own word that a conversation does not exist.

use serde_json::Value;

use super::super::identity::opening::holds_text;
use crate::history::MissingAnswer;

/// How an error answer to a reopening speaks of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// It does not exist.
    Missing,
    /// It may be read so: missing is as good as unconfirmed (reading 13).
    Unclear,
    /// About something else: the conversation is unconfirmed.
    Other,
}

/// Reads an error answer. `pinned` are the answers by which the runner's agent means missing, as its profile says.
pub(super) fn word(error: &Value, reference: &str, pinned: &[MissingAnswer]) -> Word {
    if pinned.iter().any(|answer| answer.is(error, reference)) {
        return Word::Missing;
    }
    if error.get("code").and_then(Value::as_f64) != Some(-32002.0) {
        return Word::Other;
    }
    let data = error.get("data").unwrap_or(&Value::Null);
    let names = |key: &str| data.get(key).and_then(Value::as_str) == Some(reference);
    if names("sessionId") || names("session_id") || names("uri") {
        Word::Missing
    } else if is_empty(data) || holds_text(data, &|text| text.contains(reference)) {
        Word::Unclear
    } else {
        Word::Other
    }
}

fn is_empty(data: &Value) -> bool {
    match data {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(error: Value) -> Word {
        word(&error, "conv-1", &[])
    }

    #[test]
    fn only_32002_about_this_session_is_the_agents_word() {
        for key in ["sessionId", "session_id", "uri"] {
            let error = json!({"code": -32002, "message": "no", "data": {key: "conv-1", "reason": "gone"}});
            assert_eq!(read(error), Word::Missing, "{key}");
        }
        assert_eq!(read(json!({"code": -32002, "message": "no"})), Word::Unclear);
        assert_eq!(read(json!({"code": -32002, "data": {}})), Word::Unclear);
        assert_eq!(
            read(json!({"code": -32002, "data": {"uri": "session:conv-1"}})),
            Word::Unclear
        );
        assert_eq!(
            read(json!({"code": -32002, "data": {"uri": "file:///notes"}})),
            Word::Other
        );
        assert_eq!(
            read(json!({"code": -32002, "data": {"sessionId": "conv-2"}})),
            Word::Other
        );
        assert_eq!(
            read(json!({"code": -32602, "data": {"session_id": "conv-1"}})),
            Word::Other
        );
        assert_eq!(read(json!("no")), Word::Other);
    }

    #[test]
    fn a_pinned_answer_is_the_agents_word() {
        let pinned = [MissingAnswer {
            code: -32602,
            message: Some("session is not resumable: {ref}".into()),
            data: None,
        }];
        let error = json!({"code": -32602, "message": "session is not resumable: conv-1", "data": 1});
        assert_eq!(word(&error, "conv-1", &pinned), Word::Missing);
        assert_eq!(word(&error, "conv-2", &pinned), Word::Other);
        assert_eq!(word(&json!({"code": -32602}), "conv-1", &pinned), Word::Other);
    }
}
