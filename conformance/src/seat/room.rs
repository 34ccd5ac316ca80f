//! The private folders: one for a run, and in it one for each seat.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

/// The folder of a run. Dropping it removes it; when the engine is gone without having dropped it, the supervisors do.
#[derive(Debug, Clone)]
pub(crate) struct RunFolder(Arc<TempDir>);

impl RunFolder {
    /// A new folder, readable by nobody else.
    pub(crate) fn new() -> io::Result<Self> {
        // Short on purpose: the path of a Unix socket has room for about a hundred bytes.
        let folder = tempfile::Builder::new()
            .prefix("seatcheck-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()?;
        Ok(Self(Arc::new(folder)))
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A seat's folder. Dropping it removes it with everything the seat left there.
#[derive(Debug)]
pub(crate) struct Room {
    folder: TempDir,
    run: RunFolder,
}

impl Room {
    /// A new folder in that of the run.
    pub(crate) fn new(run: &RunFolder) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("")
            .rand_bytes(4)
            .tempdir_in(run.path())?;
        let room = Self {
            folder,
            run: run.clone(),
        };
        for path in [
            room.engine(),
            room.shims(),
            room.home(),
            room.temporary(),
            room.work(),
        ] {
            fs::create_dir(&path)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
        }
        Ok(room)
    }

    /// The folder of the whole run.
    pub(crate) fn run_folder(&self) -> &Path {
        self.run.path()
    }

    /// The seat's folder.
    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The engine's own part, which the seat is not told of.
    pub(crate) fn engine(&self) -> PathBuf {
        self.path().join("engine")
    }

    /// Where the supervisor and the agents connect.
    pub(crate) fn socket(&self) -> PathBuf {
        self.engine().join("socket")
    }

    /// The folder that stands first on the seat's PATH.
    pub(crate) fn shims(&self) -> PathBuf {
        self.path().join("bin")
    }

    /// The seat's HOME.
    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// The seat's TMPDIR.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// The seat's working directory.
    pub(crate) fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// The seat's OPENRIG_HOME.
    pub(crate) fn openrig_home(&self) -> PathBuf {
        self.path().join("openrig")
    }

    /// Writes the shims for one launch: each agent name becomes a program that is the fake agent, and carries the
    /// socket's path in its own text, so that a runner may scrub its agent's environment as it likes.
    pub(crate) fn write_shims(&self, names: &[String], seatcheck: &Path, launch: u32) -> io::Result<()> {
        for name in names {
            let path = self.shims().join(name);
            let text = format!(
                "#!/bin/sh\nexec {} {} --control {} --label {launch} -- {} \"$@\"\n",
                quoted(&seatcheck.to_string_lossy()),
                crate::hidden::FAKE_AGENT,
                quoted(&self.socket().to_string_lossy()),
                quoted(name),
            );
            fs::write(&path, text)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    /// The shim of that name.
    pub(crate) fn shim(&self, name: &str) -> PathBuf {
        self.shims().join(name)
    }
}

/// A word as the shell reads it back unchanged.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_private_and_leaves_nothing() {
        let run = RunFolder::new().unwrap();
        let path = run.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
        let room = Room::new(&run).unwrap();
        room.write_shims(&["dsh".into()], Path::new("/opt/it's/seatcheck"), 2)
            .unwrap();
        let shim = fs::read_to_string(room.shim("dsh")).unwrap();
        assert!(
            shim.contains(r"'/opt/it'\''s/seatcheck'") && shim.contains("--label 2"),
            "{shim}"
        );
        drop(run);
        assert!(path.exists());
        drop(room);
        assert!(!path.exists());
    }
}
