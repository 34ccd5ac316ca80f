//! The launch record, as OpenRig reads it: usable, a word that the conversation is missing, or of no use.

use serde_json::Value;

/// No record needs to be larger; a larger one is of no use, whatever it says.
pub const SIZE_LIMIT: usize = 1024 * 1024;

/// What the record of this launch must name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// OPENRIG_LAUNCH_ATTEMPT of this launch.
    pub attempt: String,
    /// The preset's name.
    pub harness: String,
}

/// What a record says to OpenRig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordReading {
    /// The agent opened or reopened this conversation.
    Usable {
        /// The conversation's id.
        native_ref: String,
    },
    /// The agent said that the conversation does not exist.
    Missing,
    /// The same as no record.
    Unusable {
        /// The first thing that is wrong with it.
        why: Unusable,
    },
}

/// Why a record is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It is larger than [`SIZE_LIMIT`].
    #[error("it is larger than {SIZE_LIMIT} bytes")]
    TooLarge,
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// It is JSON, but not an object.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// Its format is not the number 1.
    #[error("its format is not the number 1")]
    Format,
    /// It carries another launch's attempt, or none.
    #[error("its attempt is not this launch's")]
    Attempt,
    /// It names another harness, or none.
    #[error("its harness is not the preset's name")]
    Harness,
    /// It names no producer.
    #[error("its producer is not a text that says something")]
    Producer,
    /// It carries nativeRef and error.
    #[error("it carries both nativeRef and error")]
    Both,
    /// It carries neither nativeRef nor error.
    #[error("it carries neither nativeRef nor error")]
    Neither,
    /// Its nativeRef is no text, or an empty one.
    #[error("its nativeRef is not a text that says something")]
    NativeRef,
    /// Its error is another than `missing`.
    #[error("its error is not \"missing\"")]
    OtherError,
}

/// The launch record. It has no fields of its own: OpenRig only ever reads one as a whole.
#[derive(Debug)]
pub struct LaunchRecord;

impl LaunchRecord {
    /// Reads the bytes of a record file. A nativeRef or error that is null counts as absent.
    pub fn read(bytes: &[u8], expected: &Expected) -> RecordReading {
        read(bytes, expected).unwrap_or_else(|why| RecordReading::Unusable { why })
    }
}

fn read(bytes: &[u8], expected: &Expected) -> Result<RecordReading, Unusable> {
    if bytes.len() > SIZE_LIMIT {
        return Err(Unusable::TooLarge);
    }
    let record: Value =
        serde_json::from_slice(bytes).map_err(|error| Unusable::NotJson(error.to_string()))?;
    if !record.is_object() {
        return Err(Unusable::NotAnObject);
    }
    if record["format"].as_f64() != Some(1.0) {
        return Err(Unusable::Format);
    }
    if record["attempt"].as_str() != Some(&expected.attempt) {
        return Err(Unusable::Attempt);
    }
    if record["harness"].as_str() != Some(&expected.harness) {
        return Err(Unusable::Harness);
    }
    if record["producer"]
        .as_str()
        .is_none_or(|producer| producer.trim().is_empty())
    {
        return Err(Unusable::Producer);
    }
    match (&record["nativeRef"], &record["error"]) {
        (Value::Null, Value::Null) => Err(Unusable::Neither),
        (Value::String(native_ref), Value::Null) if !native_ref.is_empty() => Ok(RecordReading::Usable {
            native_ref: native_ref.clone(),
        }),
        (_, Value::Null) => Err(Unusable::NativeRef),
        (Value::Null, Value::String(error)) if error == "missing" => Ok(RecordReading::Missing),
        (Value::Null, _) => Err(Unusable::OtherError),
        (_, _) => Err(Unusable::Both),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn expected() -> Expected {
        Expected {
            attempt: "a1".to_owned(),
            harness: "dsh".to_owned(),
        }
    }

    /// Reads a good record with some members put in, or taken out by null.
    fn read_with(members: Value) -> RecordReading {
        let mut record = json!({
            "format": 1, "attempt": "a1", "harness": "dsh", "nativeRef": "c1", "producer": "dsh-seat 0.3.0"
        });
        for (name, value) in members.as_object().unwrap() {
            record[name] = value.clone();
        }
        LaunchRecord::read(record.to_string().as_bytes(), &expected())
    }

    #[test]
    fn usable_and_missing() {
        assert_eq!(
            read_with(json!({})),
            RecordReading::Usable {
                native_ref: "c1".to_owned()
            }
        );
        assert_eq!(
            read_with(json!({ "more": 1 })),
            RecordReading::Usable {
                native_ref: "c1".to_owned()
            }
        );
        assert_eq!(
            read_with(json!({ "nativeRef": null, "error": "missing" })),
            RecordReading::Missing
        );
    }

    #[test]
    fn every_fault_is_named() {
        let faults = [
            (json!({ "format": 2 }), Unusable::Format),
            (json!({ "format": "1" }), Unusable::Format),
            (json!({ "format": null }), Unusable::Format),
            (json!({ "attempt": "a2" }), Unusable::Attempt),
            (json!({ "attempt": null }), Unusable::Attempt),
            (json!({ "harness": "other" }), Unusable::Harness),
            (json!({ "producer": " " }), Unusable::Producer),
            (json!({ "producer": 3 }), Unusable::Producer),
            (json!({ "error": "missing" }), Unusable::Both),
            (json!({ "nativeRef": null }), Unusable::Neither),
            (json!({ "nativeRef": "" }), Unusable::NativeRef),
            (json!({ "nativeRef": 7 }), Unusable::NativeRef),
            (
                json!({ "nativeRef": null, "error": "gone" }),
                Unusable::OtherError,
            ),
            (json!({ "nativeRef": null, "error": true }), Unusable::OtherError),
        ];
        for (members, why) in faults {
            assert_eq!(
                read_with(members.clone()),
                RecordReading::Unusable { why },
                "{members}"
            );
        }
    }

    #[test]
    fn bytes_that_are_no_record() {
        let why = |bytes: &[u8]| match LaunchRecord::read(bytes, &expected()) {
            RecordReading::Unusable { why } => why,
            other => panic!("{other:?}"),
        };
        assert!(matches!(why(b""), Unusable::NotJson(_)));
        assert!(matches!(why(b"{\"format\": 1, \"att"), Unusable::NotJson(_)));
        assert!(matches!(why(b"\xff"), Unusable::NotJson(_)));
        assert_eq!(why(b"[1]"), Unusable::NotAnObject);
        assert_eq!(why(&vec![b' '; SIZE_LIMIT + 1]), Unusable::TooLarge);
    }

    proptest! {
        #[test]
        fn a_ref_comes_back_to_the_byte(native_ref in "\\PC{1,300}") {
            let reading = read_with(json!({ "nativeRef": native_ref }));
            prop_assert_eq!(reading, RecordReading::Usable { native_ref });
        }

        #[test]
        fn no_half_record_is_usable(length in 0_usize..80) {
            let whole = br#"{"format":1,"attempt":"a1","harness":"dsh","nativeRef":"c1","producer":"p"}"#;
            let reading = LaunchRecord::read(&whole[..length.min(whole.len() - 1)], &expected());
            let is_unusable = matches!(reading, RecordReading::Unusable { why: Unusable::NotJson(_) });
            prop_assert!(is_unusable);
        }
    }
}
