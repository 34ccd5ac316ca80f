//! Hosts a seat from its launch to its end.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use rustix::termios::tcgetattr;
use tempfile::TempDir;

use super::arguments::Serve;
use super::log::Log;
use super::pane::Pane;
use super::runner::Runner;
use super::words;
use crate::board::{Board, BoardEvent, Control, Observer, Press, SeatShown, Watched, shown};
use crate::clock;
use crate::endpoint::{Endpoint, EndpointOptions};
use crate::launch::Launch;
use crate::preset::Preset;
use crate::reading::{LaunchFacts, SeatReading};
use crate::record::Expected;
use crate::record_watch::RecordWatch;

/// Hosts the seat, and returns the runner's exit code.
pub(super) async fn host(arguments: Serve) -> anyhow::Result<ExitCode> {
    let name = preset_name(&arguments)?;
    let folder = tempfile::Builder::new()
        .prefix("fake-openrig-")
        .tempdir()
        .context("cannot make a folder")?;
    let launch = launch(&arguments, &name, folder.path())?;
    let (endpoint, mut exchanges) = Endpoint::start(EndpointOptions::from(&launch))?;
    launch.prepare(endpoint.port())?;
    let record_path = launch
        .record_path
        .as_deref()
        .context("the launch has no record")?;
    let mut record = RecordWatch::start(record_path)?;

    let start = clock::now();
    let expected = Expected {
        attempt: launch.attempt.clone(),
        harness: name,
    };
    let seat = SeatReading::new(LaunchFacts::from(&launch));
    let mut observer = Observer::new(Watched { seat, expected }, start);
    let in_a_pane = !arguments.command.is_empty() && io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut controls = vec![Control::ClearAttention];
    if in_a_pane {
        controls.extend([Control::Send, Control::Interrupt]);
    }
    let (board, mut pressed) = Board::start(controls).await?;
    board.tell(BoardEvent::Launched(seat_shown(
        &launch,
        &arguments.command,
        observer.wall(start),
    )));
    board.tell(observer.reading(start));
    let mut log = open_log(&arguments, &folder)?;
    let environment = launch.environment(endpoint.port());
    introduce(&launch, &log, &board, &arguments.command, &environment)?;
    let found = tcgetattr(io::stdin()).ok();
    let (mut pane, terminal) = match in_a_pane.then(Pane::open).transpose()?.flatten() {
        Some((pane, terminal)) => (Some(pane), Some(terminal)),
        None => (None, None),
    };
    let mut runner = Runner::start(&arguments.command, environment, terminal, found)?;

    let wait = tokio::time::sleep(arguments.wait);
    tokio::pin!(wait);
    let mut waiting = true;
    let code = loop {
        let change = observer.next_change(clock::now());
        let events = tokio::select! {
            // What a runner did comes before its end.
            biased;
            Some(exchange) = exchanges.recv() => observer.exchange(&exchange, clock::now()),
            file = record.changed() => observer.record(file?, clock::now()),
            shown = pane_changes(&mut pane) => shown.into_iter().collect(),
            code = runner.ended() => break code?,
            () = &mut wait, if waiting => {
                waiting = false;
                observer.wait_over(clock::now())
            }
            () = until(change) => observer.changes(clock::now()),
            Some(press) = pressed.recv() => match (press, &pane) {
                (Press::ClearAttention, _) => observer.cleared(clock::now()),
                (Press::Send(text), Some(pane)) => {
                    pane.send(&launch.session_name, &text, false);
                    Vec::new()
                }
                (Press::SendRaw(text), Some(pane)) => {
                    pane.send(&launch.session_name, &text, true);
                    Vec::new()
                }
                (Press::Interrupt, Some(pane)) => {
                    pane.interrupt();
                    Vec::new()
                }
                // Nothing that this host offers.
                _ => Vec::new(),
            },
        };
        tell(&mut log, &board, start, events)?;
    };
    // The terminal first: what follows is for a person to read.
    if let Some(pane) = &mut pane {
        board.tell(pane.rest().await);
    }
    if runner.restore_terminal() && pane.is_none() {
        let note = "the runner left the terminal's settings changed; they are restored";
        log.line(clock::now(), start, note)?;
    }
    if let Some(file) = record.changed_now() {
        tell(&mut log, &board, start, observer.record(file, clock::now()))?;
    }
    drop(endpoint);
    while let Some(exchange) = exchanges.recv().await {
        tell(
            &mut log,
            &board,
            start,
            observer.exchange(&exchange, clock::now()),
        )?;
    }
    board.close("its host has ended").await;
    if arguments.log.is_none() {
        show_again(&log)?;
    }
    folder.close().context("cannot remove the seat's folder")?;
    Ok(code)
}

fn preset_name(arguments: &Serve) -> anyhow::Result<String> {
    let Some(path) = &arguments.preset else {
        return Ok(arguments.name.clone());
    };
    let preset = Preset::load(path)?;
    for note in preset.notes {
        say(&format!("note: {}: {note}", path.display()));
    }
    Ok(preset.name)
}

fn launch(arguments: &Serve, name: &str, folder: &Path) -> anyhow::Result<Launch> {
    let mut launch = Launch::new(folder.join("openrig-home"), &arguments.session, name)?;
    launch.resume_ref.clone_from(&arguments.resume);
    launch.model.clone_from(&arguments.model);
    if let Some(path) = &arguments.first_input {
        // The runner may change its folder.
        launch.first_input = Some(std::path::absolute(path).context("cannot find the first input")?);
    }
    Ok(launch)
}

fn open_log(arguments: &Serve, folder: &TempDir) -> anyhow::Result<Log> {
    Ok(match (&arguments.log, arguments.command.is_empty()) {
        (Some(path), _) => Log::file(path)?,
        (None, true) => Log::Stderr,
        (None, false) => Log::file(&folder.path().join("seat.log"))?,
    })
}

fn introduce(
    launch: &Launch,
    log: &Log,
    board: &Board,
    command: &[OsString],
    environment: &[(String, String)],
) -> anyhow::Result<()> {
    let kind = if launch.resume_ref.is_some() {
        "resume"
    } else {
        "new conversation"
    };
    say(&format!(
        "seat {} of {}, {kind}",
        launch.session_name, launch.runtime
    ));
    if let Log::File { path, .. } = log {
        say(&format!("log: {}", path.display()));
    }
    say(&format!("board: {}", board.address()));
    if command.is_empty() {
        let mut output = io::stdout().lock();
        for (name, value) in environment {
            writeln!(output, "export {name}={}", quoted(value)).context("cannot print the variables")?;
        }
        output.flush().context("cannot print the variables")?;
        say("start the runner elsewhere with these variables; Ctrl-C ends the seat");
    }
    Ok(())
}

/// A value as a POSIX shell takes it back.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// What the board is to show of the pane next, if there is one.
async fn pane_changes(pane: &mut Option<Pane>) -> Option<BoardEvent> {
    match pane {
        Some(pane) => pane.next().await,
        None => std::future::pending().await,
    }
}

async fn until(at: Option<u64>) {
    match at {
        Some(at) => tokio::time::sleep(Duration::from_nanos(at.saturating_sub(clock::now()))).await,
        None => std::future::pending().await,
    }
}

fn tell(log: &mut Log, board: &Board, start: u64, events: Vec<BoardEvent>) -> anyhow::Result<()> {
    for event in events {
        if let Some(line) = words::line(&event) {
            log.line(clock::now(), start, &line)?;
        }
        board.tell(event);
    }
    Ok(())
}

fn seat_shown(launch: &Launch, command: &[OsString], at: u64) -> SeatShown {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let text = |text: &str| shown(text, 400);
    SeatShown {
        session: text(&launch.session_name),
        runtime: text(&launch.runtime),
        resume: launch.resume_ref.as_deref().map(text),
        command: (!words.is_empty()).then(|| text(&words.join(" "))),
        at,
    }
}

fn show_again(log: &Log) -> anyhow::Result<()> {
    if let Log::File { path, .. } = log {
        let mut file = std::fs::File::open(path).context("cannot read the log again")?;
        // A terminal that is gone can't show it; the seat has ended all the same.
        let _ = io::copy(&mut file, &mut io::stderr());
    }
    Ok(())
}

fn say(text: &str) {
    // Messages are for a person; without a place to show them there is nobody to tell.
    let _ = writeln!(io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_value_is_one_word() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
    }
}
