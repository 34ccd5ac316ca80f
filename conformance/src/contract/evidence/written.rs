//! What the seat wrote between two times, as text: escape sequences, blanks and control characters aside.
//!
//! Cheaper than a screen, and it does not mind a program that draws its screen anew. A text that a program puts
//! together piece by piece, by moving the cursor, is only found on the [`Screen`](crate::history::views::Screen).

use crate::history::views::LaunchView;
use crate::history::{Event, Fact, Pane};

/// Text in the order it was written, and which event each part of it came in.
#[derive(Debug, Default)]
pub(in crate::contract) struct Written<'h> {
    text: String,
    /// For each event, how long `text` was after it.
    ends: Vec<(usize, &'h Event)>,
}

impl<'h> Written<'h> {
    /// What the seat wrote in that launch between two times.
    pub(in crate::contract) fn between(launch: &LaunchView<'h>, from: u64, until: u64) -> Self {
        Self::new(
            launch
                .output_between(from, until)
                .filter_map(|event| match &event.fact {
                    Fact::Pane(Pane::Output { bytes }) => Some((event, bytes.0.as_slice())),
                    _ => None,
                }),
        )
    }

    fn new(output: impl IntoIterator<Item = (&'h Event, &'h [u8])>) -> Self {
        let mut written = Self::default();
        let mut escapes = Escapes::default();
        let mut undecoded = Vec::new();
        for (event, bytes) in output {
            undecoded.extend(bytes.iter().filter(|byte| escapes.lets_through(**byte)));
            written.text.push_str(&squeezed(&decoded(&mut undecoded)));
            written.ends.push((written.text.len(), event));
        }
        written
    }

    /// The event with which `text` was first written in full, blanks and control characters aside.
    pub(super) fn first(&self, text: &str) -> Option<&'h Event> {
        let wanted = squeezed(text);
        if wanted.is_empty() {
            return None;
        }
        let end = self.text.find(&wanted)? + wanted.len();
        let index = self.ends.partition_point(|(length, _)| *length < end);
        self.ends.get(index).map(|(_, event)| *event)
    }
}

/// Text as it is compared: without blanks, line ends and control characters, as on the screen.
pub(super) fn squeezed(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_whitespace() && !character.is_control())
        .collect()
}

/// `text` without its escape sequences, each of which leaves a line end behind.
pub(super) fn without_escapes(text: &str) -> String {
    let mut escapes = Escapes::default();
    let mut kept = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        if escapes.lets_through(byte) {
            kept.push(byte);
        } else if kept.last().is_some_and(|last| *last != b'\n') {
            kept.push(b'\n');
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// Takes all whole characters; the beginning of one that a later chunk completes stays.
fn decoded(bytes: &mut Vec<u8>) -> String {
    let cut = match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        // Bytes that are no UTF-8 at all; what follows them may still be cut, which then costs one character.
        Err(_) => bytes.len(),
    };
    let whole: Vec<u8> = bytes.drain(..cut).collect();
    String::from_utf8_lossy(&whole).into_owned()
}

/// Knows which bytes of a terminal's output belong to an escape sequence, wherever the output is cut.
#[derive(Debug, Default, Clone, Copy)]
enum Escapes {
    #[default]
    None,
    /// After ESC, or ESC and intermediate bytes.
    Begun,
    /// After `ESC [`: parameters, up to a final byte.
    Control,
    /// A title or another string, up to BEL or `ESC \`.
    String,
    /// ESC within a string.
    StringEnd,
}

impl Escapes {
    fn lets_through(&mut self, byte: u8) -> bool {
        const ESCAPE: u8 = 0x1b;
        let was_outside = matches!(self, Self::None);
        *self = match (*self, byte) {
            (Self::String, ESCAPE) => Self::StringEnd,
            (Self::String, 0x07) | (Self::StringEnd, _) => Self::None,
            (Self::String, _) => Self::String,
            (_, ESCAPE) => Self::Begun,
            (Self::None, _) => Self::None,
            (Self::Begun, b'[') => Self::Control,
            (Self::Begun, b']' | b'P' | b'X' | b'^' | b'_') => Self::String,
            (Self::Begun, 0x20..=0x2f) => Self::Begun,
            (Self::Begun, _) => Self::None,
            // CAN and SUB abandon a sequence.
            (Self::Control, 0x40..=0x7e | 0x18 | 0x1a) => Self::None,
            (Self::Control, _) => Self::Control,
        };
        was_outside && byte != ESCAPE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Bytes;
    use proptest::prelude::*;

    fn events(chunks: &[&[u8]]) -> Vec<Event> {
        let chunk = |(index, bytes): (usize, &&[u8])| Event {
            sequence: index as u64 + 1,
            at: index as u64,
            launch: 1,
            fact: Fact::Pane(Pane::Output {
                bytes: Bytes(bytes.to_vec()),
            }),
        };
        chunks.iter().enumerate().map(chunk).collect()
    }

    fn first(chunks: &[&[u8]], text: &str) -> Option<u64> {
        let events = events(chunks);
        let output = events.iter().zip(chunks.iter().copied());
        Written::new(output).first(text).map(|event| event.sequence)
    }

    #[test]
    fn a_text_is_found_across_chunks_wraps_and_colours() {
        assert_eq!(
            first(&[b"you \x1b[1", b"mdo\r\n  the", b" work\x1b[0m"], "do the work"),
            Some(3)
        );
        assert_eq!(first(&[b"\x1b]0;secret title\x07shown"], "secret"), None);
        assert_eq!(first(&[b"\x1b(Bplain"], "plain"), Some(1));
        assert_eq!(first(&[b"plain"], ""), None);
    }

    #[test]
    fn bytes_that_are_no_text_don_t_hide_what_follows() {
        assert_eq!(first(&[b"\xff\xfe", b"still"], "still"), Some(2));
        assert_eq!(without_escapes("\x1b[31mred\x1b[0m and\x1b"), "red\n and\n");
    }

    proptest! {
        #[test]
        fn it_is_found_however_the_output_is_cut(cuts in proptest::collection::vec(0_usize..40, 0..6)) {
            let output = "\u{1b}[2Jgrüß ▸ \u{1b}]0;t\u{1b}\\die\r\n Wélt\u{1b}[0m!".as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(output.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([output.len()]) {
                chunks.push(&output[from..cut]);
                from = cut;
            }
            prop_assert!(first(&chunks, "grüß▸ die Wélt!").is_some());
        }

        #[test]
        fn no_output_is_too_strange(bytes: Vec<u8>, text: String) {
            let _ = first(&[&bytes], &text);
            let _ = without_escapes(&text);
        }
    }
}
