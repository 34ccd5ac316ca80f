//! Data on standard output.

use std::io::{ErrorKind, Write as _};

/// Writes `text`. Who has closed the other end, as `head` does, has seen enough: that is no error.
pub(super) fn say(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// The value as JSON and a newline.
pub(super) fn say_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    Ok(say(&(serde_json::to_string_pretty(value)? + "\n"))?)
}
