//! The supervisor of one launch: leads the terminal's session, starts the runner, reaps everything, and at the end
//! finds and kills what is left. It speaks JSON lines over the seat's socket, and when the engine is gone it ends
//! the seat by itself: nothing outlives seatcheck, however that ended.

mod hosting;

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

use self::hosting::{Hosting, Told};
use super::clock;
use super::processes::{ProcessInfo, descendants};
use super::starter::{self, NOT_STARTED};
use super::tmux::Host;
use crate::scenario::Transport;

/// What the engine asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Start the runner. The first order.
    Start(Box<Start>),
    /// Start a tmux server, whose pane will start the runner. The first order where that is the way.
    Host(Box<Host>),
    /// Send SIGHUP to the runner's process group.
    HangUp,
    /// The same, where a runner in a pane has lost what stood between it and the pane's shell: the end of its session
    /// does not reach it then, as it would reach a child of the shell.
    HangUpIfOrphaned,
    /// Send SIGTERM to the runner; to its whole group where a shell stands before it, which would die of it alone.
    Terminate { behind_a_shell: bool },
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
    /// The tmux server stands.
    Hosted {
        terminal: PathBuf,
    },
    /// There is no tmux server.
    NotHosted {
        why: String,
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

impl SupervisorFact {
    /// The starter found no program to become.
    pub(super) fn not_started() -> Self {
        Self::NotStarted {
            why: "the program can't be started".into(),
        }
    }
}

/// `arguments`: the run's folder, which is removed when the engine is gone without having said so; the socket's path;
/// the launch's number; and `pty`, `tmux` or `pipe`.
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
            let said = format!("error: the seat's supervisor failed: {error}");
            // Its standard error is the seat's terminal, which may be gone; the engine looks here.
            let _ = std::fs::write(last_words(Path::new(socket), launch), &said);
            eprintln!("{said}");
            ExitCode::FAILURE
        }
    }
}

/// Where a supervisor that fails leaves the reason, beside its socket.
pub(crate) fn last_words(socket: &Path, launch: u32) -> PathBuf {
    socket.with_file_name(format!("supervisor-{launch}"))
}

struct Seat {
    socket: tokio::net::unix::OwnedWriteHalf,
    runner: Option<Pid>,
    /// The runner's process group.
    group: Option<Pid>,
    hosting: Option<Hosting>,
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
        group: None,
        hosting: None,
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
                Some(Ok(Order::Host(host))) => seat.host(&host).await?,
                Some(Ok(Order::HangUp)) => seat.signal_group(Signal::HUP),
                Some(Ok(Order::HangUpIfOrphaned)) => seat.hang_up_if_orphaned(),
                Some(Ok(Order::Terminate { behind_a_shell: true })) => seat.signal_group(Signal::TERM),
                Some(Ok(Order::Terminate { behind_a_shell: false })) => seat.signal_runner(Signal::TERM),
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
            told = hosting::next(&mut seat.hosting) => seat.told(told).await?,
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
        let at = clock::now();
        self.pass_on(&Report { at, fact }).await
    }

    async fn pass_on(&mut self, report: &Report) -> io::Result<()> {
        let mut line = serde_json::to_vec(report)?;
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
                self.runner = rustix_pid(child.id());
                self.group = self.runner;
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

    async fn host(&mut self, host: &Host) -> io::Result<()> {
        let fact = match Hosting::start(host) {
            Ok((hosting, terminal)) => {
                self.hosting = Some(hosting);
                SupervisorFact::Hosted {
                    terminal: terminal.into(),
                }
            }
            Err(error) => SupervisorFact::NotHosted {
                why: error.to_string(),
            },
        };
        self.tell(fact).await
    }

    /// Takes in what the launcher tells of the runner, its child.
    async fn told(&mut self, told: Told) -> io::Result<()> {
        match told {
            Told::Report(report) => {
                match &report.fact {
                    SupervisorFact::Started { pid } => {
                        self.runner = rustix_pid(*pid);
                        self.group = rustix::process::getpgid(self.runner).ok();
                    }
                    SupervisorFact::Exited { .. } => self.runner_ended = true,
                    _ => {}
                }
                self.pass_on(&report).await?;
                self.reap().await
            }
            Told::Gone => self.launcher_gone().await,
        }
    }

    /// A launcher that was killed leaves its runner to the supervisor, which then reaps it. A runner that ended at the same
    /// moment may have been reaped by nobody who could tell how.
    async fn launcher_gone(&mut self) -> io::Result<()> {
        self.reap().await?;
        let lives = self
            .runner
            .is_some_and(|runner| rustix::process::test_kill_process(runner).is_ok());
        if self.runner_ended || lives {
            return Ok(());
        }
        self.runner_ended = true;
        if self.runner.is_none() {
            self.tell(SupervisorFact::NotStarted {
                why: "what starts it in the pane was killed".into(),
            })
            .await?;
        }
        self.tell(SupervisorFact::Exited {
            code: None,
            signal: None,
        })
        .await?;
        self.reap().await
    }

    fn signal_group(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may be gone already; the engine learns that from its exit.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    fn hang_up_if_orphaned(&self) {
        if !self.runner_ended && self.hosting.as_ref().is_some_and(Hosting::launcher_is_gone) {
            self.signal_group(Signal::HUP);
            self.signal_group(Signal::CONT);
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
        let left = self.left();
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
            self.tell(SupervisorFact::not_started()).await?;
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
        if !starter::stands(pid) {
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

    /// The processes of the seat, without those that only stand around it.
    fn left(&self) -> Vec<ProcessInfo> {
        let mut left = descendants(std::process::id());
        left.retain(|process| {
            let surrounds = |hosting: &Hosting| hosting.surrounds(process.pid);
            rustix_pid(process.pid).is_some() && !self.hosting.as_ref().is_some_and(surrounds)
        });
        left
    }

    async fn end(&mut self) -> io::Result<()> {
        for process in self.left() {
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
