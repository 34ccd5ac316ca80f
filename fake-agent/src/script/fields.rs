//! Telling a field that is `null` from one that is absent.

use serde::{Deserialize, Deserializer};

/// Reads a field that is there, be it `null`. To be used with `#[serde(default)]`, which stands for
/// one that is not.
pub(super) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}
