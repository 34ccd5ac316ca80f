//! Watches launch records: every change as the kernel tells it, and what a reader finds right after.
//!
//! One inotify instance serves a whole run: a user may have no more than 128 of them, and 200 seats side by side.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{FileType, Mode, OFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::clock;
use crate::history::{Bytes, RecordChange, RecordFact};

/// No record needs more; what is longer is cut, and the history says so.
const KEPT: usize = 128 << 10;

/// So many changes may wait to be taken. After more, a watch tells nothing further.
const WAITING: usize = 32;

/// What a watch tells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    /// A change of the record.
    Change(RecordFact),
    /// More happened than could be taken. The last that a watch tells.
    TooMuch,
}

/// When it was seen, in nanoseconds of `CLOCK_MONOTONIC`, and what.
type Stamped = (u64, Seen);

/// Watches the records of all seats of a run. Dropping it ends all watches.
#[derive(Debug)]
pub(crate) struct RecordWatcher {
    shared: Arc<Shared>,
    _reader: JoinSet<()>,
}

#[derive(Debug)]
struct Shared {
    inotify: AsyncFd<OwnedFd>,
    watched: Mutex<Watches>,
}

/// The kernel has one watch for a folder, however often it is asked: two launches of one seat, of which the first is
/// only just ending, share it.
#[derive(Debug, Default)]
struct Watches {
    by_descriptor: HashMap<i32, Vec<Watched>>,
    newest: u64,
}

#[derive(Debug)]
struct Watched {
    number: u64,
    path: PathBuf,
    name: OsString,
    /// `None` once it was told that there was too much.
    to: Option<mpsc::Sender<Stamped>>,
}

/// The watch on one file's name. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct RecordWatch {
    shared: Arc<Shared>,
    descriptor: i32,
    number: u64,
    changes: mpsc::Receiver<Stamped>,
    /// Keeps the channel open.
    _to: mpsc::Sender<Stamped>,
}

impl RecordWatcher {
    /// A watcher without watches. Must be called within a tokio runtime.
    #[expect(
        deprecated,
        reason = "its successor is unsafe; an OwnedFd keeps its descriptor open, as that asks"
    )]
    pub(crate) fn new() -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(|error| {
            io::Error::other(format!(
                "launch records can't be watched: {error}; is fs.inotify.max_user_instances used up?"
            ))
        })?;
        let inotify = AsyncFd::with_interest(inotify, Interest::READABLE)?;
        let shared = Arc::new(Shared {
            inotify,
            watched: Mutex::default(),
        });
        let mut reader = JoinSet::new();
        reader.spawn({
            let shared = shared.clone();
            // It ends only when the kernel refuses, and then every watch is silent: its seats' records don't come.
            async move { while shared.read().await.is_ok() {} }
        });
        Ok(Self {
            shared,
            _reader: reader,
        })
    }

    /// Watches `path`, whose folder exists.
    pub(crate) fn watch(&self, path: &Path) -> io::Result<RecordWatch> {
        let folder = path.parent().unwrap_or(path);
        let name = path.file_name().unwrap_or_default().to_owned();
        let (to, changes) = mpsc::channel(WAITING);
        // Held over both steps: a change must find its watch.
        let mut watched = self.shared.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let descriptor = inotify::add_watch(
            &self.shared.inotify,
            folder,
            WatchFlags::CREATE
                | WatchFlags::MODIFY
                | WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::DELETE,
        )?;
        watched.newest += 1;
        let number = watched.newest;
        watched
            .by_descriptor
            .entry(descriptor)
            .or_default()
            .push(Watched {
                number,
                path: path.to_owned(),
                name,
                to: Some(to.clone()),
            });
        drop(watched);
        Ok(RecordWatch {
            shared: self.shared.clone(),
            descriptor,
            number,
            changes,
            _to: to,
        })
    }
}

impl RecordWatch {
    /// The next change of the file; changes of other names in its folder are not told. `None` when the watcher is gone.
    pub(crate) async fn next(&mut self) -> Option<Stamped> {
        self.changes.recv().await
    }
}

impl Drop for RecordWatch {
    fn drop(&mut self) {
        let mut watched = self.shared.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(here) = watched.by_descriptor.get_mut(&self.descriptor) else {
            return;
        };
        here.retain(|watched| watched.number != self.number);
        if here.is_empty() {
            watched.by_descriptor.remove(&self.descriptor);
            // The folder may be gone, and the kernel's watch with it.
            let _ = inotify::remove_watch(&self.shared.inotify, self.descriptor);
        }
    }
}

impl Shared {
    /// Reads what has happened, and tells it to those it concerns.
    async fn read(&self) -> io::Result<()> {
        let (happened, overflowed) = self
            .inotify
            .async_io(Interest::READABLE, |fd| {
                let mut buffer = [MaybeUninit::uninit(); 4096];
                let mut reader = inotify::Reader::new(fd, &mut buffer);
                let mut happened = Vec::new();
                let mut overflowed = false;
                loop {
                    let event = reader.next()?;
                    overflowed |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                    if let (Some(name), Some(change)) = (event.file_name(), change(event.events())) {
                        happened.push((event.wd(), name.to_bytes().to_vec(), change));
                    }
                    if reader.is_buffer_empty() {
                        return Ok((happened, overflowed));
                    }
                }
            })
            .await?;
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        for (descriptor, name, change) in happened {
            let here = watched.by_descriptor.get_mut(&descriptor).into_iter().flatten();
            for watched in here.filter(|watched| watched.name.as_bytes() == name) {
                watched.tell(change);
            }
        }
        if overflowed {
            // The kernel dropped events, and does not say whose.
            for watched in watched.by_descriptor.values_mut().flatten() {
                watched.give_up();
            }
        }
        Ok(())
    }
}

impl Watched {
    fn tell(&mut self, change: RecordChange) {
        let Some(to) = &self.to else { return };
        // The last place is for the word that there was too much.
        if to.capacity() <= 1 {
            return self.give_up();
        }
        let at = clock::now();
        // Nobody listens any more when the seat is being stopped.
        let _ = to.try_send((at, Seen::Change(look(&self.path, change))));
    }

    fn give_up(&mut self) {
        if let Some(to) = self.to.take() {
            let _ = to.try_send((clock::now(), Seen::TooMuch));
        }
    }
}

fn look(path: &Path, change: RecordChange) -> RecordFact {
    if change == RecordChange::Removed {
        return RecordFact {
            change,
            content: None,
            note: None,
        };
    }
    match read(path) {
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

    async fn change(watch: &mut RecordWatch) -> RecordFact {
        match watch.next().await {
            Some((_, Seen::Change(fact))) => fact,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_rename_is_told_from_a_write_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let watcher = RecordWatcher::new().unwrap();
        let mut watch = watcher.watch(&path).unwrap();

        std::fs::write(folder.path().join("other"), "x").unwrap();
        std::fs::write(folder.path().join("new"), "{\"whole\":1}").unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        let fact = change(&mut watch).await;
        assert_eq!(fact.change, RecordChange::MovedIn);
        assert_eq!(fact.content, Some(Bytes::from("{\"whole\":1}")));

        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "{}").unwrap();
        for expected in [
            RecordChange::Removed,
            RecordChange::Created,
            RecordChange::Modified,
        ] {
            assert_eq!(change(&mut watch).await.change, expected);
        }
    }

    #[tokio::test]
    async fn many_seats_share_one_instance_and_hear_only_their_own() {
        let watcher = RecordWatcher::new().unwrap();
        let folders: Vec<_> = (0..200).map(|_| tempfile::tempdir().unwrap()).collect();
        let path = |number: usize| folders[number].path().join("record.json");
        let mut watches: Vec<_> = (0..200)
            .map(|number| watcher.watch(&path(number)).unwrap())
            .collect();
        for number in 0..200 {
            std::fs::write(path(number), number.to_string()).unwrap();
        }
        for (number, watch) in watches.iter_mut().enumerate() {
            let made = change(watch).await;
            assert_eq!(made.change, RecordChange::Created);
            let filled = change(watch).await;
            assert_eq!(filled.content, Some(Bytes::from(number.to_string().as_str())));
        }
    }

    #[tokio::test]
    async fn the_end_of_one_watch_leaves_a_newer_one_on_the_same_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let watcher = RecordWatcher::new().unwrap();
        let old = watcher.watch(&path).unwrap();
        let mut new = watcher.watch(&path).unwrap();
        drop(old);
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(change(&mut new).await.change, RecordChange::Created);
    }

    #[tokio::test]
    async fn what_is_no_plain_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let watcher = RecordWatcher::new().unwrap();
        let mut watch = watcher.watch(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        let fact = change(&mut watch).await;
        assert_eq!(fact.content, None);
        assert!(fact.note.as_ref().unwrap().contains("no plain file"), "{fact:?}");
    }

    #[tokio::test]
    async fn a_record_that_changes_faster_than_it_is_taken_ends_its_watch_and_no_other() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let path = |number: usize| folders[number].path().join("record.json");
        let watcher = RecordWatcher::new().unwrap();
        let mut flooded = watcher.watch(&path(0)).unwrap();
        let mut quiet = watcher.watch(&path(1)).unwrap();
        for _ in 0..WAITING {
            std::fs::write(path(0), "{}").unwrap();
            std::fs::remove_file(path(0)).unwrap();
        }
        std::fs::write(path(1), "{}").unwrap();
        assert_eq!(change(&mut quiet).await.change, RecordChange::Created);
        let mut taken = 0;
        while let Some((_, Seen::Change(_))) = flooded.next().await {
            taken += 1;
        }
        assert_eq!(taken, WAITING - 1);
    }
}
