//! Keeps a program from making the screen work without end: `CSI 65535 b` repeats a character 65535 times.

use std::borrow::Cow;

/// No sequence that is held back is longer; a longer one repeats nothing.
const LONGEST: usize = 32;

/// Passes a terminal's output on, with no character repeated for more than a line.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// A control sequence whose last byte is still to come, from its ESC.
    held: Vec<u8>,
}

impl Repeats {
    /// `bytes` with every repetition cut to `columns`. A sequence that is not complete is held back.
    pub(super) fn cut<'b>(&mut self, bytes: &'b [u8], columns: u16) -> Cow<'b, [u8]> {
        const ESCAPE: u8 = 0x1b;
        if self.held.is_empty() && !bytes.contains(&ESCAPE) {
            return Cow::Borrowed(bytes);
        }
        let mut passed = Vec::with_capacity(self.held.len() + bytes.len());
        for &byte in bytes {
            match (self.held.len(), byte) {
                (_, ESCAPE) => {
                    passed.append(&mut self.held);
                    self.held.push(byte);
                }
                (0, _) => passed.push(byte),
                (1, b'[') => self.held.push(byte),
                // A control character within a sequence is obeyed at once.
                (2.., 0x00..=0x17 | 0x19 | 0x1c..=0x1f) => passed.push(byte),
                (2..LONGEST, 0x20..=0x3f) => self.held.push(byte),
                (2.., b'b') if self.repeats_more_than(columns) => {
                    self.held.clear();
                    passed.extend_from_slice(format!("\x1b[{columns}b").as_bytes());
                }
                _ => {
                    passed.append(&mut self.held);
                    passed.push(byte);
                }
            }
        }
        Cow::Owned(passed)
    }

    fn repeats_more_than(&self, columns: u16) -> bool {
        self.held[2..]
            .split(|byte| !byte.is_ascii_digit())
            .filter_map(|digits| std::str::from_utf8(digits).ok())
            .any(|digits| {
                digits
                    .parse::<u64>()
                    .map_or(!digits.is_empty(), |count| count > u64::from(columns))
            })
    }
}

/// How many characters `bytes` makes a screen draw beside those that stand in them.
pub(crate) fn repeated(bytes: &[u8]) -> usize {
    /// About a line.
    const MOST: usize = 80;
    let mut sequences = bytes.split(|byte| *byte == 0x1b);
    sequences.next();
    sequences
        .filter_map(|sequence| {
            let digits = sequence.strip_prefix(b"[")?;
            let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
            let count = std::str::from_utf8(&digits[..end]).ok()?.parse().unwrap_or(MOST);
            (digits[end] == b'b').then_some(count.min(MOST))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(pieces: &[&[u8]]) -> Vec<u8> {
        let mut repeats = Repeats::default();
        pieces
            .iter()
            .flat_map(|piece| repeats.cut(piece, 80).into_owned())
            .collect()
    }

    #[test]
    fn only_what_repeats_too_often_is_changed() {
        assert_eq!(cut(&[b"x\x1b[655", b"35by"]), b"x\x1b[80by");
        assert_eq!(cut(&[b"x\x1b[99999999999999999999b"]), b"x\x1b[80b");
        assert_eq!(cut(&[b"x\x1b[9\n999b"]), b"x\n\x1b[80b");
        assert_eq!(
            cut(&[b"x\x1b[12b\x1b[?2004h\x1b[1;31mb"]),
            b"x\x1b[12b\x1b[?2004h\x1b[1;31mb"
        );
    }

    #[test]
    fn what_is_drawn_without_standing_there_is_counted() {
        assert_eq!(repeated(b"x\x1b[65535b\x1b[3b and \x1b[12H\x1b[1;2b\x1b[5"), 83);
        assert_eq!(repeated(b"abb [3b"), 0);
    }

    proptest! {
        #[test]
        fn what_repeats_nothing_passes_as_it_is(
            pieces in prop::collection::vec("[a\x1b\\[0-9;mH\n]{0,12}", 0..6),
        ) {
            let output = pieces.concat();
            let mut repeats = Repeats::default();
            let mut passed: Vec<u8> = pieces
                .iter()
                .flat_map(|piece| repeats.cut(piece.as_bytes(), 80).into_owned())
                .collect();
            passed.append(&mut repeats.held);
            // A control character may pass a sequence that it stands in.
            let sorted = |bytes: &[u8]| { let mut bytes = bytes.to_vec(); bytes.sort_unstable(); bytes };
            prop_assert_eq!(sorted(&passed), sorted(output.as_bytes()));
        }
    }
}
