//! `fake-openrig serve` in a terminal: its seat's pane is shown there and on the board, and the board's buttons reach it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use crate::http;

/// The terminal of the person who serves.
struct Terminal {
    master: File,
    seen: String,
}

impl Terminal {
    /// Reads until it has shown `wanted`, and gives what stood before it and was not yet asked for.
    fn until(&mut self, wanted: &str) -> String {
        loop {
            if let Some(at) = self.seen.find(wanted) {
                let before = self.seen[..at].to_owned();
                self.seen.drain(..at + wanted.len());
                return before;
            }
            let mut buffer = [0; 4096];
            let length = self.master.read(&mut buffer).unwrap_or(0);
            assert!(length > 0, "it ended without {wanted:?}: {:?}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
    }
}

fn terminal() -> (Terminal, OwnedFd) {
    let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let size = Winsize {
        ws_row: 30,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size).unwrap();
    let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let slave = rustix::fs::open(
        &name,
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .unwrap();
    let terminal = Terminal {
        master: File::from(master),
        seen: String::new(),
    };
    (terminal, slave)
}

#[test]
fn the_pane_is_here_and_on_the_board() {
    let (mut person, slave) = terminal();
    let found = tcgetattr(&slave).unwrap();
    let stdio = || Stdio::from(slave.try_clone().unwrap());
    let script = r#"stty size; stty -echo; echo ready
        while read -r line; do echo "got <$line>"; [ "$line" = leave ] && exit 3; done"#;
    let mut serve = Command::new(env!("CARGO_BIN_EXE_fake-openrig"))
        .args(["serve", "--name", "dsh", "--", "sh", "-c", script])
        .stdin(stdio())
        .stdout(stdio())
        .stderr(stdio())
        .spawn()
        .unwrap();
    person.until("board: http://");
    let address = person.until("\r\n");
    // The seat's terminal has this one's size.
    person.until("30 100");
    person.until("ready");

    let (host, path) = address.split_once('/').unwrap();
    let port = host.rsplit_once(':').unwrap().1.parse().unwrap();
    let (status, mut events) = http::stream(port, &format!("/{path}events"), &[("host", host)]);
    assert_eq!(status, 200);
    let whole = http::next_event(&mut events);
    assert_eq!(
        whole["whole"]["controls"],
        serde_json::json!(["clear_attention", "send", "interrupt"])
    );

    person.master.write_all(b"typed here\r").unwrap();
    person.until("got <typed here>");
    let headers = [("host", host), ("content-type", "application/json")];
    let press = http::request(
        port,
        "POST",
        &format!("/{path}press"),
        &headers,
        r#"{"send_raw": "sent there"}"#,
    );
    assert_eq!(press.status, 204);
    person.until("got <sent there>");
    loop {
        let event = http::next_event(&mut events);
        let lines = event["pane"].as_array().cloned().unwrap_or_default();
        if lines.iter().any(|line| line == "got <sent there>") {
            assert!(lines.iter().any(|line| line == "got <typed here>"), "{lines:?}");
            break;
        }
    }

    person.master.write_all(b"leave\r").unwrap();
    person.until("got <leave>");
    assert_eq!(serve.wait().unwrap().code(), Some(3));
    let left = tcgetattr(&slave).unwrap();
    assert_eq!(
        (left.local_modes, left.input_modes, left.output_modes),
        (found.local_modes, found.input_modes, found.output_modes)
    );
}
