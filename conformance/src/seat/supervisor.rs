//! The supervisor of one launch: leads the terminal's session, starts the runner, reaps everything, and at the end
//! finds and kills what is left. It speaks JSON lines over the seat's socket, and when the engine is gone it ends
//! the seat by itself: nothing outlives seatcheck, however that ended.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::signal::unix::{SignalKind, signal};

use super::clock;
use super::processes::{ProcessInfo, descendants};
use super::starter::NOT_STARTED;
use crate::scenario::Transport;

/// What the engine asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Start the runner. The first order.
    Start(Box<Start>),
    /// Send SIGHUP to the runner's process group.
    HangUp,
    /// Send SIGTERM to the runner.
    Terminate,
    /// Pass no hang-up on from now.
    KeepHangup,
    /// Report what is left, kill it, and end.
    End,
}

/// What to start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) command: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) directory: PathBuf,
}

/// What the supervisor tells, stamped.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) at: u64,
    pub(crate) fact: SupervisorFact,
}

/// What the supervisor tells.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SupervisorFact {
    /// First of all.
    Supervising {
        launch: u32,
    },
    Started {
        pid: u32,
    },
    NotStarted {
        why: String,
    },
    Exited {
        code: Option<i32>,
        signal: Option<i32>,
    },
    /// No process of the seat is left.
    Empty,
    /// The runner has ended, and these processes of the seat are left.
    Left {
        pids: Vec<u32>,
    },
    /// A hang-up is passed on no more.
    KeepsHangup,
    /// Left when the end was ordered, and killed.
    Survivor(ProcessInfo),
    /// Last of all.
    Ended,
}

/// `arguments`: the run's folder, which is removed when the engine is gone without having said so; the socket's path;
/// the launch's number; and `pty` or `pipe`.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let [folder, socket, launch, transport] = arguments.as_slice() else {
        eprintln!("error: the supervisor needs a folder, a socket, a launch and a transport");
        return ExitCode::from(2);
    };
    let launch = launch.to_string_lossy().parse().unwrap_or(0);
    let run = || -> io::Result<()> {
        rustix::process::setsid()?;
        if transport == Transport::Pty.as_str() {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(supervise(
                Path::new(folder),
                Path::new(socket),
                launch,
                transport == Transport::Pty.as_str(),
            ))
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: the seat's supervisor failed: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Seat {
    socket: tokio::net::unix::OwnedWriteHalf,
    runner: Option<Pid>,
    runner_ended: bool,
    on_terminal: bool,
    empty_told: bool,
    keeps_hangup: bool,
}

/// Supervises until the end is ordered. Where the engine is gone, which may first be noticed when something can't be told
/// to it, the seat is ended and the run's folder removed.
async fn supervise(folder: &Path, socket: &Path, launch: u32, on_terminal: bool) -> io::Result<()> {
    let served = serve(socket, launch, on_terminal).await;
    let engine_gone = match &served {
        Ok(served) => *served == Served::EngineGone,
        Err(error) => matches!(
            error.kind(),
            ErrorKind::BrokenPipe
                | ErrorKind::ConnectionReset
                | ErrorKind::ConnectionRefused
                | ErrorKind::NotFound
        ),
    };
    if engine_gone || served.is_err() {
        kill_all().await;
    }
    if engine_gone {
        remove(folder);
        return Ok(());
    }
    served.map(|_| ())
}

/// How the supervisor's service ended.
#[derive(Debug, PartialEq, Eq)]
enum Served {
    /// The end was ordered and is done.
    Ordered,
    /// The engine is gone.
    EngineGone,
}

async fn serve(socket: &Path, launch: u32, on_terminal: bool) -> io::Result<Served> {
    // Handled, not ignored: an ignored signal would stay ignored in the runner.
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut child = signal(SignalKind::child())?;

    let (orders, socket) = UnixStream::connect(socket).await?.into_split();
    let mut orders = BufReader::new(orders).lines();
    let mut seat = Seat {
        socket,
        runner: None,
        runner_ended: false,
        on_terminal,
        empty_told: false,
        keeps_hangup: false,
    };
    seat.tell(SupervisorFact::Supervising { launch }).await?;
    loop {
        tokio::select! {
            line = orders.next_line() => match line?.as_deref().map(serde_json::from_str::<Order>) {
                Some(Ok(Order::Start(start))) => seat.start(&start).await?,
                Some(Ok(Order::HangUp)) => seat.signal_group(Signal::HUP),
                Some(Ok(Order::Terminate)) => seat.signal_runner(Signal::TERM),
                Some(Ok(Order::KeepHangup)) => {
                    seat.keeps_hangup = true;
                    seat.tell(SupervisorFact::KeepsHangup).await?;
                }
                Some(Ok(Order::End)) => {
                    seat.end().await?;
                    return Ok(Served::Ordered);
                }
                Some(Err(error)) => return Err(io::Error::other(error)),
                None => return Ok(Served::EngineGone),
            },
            _ = child.recv() => seat.reap().await?,
            // The kernel tells the session's leader alone; the leader passes it on, as a shell does.
            _ = hangup.recv() => if !seat.keeps_hangup {
                seat.signal_group(Signal::HUP);
                seat.signal_group(Signal::CONT);
            },
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

impl Seat {
    async fn tell(&mut self, fact: SupervisorFact) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Report {
            at: clock::now(),
            fact,
        })?;
        line.push(b'\n');
        self.socket.write_all(&line).await
    }

    async fn start(&mut self, start: &Start) -> io::Result<()> {
        let spawned = Command::new(std::env::current_exe()?)
            .arg(crate::hidden::STARTER)
            .args(&start.command)
            .env_clear()
            .envs(start.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&start.directory)
            .process_group(0)
            .spawn();
        match spawned {
            // Reaped with all others; dropping the handle waits for nothing.
            Ok(child) => {
                self.runner = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                Ok(())
            }
            Err(error) => {
                self.tell(SupervisorFact::NotStarted {
                    why: error.to_string(),
                })
                .await
            }
        }
    }

    fn signal_group(&self, signal: Signal) {
        if let Some(runner) = self.runner {
            // It may be gone already; the engine learns that from its exit.
            let _ = rustix::process::kill_process_group(runner, signal);
        }
    }

    fn signal_runner(&self, signal: Signal) {
        if let Some(runner) = self.runner {
            let _ = rustix::process::kill_process(runner, signal);
        }
    }

    async fn reap(&mut self) -> io::Result<()> {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                Ok(Some((pid, status))) => self.changed(pid, status).await?,
                Ok(None) => return self.tell_left().await,
                Err(rustix::io::Errno::CHILD) => {
                    if self.runner_ended && !self.empty_told {
                        self.empty_told = true;
                        self.tell(SupervisorFact::Empty).await?;
                    }
                    return Ok(());
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// After the runner's end: who is left, unless they are too many to be worth a list.
    async fn tell_left(&mut self) -> io::Result<()> {
        const WORTH_TELLING: usize = 64;
        if !self.runner_ended {
            return Ok(());
        }
        let left = descendants(std::process::id());
        if left.len() > WORTH_TELLING {
            return Ok(());
        }
        let pids = left.iter().map(|process| process.pid).collect();
        self.tell(SupervisorFact::Left { pids }).await
    }

    async fn changed(&mut self, pid: Pid, status: WaitStatus) -> io::Result<()> {
        if Some(pid) != self.runner {
            return Ok(());
        }
        if status.stopped() {
            if !self.empty_told && !self.runner_ended {
                return self.let_go(pid).await;
            }
            return Ok(());
        }
        self.runner_ended = true;
        let code = status.exit_status();
        if code == Some(NOT_STARTED) {
            self.tell(SupervisorFact::NotStarted {
                why: "the program can't be started".into(),
            })
            .await?;
        }
        self.tell(SupervisorFact::Exited {
            code,
            signal: status.terminating_signal(),
        })
        .await
    }

    /// The starter stands ready: give it the terminal and let it become the runner. A runner that stops itself
    /// later is left stopped.
    async fn let_go(&mut self, pid: Pid) -> io::Result<()> {
        if !starter_stands(pid) {
            return Ok(());
        }
        if self.on_terminal {
            rustix::termios::tcsetpgrp(rustix::stdio::stdin().as_fd(), pid)?;
        }
        self.tell(SupervisorFact::Started {
            pid: pid.as_raw_nonzero().get().unsigned_abs(),
        })
        .await?;
        rustix::process::kill_process(pid, Signal::CONT)?;
        Ok(())
    }

    async fn end(&mut self) -> io::Result<()> {
        let mut left = descendants(std::process::id());
        left.retain(|process| rustix_pid(process.pid).is_some());
        for process in left {
            self.tell(SupervisorFact::Survivor(process)).await?;
        }
        kill_all().await;
        self.tell(SupervisorFact::Ended).await?;
        self.socket.shutdown().await
    }
}

/// Removes the run's folder with what the engine left of seats that had no supervisor yet. Other supervisors do the same
/// at this moment, and stumble over each other's work: each goes on until it is gone.
fn remove(folder: &Path) {
    const ATTEMPTS: usize = 100;
    for _ in 0..ATTEMPTS {
        // Nobody is left to be told if it can't be removed.
        if std::fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
    }
}

/// Whether the stopped process is still the starter, not the runner it became.
fn starter_stands(pid: Pid) -> bool {
    std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero()))
        .is_ok_and(|line| line.split(|byte| *byte == 0).nth(1) == Some(crate::hidden::STARTER.as_bytes()))
}

fn rustix_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Kills every descendant and reaps it, until none is left. A process that forks faster than it is killed is met
/// again in the next round: its children are ours.
async fn kill_all() {
    loop {
        for process in descendants(std::process::id()) {
            if let Some(pid) = rustix_pid(process.pid) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        let reaped = tokio::task::spawn_blocking(|| rustix::process::wait(WaitOptions::empty())).await;
        match reaped {
            Ok(Err(rustix::io::Errno::CHILD)) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
