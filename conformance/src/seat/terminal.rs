//! The seat's terminal, from its master side.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, Winsize};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::history::TerminalSettings;

/// The master side of a pseudo terminal. Closing the last handle hangs the terminal up.
///
/// rexpect's `PtyProcess` opens its master without close-on-exec, so that every program of every other seat would
/// hold this terminal open and no hang-up would ever reach the runner; hence these few calls of our own.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    master: Arc<AsyncFd<OwnedFd>>,
}

impl Terminal {
    /// A new terminal of that size (rows, columns), echoing and in line mode as in a fresh pane, and its slave side.
    ///
    /// Must be called within a tokio runtime.
    #[expect(
        deprecated,
        reason = "its successor is unsafe; an OwnedFd keeps its descriptor open, as that asks"
    )]
    pub(crate) fn open(size: (u16, u16)) -> io::Result<(Self, OwnedFd)> {
        let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        rustix::pty::grantpt(&master)?;
        rustix::pty::unlockpt(&master)?;
        rustix::termios::tcsetwinsize(&master, winsize(size))?;
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        let slave = rustix::fs::open(
            &name,
            OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let flags = rustix::fs::fcntl_getfl(&master)?;
        rustix::fs::fcntl_setfl(&master, flags | OFlags::NONBLOCK)?;
        Ok((
            Self {
                master: Arc::new(AsyncFd::new(master)?),
            },
            slave,
        ))
    }

    /// Gives it another size (rows, columns); the kernel tells the foreground group.
    pub(crate) fn resize(&self, size: (u16, u16)) -> io::Result<()> {
        Ok(rustix::termios::tcsetwinsize(
            self.master.get_ref(),
            winsize(size),
        )?)
    }

    /// The settings that the seat's programs gave it.
    pub(crate) fn settings(&self) -> io::Result<TerminalSettings> {
        settings(self.master.get_ref())
    }

    /// Reads what the seat wrote; zero at the end, which on Linux is an error of its own.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self
            .master
            .async_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut *buffer)?))
            .await;
        match read {
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => Ok(0),
            other => other,
        }
    }

    /// Writes all of `bytes`, as fast as the seat takes them.
    pub(crate) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = self
                .master
                .async_io(Interest::WRITABLE, |fd| Ok(rustix::io::write(fd, bytes)?))
                .await?;
            bytes = &bytes[written..];
        }
        Ok(())
    }
}

/// The settings of an open terminal, from whichever side.
pub(crate) fn settings(terminal: impl AsFd) -> io::Result<TerminalSettings> {
    let modes = rustix::termios::tcgetattr(terminal)?.local_modes;
    Ok(TerminalSettings {
        canonical: modes.contains(LocalModes::ICANON),
        echo: modes.contains(LocalModes::ECHO),
        signals: modes.contains(LocalModes::ISIG),
    })
}

fn winsize(size: (u16, u16)) -> Winsize {
    Winsize {
        ws_row: size.0,
        ws_col: size.1,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_fresh_terminal_echoes_and_edits_lines() {
        let (terminal, slave) = Terminal::open((30, 100)).unwrap();
        let settings = terminal.settings().unwrap();
        assert!(settings.canonical && settings.echo && settings.signals);
        let size = rustix::termios::tcgetwinsize(&slave).unwrap();
        assert_eq!((size.ws_row, size.ws_col), (30, 100));
    }

    #[tokio::test]
    async fn bytes_go_both_ways_and_the_end_is_seen() {
        let (terminal, slave) = Terminal::open((24, 80)).unwrap();
        rustix::io::write(&slave, b"hello").unwrap();
        let mut buffer = [0; 64];
        assert_eq!(terminal.read(&mut buffer).await.unwrap(), 5);
        terminal.write_all(b"x\n").await.unwrap();
        assert_eq!(rustix::io::read(&slave, &mut buffer).unwrap(), 2);
        // The echo of what was typed.
        assert!(terminal.read(&mut buffer).await.unwrap() > 0);
        drop(slave);
        assert_eq!(terminal.read(&mut buffer).await.unwrap(), 0);
    }
}
