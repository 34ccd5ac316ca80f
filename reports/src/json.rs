//! report.json.

use crate::{Report, SCHEMA};

/// A report that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// It is not a report's JSON.
    #[error("line {}, column {}: {source}", source.line(), source.column())]
    Malformed {
        /// What is wrong.
        #[from]
        source: serde_json::Error,
    },
    /// Another major version.
    #[error("the schema is {found:?}; this seatcheck reads {SCHEMA:?}")]
    Schema {
        /// What it says.
        found: String,
    },
}

/// The report as JSON, with a newline at its end.
///
/// # Errors
/// When the report can't be written as JSON, which no report of ours is.
pub fn write(report: &Report) -> Result<String, FormatError> {
    Ok(serde_json::to_string_pretty(report)? + "\n")
}

/// Reads a report back.
///
/// # Errors
/// When the text is no report of this version.
pub fn read(text: &str) -> Result<Report, FormatError> {
    let value: serde_json::Value = serde_json::from_str(text)?;
    let found = value
        .get("schema")
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default();
    if found != SCHEMA {
        return Err(FormatError::Schema {
            found: found.to_owned(),
        });
    }
    Ok(serde_json::from_str(text)?)
}
