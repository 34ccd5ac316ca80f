//! The agent's process: a group of its own, lines in, lines out.
//!
//! The agent leads its own process group. So a Ctrl-C in a cooked terminal can't reach it, and the group can
//! be ended as a whole; but a hang-up of the terminal doesn't reach it either: the runner has to end it.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, watch};

use super::exit::{self, LastWords};
use super::lines::{Line, LineReader};
use super::{Event, EventSender, Exit, Force, Job, Work};
use crate::edge::Crossing;
use crate::error::Error;
use crate::launch;
use crate::seat::lanes::Lanes;

/// The longest line that is read from the agent.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// How long what is left of the group has after it was asked to end.
const LEFTOVER_GRACE: Duration = Duration::from_millis(700);

/// What comes from the process, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    /// A line that has crossed the edge.
    Line(String),
    /// The process was seen to end. What it said before has come before.
    Exit(Exit),
}

/// Takes what comes from the process.
pub(crate) type Inbound = Arc<dyn Fn(Output) + Send + Sync>;

/// The lanes' way to the agent.
pub(crate) struct AgentPort {
    stdin: Arc<AgentInput>,
    inbound: Inbound,
    group: Pid,
}

impl AgentPort {
    /// Writes one line to the agent, after those before it. Waits while the agent reads nothing.
    pub(crate) async fn write_line(&self, line: &str) {
        self.stdin.write_line(line).await;
    }

    /// Hands a line of the agent's to the adapter.
    pub(crate) fn receive_line(&self, line: String) {
        (self.inbound)(Output::Line(line));
    }

    /// Ends the agent, this hard.
    pub(crate) fn end(&self, force: Force) {
        let signal = match force {
            Force::Ask => return self.stdin.close(),
            Force::Terminate => Signal::TERM,
            Force::Kill => Signal::KILL,
        };
        // A group that is gone already is what was wanted.
        let _ = kill_process_group(self.group, signal);
    }

    /// The group, as plain JSON.
    pub(crate) fn work(&self) -> Work {
        Work(serde_json::json!({ "pgid": self.group.as_raw_nonzero().get() }))
    }
}

/// Starts the agent and its lanes.
pub(crate) fn start(
    job: &Job,
    lanes: &Arc<Lanes>,
    events: &EventSender,
    inbound: Inbound,
) -> Result<Work, Error> {
    let program = job.command.first().cloned().unwrap_or_default();
    let fault = |source| Error::AgentStart {
        command: program.clone(),
        source,
    };
    let mut command = Command::new(&program);
    command
        .args(job.command.iter().skip(1))
        .current_dir(&job.working_directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    for name in launch::RUNNER_ONLY {
        command.env_remove(name);
    }
    let mut child = command.spawn().map_err(fault)?;
    let broken = || fault(std::io::ErrorKind::BrokenPipe.into());
    let group = child
        .id()
        .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
        .ok_or_else(broken)?;
    let stdin = child.stdin.take().ok_or_else(broken)?;
    let stdout = child.stdout.take().ok_or_else(broken)?;
    let stderr = child.stderr.take().ok_or_else(broken)?;

    let stdin = AgentInput::new(stdin, events.clone());
    let port = AgentPort {
        stdin,
        inbound: Arc::clone(&inbound),
        group,
    };
    let work = port.work();
    lanes.connect_agent(port);
    let reading = tokio::spawn(carry_lines(stdout, Arc::clone(lanes), events.clone()));
    tokio::spawn(exit::watch(
        child,
        reading,
        LastWords::of(stderr),
        inbound,
        events.clone(),
    ));
    Ok(work)
}

/// Ends the agent, this hard.
pub(crate) async fn kill(lanes: &Lanes, force: Force) {
    let crossing = match force {
        Force::Ask => Crossing::CloseAgentInput,
        Force::Terminate => Crossing::TerminateAgent,
        Force::Kill => Crossing::KillAgent,
    };
    lanes.pass(crossing).await;
}

/// Ends what is left of a group whose leader has exited: asks, waits a moment, kills. Returns at once if
/// nothing is.
pub(crate) async fn reap(lanes: &Lanes, work: &Work) {
    let group = work.0["pgid"]
        .as_i64()
        .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let Some(group) = group else { return };
    if test_kill_process_group(group) == Err(Errno::SRCH) {
        return;
    }
    kill(lanes, Force::Terminate).await;
    // Processes that are not this one's children can't be waited for; their time is simply given to them.
    tokio::time::sleep(LEFTOVER_GRACE).await;
    kill(lanes, Force::Kill).await;
}

/// The agent's stdin, which can be closed while a write to it waits.
struct AgentInput {
    pipe: Mutex<Option<ChildStdin>>,
    closing: watch::Sender<bool>,
    events: EventSender,
}

impl AgentInput {
    fn new(pipe: ChildStdin, events: EventSender) -> Arc<Self> {
        Arc::new(Self {
            pipe: Mutex::new(Some(pipe)),
            closing: watch::Sender::new(false),
            events,
        })
    }

    async fn write_line(&self, line: &str) {
        let mut pipe = self.pipe.lock().await;
        let Some(open) = pipe.as_mut() else { return };
        let mut closing = self.closing.subscribe();
        let write = async {
            open.write_all(line.as_bytes()).await?;
            open.write_all(b"\n").await?;
            open.flush().await
        };
        let is_written = tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => None,
            result = write => Some(result),
        };
        match is_written {
            Some(Ok(())) => {}
            Some(Err(_)) => {
                *pipe = None;
                self.events
                    .send(Event::Unreachable("the agent no longer reads its input".into()));
            }
            None => *pipe = None,
        }
    }

    fn close(self: &Arc<Self>) {
        self.closing.send_replace(true);
        let input = Arc::clone(self);
        tokio::spawn(async move { *input.pipe.lock().await = None });
    }
}

/// The lane of lines from the agent, until the end of its output.
async fn carry_lines(stdout: ChildStdout, lanes: Arc<Lanes>, events: EventSender) {
    let mut lines = LineReader::new(stdout, LONGEST_LINE, |bytes| lanes.agent_output(bytes));
    loop {
        if lines.is_at_read() {
            events.room().await;
            // What was read so far is worked off before more is read, whoever is faster.
            tokio::task::yield_now().await;
        }
        match lines.next().await {
            Some(Line::Whole(line)) => {
                lanes
                    .pass(Crossing::FromAgent(String::from_utf8_lossy(&line).into_owned()))
                    .await;
            }
            Some(Line::Cut(_)) => {
                let bound = LONGEST_LINE / 1024 / 1024;
                events.send(Event::Message(format!(
                    "a line of the agent's over {bound} MiB was not read"
                )));
            }
            None => break,
        }
    }
}
