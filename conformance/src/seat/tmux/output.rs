//! What the pane's programs write, before tmux makes a screen of it: tmux copies it into a named pipe.

use std::io;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

/// Reads it.
#[derive(Debug)]
pub(crate) struct PaneOutput {
    receiver: pipe::Receiver,
    /// Kept until the first bytes come: without any writer the pipe would seem to have ended.
    until_first: Option<pipe::Sender>,
}

impl PaneOutput {
    /// Makes the pipe. Must be called within a tokio runtime.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let receiver = pipe::OpenOptions::new().open_receiver(path)?;
        let sender = pipe::OpenOptions::new().open_sender(path)?;
        Ok(Self {
            receiver,
            until_first: Some(sender),
        })
    }

    /// Zero at the end.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.receiver.read(buffer).await;
        self.until_first = None;
        read
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[tokio::test]
    async fn it_does_not_end_before_it_began() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pane");
        let mut output = PaneOutput::open(&path).unwrap();
        let mut buffer = [0; 8];
        let early = tokio::time::timeout(std::time::Duration::from_millis(20), output.read(&mut buffer));
        assert!(early.await.is_err());
        let mut writer = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        writer.write_all(b"shown").unwrap();
        assert_eq!(output.read(&mut buffer).await.unwrap(), 5);
        drop(writer);
        assert_eq!(output.read(&mut buffer).await.unwrap(), 0);
    }
}
