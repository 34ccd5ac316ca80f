//! The program from outside: a seat hosted by hand.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::OpenptFlags;
use rustix::termios::tcgetattr;

fn serve(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-openrig"));
    command
        .arg("serve")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn host(script: &str) -> Output {
    serve(&["--name", "dsh", "--", "sh", "-c", script])
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_runner_is_hosted_and_what_it_did_is_shown() {
    let output = host(
        r#"printf '{"format": 1, "attempt": "%s", "harness": "%s", "nativeRef": "c1", "producer": "sh"}' \
               "$OPENRIG_LAUNCH_ATTEMPT" "$OPENRIG_RUNTIME" > "$OPENRIG_LAUNCH_RESULT.new"
           mv "$OPENRIG_LAUNCH_RESULT.new" "$OPENRIG_LAUNCH_RESULT"
           echo "home $OPENRIG_HOME"
           exit 7"#,
    );
    assert_eq!(output.status.code(), Some(7));
    let log = text(&output.stderr);
    assert!(log.contains("record: conversation c1\n"), "{log}");
    assert!(
        log.contains("seat reads: launch ready, activity unknown\n"),
        "{log}"
    );
    let printed = text(&output.stdout);
    let home = Path::new(printed.trim().strip_prefix("home ").unwrap());
    assert!(!home.exists() && !home.parent().unwrap().exists());
}

#[test]
fn only_the_seats_own_variables_reach_the_runner() {
    let mut command = serve(&["--name", "dsh", "--", "env"]);
    let output = command
        .env("OPENRIG_RESUME_REF", "c0")
        .env("OPENRIG_OTHER", "x")
        .output()
        .unwrap();
    let environment = text(&output.stdout);
    assert!(environment.contains("OPENRIG_RUNTIME=dsh\n"), "{environment}");
    assert!(
        !environment.contains("OPENRIG_RESUME_REF") && !environment.contains("OPENRIG_OTHER"),
        "{environment}"
    );
}

#[test]
fn a_signal_is_passed_on_to_the_runner() {
    // The runner waits for input that never comes, so that only the signal can end it.
    let mut child = serve(&["--", "sh", "-c", "kill -TERM $PPID; exec cat"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let input = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    drop(input);
}

#[test]
fn without_a_command_the_seat_is_there_until_an_interrupt() {
    let mut child = serve(&["--name", "dsh"]).spawn().unwrap();
    let mut exports = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut value = |name: &str| {
        let prefix = format!("export {name}='");
        let line = exports
            .by_ref()
            .map(Result::unwrap)
            .find(|line| line.starts_with(&prefix))
            .unwrap();
        line[prefix.len()..].trim_end_matches('\'').to_owned()
    };
    let (generation, node) = (value("OPENRIG_OCCUPANT_GENERATION"), value("OPENRIG_NODE_ID"));
    let (home, port, token) = (
        value("OPENRIG_HOME"),
        value("OPENRIG_PORT"),
        value("OPENRIG_ACTIVITY_HOOK_TOKEN"),
    );
    assert!(Path::new(&home).is_dir());

    let body = format!(
        r#"{{"nodeId": "{node}", "generation": "{generation}", "sequence": 1, "hookEvent": "Stop", "subtype": "idle"}}"#
    );
    let mut client = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    let head = "POST /api/activity/hooks HTTP/1.1\r\nhost: localhost\r\nconnection: close";
    let length = body.len();
    write!(
        client,
        "{head}\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");

    let mut lines = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with("post 1: Stop/idle sequence 1 -> 200")));
    assert!(lines.any(|line| line.ends_with("seat reads: launch pending, activity idle")));
    signal(&child, Signal::INT);
    assert!(child.wait().unwrap().success());
    assert!(!Path::new(&home).exists());
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn a_terminal_is_left_as_it_was_found() {
    let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let open =
        || -> OwnedFd { rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap() };
    let terminal = open();
    let found = tcgetattr(terminal.as_fd()).unwrap();

    let output = serve(&["--", "stty", "raw", "-echo"])
        .stdin(Stdio::from(File::from(open())))
        .output()
        .unwrap();
    assert!(output.status.success());
    let left = tcgetattr(terminal.as_fd()).unwrap();
    assert_eq!(
        (left.local_modes, left.input_modes),
        (found.local_modes, found.input_modes)
    );
    let log = text(&output.stderr);
    assert!(
        log.contains("the runner left the terminal's settings changed; they are restored\n"),
        "{log}"
    );
}

#[test]
fn a_log_is_kept_and_not_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seat.log");
    let script = "echo '{}' > \"$OPENRIG_LAUNCH_RESULT\"";
    let output = serve(&["--log", path.to_str().unwrap(), "--", "sh", "-c", script])
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .contains("record: of no use")
    );
    assert!(!text(&output.stderr).contains("record: of no use"));
}

#[test]
fn failures_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dsh.yaml");
    std::fs::write(&path, "format: 1\nname: dsh\ncommand: seat\nrunner: yes\n").unwrap();
    let output = serve(&["--preset", path.to_str().unwrap(), "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(
        message.starts_with("error: ") && message.contains("\nhint: "),
        "{message}"
    );
    assert!(
        message.contains("dsh.yaml:4:9: runner: ") && message.contains("    runner: yes\n"),
        "{message}"
    );

    let output = serve(&["--", "/no/such/runner"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(
        message.contains("error: cannot start /no/such/runner: "),
        "{message}"
    );
}
