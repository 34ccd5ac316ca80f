//! The two sides of the agent: a runner that holds its pipes, and an engine that holds its socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use fake_agent::control::{Fact, GateState, Order, Report};
use fake_agent::script::Script;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Only a hung program takes this long; nothing is ordered by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The agent, with pipes for its input and output.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-agent"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// The runner's side. Dropping it kills the agent.
pub(crate) struct Runner {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    /// Nothing is read before a test asks for the first line.
    stdout: Option<ChildStdout>,
    lines: Option<Receiver<Vec<u8>>>,
}

impl Runner {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            child,
            lines: None,
        }
    }

    /// An agent that runs alone, with a script in YAML.
    pub(crate) fn alone(script: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("script.yaml");
        std::fs::write(&path, script).unwrap();
        let mut command = command();
        command.arg("--script").arg(&path);
        let mut runner = Self::start(command);
        // An answer means that the script has been read.
        runner.call(json!("ready?"), "initialize", json!({}));
        runner
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub(crate) fn request(&mut self, id: Value, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    pub(crate) fn notify(&mut self, method: &str) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": {}}));
    }

    /// Sends a request and takes the next line as its answer.
    pub(crate) fn call(&mut self, id: Value, method: &str, params: Value) -> Value {
        self.request(id.clone(), method, params);
        let answer = self.message();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Opens a session and returns its id.
    pub(crate) fn open(&mut self) -> Value {
        let answer = self.call(
            json!("open"),
            "session/new",
            json!({"cwd": "/", "mcpServers": []}),
        );
        answer["result"]["sessionId"].clone()
    }

    pub(crate) fn prompt(&mut self, id: i64) {
        let prompt = json!([{"type": "text", "text": "hello"}]);
        self.request(
            json!(id),
            "session/prompt",
            json!({"sessionId": "conversation-1", "prompt": prompt}),
        );
    }

    pub(crate) fn end_input(&mut self) {
        self.stdin = None;
    }

    /// The next line of the agent's output, or `None` at its end.
    pub(crate) fn line(&mut self) -> Option<Vec<u8>> {
        next(
            self.lines
                .get_or_insert_with(|| lines(self.stdout.take().unwrap())),
        )
    }

    pub(crate) fn message(&mut self) -> Value {
        let line = self.line().expect("the agent's output ended");
        serde_json::from_slice(&line).unwrap_or_else(|_| panic!("no JSON: {}", line.escape_ascii()))
    }

    /// The text of the next message, a chunk.
    pub(crate) fn text(&mut self) -> String {
        let message = self.message();
        let text = message["params"]["update"]["content"]["text"].as_str();
        text.unwrap_or_else(|| panic!("no chunk: {message}")).to_owned()
    }

    pub(crate) fn kill(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// How the agent ended.
    pub(crate) fn end(&mut self) -> ExitStatus {
        // Its output ends with it, or did so before.
        while self.line().is_some() {}
        self.child.wait().unwrap()
    }

    pub(crate) fn stderr(&mut self) -> ChildStderr {
        self.child.stderr.take().unwrap()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The engine's side. Dropping it closes the socket.
pub(crate) struct Engine {
    pub(crate) runner: Runner,
    socket: UnixStream,
    reports: Receiver<Vec<u8>>,
    _directory: TempDir,
}

impl Engine {
    /// Starts an agent by a command to which the control socket is added, and gives it no script yet.
    pub(crate) fn connect(prepare: impl FnOnce(&mut Command)) -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("control");
        let listener = UnixListener::bind(&path).unwrap();
        let mut command = command();
        command.arg("--control").arg(&path);
        prepare(&mut command);
        let runner = Runner::start(command);
        let (sender, receiver) = channel();
        std::thread::spawn(move || sender.send(listener.accept().unwrap().0));
        let socket = receiver
            .recv_timeout(PATIENCE)
            .expect("the agent did not connect");
        let reports = lines(socket.try_clone().unwrap());
        Self {
            runner,
            socket,
            reports,
            _directory: directory,
        }
    }

    /// Starts an agent with a script in JSON, and takes its hello.
    pub(crate) fn start(script: Value) -> Self {
        let mut engine = Self::connect(|_| ());
        engine.play(script);
        assert!(matches!(engine.report().unwrap().fact, Fact::Hello(_)));
        engine
    }

    pub(crate) fn play(&mut self, script: Value) {
        let script: Script = serde_json::from_value(script).unwrap();
        self.order(&Order::Script(Box::new(script)));
    }

    pub(crate) fn open_gate(&mut self, name: &str) {
        self.order(&Order::Open(name.into()));
    }

    pub(crate) fn order(&mut self, order: &Order) {
        self.write(&format!("{}\n", serde_json::to_string(order).unwrap()));
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.socket.write_all(text.as_bytes()).unwrap();
    }

    /// The next report, or `None` once the agent is gone.
    pub(crate) fn report(&mut self) -> Option<Report> {
        next(&self.reports).map(|line| serde_json::from_slice(&line).unwrap())
    }

    /// The reports up to one whose fact is as wanted, that one included.
    pub(crate) fn until(&mut self, wanted: impl Fn(&Fact) -> bool) -> Vec<Report> {
        let mut reports = Vec::new();
        loop {
            let report = self
                .report()
                .unwrap_or_else(|| panic!("the agent is gone after {reports:?}"));
            let found = wanted(&report.fact);
            reports.push(report);
            if found {
                return reports;
            }
        }
    }

    pub(crate) fn until_gate(&mut self, gate: &str, wanted: GateState) -> Vec<Report> {
        self.until(|fact| matches!(fact, Fact::Gate { name, state } if name == gate && *state == wanted))
    }

    pub(crate) fn until_received(&mut self, part: &str) -> Vec<Report> {
        self.until(
            |fact| matches!(fact, Fact::Received { line, .. } if line.as_text().unwrap().contains(part)),
        )
    }

    /// All reports that are still to come.
    pub(crate) fn rest(&mut self) -> Vec<Report> {
        std::iter::from_fn(|| self.report()).collect()
    }

    /// Closes the socket, as an engine does that ends.
    pub(crate) fn hang_up(&mut self) {
        self.socket.shutdown(std::net::Shutdown::Both).unwrap();
    }
}

fn lines(source: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        // A test that is over does not listen any more.
        BufReader::new(source)
            .split(b'\n')
            .map_while(Result::ok)
            .try_for_each(|line| sender.send(line))
    });
    receiver
}

fn next(lines: &Receiver<Vec<u8>>) -> Option<Vec<u8>> {
    match lines.recv_timeout(PATIENCE) {
        Ok(line) => Some(line),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => panic!("nothing came for {PATIENCE:?}"),
    }
}

/// The group and the session of a process, as /proc shows them; 0 for one that leads from outside this namespace, which
/// `getsid` of a debug build can't say.
pub(crate) fn group_and_session(pid: Pid) -> (u32, u32) {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    (fields[2].parse().unwrap(), fields[3].parse().unwrap())
}
