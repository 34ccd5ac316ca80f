//! A seat is played by hand, in a terminal.

use std::path::Path;
use std::process::{Command, Stdio};

use rexpect::session::PtySession;
use rustix::process::{Pid, Signal};
use serde_json::json;

use crate::board::Page;
use crate::support::{Done, Seatcheck, complaints, program};

/// Play in a terminal, in a shell that writes down the terminal's settings before and after.
struct Played {
    seatcheck: Seatcheck,
    folder: tempfile::TempDir,
    session: PtySession,
    page: Page,
}

fn played(arguments: &[&str]) -> Played {
    let seatcheck = Seatcheck::new();
    let folder = tempfile::tempdir().unwrap();
    let command = seatcheck.command::<&str>([]);
    let script =
        r#"stty -a > before; "$0" play --out out "$@"; echo "left with $?"; stty -a > after; echo all over"#;
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", script])
        .arg(command.get_program())
        .args(arguments)
        .current_dir(folder.path());
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap());
    }
    let mut session = rexpect::session::spawn_command(shell, Some(60_000)).unwrap();
    let (_, address) = session
        .exp_regex("http://127\\.0\\.0\\.1:[0-9]+/[0-9a-f]{64}/")
        .unwrap();
    session.exp_string("Ctrl-] leaves").unwrap();
    Played {
        seatcheck,
        folder,
        session,
        page: Page::open(&address),
    }
}

impl Played {
    fn keys(&mut self, keys: &str) {
        self.session.send(keys).unwrap();
        self.session.flush().unwrap();
    }

    /// Waits for the end, and checks that nothing is left and the terminal is as it was found. Gives what
    /// `seatcheck judge` says of what was played.
    fn leave(mut self) -> reports::Report {
        self.session.exp_string("left with 0").unwrap();
        self.session.exp_string("all over").unwrap();
        let settings = |name| std::fs::read_to_string(self.folder.path().join(name)).unwrap();
        assert_eq!(settings("before"), settings("after"));
        assert!(settings("before").contains("icanon"), "{}", settings("before"));
        self.session.exp_eof().unwrap();
        self.seatcheck.assert_nothing_left();
        let out = self.folder.path().join("out");
        let done = self
            .seatcheck
            .run(["judge", "--format", "json", out.to_str().unwrap()]);
        assert_eq!(
            done.stdout,
            std::fs::read_to_string(out.join("report.json")).unwrap()
        );
        done.report()
    }
}

/// What is wrong with a runner, of all that was put to the test.
fn broken(report: &reports::Report) -> Vec<String> {
    complaints(report)
        .into_iter()
        .filter(|complaint| complaint.starts_with("fail"))
        .collect()
}

fn assert_passed(report: &reports::Report, id: &str) {
    let clause = report.clauses.iter().find(|clause| clause.id == id).unwrap();
    assert_eq!(clause.verdict, reports::Verdict::Pass, "{id}: {:?}", clause.said);
}

#[test]
fn a_message_that_is_typed_is_answered_and_ctrl_bracket_leaves() {
    let mut played = played(&[]);
    played.page.until_reading("ready", "idle");
    played.keys("hello there\r");
    let accepted = played.page.until_post("UserPromptSubmit/accepted");
    assert_eq!(accepted["counts"], true);
    played.page.until_reading("ready", "idle");
    played.keys("\u{1b}[200~two\nlines\u{1b}[201~\r");
    played.page.until_post("UserPromptSubmit/accepted");
    played.page.until_reading("ready", "idle");
    played.session.exp_string("done").unwrap();
    played.keys("\u{1d}");
    let over = played
        .page
        .until(|name, told| (name == "over").then(|| told.clone()));
    assert_eq!(over, "it was left");
    let report = played.leave();
    assert_eq!(broken(&report), Vec::<String>::new());
    for id in [
        "input.one-block-one-prompt",
        "input.exact-text",
        "activity.accepted",
        "identity.record-written",
    ] {
        assert_passed(&report, id);
    }
}

#[test]
fn what_was_edited_by_hand_is_held_against_nobody() {
    let mut played = played(&[]);
    played.page.until_reading("ready", "idle");
    played.keys("helo\u{7f}lo\r");
    played.page.until_post("UserPromptSubmit/accepted");
    played.page.until_reading("ready", "idle");
    played.keys("\u{1b}[A\u{3}next\r");
    played.page.until_post("UserPromptSubmit/accepted");
    played.page.until_reading("ready", "idle");
    played.keys("\u{1d}");
    assert_eq!(broken(&played.leave()), Vec::<String>::new());
}

#[test]
fn the_board_sends_cancels_and_opens_gates() {
    let scenario = r#"{title: t, why: w, exercises: [cancel.posted], steps: [launch: {}], agent: {turns: [
        [say: working, await: session/cancel, gate: answer, end: cancelled]]}}"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cancelled.yaml");
    std::fs::write(&path, scenario).unwrap();
    let mut played = played(&[path.to_str().unwrap()]);
    played.page.until_reading("ready", "idle");
    assert_eq!(played.page.press(&json!({"send": "two\nlines"})), 204);
    played.page.until_reading("ready", "working");
    played.session.exp_string("working").unwrap();
    assert_eq!(played.page.press(&json!("interrupt")), 204);
    let gate = played
        .page
        .until(|name, told| (name == "waiting").then(|| told.clone()));
    assert_eq!(gate, "answer");
    assert_eq!(played.page.press(&json!({"open": "answer"})), 204);
    played.page.until_post("Stop/cancelled");
    played.keys("\u{1d}");
    let report = played.leave();
    assert_eq!(broken(&report), Vec::<String>::new());
    assert_passed(&report, "cancel.posted");
}

#[test]
fn the_agent_asks_what_to_answer() {
    let mut played = played(&["--ask"]);
    let next = |page: &mut Page, method: &str| {
        let told = page.until(|name, told| (name == "asks").then(|| told.clone()));
        assert_eq!(told["method"], method);
        told["id"].clone()
    };
    for method in ["initialize", "session/new"] {
        let ask = next(&mut played.page, method);
        assert_eq!(
            played
                .page
                .press(&json!({"answer": {"ask": ask, "answer": "usual"}})),
            204
        );
    }
    played.page.until_reading("ready", "idle");
    played.keys("hello\r");
    let ask = next(&mut played.page, "session/prompt");
    let answer = |page: &Page, answer: serde_json::Value| {
        assert_eq!(
            page.press(&json!({"answer": {"ask": ask, "answer": answer}})),
            204
        );
    };
    answer(&played.page, json!({"say": "as you like it"}));
    played.session.exp_string("as you like it").unwrap();
    answer(&played.page, json!({"permission": "Delete everything"}));
    played.page.until_reading("ready", "needs input");
    answer(&played.page, json!({"end": "end_turn"}));
    // A question that has its answer is gone: this presses into the void, and breaks nothing.
    answer(&played.page, json!({"end": "end_turn"}));
    played.page.until(|name, told| {
        let stopped = |text: &str| text.contains("stopReason");
        (name == "line" && told["text"].as_str().is_some_and(stopped)).then_some(())
    });
    assert_eq!(played.page.press(&json!("clear_attention")), 204);
    played.page.until_reading("ready", "unknown");
    played.keys("\u{1d}");
    let report = played.leave();
    assert_eq!(broken(&report), Vec::<String>::new());
    assert_passed(&report, "permission.refused");
    assert_passed(&report, "permission.posted");
}

#[test]
fn a_runner_that_has_ended_is_launched_again() {
    let mut played = played(&[
        "--",
        "/bin/sh",
        "-c",
        "echo \"reference: ${OPENRIG_RESUME_REF:-none}\"; exit 3",
    ]);
    // How the runner's last words and the word of its end come after each other is the machine's affair.
    let ended = |played: &mut Played| {
        played
            .page
            .until(|name, told| (name == "runner_ended" && told == "it exited with code 3").then_some(()));
        played.session.exp_string("reference: none").unwrap();
    };
    ended(&mut played);
    played.keys("\r");
    ended(&mut played);
    assert_eq!(played.page.press(&json!({"launch": {"resume": false}})), 204);
    ended(&mut played);
    played.session.exp_string("Enter launches again").unwrap();
    played.keys("\u{1d}");
    played.leave();
}

#[test]
fn a_full_screen_and_a_changed_terminal_are_put_back() {
    let script = "printf '\\033[?1049h\\033[?25l\\033[?2004hfull screen'; stty raw -echo; exec cat";
    let mut played = played(&["--", "/bin/sh", "-c", script]);
    played.session.exp_string("full screen").unwrap();
    played.keys("\u{1d}");
    let before = played.session.exp_string("\u{1b}[?25h").unwrap();
    for off in ["\u{1b}[?1049l", "\u{1b}[?2004l"] {
        assert!(before.contains(off), "{off:?} is not in {before:?}");
    }
    played.leave();
}

#[test]
fn a_signal_puts_the_terminal_back_too() {
    let mut played = played(&["--", "sleep", "1000"]);
    let sleeps = |commands: Vec<String>| commands.iter().any(|command| command.starts_with("sleep"));
    played.page.until(|name, told| {
        (name == "line" && told["text"].as_str()?.starts_with("the runner started")).then_some(())
    });
    assert!(sleeps(played.seatcheck.processes()));
    let pid = pid_of_play(&played.seatcheck);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    played.leave();
}

/// The process of `seatcheck play` itself.
fn pid_of_play(seatcheck: &Seatcheck) -> Pid {
    let is_play = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            let mut words = line.split(|byte| *byte == 0);
            words.next().is_some_and(|word| word.ends_with(b"seatcheck")) && words.next() == Some(b"play")
        }) && std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            let mark = seatcheck.mark();
            environment.windows(mark.len()).any(|window| window == mark)
        })
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().parse().ok())
        .find(is_play)
        .and_then(Pid::from_raw)
        .unwrap()
}

#[test]
fn play_needs_a_terminal() {
    let seatcheck = Seatcheck::new();
    let output = seatcheck.command(["play"]).stdin(Stdio::null()).output().unwrap();
    let done = Done::new(output);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("play needs a terminal") && done.stderr.contains("hint:"),
        "{}",
        done.stderr
    );
    seatcheck.assert_nothing_left();
}

#[test]
fn a_scenario_that_is_not_there_is_named() {
    let done = Seatcheck::new().run(["play", "no/such"]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("no/such") && done.stderr.contains("hint:"),
        "{}",
        done.stderr
    );
}

/// tmux with a server of the test's own; nothing where there is none.
fn tmux(folder: &Path) -> Option<impl Fn(&[&str]) -> std::process::Output> {
    let here = Command::new("tmux")
        .arg("-V")
        .output()
        .is_ok_and(|output| output.status.success());
    let needed = std::env::var("SEATCHECK_TESTS_NEED").is_ok_and(|needed| needed.contains("tmux"));
    assert!(here || !needed, "tmux is needed for this test");
    if !here {
        eprintln!("not run: there is no tmux");
        return None;
    }
    let folder = folder.to_owned();
    Some(move |arguments: &[&str]| {
        Command::new("tmux")
            .args(arguments)
            .env("TMUX_TMPDIR", &folder)
            .env_remove("TMUX")
            .output()
            .unwrap()
    })
}

#[test]
fn a_pane_of_tmux_can_be_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tmux) = tmux(folder.path()) else { return };
    let seatcheck = Seatcheck::new();
    let out = folder.path().join("out");
    let plain = program("plain_runner.py");
    let output = seatcheck
        .command([
            "play",
            "--transport",
            "tmux",
            "--out",
            out.to_str().unwrap(),
            "--",
            "python3",
            plain.to_str().unwrap(),
        ])
        .env("TMUX_TMPDIR", folder.path())
        .env_remove("TMUX")
        .output()
        .unwrap();
    let done = Done::new(output);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let name = done
        .stdout
        .trim()
        .strip_prefix("tmux attach -t ")
        .unwrap()
        .to_owned();
    let listed = tmux(&["list-panes", "-t", &name, "-F", "#{pane_start_command}"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(
        listed.contains("play") && !listed.contains("--transport"),
        "{listed}"
    );
    tmux(&["send-keys", "-t", &name, "C-]"]);
    // Nobody signals this; the wait ends with the server, and that with its last pane.
    tmux(&["wait-for", "never"]);
    assert!(out.join("run.json").exists(), "it did not end by itself");
    // The server itself may still be about to exit.
    let mut left = seatcheck.processes();
    left.retain(|command| !command.starts_with("tmux"));
    assert_eq!(left, Vec::<String>::new());
}
