//! Reads lines from a stream of bytes, with a bound on how much of a line is kept.

use tokio::io::{AsyncRead, AsyncReadExt};

const READ_SIZE: usize = 64 * 1024;

/// What a reader finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A whole line, without its line end.
    Whole(Vec<u8>),
    /// The start of a line that was over the bound; its rest is gone.
    Cut(Vec<u8>),
}

/// Reads lines of up to `limit` bytes. What each read returns passes `through` first.
#[derive(Debug)]
pub(crate) struct LineReader<R, T> {
    source: R,
    through: T,
    limit: usize,
    chunk: Vec<u8>,
    /// How far into the chunk lines have been taken.
    position: usize,
    line: Vec<u8>,
    is_cut: bool,
}

impl<R: AsyncRead + Unpin, T: FnMut(Vec<u8>) -> Vec<u8>> LineReader<R, T> {
    pub(crate) fn new(source: R, limit: usize, through: T) -> Self {
        Self {
            source,
            through,
            limit,
            chunk: Vec::new(),
            position: 0,
            line: Vec::new(),
            is_cut: false,
        }
    }

    /// The next line. None at the end of the stream, after what may be an unfinished last line. A read that
    /// fails is an end, too.
    pub(crate) async fn next(&mut self) -> Option<Line> {
        loop {
            let unread = &self.chunk[self.position..];
            if let Some(length) = unread.iter().position(|byte| *byte == b'\n') {
                self.keep(length);
                self.position += 1;
                return Some(self.finish_line());
            }
            self.keep(unread.len());
            self.position = 0;
            self.chunk.clear();
            self.chunk.reserve(READ_SIZE);
            if !matches!(self.source.read_buf(&mut self.chunk).await, Ok(1..)) {
                return (!self.line.is_empty()).then(|| self.finish_line());
            }
            self.chunk = (self.through)(std::mem::take(&mut self.chunk));
        }
    }

    /// Whether the next line needs another read.
    pub(crate) fn is_at_read(&self) -> bool {
        self.position == self.chunk.len()
    }

    fn keep(&mut self, length: usize) {
        let end = self.position + length;
        let room = self.limit - self.line.len();
        self.is_cut |= length > room;
        self.line
            .extend_from_slice(&self.chunk[self.position..end.min(self.position + room)]);
        self.position = end;
    }

    fn finish_line(&mut self) -> Line {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_cut) {
            Line::Cut(line)
        } else {
            Line::Whole(line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::ReadBuf;

    /// Gives its pieces one per read.
    struct Pieces(std::collections::VecDeque<Vec<u8>>);

    impl AsyncRead for Pieces {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            if let Some(piece) = self.0.pop_front() {
                buffer.put_slice(&piece);
            }
            Poll::Ready(Ok(()))
        }
    }

    fn read_all(pieces: Vec<Vec<u8>>, limit: usize) -> Vec<Line> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let pieces = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
            let mut reader = LineReader::new(Pieces(pieces), limit, |bytes| bytes);
            let mut lines = Vec::new();
            while let Some(line) = reader.next().await {
                lines.push(line);
            }
            lines
        })
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_are_joined_and_split_as_they_are() {
        let pieces = vec![b"one\ntw".to_vec(), b"o\n\nla".to_vec(), b"st".to_vec()];
        assert_eq!(
            read_all(pieces, 100),
            [whole("one"), whole("two"), whole(""), whole("last")]
        );
    }

    #[test]
    fn a_line_over_the_bound_is_cut_and_the_next_one_is_whole() {
        let pieces = vec![b"123".to_vec(), b"45".to_vec(), b"6\n12345\n".to_vec()];
        assert_eq!(
            read_all(pieces, 5),
            [Line::Cut(b"12345".to_vec()), whole("12345")]
        );
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_lines(
            lines in proptest::collection::vec("[^\n]{0,12}", 1..8),
            size in 1usize..9,
        ) {
            let bytes = lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
            let pieces = bytes.chunks(size).map(<[u8]>::to_vec).collect();
            let expected: Vec<Line> = lines.iter().map(|line| whole(line)).collect();
            prop_assert_eq!(read_all(pieces, 1000), expected);
        }
    }
}
