//! Writing to standard error without holding up the rest of the agent.
//!
//! A runner that does not drain the pipe stops the list of actions that writes, as it would stop a real
//! agent, but input, the control socket and the end of the process go on. So a thread does the writing.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};

use crate::control::Fact;
use crate::reporter::Reporter;
use crate::waiting::off_the_reader;

/// A flood is written in pieces of this size.
const PIECE: usize = 64 << 10;

/// How long a line of a flood is, with its newline.
const LINE: usize = 80;

/// Writes one line. Returns once it is written, or can't be.
pub(crate) async fn line(reporter: &Reporter, text: &str) {
    let line = format!("{text}\n").into_bytes();
    reporter.report(|| Fact::Stderr {
        bytes: line.len() as u64,
    });
    in_thread(move || write_all(&line)).await;
}

/// Writes so many bytes, in lines. Returns once they are written, or can't be.
pub(crate) async fn flood(reporter: &Reporter, bytes: u64) {
    reporter.report(|| Fact::Stderr { bytes });
    in_thread(move || {
        let mut line = [b'.'; LINE];
        line[LINE - 1] = b'\n';
        let piece: Vec<u8> = line.iter().copied().cycle().take(PIECE / LINE * LINE).collect();
        let mut rest = bytes;
        while rest > 0 {
            let length = usize::try_from(rest).map_or(piece.len(), |rest| rest.min(piece.len()));
            write_all(&piece[..length])?;
            rest -= length as u64;
        }
        Ok(())
    })
    .await;
}

async fn in_thread(write: impl FnOnce() -> rustix::io::Result<()> + Send + 'static) {
    off_the_reader().await;
    // A runner that closed the stream does not want the text, and that is no concern of the script's.
    let _ = tokio::task::spawn_blocking(write).await;
}

fn write_all(mut rest: &[u8]) -> rustix::io::Result<()> {
    let stderr = std::io::stderr();
    while !rest.is_empty() {
        match retry_on_intr(|| rustix::io::write(&stderr, rest)) {
            Ok(written) => rest = &rest[written..],
            // It may be the same pipe as standard output, which is non-blocking.
            Err(Errno::AGAIN) => {
                retry_on_intr(|| poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], None))?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
