//! seatcheck itself is ended in the middle: nothing stays behind, and what was seen is still told.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Done, Seatcheck};
use rustix::process::{Pid, Signal};

/// Starts a run of a program that does nothing, and comes back once its seat stands.
fn started(seatcheck: &Seatcheck) -> Child {
    let child = seatcheck
        .command([
            "run",
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
            .any(|command| command.starts_with("sleep"))
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
    for signal in [Signal::INT, Signal::TERM] {
        let seatcheck = Seatcheck::new();
        let child = started(&seatcheck);
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

#[test]
fn even_a_kill_leaves_nothing() {
    let seatcheck = Seatcheck::new();
    let mut child = started(&seatcheck);
    send(&child, Signal::KILL);
    child.wait().unwrap();
    // The supervisors end their seats as soon as the engine is gone; the pipe closes with the last of them.
    let mut line = String::new();
    while BufReader::new(child.stderr.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap()
        > 0
    {}
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
