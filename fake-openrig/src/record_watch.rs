//! Watches for a launch record without polling, whatever a runner puts in its place.
//!
//! A fifo, a device, a folder or an endless file at the path neither blocks the watch nor fills the memory.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

use crate::record::SIZE_LIMIT;
use crate::{Error, Result};

/// What is at a record's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordFile {
    /// Nothing.
    Absent,
    /// A file with these bytes; of a file larger than [`SIZE_LIMIT`], only one byte more than that.
    Bytes(Vec<u8>),
    /// Something that can't be read as a file, with the reason.
    Unreadable(String),
}

impl RecordFile {
    /// Looks once. Never blocks on what it finds.
    pub fn look(path: &Path) -> Self {
        match read(path) {
            Ok(bytes) => Self::Bytes(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Absent,
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // NONBLOCK: opening a fifo that nobody writes would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(SIZE_LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Tells each change of a record file. Changes that come faster than they are asked for are told as one.
#[derive(Debug)]
pub struct RecordWatch {
    path: PathBuf,
    name: CString,
    inotify: AsyncFd<OwnedFd>,
    last: RecordFile,
}

impl RecordWatch {
    /// Watches the record at `path`, whose folder must exist. What is there now is not a change: see
    /// [`RecordWatch::last`].
    ///
    /// # Errors
    /// [`Error::NoRuntime`] outside of a tokio runtime; [`Error::Watch`] if the folder can't be watched.
    pub fn start(path: &Path) -> Result<Self> {
        let _ = tokio::runtime::Handle::try_current().map_err(|_| Error::NoRuntime)?;
        let error = |at: &Path, source: io::Error| Error::Watch {
            path: at.to_owned(),
            source,
        };
        let name = path
            .file_name()
            .and_then(|name: &OsStr| CString::new(name.as_bytes()).ok());
        let (Some(folder), Some(name)) = (path.parent(), name) else {
            return Err(error(
                path,
                io::Error::other("it does not name a file in a folder"),
            ));
        };
        let changes = WatchFlags::CREATE
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ATTRIB
            | WatchFlags::ONLYDIR;
        let watch = || {
            let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            inotify::add_watch(&inotify, folder, changes)?;
            register(inotify)
        };
        let inotify = watch().map_err(|source| error(folder, source))?;
        let last = RecordFile::look(path);
        Ok(Self {
            path: path.to_owned(),
            name,
            inotify,
            last,
        })
    }

    /// What was there when last looked at.
    pub fn last(&self) -> &RecordFile {
        &self.last
    }

    /// Waits until something else is there, and tells what. Can be dropped and called again without missing a change.
    ///
    /// # Errors
    /// [`Error::Watch`] if the system takes the watch away.
    pub async fn changed(&mut self) -> Result<&RecordFile> {
        loop {
            let touched = self.touched().await.map_err(|source| Error::Watch {
                path: self.path.clone(),
                source,
            })?;
            if touched && self.refresh() {
                return Ok(&self.last);
            }
        }
    }

    /// Looks without waiting: what is there if it is something else than last time. For the end of a seat, when a
    /// change may not have been told yet.
    pub fn changed_now(&mut self) -> Option<&RecordFile> {
        self.refresh().then_some(&self.last)
    }

    fn refresh(&mut self) -> bool {
        let now = RecordFile::look(&self.path);
        let differs = now != self.last;
        self.last = now;
        differs
    }

    /// Waits for events and takes all there are. Says whether one was about the record.
    async fn touched(&self) -> io::Result<bool> {
        let mut ready = self.inotify.readable().await?;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(self.inotify.get_ref(), &mut buffer);
        let mut touched = false;
        loop {
            match events.next() {
                // An event without a name is about the folder, or says that events were lost.
                Ok(event) => touched |= event.file_name().is_none_or(|name| name == self.name.as_c_str()),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        ready.clear_ready();
        Ok(touched)
    }
}

#[expect(
    deprecated,
    reason = "its successor is unsafe; an OwnedFd keeps what that one asks of its caller"
)]
fn register(inotify: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::new(inotify)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn bytes(text: &str) -> RecordFile {
        RecordFile::Bytes(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn each_change_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let mut watch = RecordWatch::start(&path).unwrap();
        assert_eq!(watch.last(), &RecordFile::Absent);

        fs::write(folder.path().join("other"), "x").unwrap();
        fs::write(&path, "one").unwrap();
        assert_eq!(watch.changed().await.unwrap(), &bytes("one"));

        fs::write(folder.path().join("other"), "two").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(watch.changed().await.unwrap(), &bytes("two"));

        fs::remove_file(&path).unwrap();
        assert_eq!(watch.changed().await.unwrap(), &RecordFile::Absent);

        assert_eq!(watch.changed_now(), None);
        fs::write(&path, "three").unwrap();
        assert_eq!(watch.changed_now(), Some(&bytes("three")));
        assert_eq!(watch.changed_now(), None);
    }

    #[tokio::test]
    async fn what_is_there_at_the_start_is_not_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        fs::write(&path, "old").unwrap();
        let mut watch = RecordWatch::start(&path).unwrap();
        assert_eq!(watch.last(), &bytes("old"));
        fs::write(&path, "old").unwrap();
        fs::write(&path, "new").unwrap();
        assert_eq!(watch.changed().await.unwrap(), &bytes("new"));
    }

    #[tokio::test]
    async fn a_dropped_wait_misses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let mut watch = RecordWatch::start(&path).unwrap();
        tokio::select! {
            biased;
            _ = watch.changed() => panic!("nothing has changed"),
            () = std::future::ready(()) => {}
        }
        fs::write(&path, "one").unwrap();
        assert_eq!(watch.changed().await.unwrap(), &bytes("one"));
    }

    #[test]
    fn what_is_no_file_neither_blocks_nor_fills_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let unreadable = |path: &Path| matches!(RecordFile::look(path), RecordFile::Unreadable(_));

        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(unreadable(&fifo));
        assert!(unreadable(folder.path()));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(unreadable(&link));

        let sparse = folder.path().join("sparse");
        File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
        let RecordFile::Bytes(bytes) = RecordFile::look(&sparse) else {
            panic!("a sparse file is a file")
        };
        assert_eq!(bytes.len(), SIZE_LIMIT + 1);
    }

    #[tokio::test]
    async fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gone/record.json");
        assert!(matches!(RecordWatch::start(&path), Err(Error::Watch { .. })));
    }
}
