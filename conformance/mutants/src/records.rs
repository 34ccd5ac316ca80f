//! Launch records: making one.

use reference_runner::Crossing;
use serde_json::{Value, json};

use crate::seen::Seen;

/// The crossing that puts this record in its place.
pub(crate) fn put(record: &Value) -> Crossing {
    Crossing::Record(bytes_of(record))
}

/// The record with one field set.
pub(crate) fn put_with(mut record: Value, field: &str, value: impl Into<Value>) -> Crossing {
    record[field] = value.into();
    put(&record)
}

/// A record of this launch that names this conversation.
pub(crate) fn put_reference(seen: &Seen, reference: &str) -> Crossing {
    put_with(bare(seen), "nativeRef", reference)
}

/// A record of this launch that says missing.
pub(crate) fn put_missing(seen: &Seen) -> Crossing {
    put_with(bare(seen), "error", "missing")
}

pub(crate) fn bytes_of(record: &Value) -> Vec<u8> {
    let mut bytes = record.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

fn bare(seen: &Seen) -> Value {
    json!({
        "format": 1,
        "attempt": seen.attempt,
        "harness": seen.names.get("runtime"),
        "producer": concat!("mutant ", env!("CARGO_PKG_VERSION")),
    })
}
