//! The person at the terminal: their keys, what they see, and whether they stay.

use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use super::terminal::{OtherScreen, OwnTerminal, size};
use crate::engine::{Hand, Key, KeyScanner, Stay};

/// Pieces of output, and of input, that may wait.
const WAITING: usize = 64;

/// How long the terminal has to show the last of it.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The person. While this is there, keys are read and output is shown.
pub(super) struct Person {
    listening: JoinHandle<()>,
    shown: oneshot::Receiver<()>,
}

/// The engine's ends.
pub(super) struct Ends {
    pub(super) hands: mpsc::Receiver<Hand>,
    pub(super) screen: mpsc::Sender<Vec<u8>>,
    pub(super) stay: watch::Receiver<Stay>,
}

impl Person {
    /// Begins to listen. The terminal must stay raw for as long. Must be called within a tokio runtime.
    #[expect(
        deprecated,
        reason = "its successor is unsafe; an OwnedFd keeps its descriptor open, as that asks"
    )]
    pub(super) fn new(_terminal: &OwnTerminal, title: &str) -> io::Result<(Self, Ends)> {
        let keys = io::stdin().as_fd().try_clone_to_owned()?;
        let mut output = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
        output.write_all(format!("\x1b[22;2t\x1b]2;{title}\x07").as_bytes())?;

        let (screen, mut lines) = mpsc::channel::<Vec<u8>>(WAITING);
        let (tell, shown) = oneshot::channel();
        // A thread of its own: a terminal that somebody has stopped takes nothing for as long as they like.
        std::thread::Builder::new().name("screen".into()).spawn(move || {
            let mut other_screen = OtherScreen::default();
            while let Some(bytes) = lines.blocking_recv() {
                other_screen.feed(&bytes);
                if output.write_all(&bytes).is_err() {
                    break;
                }
            }
            // It may be gone; nobody may wait any more.
            let _ = output.write_all(other_screen.way_back());
            let _ = tell.send(());
        })?;

        let (tell_hand, hands) = mpsc::channel(WAITING);
        let (tell_stay, stay) = watch::channel(Stay::On);
        let listener = Listener {
            keys: AsyncFd::with_interest(keys, tokio::io::Interest::READABLE)?,
            scanner: KeyScanner::default(),
            hands: tell_hand,
            stay: tell_stay,
            resized: signal(SignalKind::window_change())?,
            ends: [
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
            ],
        };
        let person = Self {
            listening: tokio::spawn(listener.listen()),
            shown,
        };
        let ends = Ends { hands, screen, stay };
        Ok((person, ends))
    }

    /// Stops listening, and waits until all is shown. The engine's ends must be gone.
    pub(super) async fn leave(self) {
        self.listening.abort();
        // A terminal that is stopped holds nobody up.
        let _ = tokio::time::timeout(LAST_LINES, self.shown).await;
    }
}

struct Listener {
    keys: AsyncFd<OwnedFd>,
    scanner: KeyScanner,
    hands: mpsc::Sender<Hand>,
    stay: watch::Sender<Stay>,
    resized: Signal,
    ends: [Signal; 3],
}

impl Listener {
    async fn listen(mut self) {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let [interrupt, terminate, hangup] = &mut self.ends;
            let hand = tokio::select! {
                _ = interrupt.recv() => { self.leave_at_once(); continue }
                _ = terminate.recv() => { self.leave_at_once(); continue }
                _ = hangup.recv() => { self.leave_at_once(); continue }
                _ = self.resized.recv() => Hand::Resized(size()),
                read = read(&self.keys, &mut buffer) => match read {
                    Some(length) => Hand::Keys(self.keys_in(&buffer[..length])),
                    // The terminal is gone.
                    None => {
                        self.leave_at_once();
                        return std::future::pending().await;
                    }
                },
            };
            // An engine that is busy with the stop takes no hands, but still wants to know of the leaving.
            let _ = self.hands.try_send(hand);
        }
    }

    /// The keys in these bytes, but for the one that leaves.
    fn keys_in(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut keys = self.scanner.take(bytes);
        keys.retain(|key| {
            if *key == Key::Leave {
                self.stay.send_modify(|stay| {
                    *stay = match stay {
                        Stay::On => Stay::Leave,
                        Stay::Leave | Stay::LeaveAtOnce => Stay::LeaveAtOnce,
                    };
                });
            }
            *key != Key::Leave
        });
        keys
    }

    fn leave_at_once(&self) {
        self.stay.send_replace(Stay::LeaveAtOnce);
    }
}

/// What can be read, at least one byte; none when the terminal is gone.
async fn read(keys: &AsyncFd<OwnedFd>, buffer: &mut [u8]) -> Option<usize> {
    loop {
        let mut ready = keys.readable().await.ok()?;
        match rustix::io::read(keys.get_ref(), &mut *buffer) {
            Ok(0) | Err(rustix::io::Errno::AGAIN) if !ready.ready().is_read_closed() => ready.clear_ready(),
            Err(rustix::io::Errno::INTR) => {}
            Ok(0) | Err(_) => return None,
            Ok(length) => return Some(length),
        }
    }
}
