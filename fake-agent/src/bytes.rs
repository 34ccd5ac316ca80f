//! Bytes that travel in JSON without loss.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

/// Any bytes. In JSON a string where they are UTF-8, and `{"base64": "…"}` where they are not.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    /// The bytes themselves.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }

    /// The bytes as text, if they are UTF-8.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Gives the bytes away.
    #[must_use]
    pub fn into_vec(self) -> Vec<u8> {
        self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "b\"{}\"", self.0.escape_ascii())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.as_text() {
            return serializer.serialize_str(text);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("base64", &STANDARD.encode(&self.0))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By hand, because an untagged enum would hide why a value was refused.
        deserializer.deserialize_any(BytesVisitor)
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Bytes;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string or {\"base64\": \"…\"}")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
        Ok(Bytes::from(text))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Bytes, E> {
        Ok(Bytes(text.into_bytes()))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Bytes, M::Error> {
        let Some(key) = map.next_key::<String>()? else {
            return Err(de::Error::missing_field("base64"));
        };
        if key != "base64" {
            return Err(de::Error::unknown_field(&key, &["base64"]));
        }
        let text: String = map.next_value()?;
        if let Some(more) = map.next_key::<String>()? {
            return Err(de::Error::unknown_field(&more, &["base64"]));
        }
        STANDARD.decode(text).map(Bytes).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;
    use proptest::prelude::*;

    #[test]
    fn text_stays_readable_and_the_rest_is_base64() {
        assert_eq!(serde_json::to_string(&Bytes::from("é\n")).unwrap(), r#""é\n""#);
        assert_eq!(
            serde_json::to_string(&Bytes::from(&[0xff][..])).unwrap(),
            r#"{"base64":"/w=="}"#
        );
    }

    #[test]
    fn refuses_other_keys_and_bad_base64() {
        for bad in [
            r#"{"base64":"?"}"#,
            r#"{"base46":"/w=="}"#,
            r#"{"base64":"/w==","more":1}"#,
            "{}",
            "7",
        ] {
            assert!(serde_json::from_str::<Bytes>(bad).is_err(), "{bad} was accepted");
        }
    }

    proptest! {
        #[test]
        fn round_trips(bytes: Vec<u8>) {
            let bytes = Bytes::from(bytes);
            let json = serde_json::to_string(&bytes).unwrap();
            prop_assert_eq!(serde_json::from_str::<Bytes>(&json).unwrap(), bytes);
        }
    }
}
