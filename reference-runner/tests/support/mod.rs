//! A seat for tests: the runner as a process of its own, a scripted agent, a place for its posts. Every wait
//! is for an event; a watchdog ends a runner that never comes to one, and the wait then fails.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of tests: whatever fails here fails the test"
)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, tcgetattr};
use serde_json::Value;
use tempfile::TempDir;

/// Far beyond what anything here takes, also on a machine with much else to do.
const WATCHDOG: Duration = Duration::from_secs(120);

/// One runner with its agent.
pub(crate) struct Seat {
    child: Child,
    folder: TempDir,
    posts: Receiver<Value>,
    input: File,
    output: File,
    shown: Vec<u8>,
    /// The terminal's other side, kept open so that it outlives the runner.
    terminal: Option<OwnedFd>,
    /// The terminal's modes before the runner was started.
    found: Option<Termios>,
    _watchdog: Sender<()>,
}

impl Seat {
    /// Starts a runner in a terminal of its own, with these launch variables besides the usual ones.
    pub(crate) fn in_a_terminal(variables: &[(&str, &str)]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let terminal = open(
            &name,
            OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
            Mode::empty(),
        )
        .unwrap();
        let found = tcgetattr(&terminal).unwrap();
        let side = || Stdio::from(terminal.try_clone().unwrap());
        let mut seat = Self::start(variables, (side(), side()), |_| {
            (
                File::from(master.try_clone().unwrap()),
                File::from(master.try_clone().unwrap()),
            )
        });
        seat.terminal = Some(terminal);
        seat.found = Some(found);
        seat
    }

    /// Starts a runner on pipes.
    pub(crate) fn on_pipes() -> Self {
        Self::start(&[], (Stdio::piped(), Stdio::piped()), |child| {
            let input = OwnedFd::from(child.stdin.take().unwrap());
            let output = OwnedFd::from(child.stdout.take().unwrap());
            (File::from(input), File::from(output))
        })
    }

    fn start(
        variables: &[(&str, &str)],
        (stdin, stdout): (Stdio, Stdio),
        ends: impl FnOnce(&mut Child) -> (File, File),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (address, posts) = collect_posts();
        let agent = concat!("sh '", env!("CARGO_MANIFEST_DIR"), "/tests/support/agent.sh'");
        let mut command = Command::new(env!("CARGO_BIN_EXE_reference-runner"));
        command.args(["--agent", agent, "--liveness", "3600"]).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("AGENT_HEARD", folder.path().join("heard"));
        command.env("OPENRIG_LAUNCH_RESULT", folder.path().join("record.json"));
        command.env("OPENRIG_URL", address);
        command.envs([
            ("OPENRIG_LAUNCH_ATTEMPT", "attempt-1"),
            ("OPENRIG_RUNTIME", "scripted"),
            ("OPENRIG_SESSION_NAME", "dev-tester@rig"),
            ("OPENRIG_NODE_ID", "node-1"),
            ("OPENRIG_OCCUPANT_GENERATION", "generation-1"),
            ("OPENRIG_ACTIVITY_HOOK_TOKEN", "hook-token"),
        ]);
        command
            .envs(variables.iter().copied())
            .stdin(stdin)
            .stdout(stdout)
            .stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let (input, output) = ends(&mut child);
        let watchdog = watch_over(&child);
        Self {
            child,
            folder,
            posts,
            input,
            output,
            shown: Vec::new(),
            terminal: None,
            found: None,
            _watchdog: watchdog,
        }
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).unwrap();
    }

    /// Pastes a message and presses Enter, as OpenRig does.
    pub(crate) fn send(&mut self, text: &str) {
        self.type_in(&format!("\x1b[200~{text}\x1b[201~\r"));
    }

    /// Reads on until the text was shown, after what was waited for before.
    pub(crate) fn wait_until_shown(&mut self, text: &str) {
        let mut chunk = [0; 4096];
        loop {
            if let Some(start) = self
                .shown
                .windows(text.len())
                .position(|window| window == text.as_bytes())
            {
                self.shown.drain(..start + text.len());
                return;
            }
            let count = self.output.read(&mut chunk).unwrap_or(0);
            let shown = String::from_utf8_lossy(&self.shown);
            assert_ne!(count, 0, "'{text}' was never shown; last:\n{shown}");
            self.shown.extend_from_slice(&chunk[..count]);
        }
    }

    /// The next post, as event and subtype.
    pub(crate) fn next_post(&self) -> (String, String) {
        let post = self.posts.recv_timeout(WATCHDOG).unwrap();
        let text = |key: &str| post[key].as_str().unwrap().to_owned();
        assert_eq!(text("sessionName"), "dev-tester@rig");
        (text("hookEvent"), text("subtype"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends the runner's input.
    pub(crate) fn end_input(&mut self) {
        self.input = File::open("/dev/null").unwrap();
    }

    /// Waits for the runner's end and gives its exit code.
    pub(crate) fn wait(&mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap()
    }

    /// Everything shown that was not waited for yet, to the end of the output. Only for pipes: a terminal
    /// that is kept open has no end.
    pub(crate) fn rest_shown(&mut self) -> String {
        self.output.read_to_end(&mut self.shown).unwrap();
        String::from_utf8(std::mem::take(&mut self.shown)).unwrap()
    }

    /// Whether the terminal is as it was before the runner was started.
    pub(crate) fn has_its_modes_back(&self) -> bool {
        let (now, found) = (self.modes(), self.found.as_ref().unwrap());
        (
            now.input_modes,
            now.output_modes,
            now.control_modes,
            now.local_modes,
        ) == (
            found.input_modes,
            found.output_modes,
            found.control_modes,
            found.local_modes,
        )
    }

    /// The terminal's modes now.
    pub(crate) fn modes(&self) -> Termios {
        tcgetattr(self.terminal.as_ref().unwrap()).unwrap()
    }

    pub(crate) fn record(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.path("record.json")).unwrap()).unwrap()
    }

    /// The lines that the agent was sent.
    pub(crate) fn heard(&self) -> Vec<Value> {
        let heard = BufReader::new(File::open(self.path("heard")).unwrap());
        heard
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect()
    }

    /// The texts of the prompts that the agent was sent.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let heard = self.heard();
        let prompts = heard.iter().filter(|line| line["method"] == "session/prompt");
        prompts
            .map(|line| line["params"]["prompt"][0]["text"].as_str().unwrap().to_owned())
            .collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Seat {
    /// A failed test leaves no runner behind; a runner that ended already is fine.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Kills the runner if its seat is still there when the time is over.
fn watch_over(child: &Child) -> Sender<()> {
    let runner = Pid::from_child(child);
    let (watchdog, seat_is_gone) = mpsc::channel::<()>();
    thread::spawn(move || {
        if seat_is_gone.recv_timeout(WATCHDOG) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = kill_process(runner, Signal::KILL);
        }
    });
    watchdog
}

/// Takes posts, one connection after the other, and answers each.
fn collect_posts() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut reader = BufReader::new(connection.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert_ne!(reader.read_line(&mut head).unwrap(), 0);
            }
            assert!(
                head.contains("\r\nAuthorization: Bearer hook-token\r\n"),
                "{head}"
            );
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("Content-Length: "))
                .unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            reader
                .get_mut()
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                .unwrap();
            if sender.send(serde_json::from_slice(&body).unwrap()).is_err() {
                break;
            }
        }
    });
    (address, receiver)
}
