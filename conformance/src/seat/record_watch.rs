//! Watches the launch record's file: every change as the kernel tells it, and what a reader finds right after.

use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{FileType, Mode, OFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::history::{Bytes, RecordChange, RecordFact};

/// No record needs more; what is longer is cut, and the history says so.
const KEPT: usize = 1 << 20;

/// A watch on one file's name.
#[derive(Debug)]
pub(crate) struct RecordWatch {
    inotify: AsyncFd<OwnedFd>,
    path: PathBuf,
    name: OsString,
}

impl RecordWatch {
    /// Watches `path`, whose folder exists. Must be called within a tokio runtime.
    #[expect(
        deprecated,
        reason = "its successor is unsafe; an OwnedFd keeps its descriptor open, as that asks"
    )]
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let folder = path.parent().unwrap_or(path);
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        inotify::add_watch(
            &inotify,
            folder,
            WatchFlags::CREATE
                | WatchFlags::MODIFY
                | WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::DELETE,
        )?;
        let name = path.file_name().unwrap_or_default().to_owned();
        Ok(Self {
            inotify: AsyncFd::with_interest(inotify, Interest::READABLE)?,
            path: path.to_owned(),
            name,
        })
    }

    /// The changes since the last call, at least one. Changes to other names in the folder are not told.
    pub(crate) async fn next(&self) -> io::Result<Vec<RecordFact>> {
        loop {
            let changes = self
                .inotify
                .async_io(Interest::READABLE, |fd| {
                    let mut buffer = [MaybeUninit::uninit(); 4096];
                    let mut reader = inotify::Reader::new(fd, &mut buffer);
                    let mut changes = Vec::new();
                    loop {
                        let event = reader.next()?;
                        let ours = event
                            .file_name()
                            .is_some_and(|name| name.to_bytes() == self.name.as_bytes());
                        if ours && let Some(change) = change(event.events()) {
                            changes.push(change);
                        }
                        if reader.is_buffer_empty() {
                            return Ok(changes);
                        }
                    }
                })
                .await?;
            if !changes.is_empty() {
                return Ok(changes.into_iter().map(|change| self.look(change)).collect());
            }
        }
    }

    fn look(&self, change: RecordChange) -> RecordFact {
        if change == RecordChange::Removed {
            return RecordFact {
                change,
                content: None,
                note: None,
            };
        }
        match read(&self.path) {
            Ok((bytes, cut)) => RecordFact {
                change,
                content: Some(Bytes(bytes)),
                note: cut.then(|| format!("longer than {KEPT} bytes; the rest is not kept")),
            },
            Err(error) => RecordFact {
                change,
                content: None,
                note: Some(error.to_string()),
            },
        }
    }
}

fn change(flags: ReadFlags) -> Option<RecordChange> {
    if flags.contains(ReadFlags::MOVED_TO) {
        Some(RecordChange::MovedIn)
    } else if flags.contains(ReadFlags::CREATE) {
        Some(RecordChange::Created)
    } else if flags.contains(ReadFlags::MODIFY) {
        Some(RecordChange::Modified)
    } else if flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
        Some(RecordChange::Removed)
    } else {
        None
    }
}

/// The file's beginning, and whether there is more. Nothing but a plain file is opened for long: a fifo must not
/// hold the engine, a link must not lead it elsewhere.
fn read(path: &Path) -> io::Result<(Vec<u8>, bool)> {
    let file = rustix::fs::open(
        path,
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
    if kind != FileType::RegularFile {
        return Err(io::Error::other(format!(
            "the record is no plain file but {kind:?}"
        )));
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(
        &mut io::Read::take(std::fs::File::from(file), KEPT as u64 + 1),
        &mut bytes,
    )?;
    let cut = bytes.len() > KEPT;
    bytes.truncate(KEPT);
    Ok((bytes, cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_rename_is_told_from_a_write_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let watch = RecordWatch::new(&path).unwrap();

        std::fs::write(folder.path().join("other"), "x").unwrap();
        std::fs::write(folder.path().join("new"), "{\"whole\":1}").unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        let changes = watch.next().await.unwrap();
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].change, RecordChange::MovedIn);
        assert_eq!(changes[0].content, Some(Bytes::from("{\"whole\":1}")));

        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "{}").unwrap();
        let mut kinds = Vec::new();
        while kinds.len() < 3 {
            kinds.extend(watch.next().await.unwrap().into_iter().map(|fact| fact.change));
        }
        assert_eq!(
            kinds,
            [
                RecordChange::Removed,
                RecordChange::Created,
                RecordChange::Modified
            ]
        );
    }

    #[tokio::test]
    async fn what_is_no_plain_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let watch = RecordWatch::new(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        let changes = watch.next().await.unwrap();
        assert_eq!(changes[0].content, None);
        assert!(
            changes[0].note.as_ref().unwrap().contains("no plain file"),
            "{changes:?}"
        );
    }
}
