//! What a launch in tmux begins with: the server with its one session, and the script that is typed into the pane.

use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::client::PROGRAM;
use crate::seat::room::quoted;

/// The server that a supervisor starts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Host {
    /// The tmux command that starts it; it prints the name of the pane's terminal.
    pub(crate) command: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) directory: PathBuf,
    /// Where the launcher will connect.
    pub(crate) launcher: PathBuf,
}

/// The files of a launch, in the engine's own part of the seat's folder.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The server's socket.
    pub(crate) server: PathBuf,
    /// Where the launcher connects with the supervisor.
    pub(crate) launcher: PathBuf,
    /// The pipe of the pane's output.
    pub(crate) output: PathBuf,
    /// The script that is typed.
    pub(crate) script: PathBuf,
    /// What is to be pasted.
    pub(crate) spool: PathBuf,
}

impl Places {
    pub(crate) fn new(folder: &Path, launch: u32) -> Self {
        let place = |name: &str| folder.join(format!("{name}-{launch}"));
        Self {
            server: place("tmux"),
            launcher: place("launcher"),
            output: place("pane"),
            script: place("launch"),
            spool: place("paste"),
        }
    }

    /// A server without any configuration, a detached session of that name and size (rows, columns), and its output.
    pub(crate) fn host(
        &self,
        session: &str,
        size: (u16, u16),
        environment: &[(String, String)],
        directory: PathBuf,
    ) -> Host {
        let pipe = format!("exec cat > {}", quoted(&self.output.to_string_lossy()));
        let (rows, columns) = (size.0.to_string(), size.1.to_string());
        let server = self.server.to_string_lossy();
        let words = [
            PROGRAM,
            "-u",
            "-f",
            "/dev/null",
            "-S",
            &server, //
            "new-session",
            "-d",
            "-s",
            session,
            "-x",
            &columns,
            "-y",
            &rows,
            "-P",
            "-F",
            "#{pane_tty}",
            ";",
            "set-option",
            "-g",
            "window-size",
            "manual",
            ";",
            "resize-window",
            "-x",
            &columns,
            "-y",
            &rows,
            ";",
            "pipe-pane",
            "-O",
            &unexpanded(&pipe),
        ];
        let of_the_daemon = ["PATH", "HOME", "TMPDIR", "LANG", "SHELL", "USER", "LOGNAME"];
        Host {
            command: words.iter().map(ToString::to_string).collect(),
            environment: environment
                .iter()
                .filter(|(name, _)| of_the_daemon.contains(&name.as_str()))
                .cloned()
                .collect(),
            directory,
            launcher: self.launcher.clone(),
        }
    }

    /// Writes the script, for nobody else to read: the environment holds the hook token. TERM is the pane's own.
    pub(crate) fn write_script(
        &self,
        seatcheck: &Path,
        environment: &[(String, String)],
        command: &[String],
    ) -> io::Result<()> {
        let mut text = String::from("rm -f -- \"$0\"\nexec /usr/bin/env");
        for (name, value) in environment.iter().filter(|(name, _)| name != "TERM") {
            text.push_str(&format!(" {}", quoted(&format!("{name}={value}"))));
        }
        let seatcheck = seatcheck.to_string_lossy();
        let launcher = self.launcher.to_string_lossy();
        for word in [&*seatcheck, crate::hidden::PANE_LAUNCHER, &launcher] {
            text.push_str(&format!(" {}", quoted(word)));
        }
        for word in command {
            text.push_str(&format!(" {}", quoted(word)));
        }
        text.push('\n');
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&self.script)?;
        io::Write::write_all(&mut file, text.as_bytes())
    }

    /// What is typed into the pane.
    pub(crate) fn typed(&self) -> String {
        let script = self.script.to_string_lossy();
        let plain = |character: char| character.is_ascii_alphanumeric() || "/._-".contains(character);
        if script.chars().all(plain) {
            format!("/bin/sh {script}")
        } else {
            format!("/bin/sh {}", quoted(&script))
        }
    }
}

/// tmux expands formats and times in a pane's pipe command.
fn unexpanded(command: &str) -> String {
    command.replace('#', "##").replace('%', "%%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_private_and_brings_every_word_through() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::new(folder.path(), 1);
        // In the launcher's place: a program that shows what it was given.
        let environment = [
            ("ODD".to_owned(), "it's $HOME\nand more".to_owned()),
            ("TERM".to_owned(), "none".to_owned()),
        ];
        places
            .write_script(
                Path::new("/usr/bin/printf"),
                &environment,
                &["a b".into(), "c'd".into()],
            )
            .unwrap();
        let text = std::fs::read_to_string(&places.script).unwrap();
        assert!(!text.contains("TERM=none"), "{text}");
        let shown = text.replace(crate::hidden::PANE_LAUNCHER, "%s|%s|%s|");
        std::fs::write(&places.script, shown).unwrap();
        let done = std::process::Command::new("/bin/sh")
            .arg(&places.script)
            .output()
            .unwrap();
        let launcher = places.launcher.to_string_lossy();
        assert_eq!(
            String::from_utf8_lossy(&done.stdout),
            format!("{launcher}|a b|c'd|")
        );
        assert!(!places.script.exists());
    }

    #[test]
    fn an_odd_folder_is_quoted() {
        assert_eq!(
            Places::new(Path::new("/tmp/a"), 2).typed(),
            "/bin/sh /tmp/a/launch-2"
        );
        assert_eq!(
            Places::new(Path::new("/tmp/a b"), 2).typed(),
            "/bin/sh '/tmp/a b/launch-2'"
        );
        assert_eq!(unexpanded("cat > '/a%H#S'"), "cat > '/a%%H##S'");
    }
}
