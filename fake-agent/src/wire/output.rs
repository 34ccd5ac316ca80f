//! Writing to standard output: whole frames, cut frames, and bytes that are no frame.
//!
//! One write at a time: a frame cut in pieces is never mixed with another. What is written is reported
//! first, so that a runner which reacts to a frame, even by killing the agent, reacts to something that
//! is on record.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, retry_on_intr};
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::coop::consume_budget;

use crate::control::Fact;
use crate::reporter::Reporter;
use crate::script::{Delay, Framing, Raw};
use crate::waiting::off_the_reader;

/// Standard output, shared by all lists of actions.
pub(crate) struct Output {
    /// `None` once it is closed or broken; what is written from then on is dropped.
    stream: Mutex<Option<Arc<OwnedFd>>>,
    framing: Option<Framing>,
    reporter: Arc<Reporter>,
}

impl Output {
    /// Takes over standard output.
    pub(crate) fn open(framing: Option<Framing>, reporter: Arc<Reporter>) -> io::Result<Self> {
        let stream = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
        // The copy has to be the only way to the runner, or closing it would close nothing.
        rustix::stdio::dup2_stdout(std::fs::File::options().write(true).open("/dev/null")?)?;
        // A full pipe must not stop the thread that reads. A terminal is left as it is, for others share
        // it; it and a file take what they are given.
        if matches!(
            FileType::from_raw_mode(fstat(&stream)?.st_mode),
            FileType::Fifo | FileType::Socket
        ) {
            rustix::io::ioctl_fionbio(&stream, true)?;
        }
        Ok(Self {
            stream: Mutex::new(Some(Arc::new(stream))),
            framing,
            reporter,
        })
    }

    /// Writes a message line, given without its newline.
    pub(crate) async fn line(&self, mut line: Vec<u8>) {
        let mut stream = self.turn().await;
        if stream.is_none() {
            return;
        }
        let (chunk, gap) = self
            .framing
            .map_or((None, None), |framing| (Some(framing.chunk), framing.gap));
        let writes = chunk.map_or(1, |chunk| (line.len() + 1).div_ceil(chunk.get()));
        self.report_framing(1, writes);
        self.reporter.report(|| Fact::Sent {
            line: line.as_slice().into(),
        });
        line.push(b'\n');
        self.write(&mut stream, &line, chunk, gap).await;
    }

    /// Writes several message lines in a single write.
    pub(crate) async fn joined(&self, lines: Vec<Vec<u8>>) {
        let mut stream = self.turn().await;
        if stream.is_none() {
            return;
        }
        self.report_framing(lines.len(), 1);
        let mut all = Vec::new();
        for line in lines {
            all.extend_from_slice(&line);
            all.push(b'\n');
            self.reporter.report(|| Fact::Sent { line: line.into() });
        }
        self.write(&mut stream, &all, None, None).await;
    }

    /// Tells how the next lines are written, where that is not one by one.
    fn report_framing(&self, lines: usize, writes: usize) {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        if (lines, writes) != (1, 1) {
            self.reporter.report(|| Fact::Framed {
                lines: count(lines),
                writes: count(writes),
            });
        }
    }

    /// Writes bytes as they are.
    pub(crate) async fn raw(&self, raw: &Raw) {
        let mut stream = self.turn().await;
        if stream.is_none() {
            return;
        }
        self.reporter.report(|| Fact::RawSent {
            bytes: raw.bytes.as_slice().into(),
        });
        self.write(&mut stream, &raw.bytes, raw.chunk, raw.gap).await;
    }

    /// Closes it, after what is being written. False if it was closed before.
    pub(crate) async fn close(&self) -> bool {
        let mut stream = self.turn().await;
        if stream.is_some() {
            self.reporter.report(|| Fact::StdoutClosed);
        }
        stream.take().is_some()
    }

    /// Waits for the turn to write.
    async fn turn(&self) -> MutexGuard<'_, Option<Arc<OwnedFd>>> {
        // A waiting list comes first in either case; this only makes the common one cheap.
        match self.stream.try_lock() {
            Ok(stream) => stream,
            Err(_) => self.stream.lock().await,
        }
    }

    async fn write(
        &self,
        stream: &mut Option<Arc<OwnedFd>>,
        bytes: &[u8],
        chunk: Option<NonZeroUsize>,
        gap: Option<Delay>,
    ) {
        let Some(open) = stream else { return };
        let pieces = bytes.chunks(chunk.map_or(bytes.len().max(1), NonZeroUsize::get));
        if pieces.len() > 1 {
            off_the_reader().await;
        }
        for (index, piece) in pieces.enumerate() {
            if let Some(gap) = gap
                && index > 0
            {
                tokio::time::sleep(gap.duration()).await;
            }
            if let Err(error) = write_all(open, piece).await {
                *stream = None;
                self.reporter.report(|| Fact::StdoutFailed {
                    reason: error.to_string(),
                });
                return;
            }
        }
    }
}

async fn write_all(stream: &Arc<OwnedFd>, mut rest: &[u8]) -> io::Result<()> {
    while !rest.is_empty() {
        // A pipe that always has room must not keep the other lists waiting.
        consume_budget().await;
        match retry_on_intr(|| rustix::io::write(stream, rest)) {
            Ok(written) => rest = &rest[written..],
            Err(Errno::AGAIN) => room(Arc::clone(stream)).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Waits until there is room for more, or no hope of it.
async fn room(stream: Arc<OwnedFd>) -> io::Result<()> {
    off_the_reader().await;
    let wait = move || retry_on_intr(|| poll(&mut [PollFd::new(&stream, PollFlags::OUT)], None));
    tokio::task::spawn_blocking(wait).await??;
    Ok(())
}
