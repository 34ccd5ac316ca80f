//! The body of an activity post, as OpenRig reads it: leniently, field by field.
//!
//! A field of the wrong type, and a text that is blank, are the same as a field that is absent; a field nobody
//! knows is ignored. Only a body that is not JSON at all is refused.

use std::fmt;

use serde_json::{Number, Value};

/// The livenessSeconds that count; any other value is ignored.
const LIVENESS_SECONDS: std::ops::RangeInclusive<u64> = 1..=3600;

/// The fields of an activity post that OpenRig looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Post {
    /// Set on posts that are not about activity, such as `session_identity`.
    pub event_family: Option<String>,
    /// The event's name, as `Stop`.
    pub hook_event: Option<String>,
    /// The event's kind, as `cancelled`.
    pub subtype: Option<String>,
    /// The session it speaks of.
    pub session_name: Option<String>,
    /// The node it speaks of.
    pub node_id: Option<String>,
    /// The runtime that posts.
    pub runtime: Option<String>,
    /// The occupant's generation.
    pub generation: Option<String>,
    /// Its place among the runner's posts; none if it is not a whole number from 0 to 2^64 - 1.
    pub sequence: Option<u64>,
    /// When it happened, as the runner wrote it.
    pub occurred_at: Option<String>,
    /// For how many seconds an idle report is good twice over; none if out of 1 to 3600 or not whole.
    pub liveness_seconds: Option<u64>,
    /// The turn it belongs to.
    pub turn_id: Option<TurnId>,
}

/// A turn's name, which runners write as text or as a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnId {
    /// As text.
    Text(String),
    /// As a number.
    Number(Number),
}

impl fmt::Display for TurnId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Number(number) => number.fmt(formatter),
        }
    }
}

impl Post {
    /// Reads a request's body. None if it is not JSON; a JSON value that is not an object is a post without fields.
    pub fn parse(body: &[u8]) -> Option<Self> {
        // Bytes that are not UTF-8 become U+FFFD, as where OpenRig decodes a body.
        let body: Value = serde_json::from_str(&String::from_utf8_lossy(body)).ok()?;
        Some(Self {
            event_family: text(&body["eventFamily"]),
            hook_event: text(&body["hookEvent"]),
            subtype: text(&body["subtype"]),
            session_name: text(&body["sessionName"]),
            node_id: text(&body["nodeId"]),
            runtime: text(&body["runtime"]),
            generation: text(&body["generation"]),
            sequence: whole(&body["sequence"]),
            occurred_at: text(&body["occurredAt"]),
            liveness_seconds: whole(&body["livenessSeconds"])
                .filter(|seconds| LIVENESS_SECONDS.contains(seconds)),
            turn_id: match &body["turnId"] {
                Value::String(text) => Some(TurnId::Text(text.clone())),
                Value::Number(number) => Some(TurnId::Number(number.clone())),
                _ => None,
            },
        })
    }
}

fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.trim().is_empty())
        .map(str::to_owned)
}

/// JSON has one kind of number: 30 and 30.0 are the same whole number.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        let exact = number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number);
        exact.then_some(number as u64)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(body: &str) -> Post {
        Post::parse(body.as_bytes()).unwrap()
    }

    #[test]
    fn the_drafts_example() {
        let post = parse(
            r#"{"sessionName": "dev-builder@my-rig", "nodeId": "n1", "runtime": "dsh", "generation": "g1",
                "sequence": 42, "occurredAt": "2026-10-29T12:00:00Z", "hookEvent": "UserPromptSubmit",
                "subtype": "accepted", "turnId": "7", "more": [1]}"#,
        );
        let expected = Post {
            event_family: None,
            hook_event: Some("UserPromptSubmit".to_owned()),
            subtype: Some("accepted".to_owned()),
            session_name: Some("dev-builder@my-rig".to_owned()),
            node_id: Some("n1".to_owned()),
            runtime: Some("dsh".to_owned()),
            generation: Some("g1".to_owned()),
            sequence: Some(42),
            occurred_at: Some("2026-10-29T12:00:00Z".to_owned()),
            liveness_seconds: None,
            turn_id: Some(TurnId::Text("7".to_owned())),
        };
        assert_eq!(post, expected);
    }

    #[test]
    fn liveness_out_of_range_or_not_whole_is_ignored() {
        let liveness = |value: &str| parse(&format!(r#"{{"livenessSeconds": {value}}}"#)).liveness_seconds;
        for ignored in ["0", "3601", "1.5", "-1", "\"30\"", "null", "true"] {
            assert_eq!(liveness(ignored), None, "{ignored}");
        }
        assert_eq!(liveness("1"), Some(1));
        assert_eq!(liveness("3600"), Some(3600));
        assert_eq!(liveness("30.0"), Some(30));
    }

    #[test]
    fn wrong_types_and_blanks_are_absent() {
        let post =
            parse(r#"{"sessionName": " ", "nodeId": 7, "sequence": "3", "turnId": {}, "hookEvent": null}"#);
        assert_eq!(post, Post::default());
    }

    #[test]
    fn json_that_is_no_object_has_no_fields() {
        for body in ["[]", "3", "null", "\"text\""] {
            assert_eq!(parse(body), Post::default());
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for body in ["", "{", "{'a': 1}", "{} {}", "\u{1b}[A"] {
            assert_eq!(Post::parse(body.as_bytes()), None, "{body:?}");
        }
    }

    #[test]
    fn a_sequence_keeps_all_its_digits() {
        assert_eq!(
            parse(r#"{"sequence": 18446744073709551615}"#).sequence,
            Some(u64::MAX)
        );
        assert_eq!(parse(r#"{"sequence": 18446744073709551616}"#).sequence, None);
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let is_json = serde_json::from_str::<Value>(&String::from_utf8_lossy(&body)).is_ok();
            prop_assert_eq!(Post::parse(&body).is_some(), is_json);
        }

        #[test]
        fn texts_and_sequences_come_back(name in "\\PC{1,20}", sequence: u64) {
            prop_assume!(!name.trim().is_empty());
            let body = serde_json::json!({ "sessionName": name, "sequence": sequence }).to_string();
            let post = parse(&body);
            prop_assert_eq!(post.session_name, Some(name));
            prop_assert_eq!(post.sequence, Some(sequence));
        }
    }
}
