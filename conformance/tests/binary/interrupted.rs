//! seatcheck itself is ended in the middle: nothing stays behind, and what was seen is still told.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Done, Seatcheck, tmux_is_here};
use rustix::process::{Pid, Signal};

/// The ways to a seat that are here.
fn transports() -> Vec<&'static str> {
    let mut transports = vec!["pty"];
    if tmux_is_here() {
        transports.push("tmux");
    }
    transports
}

/// Starts a run of a program that does nothing, and comes back once a process whose command begins so is there:
/// `sleep` itself, or what stands before it.
fn started(seatcheck: &Seatcheck, transport: &str, awaited: &str) -> Child {
    let child = seatcheck
        .command([
            "run",
            "--transport",
            transport,
            "--only",
            "promotion/*",
            "--format",
            "json",
            "--",
            "sleep",
            "1000",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(|| {
        seatcheck
            .processes()
            .iter()
            .any(|command| command.starts_with(awaited))
    });
    child
}

fn wait_until(mut met: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !met() {
        assert!(Instant::now() < deadline, "it did not come in a minute");
        std::thread::yield_now();
    }
}

fn send(child: &Child, signal: Signal) {
    rustix::process::kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_signal_ends_every_seat_and_the_report_is_partial() {
    for transport in transports() {
        for signal in [Signal::INT, Signal::TERM] {
            let seatcheck = Seatcheck::new();
            let child = started(&seatcheck, transport, "sleep");
            send(&child, signal);
            let done = Done::new(child.wait_with_output().unwrap());
            assert_eq!(done.code, Some(3), "{}{}", done.stdout, done.stderr);
            assert!(
                done.report()
                    .reasons
                    .iter()
                    .any(|reason| reason.contains("interrupted"))
            );
            seatcheck.assert_nothing_left();
        }
    }
}

/// Waits until seatcheck takes this signal itself: one that comes before ends it like any program.
fn wait_until_it_listens(child: &Child, signal: Signal) {
    let status = format!("/proc/{}/status", child.id());
    wait_until(|| {
        let status = std::fs::read_to_string(&status).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
        caught & (1 << (signal.as_raw() - 1)) != 0
    });
}

/// The report of a run that was interrupted, which leaves nothing.
fn interrupted(seatcheck: &Seatcheck, child: Child) -> reports::Report {
    let done = Done::new(child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(3), "{}{}", done.stdout, done.stderr);
    seatcheck.assert_nothing_left();
    let report = done.report();
    assert!(
        report.reasons.iter().any(|reason| reason.contains("interrupted")),
        "{:?}",
        report.reasons
    );
    report
}

/// Starts a run of one scenario with this shell script as the runner.
fn script(seatcheck: &Seatcheck, script: &str) -> Child {
    let arguments = [
        "run",
        "--only",
        "promotion/1-*",
        "--patience",
        "2s",
        "--format",
        "json",
        "--",
    ];
    seatcheck
        .command(arguments.into_iter().chain(["sh", "-c", script]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn before_the_first_seat() {
    let seatcheck = Seatcheck::new();
    let child = script(&seatcheck, "sleep 1000");
    wait_until_it_listens(&child, Signal::INT);
    send(&child, Signal::INT);
    interrupted(&seatcheck, child);
}

#[test]
fn while_a_seat_is_launched() {
    let seatcheck = Seatcheck::new();
    let child = script(&seatcheck, "sleep 1000");
    wait_until(|| {
        seatcheck
            .processes()
            .iter()
            .any(|command| command.contains("__supervisor"))
    });
    send(&child, Signal::TERM);
    interrupted(&seatcheck, child);
}

#[test]
fn while_a_seat_is_stopped() {
    let seatcheck = Seatcheck::new();
    // It tells that it was hung up, and stays; a stop that nobody hurries takes ten seconds then.
    let child = script(
        &seatcheck,
        "trap 'exec sleep 987' HUP; while :; do sleep 0.05; done",
    );
    wait_until(|| {
        seatcheck
            .processes()
            .iter()
            .any(|command| command.replace('\0', " ").starts_with("sleep 987"))
    });
    let began = Instant::now();
    send(&child, Signal::INT);
    interrupted(&seatcheck, child);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[test]
fn a_second_signal_changes_nothing() {
    let seatcheck = Seatcheck::new();
    let mut child = started(&seatcheck, "pty", "sleep");
    send(&child, Signal::INT);
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("interrupted") {
        line.clear();
        assert!(
            said.read_line(&mut line).unwrap() > 0,
            "it never said that it is ending"
        );
    }
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        send(&child, signal);
    }
    interrupted(&seatcheck, child);
}

#[test]
fn even_a_kill_leaves_nothing() {
    for transport in transports() {
        killed_at(transport, "sleep");
    }
}

#[test]
fn a_kill_while_tmux_comes_up_leaves_nothing() {
    if tmux_is_here() {
        killed_at("tmux", "tmux");
    }
}

/// Kills seatcheck as soon as a process whose command begins so is there.
fn killed_at(transport: &str, awaited: &str) {
    let seatcheck = Seatcheck::new();
    let mut child = started(&seatcheck, transport, awaited);
    send(&child, Signal::KILL);
    child.wait().unwrap();
    // The supervisors end their seats as soon as the engine is gone; the pipe closes with the last of them.
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while stderr.read_line(&mut line).unwrap() > 0 {}
    wait_until(|| seatcheck.processes().is_empty());
    seatcheck.assert_nothing_left();
}

#[test]
fn in_a_terminal_there_is_a_bar_and_ctrl_c_ends_it() {
    let seatcheck = Seatcheck::new();
    let command = seatcheck.command(["run", "--only", "promotion/*", "--", "sleep", "1000"]);
    let mut session = rexpect::session::spawn_command(command, Some(60_000)).unwrap();
    session.exp_string("scenarios").unwrap();
    wait_until(|| {
        seatcheck
            .processes()
            .iter()
            .any(|command| command.starts_with("sleep"))
    });
    session.send_control('c').unwrap();
    session.exp_string("interrupted: ending every seat").unwrap();
    session.exp_string("the run was interrupted").unwrap();
    session.exp_eof().unwrap();
    drop(session);
    wait_until(|| seatcheck.processes().is_empty());
    seatcheck.assert_nothing_left();
}
