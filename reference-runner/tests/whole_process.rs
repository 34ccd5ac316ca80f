//! The runner as a whole: a process in a terminal of its own, with a scripted agent.

mod support;

use rustix::process::Signal;
use serde_json::json;
use support::Seat;

fn post(event: &str, subtype: &str) -> (String, String) {
    (event.to_owned(), subtype.to_owned())
}

#[test]
fn the_journey_of_a_seat() {
    let mut seat = Seat::in_a_terminal(&[]);
    seat.wait_until_shown("\x1b[?2004h");
    seat.wait_until_shown("a log line on stdout");
    seat.wait_until_shown("conversation opened: s/ü-1");
    assert_eq!(seat.next_post(), post("Stop", "idle"));
    let record = seat.record();
    assert_eq!(
        (&record["nativeRef"], &record["attempt"]),
        (&json!("s/ü-1"), &json!("attempt-1"))
    );
    assert!(
        !seat
            .modes()
            .local_modes
            .contains(rustix::termios::LocalModes::ICANON)
    );

    seat.send("From: a\n/abort\n\tzwölf");
    seat.wait_until_shown("you ▸ From: a\r\n/abort\r\n\tzwölf\r\n");
    assert_eq!(seat.next_post(), post("UserPromptSubmit", "accepted"));
    assert_eq!(seat.next_post(), post("Stop", "turn_ended"));

    seat.send("wait");
    seat.wait_until_shown("you ▸ wait");
    seat.send("permission");
    seat.wait_until_shown("queued");
    seat.type_in("\x03");
    seat.wait_until_shown("cancel requested");
    assert_eq!(seat.next_post(), post("UserPromptSubmit", "accepted"));
    assert_eq!(seat.next_post(), post("Stop", "cancelled"));

    seat.wait_until_shown("permission asked, and refused: rm -rf /");
    assert_eq!(seat.next_post(), post("UserPromptSubmit", "accepted"));
    assert_eq!(seat.next_post(), post("Notification", "permission_prompt"));
    seat.wait_until_shown("holds attention");

    seat.send("after");
    assert_eq!(seat.next_post(), post("UserPromptSubmit", "accepted"));
    assert_eq!(seat.next_post(), post("Stop", "turn_ended"));

    seat.signal(Signal::TERM);
    assert_eq!(seat.next_post(), post("Stop", "scripted_exited"));
    seat.wait_until_shown("\x1b[?2004l");
    assert_eq!(seat.wait(), 128 + 15);
    assert!(seat.has_its_modes_back());

    assert_eq!(
        seat.prompts(),
        ["From: a\n/abort\n\tzwölf", "wait", "permission", "after"]
    );
    let cancels = seat
        .heard()
        .into_iter()
        .filter(|line| line["method"] == "session/cancel");
    let cancels: Vec<_> = cancels
        .map(|line| (line["params"]["sessionId"].clone(), line.get("id").cloned()))
        .collect();
    assert_eq!(cancels, [(json!("s/ü-1"), None)]);
}

#[test]
fn an_agents_exit_is_reported_and_its_code_passed_on() {
    let mut seat = Seat::in_a_terminal(&[]);
    seat.wait_until_shown("conversation opened");
    seat.send("leave");
    for expected in [
        post("Stop", "idle"),
        post("UserPromptSubmit", "accepted"),
        post("Stop", "scripted_exited"),
    ] {
        assert_eq!(seat.next_post(), expected);
    }
    seat.wait_until_shown("ended with code 7");
    seat.wait_until_shown("\x1b[?2004l");
    assert_eq!(seat.wait(), 7);
}

#[test]
fn a_turn_that_ends_just_before_the_agent_exits_is_reported_before_the_exit() {
    let mut seat = Seat::in_a_terminal(&[]);
    seat.wait_until_shown("conversation opened");
    seat.send("goodbye");
    assert_eq!(seat.next_post(), post("Stop", "idle"));
    assert_eq!(seat.next_post(), post("UserPromptSubmit", "accepted"));
    assert_eq!(seat.next_post(), post("Stop", "turn_ended"));
    assert_eq!(seat.next_post(), post("Stop", "scripted_exited"));
    assert_eq!(seat.wait(), 0);
}

#[test]
fn an_endpoint_that_hangs_keeps_nobody_waiting() {
    // Connections are taken by the system, and nobody ever reads them.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut seat = Seat::in_a_terminal(&[("OPENRIG_URL", &url)]);
    seat.wait_until_shown("conversation opened");
    let began = std::time::Instant::now();
    for text in ["one", "two", "three", "four", "five", "six"] {
        seat.send(text);
        seat.wait_until_shown(&format!("you ▸ {text}"));
    }
    seat.send("permission");
    seat.wait_until_shown("holds attention");
    // The idle report alone hangs for two seconds, and five more wait behind it.
    assert!(
        began.elapsed() < std::time::Duration::from_secs(8),
        "{:?}",
        began.elapsed()
    );
    seat.signal(Signal::TERM);
    assert_eq!(seat.wait(), 128 + 15);
}

#[test]
fn a_resume_reopens_exactly_the_conversation_asked_for() {
    let mut seat = Seat::in_a_terminal(&[("OPENRIG_RESUME_REF", "kept")]);
    seat.wait_until_shown("conversation reopened: kept");
    assert_eq!(seat.next_post(), post("Stop", "idle"));
    assert_eq!(seat.record()["nativeRef"], "kept");
    seat.send("on");
    assert_eq!(seat.next_post(), post("UserPromptSubmit", "accepted"));
    seat.signal(Signal::HUP);
    assert_eq!(seat.wait(), 128 + 1);
    let methods: Vec<_> = seat.heard().iter().map(|line| line["method"].clone()).collect();
    assert_eq!(methods, ["initialize", "session/load", "session/prompt"]);
}

#[test]
fn a_missing_conversation_is_reported_and_never_replaced() {
    let mut seat = Seat::in_a_terminal(&[("OPENRIG_RESUME_REF", "gone")]);
    seat.wait_until_shown("does not exist");
    seat.send("hello");
    seat.wait_until_shown("not submitted");
    let record = seat.record();
    assert_eq!(
        (&record["error"], record.get("nativeRef")),
        (&json!("missing"), None)
    );
    seat.signal(Signal::TERM);
    seat.wait();
    let methods: Vec<_> = seat.heard().iter().map(|line| line["method"].clone()).collect();
    assert_eq!(methods, ["initialize", "session/load"]);
}

#[test]
fn without_a_terminal_lines_are_messages_and_no_codes_are_shown() {
    let mut seat = Seat::on_pipes();
    seat.type_in("one\n\ntwo");
    seat.end_input();
    assert_eq!(seat.wait(), 0);
    let shown = seat.rest_shown();
    assert!(
        shown.contains("you ▸ one\n") && shown.contains("you ▸ two\n"),
        "{shown}"
    );
    assert!(!shown.contains(['\x1b', '\r']), "{shown}");
    assert_eq!(seat.prompts(), ["one", "two"]);
}

#[test]
fn the_first_input_is_the_first_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first");
    std::fs::write(&path, "first\nlines").unwrap();
    let mut seat = Seat::in_a_terminal(&[("OPENRIG_FIRST_INPUT", path.to_str().unwrap())]);
    seat.wait_until_shown("\x1b[?2004h");
    seat.send("second");
    seat.wait_until_shown("you ▸ first");
    seat.wait_until_shown("you ▸ second");
    seat.signal(Signal::TERM);
    seat.wait();
    assert_eq!(seat.prompts(), ["first\nlines", "second"]);
}
