//! Reopening a conversation: which method, and what the agent's answer says.

use agent_client_protocol::Error;
use serde_json::Value;

/// ACP's code for a resource, such as a session, that does not exist.
const RESOURCE_NOT_FOUND: i32 = -32002;

const METHOD_NOT_FOUND: i32 = -32601;

/// A way to reopen a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// Reopens without replaying the conversation.
    Resume,
    /// Replays the conversation, then answers.
    Load,
}

impl Method {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Resume => "session/resume",
            Self::Load => "session/load",
        }
    }
}

/// What the agent advertises in its answer to `initialize`, the best first. Resume comes first since it
/// replays nothing. Load is kept behind it: some agents advertise resume and then don't know the method.
pub(super) fn advertised(initialized: &Value) -> Vec<Method> {
    let capabilities = &initialized["agentCapabilities"];
    let can_resume = capabilities["sessionCapabilities"]["resume"].is_object();
    let can_load = capabilities["loadSession"] == Value::Bool(true);
    let methods = [(can_resume, Method::Resume), (can_load, Method::Load)];
    methods
        .into_iter()
        .filter_map(|(can, method)| can.then_some(method))
        .collect()
}

/// What a failed reopen means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The agent says that this conversation does not exist.
    Missing,
    /// The agent doesn't know the method it advertised: another one may be tried.
    NotAMethod,
    /// Anything else: the conversation may well exist.
    Unconfirmed,
}

/// Judges an error that the agent answered when asked for `reference`.
pub(super) fn judge(error: &Error, reference: &str) -> Verdict {
    match i32::from(error.code) {
        RESOURCE_NOT_FOUND if names(error.data.as_ref(), reference) => Verdict::Missing,
        METHOD_NOT_FOUND => Verdict::NotAMethod,
        _ => Verdict::Unconfirmed,
    }
}

/// Whether the error is about this conversation: it names it, or it has no data and can be about nothing
/// else. The same code with data about something else is, say, a file's.
fn names(data: Option<&Value>, reference: &str) -> bool {
    let Some(data) = data else { return true };
    let is_reference = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| text == reference || text.strip_prefix("session:") == Some(reference))
    };
    data.is_null()
        || ["sessionId", "session_id", "uri"]
            .iter()
            .any(|key| data.get(key).is_some_and(is_reference))
}

/// Whether a successful answer names another conversation than the one asked for.
pub(super) fn names_another(answer: &Value, reference: &str) -> bool {
    answer["sessionId"]
        .as_str()
        .is_some_and(|named| named != reference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(code: i32, data: impl Into<Option<Value>>) -> Error {
        let mut error = Error::new(code, "Resource not found");
        error.data = data.into();
        error
    }

    #[test]
    fn only_what_is_advertised_is_used_and_resume_first() {
        let advertises = |capabilities: Value| advertised(&json!({ "agentCapabilities": capabilities }));
        assert_eq!(
            advertises(json!({"loadSession": true, "sessionCapabilities": {"resume": {}}})),
            [Method::Resume, Method::Load]
        );
        assert_eq!(
            advertises(json!({"loadSession": true, "sessionCapabilities": {"resume": null}})),
            [Method::Load]
        );
        assert_eq!(
            advertises(json!({"loadSession": "true", "sessionCapabilities": {"loadSession": true}})),
            []
        );
        assert_eq!(advertised(&json!({"protocolVersion": 1})), []);
    }

    #[test]
    fn missing_is_the_agents_word_about_this_conversation() {
        for data in [
            json!({"sessionId": "s-1"}),
            json!({"session_id": "s-1"}),
            json!({"uri": "s-1", "reason": "x"}),
            json!({"uri": "session:s-1"}),
            Value::Null,
        ] {
            assert_eq!(
                judge(&error(-32002, data.clone()), "s-1"),
                Verdict::Missing,
                "{data}"
            );
        }
        assert_eq!(judge(&error(-32002, None), "s-1"), Verdict::Missing);
    }

    #[test]
    fn anything_else_is_unconfirmed() {
        for data in [
            json!({"uri": "file:///s-1"}),
            json!({"sessionId": "s-2"}),
            json!({"details": "s-1"}),
            json!("s-1"),
        ] {
            assert_eq!(
                judge(&error(-32002, data.clone()), "s-1"),
                Verdict::Unconfirmed,
                "{data}"
            );
        }
        for code in [-32602, -32603, -32000, -32001, 400] {
            assert_eq!(
                judge(&error(code, json!({"sessionId": "s-1"})), "s-1"),
                Verdict::Unconfirmed,
                "{code}"
            );
        }
        assert_eq!(judge(&error(-32601, None), "s-1"), Verdict::NotAMethod);
    }

    #[test]
    fn an_answer_may_name_no_conversation_but_no_other() {
        for answer in [
            Value::Null,
            json!({}),
            json!({"modes": {}}),
            json!({"sessionId": "s-1"}),
        ] {
            assert!(!names_another(&answer, "s-1"), "{answer}");
        }
        assert!(names_another(&json!({"sessionId": "s-2"}), "s-1"));
    }
}
