//! A history as JSON Lines: a header, then one event a line.
//!
//! Append-only, so that a killed run leaves a readable beginning. The major version stands in the first line; a
//! reader refuses a newer one rather than misread it.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};

use super::{Declared, Event, History};

/// The format this code writes: name and major version.
pub const FORMAT: &str = "seatcheck-history/1";

/// No line of a history is longer; a longer one is not ours.
const LONGEST_LINE: usize = 512 << 20;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// Name of the clause set it was recorded for.
    pub contract: String,
    /// The scenario's id.
    pub scenario: String,
    /// Clauses that the scenario said it exercises.
    pub exercises: Vec<String>,
    /// What was declared of the runner.
    pub declared: Declared,
    /// Wall clock at the history's start: nanoseconds since 1970, UTC.
    pub wall_start_ns: u64,
}

/// Why a history could not be read or written. Every text names the line.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The file or stream itself failed.
    #[error("line {line}: {source}")]
    Io {
        /// The line, from 1.
        line: usize,
        /// The system's word.
        source: std::io::Error,
    },
    /// The line is not what belongs there.
    #[error("line {line}, column {column}: {why}\n  {text}")]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        why: String,
        /// The line's beginning.
        text: String,
    },
    /// Written by a newer kit, or no history at all.
    #[error("line 1: the format is {found:?}; this seatcheck reads {FORMAT:?}")]
    Format {
        /// What the header says.
        found: String,
    },
    /// There is no first line.
    #[error("the file is empty: a history begins with a header line")]
    Empty,
    /// The events are not in order.
    #[error("line {line}: event {found} where {expected} belongs: the history was changed or cut")]
    Order {
        /// The line, from 1.
        line: usize,
        /// The sequence number that belongs there.
        expected: u64,
        /// The one that stands there.
        found: u64,
    },
}

/// Writes `history`, header first.
///
/// # Errors
/// When `output` fails.
pub fn write(history: &History, mut output: impl Write) -> std::io::Result<()> {
    serde_json::to_writer(&mut output, &history.header)?;
    output.write_all(b"\n")?;
    for event in &history.events {
        serde_json::to_writer(&mut output, event)?;
        output.write_all(b"\n")?;
    }
    output.flush()
}

/// Reads a history back, refusing what this version can't judge.
///
/// # Errors
/// See [`HistoryError`]; each names the line.
pub fn read(mut input: impl BufRead) -> Result<History, HistoryError> {
    let mut line = 0;
    let mut text = String::new();
    let mut next = |text: &mut String| -> Result<Option<usize>, HistoryError> {
        text.clear();
        line += 1;
        let mut limited = std::io::Read::take(&mut input, LONGEST_LINE as u64);
        let length = limited
            .read_line(text)
            .map_err(|source| HistoryError::Io { line, source })?;
        Ok((length > 0).then_some(line))
    };

    if next(&mut text)?.is_none() {
        return Err(HistoryError::Empty);
    }
    let format: FormatOnly = parse(1, &text)?;
    if format.format != FORMAT {
        return Err(HistoryError::Format { found: format.format });
    }
    let header: Header = parse(1, &text)?;

    let mut events: Vec<Event> = Vec::new();
    while let Some(line) = next(&mut text)? {
        let event: Event = parse(line, &text)?;
        let expected = events.len() as u64 + 1;
        if event.sequence != expected {
            return Err(HistoryError::Order {
                line,
                expected,
                found: event.sequence,
            });
        }
        events.push(event);
    }
    Ok(History { header, events })
}

/// Read before the rest, so that a newer header's new fields don't hide the real reason.
#[derive(Deserialize)]
struct FormatOnly {
    format: String,
}

fn parse<T: for<'de> Deserialize<'de>>(line: usize, text: &str) -> Result<T, HistoryError> {
    serde_json::from_str(text.trim_end_matches('\n')).map_err(|error| HistoryError::Malformed {
        line,
        column: error.column(),
        why: error.to_string(),
        text: text.chars().take(120).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Fact, Process};

    fn small() -> History {
        let header = Header {
            format: FORMAT.into(),
            contract: "0.7.6-draft".into(),
            scenario: "cancel/plain".into(),
            exercises: vec!["cancel.posted".into()],
            declared: Declared::default(),
            wall_start_ns: 1,
        };
        let event = |at| Event {
            sequence: 0,
            at,
            launch: 1,
            fact: Fact::Process(Process::RunnerStarted { pid: at as u32 }),
        };
        History::new(header, vec![event(7), event(3)])
    }

    #[test]
    fn what_is_written_is_read_back_in_order_of_time() {
        let mut file = Vec::new();
        write(&small(), &mut file).unwrap();
        let back = read(file.as_slice()).unwrap();
        assert_eq!(back, small());
        assert_eq!(
            back.events.iter().map(|event| event.at).collect::<Vec<_>>(),
            [3, 7]
        );
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let error = read("{\"format\":\"seatcheck-history/2\",\"new\":1}\n".as_bytes()).unwrap_err();
        assert!(error.to_string().contains("seatcheck-history/2"), "{error}");
    }

    #[test]
    fn a_bad_line_is_named_and_shown() {
        let mut file = Vec::new();
        write(&small(), &mut file).unwrap();
        file.extend_from_slice(b"{\"sequence\": 3, oops}\n");
        let error = read(file.as_slice()).unwrap_err().to_string();
        assert!(error.contains("line 4") && error.contains("oops"), "{error}");
    }

    #[test]
    fn a_missing_event_is_noticed() {
        let mut file = Vec::new();
        write(&small(), &mut file).unwrap();
        let text = String::from_utf8(file).unwrap();
        let without_first: Vec<&str> = text
            .lines()
            .enumerate()
            .filter(|(index, _)| *index != 1)
            .map(|(_, line)| line)
            .collect();
        let error = read(without_first.join("\n").as_bytes()).unwrap_err();
        assert!(
            matches!(
                error,
                HistoryError::Order {
                    line: 2,
                    expected: 1,
                    found: 2
                }
            ),
            "{error}"
        );
    }
}
