//! The seat's pane, where `serve` runs in a terminal: a terminal of the seat's own, shown in this one and on the board.
//!
//! Two threads copy what is typed and what is shown: this terminal's input and output block, and nothing waits for them.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::board::{BoardEvent, shown};
use crate::send;

/// Pieces of input or output that may wait.
const WAITING: usize = 64;

/// The board shows the pane no more often than this: nobody reads faster.
const SHOWN_EVERY: Duration = Duration::from_millis(50);

/// How long the last output may take once the runner has ended: something of it may hold the terminal open.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// Characters of a line that the board shows.
const LINE: usize = 2000;

/// A terminal for the seat.
pub(super) struct Pane {
    master: Arc<OwnedFd>,
    parser: vt100::Parser,
    to_seat: SyncSender<Input>,
    output: mpsc::Receiver<Vec<u8>>,
    resized: unix::Signal,
    /// When the board is due, if what it shows is old.
    due: Option<Instant>,
    shown_at: Option<Instant>,
}

/// What goes into the terminal.
enum Input {
    Bytes(Vec<u8>),
    /// OpenRig's pause between a text and its Enter.
    EnterDelay,
}

impl Pane {
    /// A pane, if this is a terminal, with what the seat's program gets as its input and output. This terminal becomes raw;
    /// who found it otherwise restores it.
    pub(super) fn open() -> anyhow::Result<Option<(Self, OwnedFd)>> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(None);
        }
        let size = size();
        let (master, slave) = terminal(size)?;
        let master = Arc::new(master);
        let mut raw = tcgetattr(io::stdin())?;
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        let (to_seat, inputs) = sync_channel(WAITING);
        let (tell, output) = mpsc::channel(WAITING);
        std::thread::spawn({
            let master = master.clone();
            move || put(&master, &inputs)
        });
        std::thread::spawn({
            let to_seat = to_seat.clone();
            move || pass_keys(&to_seat)
        });
        std::thread::spawn({
            let master = master.clone();
            move || show(&master, &tell)
        });
        let (rows, columns) = rows_and_columns(size);
        let pane = Self {
            master,
            parser: vt100::Parser::new(rows, columns, 0),
            to_seat,
            output,
            resized: unix::signal(SignalKind::window_change())?,
            due: None,
            shown_at: None,
        };
        Ok(Some((pane, slave)))
    }

    /// Takes in what comes next, and gives what the board is to show of it. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Option<BoardEvent> {
        let due = async {
            match self.due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(bytes) = self.output.recv() => {
                self.take(&bytes);
                None
            }
            Some(()) = self.resized.recv() => {
                let size = size();
                let (rows, columns) = rows_and_columns(size);
                self.parser.screen_mut().set_size(rows, columns);
                // A terminal that is gone needs no size.
                let _ = tcsetwinsize(&*self.master, size);
                None
            }
            () = due => Some(self.look()),
        }
    }

    /// Everything that the runner, which has ended, wrote last.
    pub(super) async fn rest(&mut self) -> BoardEvent {
        let until = Instant::now() + LAST_OUTPUT;
        while let Ok(Some(bytes)) = tokio::time::timeout_at(until, self.output.recv()).await {
            self.take(&bytes);
        }
        self.look()
    }

    fn take(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        let now = Instant::now();
        let next = self.shown_at.map_or(now, |at| at + SHOWN_EVERY);
        self.due.get_or_insert(next.max(now));
    }

    fn look(&mut self) -> BoardEvent {
        self.due = None;
        self.shown_at = Some(Instant::now());
        let screen = self.parser.screen();
        let rows = screen.rows(0, screen.size().1.get());
        BoardEvent::Pane(rows.map(|row| shown(row.trim_end(), LINE)).collect())
    }

    /// `rig send` to this session, or `--raw` as it stands.
    pub(super) fn send(&self, session: &str, text: &str, raw: bool) {
        let envelope;
        let text = if raw {
            text
        } else {
            envelope = send::envelope("board@local", session, text, &send::sent_at(SystemTime::now()));
            &envelope
        };
        let pasted = send::paste(text, self.parser.screen().bracketed_paste());
        self.put_in(Input::Bytes(pasted));
        self.put_in(Input::EnterDelay);
        self.put_in(Input::Bytes(send::ENTER.to_vec()));
    }

    /// Ctrl-C.
    pub(super) fn interrupt(&self) {
        self.put_in(Input::Bytes(vec![3]));
    }

    /// A seat that takes nothing for so long loses what is pressed, as it would lose what is typed.
    fn put_in(&self, input: Input) {
        let _ = self.to_seat.try_send(input);
    }
}

/// The command that has the seat's program lead a session on that terminal: see [`super::on_terminal`].
pub(super) fn command(
    program: &OsString,
    arguments: &[OsString],
    terminal: OwnedFd,
) -> io::Result<tokio::process::Command> {
    let mut command = tokio::process::Command::new(std::env::current_exe()?);
    command
        .args(["on-terminal", "--"])
        .arg(program)
        .args(arguments)
        .stdin(Stdio::from(terminal.try_clone()?))
        .stdout(Stdio::from(terminal.try_clone()?))
        .stderr(Stdio::from(terminal));
    Ok(command)
}

fn terminal(size: Winsize) -> io::Result<(OwnedFd, OwnedFd)> {
    let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    tcsetwinsize(&master, size)?;
    let name = rustix::pty::ptsname(&master, Vec::new())?;
    let slave = rustix::fs::open(
        &name,
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    Ok((master, slave))
}

/// This terminal's size; that of a classic one where it doesn't know.
fn size() -> Winsize {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => size,
        _ => Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        },
    }
}

fn rows_and_columns(size: Winsize) -> (NonZero<u16>, NonZero<u16>) {
    let at_least_one = |number| NonZero::new(number).unwrap_or(NonZero::<u16>::MIN);
    (at_least_one(size.ws_row), at_least_one(size.ws_col))
}

/// Puts into the seat's terminal what comes, until nobody is left.
fn put(master: &OwnedFd, inputs: &Receiver<Input>) {
    while let Ok(input) = inputs.recv() {
        match input {
            Input::EnterDelay => std::thread::sleep(send::ENTER_DELAY),
            Input::Bytes(bytes) => {
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    match rustix::io::write(master, rest) {
                        Ok(written) => rest = &rest[written..],
                        Err(rustix::io::Errno::INTR) => {}
                        Err(_) => return,
                    }
                }
            }
        }
    }
}

/// Passes what is typed here on.
fn pass_keys(to_seat: &SyncSender<Input>) {
    let mut keys = [0; 4096];
    let mut input = io::stdin().lock();
    while let Ok(length @ 1..) = input.read(&mut keys) {
        if to_seat.send(Input::Bytes(keys[..length].to_vec())).is_err() {
            return;
        }
    }
}

/// Shows here what the seat writes, and tells it.
fn show(master: &OwnedFd, tell: &mpsc::Sender<Vec<u8>>) {
    let mut buffer = [0; 16 << 10];
    loop {
        let length = match rustix::io::read(master, &mut buffer) {
            Ok(0) => return,
            Ok(length) => length,
            Err(rustix::io::Errno::INTR) => continue,
            // On Linux this is how a terminal ends whose programs are gone.
            Err(_) => return,
        };
        let mut output = io::stdout().lock();
        // A terminal that is gone shows nothing; the board still does.
        let _ = output.write_all(&buffer[..length]).and_then(|()| output.flush());
        drop(output);
        if tell.blocking_send(buffer[..length].to_vec()).is_err() {
            return;
        }
    }
}
