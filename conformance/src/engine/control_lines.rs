//! Lines that agents and supervisors send, bounded: what speaks on a seat's socket need not be ours.

use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// No report of ours is longer: a line to the agent is kept up to half of this.
pub(super) const LONGEST: usize = 16 << 20;

/// A buffer that grew beyond this is given back.
const KEPT: usize = 64 << 10;

/// What a line was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<T> {
    Report(T),
    /// Longer than any report.
    TooLong,
    /// The end, or what is no report.
    End,
}

/// Reads the next line into `line` as a report.
pub(super) async fn next<T: DeserializeOwned>(
    lines: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    longest: usize,
) -> Line<T> {
    line.clear();
    line.shrink_to(KEPT);
    let mut too_long = false;
    loop {
        let Ok(chunk) = lines.fill_buf().await else {
            return Line::End;
        };
        if chunk.is_empty() {
            return Line::End;
        }
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let taken = newline.map_or(chunk.len(), |at| at + 1);
        too_long |= line.len() + taken > longest;
        if !too_long {
            line.extend_from_slice(&chunk[..taken]);
        }
        lines.consume(taken);
        if newline.is_some() {
            break;
        }
    }
    if too_long {
        return Line::TooLong;
    }
    serde_json::from_slice(line).map_or(Line::End, Line::Report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_too_long_is_skipped_and_the_next_is_read() {
        let mut lines = tokio::io::BufReader::with_capacity(4, b"[1,2,3,4,5]\n[6]\n[7".as_slice());
        let mut line = Vec::new();
        assert_eq!(next::<Vec<u8>>(&mut lines, &mut line, 8).await, Line::TooLong);
        assert_eq!(next(&mut lines, &mut line, 8).await, Line::Report(vec![6]));
        assert_eq!(next::<Vec<u8>>(&mut lines, &mut line, 8).await, Line::End);
    }
}
