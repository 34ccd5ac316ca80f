//! The terminal itself: its modes, its bytes in, its bytes out.
//!
//! Reading and writing a terminal can wait for ever, so each has a thread of its own. Its descriptors stay as
//! they are: they are shared with whoever started the runner, and making them non-blocking would reach them
//! too.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcsetattr};
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;

/// Turns bracketed paste on, and off again.
pub(crate) const PASTE_ON: &str = "\x1b[?2004h";
pub(crate) const PASTE_OFF: &str = "\x1b[?2004l";

const READ_SIZE: usize = 64 * 1024;

/// The terminal's modes, as found.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// None without a terminal.
    found: Option<Termios>,
    is_raw: AtomicBool,
}

impl Terminal {
    /// Looks at what stdin and stdout are, and changes nothing. It takes both to be a terminal.
    pub(crate) fn find() -> Result<Self, Error> {
        let is_terminal = isatty(rustix::stdio::stdin()) && isatty(rustix::stdio::stdout());
        let found = is_terminal
            .then(|| tcgetattr(rustix::stdio::stdin()))
            .transpose()
            .map_err(|fault| Error::Terminal(fault.into()))?;
        Ok(Self {
            found,
            is_raw: AtomicBool::new(false),
        })
    }

    /// Whether there is a terminal at all.
    pub(crate) fn is_terminal(&self) -> bool {
        self.found.is_some()
    }

    /// Sets raw mode, or everything back as it was found. What was typed before stays to be read.
    pub(crate) fn set_raw(&self, raw: bool) -> Result<(), Error> {
        let Some(found) = &self.found else { return Ok(()) };
        let mut modes = found.clone();
        if raw {
            modes.make_raw();
        }
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &modes)
            .map_err(|fault| Error::Terminal(fault.into()))?;
        self.is_raw.store(raw, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Terminal {
    /// An orderly end has restored the terminal by now, visibly, through the edge. A panic has not.
    fn drop(&mut self) {
        if thread::panicking() && self.is_raw.load(Ordering::Relaxed) {
            let _ = rustix::io::write(rustix::stdio::stdout(), PASTE_OFF.as_bytes());
            let _ = self.set_raw(false);
        }
    }
}

/// Starts reading stdin. What each read returns arrives here; the channel closes at the end of input or a
/// hang-up.
pub(crate) fn start_reading() -> Result<mpsc::Receiver<Vec<u8>>, Error> {
    // Few reads ahead: a seat that takes nothing more must not be typed full.
    let (sender, receiver) = mpsc::channel(4);
    let read_on = move || {
        let mut buffer = vec![0; READ_SIZE];
        while let Ok(count @ 1..) = read_once(&mut buffer) {
            if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    };
    thread::Builder::new()
        .name("terminal input".into())
        .spawn(read_on)
        .map_err(Error::Thread)?;
    Ok(receiver)
}

fn read_once(buffer: &mut [u8]) -> Result<usize, Errno> {
    let stdin = rustix::stdio::stdin();
    loop {
        match rustix::io::read(stdin, &mut *buffer) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_for(stdin, PollFlags::IN)?,
            result => return result,
        }
    }
}

/// Somebody else may have made the descriptor non-blocking.
fn wait_for(descriptor: BorrowedFd<'_>, event: PollFlags) -> Result<(), Errno> {
    match poll(&mut [PollFd::from_borrowed_fd(descriptor, event)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(fault) => Err(fault),
    }
}

enum Piece {
    Bytes(Vec<u8>),
    Written(oneshot::Sender<()>),
}

/// The way to stdout.
#[derive(Debug)]
pub(crate) struct Output {
    pieces: mpsc::Sender<Piece>,
}

impl Output {
    /// Starts the writing thread.
    pub(crate) fn start() -> Result<Self, Error> {
        let (pieces, mut receiver) = mpsc::channel(4);
        let write_on = move || {
            // After a hang-up nothing can be written any more, and nobody may be kept waiting for it.
            let mut is_open = true;
            while let Some(piece) = receiver.blocking_recv() {
                match piece {
                    Piece::Bytes(bytes) => is_open = is_open && write_all(&bytes).is_ok(),
                    Piece::Written(written) => drop(written.send(())),
                }
            }
        };
        thread::Builder::new()
            .name("terminal output".into())
            .spawn(write_on)
            .map_err(Error::Thread)?;
        Ok(Self { pieces })
    }

    /// Writes the bytes after everything before them. Waits while the terminal takes nothing.
    pub(crate) async fn write(&self, bytes: Vec<u8>) {
        let _ = self.pieces.send(Piece::Bytes(bytes)).await;
    }

    /// Waits until everything so far is in the terminal, or can't be any more.
    pub(crate) async fn flushed(&self) {
        let (sender, receiver) = oneshot::channel();
        if self.pieces.send(Piece::Written(sender)).await.is_ok() {
            let _ = receiver.await;
        }
    }
}

fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    let stdout = rustix::stdio::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(stdout, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_for(stdout, PollFlags::OUT)?,
            Err(fault) => return Err(fault.into()),
        }
    }
    Ok(())
}
