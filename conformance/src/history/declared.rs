//! What was declared of the runner before it ran, as far as a judge measures a seat by it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a preset and a profile say beside the runner's claims.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// The preset's `limits`; `None` if no preset was given, so that nothing is known of them.
    pub limits: Option<Vec<String>>,
    /// Answers by which this runner's agent says that a conversation does not exist.
    pub missing: Vec<MissingAnswer>,
}

/// An error answer to a reopening that means: there is no such conversation. `{ref}` in a text stands for the
/// conversation asked for, `*` for any text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissingAnswer {
    /// The error's code.
    pub code: i64,
    /// Its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Its data; members that are left out are free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl MissingAnswer {
    /// As it stands in JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Whether that error is this answer, `reference` having been asked for.
    #[must_use]
    pub fn is(&self, error: &Value, reference: &str) -> bool {
        let message = || error.get("message").and_then(Value::as_str).unwrap_or_default();
        let data = || error.get("data").unwrap_or(&Value::Null);
        error.get("code").and_then(Value::as_i64) == Some(self.code)
            && self
                .message
                .as_ref()
                .is_none_or(|pattern| fits(pattern, message(), reference))
            && self
                .data
                .as_ref()
                .is_none_or(|pattern| value_fits(pattern, data(), reference))
    }
}

fn value_fits(pattern: &Value, value: &Value, reference: &str) -> bool {
    match (pattern, value) {
        (Value::String(pattern), Value::String(text)) => fits(pattern, text, reference),
        (Value::Object(pattern), Value::Object(members)) => pattern.iter().all(|(key, part)| {
            members
                .get(key)
                .is_some_and(|member| value_fits(part, member, reference))
        }),
        _ => pattern == value,
    }
}

/// The pattern's pieces between its stars stand in the text in their order, the first at its beginning, the last at
/// its end.
fn fits(pattern: &str, text: &str, reference: &str) -> bool {
    let pieces: Vec<String> = pattern
        .split('*')
        .map(|piece| piece.replace("{ref}", reference))
        .collect();
    let [only] = pieces.as_slice() else {
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
            return false;
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        for piece in &pieces[1..pieces.len() - 1] {
            let Some(at) = rest.find(piece.as_str()) else {
                return false;
            };
            rest = &rest[at + piece.len()..];
        }
        return rest.ends_with(last.as_str());
    };
    only == text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pinned(text: Value) -> MissingAnswer {
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn what_a_pattern_leaves_out_is_free() {
        let pattern = pinned(json!({"code": -32603, "data": {"service": "session"}}));
        assert!(pattern.is(
            &json!({"code": -32603, "message": "x", "data": {"service": "session", "more": 1}}),
            "c"
        ));
        assert!(!pattern.is(&json!({"code": -32603, "data": {"service": "other"}}), "c"));
        assert!(!pattern.is(&json!({"code": -32603}), "c"));
        assert!(!pattern.is(&json!({"code": -32602, "data": {"service": "session"}}), "c"));
        assert!(!pattern.is(&json!("no"), "c"));
    }

    #[test]
    fn the_reference_and_stars_stand_for_texts() {
        for (pattern, text, is) in [
            ("gone: {ref}", "gone: c*1", true),
            ("gone: {ref}", "gone: c", false),
            ("*{ref}*", "no c*1 here", true),
            ("*gone", "long gone", true),
            ("*gone", "gone again", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c2b", false),
            ("ab*ba", "aba", false),
            ("*", "", true),
        ] {
            let answer = pinned(json!({"code": 1, "message": pattern}));
            assert_eq!(
                answer.is(&json!({"code": 1, "message": text}), "c*1"),
                is,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn a_misspelt_member_is_refused() {
        assert!(serde_json::from_value::<MissingAnswer>(json!({"code": 1, "mesage": "x"})).is_err());
    }
}
