//! The seat's first startup turn, which OpenRig hands over in a file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::input::LARGEST_BLOCK;
use crate::error::Error;

/// The file's text, to the byte. None if it holds nothing but blanks. A file that is none, is over the limit
/// of any other message, or is not UTF-8 is an error.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Error> {
    let text = read_text(path).map_err(|source| Error::FirstInput {
        path: path.to_owned(),
        source,
    })?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

fn read_text(path: &Path) -> io::Result<String> {
    // Opening a fifo would wait for its writer.
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut text = String::new();
    let limit = u64::try_from(LARGEST_BLOCK).unwrap_or(u64::MAX);
    File::open(path)?.take(limit + 1).read_to_string(&mut text)?;
    if text.len() > LARGEST_BLOCK {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is over 1 MiB"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_taken_to_the_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("first");
        std::fs::write(&path, "  zwölf\n/abort\n").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("  zwölf\n/abort\n"));
        std::fs::write(&path, " \n").unwrap();
        assert_eq!(read(&path).unwrap(), None);
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("first");
        assert!(read(&path).is_err(), "absent");
        assert!(read(folder.path()).is_err(), "a folder");
        std::fs::write(&path, b"\xff").unwrap();
        assert!(read(&path).is_err(), "not text");
        std::fs::write(&path, "x".repeat(LARGEST_BLOCK + 1)).unwrap();
        assert!(read(&path).is_err(), "too large");
    }
}
