//! The launch record: the one place where the conversation's identity is reported, once, and never half.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::error::Error;

/// What the record reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome<'a> {
    /// The agent opened or reopened this conversation.
    Conversation(&'a str),
    /// The agent itself says that the conversation asked for does not exist.
    Missing,
}

/// The bytes of a record.
pub(crate) fn compose(attempt: &str, harness: &str, outcome: Outcome<'_>, producer: &str) -> Vec<u8> {
    let record = match outcome {
        Outcome::Conversation(reference) => json!({
            "format": 1, "attempt": attempt, "harness": harness, "nativeRef": reference, "producer": producer,
        }),
        Outcome::Missing => json!({
            "format": 1, "attempt": attempt, "harness": harness, "error": "missing", "producer": producer,
        }),
    };
    let mut bytes = record.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Puts `bytes` at `path` whole: a reader finds what was there before, or all of this. An older record is
/// replaced.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let fault = |source| Error::Record {
        path: path.to_owned(),
        source,
    };
    let temporary = temporary_path(path).ok_or_else(|| fault(std::io::ErrorKind::InvalidInput.into()))?;
    // A predecessor with this process's number may have died between writing and renaming.
    let _ = fs::remove_file(&temporary);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The rename's failure is what matters; a leftover is only untidy.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(fault)
}

/// Writes `bytes` over the record where it lies. Readers may find half of it.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(path, bytes).map_err(|source| Error::Record {
        path: path.to_owned(),
        source,
    })
}

/// A name in the same folder, since a rename is whole only within one file system.
fn temporary_path(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    Some(path.with_file_name(format!(".{name}.{}.tmp", std::process::id())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_record_has_exactly_one_of_reference_and_error() {
        let opened = compose("a-1", "dsh", Outcome::Conversation("sess/ü \"1\""), "runner 1");
        let opened: Value = serde_json::from_slice(&opened).unwrap();
        assert_eq!(
            opened,
            json!({"format": 1, "attempt": "a-1", "harness": "dsh", "nativeRef": "sess/ü \"1\"",
                   "producer": "runner 1"})
        );
        let missing: Value =
            serde_json::from_slice(&compose("a-1", "dsh", Outcome::Missing, "runner 1")).unwrap();
        assert_eq!(missing["error"], "missing");
        assert_eq!(missing.get("nativeRef"), None);
    }

    #[test]
    fn a_stale_record_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        fs::write(&path, "another attempt's, and much longer than this one").unwrap();
        put(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none").join("record.json");
        let error = put(&path, b"new").unwrap_err();
        assert!(error.to_string().contains("record.json"), "{error}");
    }
}
