//! A seat without a terminal: its input is a pipe, and so are its output and its errors, which share one.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;

/// The engine's ends and the seat's.
#[derive(Debug)]
pub(crate) struct Pipes {
    /// Dropping it ends the seat's input.
    pub(crate) input: PipeInput,
    pub(crate) output: PipeOutput,
    pub(crate) seat_input: OwnedFd,
    pub(crate) seat_output: OwnedFd,
}

impl Pipes {
    /// Must be called within a tokio runtime.
    pub(crate) fn open() -> io::Result<Self> {
        let (input, seat_input) = pipe::pipe()?;
        let (seat_output, output) = pipe::pipe()?;
        Ok(Self {
            input: PipeInput(input),
            output: PipeOutput(output),
            // A program expects to wait where there is nothing to read or no room to write.
            seat_input: seat_input.into_blocking_fd()?,
            seat_output: seat_output.into_blocking_fd()?,
        })
    }
}

/// Writes to the seat.
#[derive(Debug)]
pub(crate) struct PipeInput(pipe::Sender);

impl PipeInput {
    pub(crate) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
    }
}

/// Reads what the seat writes.
#[derive(Debug)]
pub(crate) struct PipeOutput(pipe::Receiver);

impl PipeOutput {
    /// Zero at the end.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).await
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[tokio::test]
    async fn bytes_go_both_ways_and_each_end_is_seen() {
        let Pipes {
            mut input,
            mut output,
            seat_input,
            seat_output,
        } = Pipes::open().unwrap();
        let (mut seat_input, mut seat_output) =
            (std::fs::File::from(seat_input), std::fs::File::from(seat_output));
        input.write_all(b"a line\n").await.unwrap();
        let mut buffer = [0; 64];
        assert_eq!(seat_input.read(&mut buffer).unwrap(), 7);
        drop(input);
        assert_eq!(seat_input.read(&mut buffer).unwrap(), 0);
        seat_output.write_all(b"shown").unwrap();
        assert_eq!(output.read(&mut buffer).await.unwrap(), 5);
        drop(seat_output);
        assert_eq!(output.read(&mut buffer).await.unwrap(), 0);
    }
}
