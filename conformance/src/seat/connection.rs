//! The engine's connection with a seat: by a terminal, or by pipes. What differs between them stands here and in
//! the file of each.

use std::io;
use std::process::Stdio;

use super::input::Input;
use super::pipes::{PipeInput, PipeOutput, Pipes};
use super::terminal::Terminal;
use crate::history::TerminalSettings;

/// What a launch begins with.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
    /// The supervisor's standard input, output and errors.
    pub(crate) standard: [Stdio; 3],
}

/// What can be asked of a connection, and done to it, beside reading and writing.
#[derive(Debug)]
pub(crate) enum Connection {
    Terminal(Terminal),
    Pipes,
}

/// Reads what the seat writes.
#[derive(Debug)]
pub(crate) enum Reader {
    Terminal(Terminal),
    Pipe(PipeOutput),
}

/// Puts something into the seat.
#[derive(Debug)]
pub(crate) enum Writer {
    Terminal(Terminal),
    Pipe(PipeInput),
}

impl Opened {
    /// Opens a terminal of that size (rows, columns).
    pub(crate) fn terminal(size: (u16, u16)) -> io::Result<Self> {
        let (terminal, slave) = Terminal::open(size)?;
        Ok(Self {
            connection: Connection::Terminal(terminal.clone()),
            reader: Reader::Terminal(terminal.clone()),
            writer: Writer::Terminal(terminal),
            standard: [slave.try_clone()?.into(), slave.try_clone()?.into(), slave.into()],
        })
    }

    /// Opens pipes.
    pub(crate) fn pipes() -> io::Result<Self> {
        let pipes = Pipes::open()?;
        Ok(Self {
            connection: Connection::Pipes,
            reader: Reader::Pipe(pipes.output),
            writer: Writer::Pipe(pipes.input),
            standard: [
                pipes.seat_input.into(),
                pipes.seat_output.try_clone()?.into(),
                pipes.seat_output.into(),
            ],
        })
    }
}

impl Connection {
    /// The terminal's settings, where there is one that can still be asked.
    pub(crate) fn settings(&self) -> Option<TerminalSettings> {
        match self {
            Self::Terminal(terminal) => terminal.settings().ok(),
            Self::Pipes => None,
        }
    }

    /// Gives the terminal another size (rows, columns).
    pub(crate) fn resize(&self, size: (u16, u16)) -> io::Result<()> {
        match self {
            Self::Terminal(terminal) => terminal.resize(size),
            Self::Pipes => Ok(()),
        }
    }
}

impl Reader {
    /// Reads what the seat wrote; zero at the end.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Terminal(terminal) => terminal.read(buffer).await,
            Self::Pipe(output) => output.read(buffer).await,
        }
    }
}

impl Writer {
    /// Puts all of it in, as fast as the seat takes it.
    pub(crate) async fn put(&mut self, input: &Input) -> io::Result<()> {
        match self {
            Self::Terminal(terminal) => terminal.write_all(&input.bytes()).await,
            Self::Pipe(pipe) => pipe.write_all(&input.bytes()).await,
        }
    }
}
