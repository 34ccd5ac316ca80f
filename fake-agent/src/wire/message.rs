//! Reading one line as a JSON-RPC message, as far as the agent needs it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A message from the runner.
#[derive(Debug)]
pub(crate) enum Message<'line> {
    /// It wants an answer. The id is kept as it was spelled, to be echoed to the byte.
    Request {
        id: &'line RawValue,
        method: String,
        session: Option<String>,
    },
    Notification {
        method: String,
        session: Option<String>,
    },
    /// It answers a request of the agent's.
    Answer {
        id: &'line RawValue,
    },
}

impl<'line> Message<'line> {
    /// `None` if the line is no message, or neither of the three.
    pub(crate) fn parse(line: &'line [u8]) -> Option<Self> {
        // The derived reader would take an array for an envelope as well.
        if line.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        let Envelope {
            id,
            method,
            params,
            result,
            error,
        } = serde_json::from_slice(line).ok()?;
        match (id, method) {
            (Some(id), Some(method)) => Some(Self::Request {
                id,
                method,
                session: params.session_id,
            }),
            (None, Some(method)) => Some(Self::Notification {
                method,
                session: params.session_id,
            }),
            (Some(id), None) if result.is_some() || error.is_some() => Some(Self::Answer { id }),
            (_, None) => None,
        }
    }
}

#[derive(serde::Deserialize)]
struct Envelope<'line> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'line RawValue>,
    method: Option<String>,
    #[serde(default)]
    params: Params,
    #[serde(default, deserialize_with = "present")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    error: Option<IgnoredAny>,
}

/// A `null` counts as there: it is an id that wants an answer, or a result.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Parameters of any type. Of them only a `sessionId` that is text is kept; a prompt may be large.
#[derive(Default)]
struct Params {
    session_id: Option<String>,
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParamsVisitor)
    }
}

struct ParamsVisitor;

impl<'de> Visitor<'de> for ParamsVisitor {
    type Value = Params;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("parameters")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Params, M::Error> {
        let mut params = Params::default();
        while let Some(Key { is_session_id }) = map.next_key()? {
            if is_session_id {
                let value: &RawValue = map.next_value()?;
                params.session_id = serde_json::from_str(value.get()).ok();
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(params)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut sequence: S) -> Result<Params, S::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Params::default())
    }

    fn visit_unit<E>(self) -> Result<Params, E> {
        Ok(Params::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Params, E> {
        Ok(Params::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Params, E> {
        Ok(Params::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Params, E> {
        Ok(Params::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Params, E> {
        Ok(Params::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Params, E> {
        Ok(Params::default())
    }
}

/// A key of the parameters, looked at without a copy.
struct Key {
    is_session_id: bool,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a key")
            }

            fn visit_str<E>(self, key: &str) -> Result<Key, E> {
                Ok(Key {
                    is_session_id: key == "sessionId",
                })
            }
        }

        deserializer.deserialize_identifier(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(line: &str) -> Option<Message<'_>> {
        Message::parse(line.as_bytes())
    }

    #[test]
    fn ids_keep_their_spelling() {
        let spellings = [
            "0",
            "-7",
            "1.0",
            "1e3",
            "123456789012345678901234567890",
            r#""\u0061""#,
            "null",
            r#"{"a": []}"#,
        ];
        for spelling in spellings {
            let line = format!(r#"{{"method":"m","id": {spelling} }}"#);
            let Some(Message::Request { id, .. }) = parse(&line) else {
                panic!("{line} is no request")
            };
            assert_eq!(id.get(), spelling);
        }
    }

    #[test]
    fn the_three_kinds_are_told_apart() {
        assert!(matches!(
            parse(r#"{"method":"m"}"#),
            Some(Message::Notification { .. })
        ));
        assert!(matches!(
            parse(r#"{"id":1,"result":null}"#),
            Some(Message::Answer { .. })
        ));
        assert!(matches!(
            parse(r#"{"id":1,"error":{"code":1}}"#),
            Some(Message::Answer { .. })
        ));
    }

    #[test]
    fn what_is_no_message_is_none() {
        for line in [
            "",
            " ",
            "7",
            "null",
            "{",
            r#"[1,"m"]"#,
            r#"{"id":1}"#,
            "{}",
            r#"{"method":7}"#,
            "\u{feff}{}",
        ] {
            assert!(parse(line).is_none(), "{line} was taken for a message");
        }
    }

    #[test]
    fn the_session_is_kept_only_where_it_is_text() {
        let session = |params: &str| {
            let line = format!(r#"{{"id":1,"method":"m","params":{params}}}"#);
            let Some(Message::Request { session, .. }) = parse(&line) else {
                panic!("{line} is no request")
            };
            session
        };
        assert_eq!(
            session(r#"{"a":[{"sessionId":"no"}],"sessionId":"\u00e9"}"#).as_deref(),
            Some("é")
        );
        let others = [
            r#"{"sessionId":7}"#,
            "{}",
            "[[1],2]",
            "null",
            "true",
            "-1",
            "1",
            "1.5",
            r#""x""#,
            r#""\n""#,
        ];
        for params in others {
            assert_eq!(session(params), None, "{params}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line: Vec<u8>) {
            let _ = Message::parse(&line);
        }
    }
}
