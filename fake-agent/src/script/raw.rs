//! Bytes to be written to standard output as they are.

use std::num::NonZeroUsize;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use super::Delay;

/// Bytes for standard output, with nothing added. Written as `{text: "…"}` or `{base64: "…"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Raw {
    /// What to write.
    pub bytes: Vec<u8>,
    /// Bytes in one write; all at once if absent.
    pub chunk: Option<NonZeroUsize>,
    /// The pause between two writes.
    pub gap: Option<Delay>,
}

/// A [`Raw`] that says too much, too little or something garbled.
#[derive(Debug, thiserror::Error)]
pub enum RawError {
    /// Neither or both of the ways to give the bytes.
    #[error("raw needs exactly one of `text` and `base64`")]
    NotOne,
    /// The base64 text is not valid.
    #[error("raw: base64: {0}")]
    Base64(#[from] base64::DecodeError),
}

/// How a [`Raw`] is spelled.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chunk: Option<NonZeroUsize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gap: Option<Delay>,
}

impl TryFrom<Fields> for Raw {
    type Error = RawError;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        let bytes = match (fields.text, fields.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(base64)) => STANDARD.decode(base64)?,
            _ => return Err(RawError::NotOne),
        };
        Ok(Self {
            bytes,
            chunk: fields.chunk,
            gap: fields.gap,
        })
    }
}

impl From<Raw> for Fields {
    fn from(raw: Raw) -> Self {
        let Raw { bytes, chunk, gap } = raw;
        let (text, base64) = match String::from_utf8(bytes) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(STANDARD.encode(error.into_bytes()))),
        };
        Self {
            text,
            base64,
            chunk,
            gap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Raw;
    use proptest::prelude::*;

    #[test]
    fn needs_exactly_one_kind_of_bytes() {
        for bad in [
            "{}",
            r#"{"text":"a","base64":"YQ=="}"#,
            r#"{"base64":"?"}"#,
            r#"{"text":"a","chunk":0}"#,
        ] {
            assert!(serde_json::from_str::<Raw>(bad).is_err(), "{bad} was accepted");
        }
    }

    proptest! {
        #[test]
        fn round_trips(bytes: Vec<u8>) {
            let raw = Raw { bytes, chunk: None, gap: None };
            let json = serde_json::to_string(&raw).unwrap();
            prop_assert_eq!(serde_json::from_str::<Raw>(&json).unwrap(), raw);
        }
    }
}
