//! Cutting a stream of bytes into lines, with a bound on what one line may take.

use std::io::{self, BufRead, Read};

use crate::clock;

/// The longest line that is kept whole: 8 MiB.
pub(crate) const LONGEST_LINE: usize = 8 << 20;

/// One read takes at most this much, which is what a pipe holds.
const CHUNK: usize = 64 << 10;

/// A line buffer larger than this is given back once its line is done.
const KEPT: usize = 1 << 20;

/// Reads lines of up to `longest` bytes; what a longer one has beyond that is skipped.
pub(crate) struct LineReader<R> {
    source: R,
    longest: usize,
    chunk: Box<[u8]>,
    /// What of the chunk was read and is not yet given out.
    start: usize,
    end: usize,
    read_at: u64,
}

/// How a line came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    Newline,
    /// The line was longer than allowed.
    TooLong,
    /// The stream ended inside the line.
    EndOfInput,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(source: R, longest: usize) -> Self {
        Self {
            source,
            longest,
            chunk: vec![0; CHUNK].into(),
            start: 0,
            end: 0,
            read_at: 0,
        }
    }

    /// Reads the next line into `line`, without its newline. `None` at the end of the stream.
    pub(crate) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<Option<LineEnd>> {
        line.clear();
        line.shrink_to(KEPT);
        let mut too_long = false;
        loop {
            if self.start == self.end {
                self.start = 0;
                self.end = retry(|| self.source.read(&mut self.chunk))?;
                self.read_at = clock::now();
                if self.end == 0 {
                    let unfinished = if too_long {
                        LineEnd::TooLong
                    } else {
                        LineEnd::EndOfInput
                    };
                    return Ok((!line.is_empty()).then_some(unfinished));
                }
            }
            let rest = &self.chunk[self.start..self.end];
            // The standard library's search is far faster than a loop over the bytes.
            let taken = (&mut &*rest).skip_until(b'\n')?;
            let ended = rest[taken - 1] == b'\n';
            let text = &rest[..taken - usize::from(ended)];
            let room = self.longest - line.len();
            too_long |= text.len() > room;
            line.extend_from_slice(&text[..text.len().min(room)]);
            self.start += taken;
            if ended {
                return Ok(Some(if too_long {
                    LineEnd::TooLong
                } else {
                    LineEnd::Newline
                }));
            }
        }
    }

    /// When the read that completed the last line returned.
    pub(crate) fn read_at(&self) -> u64 {
        self.read_at
    }
}

fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// Gives out one piece for each read.
    struct Pieces(VecDeque<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.pop_front().unwrap_or_default();
            buffer[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    fn read(pieces: Vec<Vec<u8>>, longest: usize) -> Vec<(Vec<u8>, LineEnd)> {
        let mut reader = LineReader::new(Pieces(pieces.into()), longest);
        let mut lines = Vec::new();
        let mut line = Vec::new();
        while let Some(end) = reader.next(&mut line).unwrap() {
            lines.push((line.clone(), end));
        }
        lines
    }

    #[test]
    fn a_line_too_long_is_cut_and_the_next_is_whole() {
        let lines = read(vec![b"abc".to_vec(), b"defg\nhi\n".to_vec()], 5);
        assert_eq!(
            lines,
            [
                (b"abcde".to_vec(), LineEnd::TooLong),
                (b"hi".to_vec(), LineEnd::Newline)
            ]
        );
    }

    #[test]
    fn a_line_of_just_the_limit_is_whole() {
        assert_eq!(
            read(vec![b"abcde\n".to_vec()], 5),
            [(b"abcde".to_vec(), LineEnd::Newline)]
        );
    }

    #[test]
    fn a_last_line_without_newline_is_told_from_a_whole_one() {
        let lines = read(vec![b"\na\r\nb".to_vec()], 5);
        let whole = LineEnd::Newline;
        assert_eq!(
            lines,
            [
                (vec![], whole),
                (b"a\r".to_vec(), whole),
                (b"b".to_vec(), LineEnd::EndOfInput)
            ]
        );
    }

    proptest! {
        #[test]
        fn the_way_it_is_cut_makes_no_difference(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
            piece in 1..20_usize,
        ) {
            let pieces = bytes.chunks(piece).map(<[u8]>::to_vec).collect();
            let lines = read(pieces, 1000);
            let mut joined = Vec::new();
            for (line, end) in &lines {
                prop_assert!(!line.contains(&b'\n'));
                joined.extend_from_slice(line);
                if *end == LineEnd::Newline {
                    joined.push(b'\n');
                }
            }
            prop_assert_eq!(joined, bytes);
        }

        #[test]
        fn no_line_takes_more_than_its_limit(
            bytes in prop::collection::vec(prop_oneof![1 => Just(b'\n'), 9 => Just(b'x')], 0..200),
            piece in 1..20_usize,
            longest in 1..20_usize,
        ) {
            let pieces = bytes.chunks(piece).map(<[u8]>::to_vec).collect();
            let cut: Vec<usize> = read(pieces, longest).iter().map(|(line, _)| line.len()).collect();
            let mut expected: Vec<usize> =
                bytes.split(|byte| *byte == b'\n').map(|line| line.len().min(longest)).collect();
            // What follows the last newline is a line only if there is something of it.
            expected.pop_if(|length| *length == 0);
            prop_assert_eq!(cut, expected);
        }
    }
}
