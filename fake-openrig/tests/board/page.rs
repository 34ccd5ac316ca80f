//! The page in a real browser. Set SEATCHECK_TESTS_PICTURES to a folder to get pictures of it.

use std::time::Duration;

use fake_openrig::board::{
    AskShown, Board, BoardEvent, Control, LineShown, Observer, PostShown, Press, ReadingShown, RecordShown,
    SeatShown, Watched, Way, shown,
};
use fake_openrig::endpoint::{Authorization, Ending, Exchange};
use fake_openrig::reading::{LaunchFacts, SeatReading};
use fake_openrig::record::Expected;
use tokio::sync::mpsc;

use crate::browser::{self, Browser};

const ALL: [Control; 4] = [
    Control::Send,
    Control::Interrupt,
    Control::ClearAttention,
    Control::Launch,
];

struct Shown {
    board: Board,
    pressed: mpsc::Receiver<Press>,
    browser: Browser,
    runtime: tokio::runtime::Runtime,
}

/// A page that is open on a board with a seat; nothing where there is no browser.
fn shown_page(size: (u32, u32), dark: bool) -> Option<Shown> {
    if !browser::is_here() {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (board, pressed) = runtime.block_on(Board::start(ALL.into())).unwrap();
    board.tell(BoardEvent::Launched(SeatShown {
        session: "dev-builder@rig".into(),
        runtime: "dsh".into(),
        resume: None,
        command: Some("dsh-seat --verbose".into()),
        at: 1_793_275_200_000,
    }));
    reading(&board, "pending", "unknown");
    let browser = Browser::start(size, dark);
    browser.open(board.address());
    browser.until("document.getElementById('session').textContent.includes('dev-builder@rig')");
    Some(Shown {
        board,
        pressed,
        browser,
        runtime,
    })
}

fn reading(board: &Board, launch: &'static str, activity: &'static str) {
    board.tell(BoardEvent::Reading(ReadingShown {
        launch,
        activity,
        at: 1_793_275_201_250,
    }));
}

fn post(id: u64, event: &str, counts: bool, body: &str) -> BoardEvent {
    BoardEvent::Post(PostShown {
        id,
        at: 1_793_275_200_000 + id * 1_357,
        event: event.into(),
        sequence: Some(id),
        turn: Some("turn-1".into()),
        liveness: event.starts_with("Stop").then_some(60),
        token: None,
        outcome: Some("200".into()),
        counts: Some(counts),
        why: (!counts).then(|| "its sequence is not above the last".into()),
        body: body.into(),
    })
}

impl Shown {
    fn word(&self, id: &str) -> String {
        let script = format!("return document.querySelector('#{id} .word').textContent");
        self.browser.run(&script).as_str().unwrap().to_owned()
    }

    fn next_press(&mut self) -> Press {
        let next = self.pressed.recv();
        let limited = async { tokio::time::timeout(Duration::from_secs(60), next).await };
        self.runtime.block_on(limited).unwrap().unwrap()
    }

    /// Nothing in the console, and nothing asked for but the page, its events and its presses.
    fn assert_quiet(&self) {
        assert_eq!(self.browser.console(), Vec::<String>::new());
        let requests = self.browser.requests();
        assert!(
            requests.iter().any(|address| address.ends_with("/events")),
            "{requests:?}"
        );
        for address in requests {
            // The empty icon is a data address: it leads nowhere.
            assert!(
                address.starts_with(self.board.address()) || address == "data:,",
                "{address}"
            );
        }
    }

    fn picture(&self, name: &str) {
        use base64::Engine as _;
        let Some(folder) = std::env::var_os("SEATCHECK_TESTS_PICTURES") else {
            return;
        };
        let picture = base64::engine::general_purpose::STANDARD
            .decode(self.browser.picture())
            .unwrap();
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.png")), picture).unwrap();
    }
}

#[test]
fn posts_and_readings_appear_as_they_come() {
    let Some(page) = shown_page((1280, 900), false) else {
        return;
    };
    assert_eq!(page.word("activity-reading"), "? unknown");
    page.board.tell(post(1, "UserPromptSubmit/accepted", true, "{}"));
    reading(&page.board, "ready", "working");
    page.browser
        .until("document.querySelector('#activity-reading .word').textContent === '▶ working'");
    assert_eq!(page.word("launch-reading"), "✓ ready");
    page.board.tell(post(2, "Stop/end_turn", true, "{}"));
    page.board.tell(post(3, "Stop/end_turn", false, "{}"));
    page.browser
        .until("document.querySelectorAll('#posts > li').length === 3");
    let first = page
        .browser
        .run("return document.querySelector('#posts > li').innerText");
    let first = first.as_str().unwrap();
    assert!(
        first.contains("Stop/end_turn") && first.contains("sequence 3"),
        "{first}"
    );
    assert!(
        first.contains("✗ not counted: its sequence is not above the last"),
        "{first}"
    );
    page.board.tell(BoardEvent::Pane(vec![
        "ready".into(),
        String::new(),
        "you ▸ hello".into(),
        String::new(),
    ]));
    page.browser
        .until("document.getElementById('pane').textContent === 'ready\\n\\nyou ▸ hello'");
    page.board.tell(BoardEvent::Over("the test ends".into()));
    page.browser
        .until("document.getElementById('connection').textContent === '○ ended'");
    page.assert_quiet();
}

#[test]
fn a_page_opened_late_shows_all_of_it() {
    let Some(page) = shown_page((1280, 900), false) else {
        return;
    };
    for id in 1..=500 {
        page.board.tell(post(id, "Stop/idle", true, "{}"));
    }
    page.board.tell(BoardEvent::Waiting("answer".into()));
    page.browser.open(page.board.address());
    page.browser
        .until("document.querySelectorAll('#posts > li').length === 200");
    assert!(page.browser.text().contains("Let it go on: answer"));
    page.assert_quiet();
}

#[test]
fn buttons_press() {
    let Some(mut page) = shown_page((1280, 900), false) else {
        return;
    };
    page.browser
        .run("document.getElementById('text').value = 'first\\nsecond'");
    page.browser.click("send");
    assert_eq!(page.next_press(), Press::Send("first\nsecond".into()));
    page.browser.click("abort");
    assert_eq!(page.next_press(), Press::SendRaw("/abort".into()));
    page.browser.click("interrupt");
    assert_eq!(page.next_press(), Press::Interrupt);
    page.browser.click("clear");
    assert_eq!(page.next_press(), Press::ClearAttention);
    page.board
        .tell(BoardEvent::RunnerEnded("it exited with code 0".into()));
    page.browser.until("!document.getElementById('again').hidden");
    page.browser.click("resume");
    assert_eq!(page.next_press(), Press::Launch { resume: true });
    page.assert_quiet();
}

/// What a hostile runner posts goes the way of every post: through the observer, to the page.
#[test]
fn a_hostile_post_does_no_harm() {
    let Some(page) = shown_page((1280, 900), false) else {
        return;
    };
    let evil = format!(
        "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">\u{1b}]0;taken\u{7}\u{202e}{}",
        "x".repeat(1 << 20)
    );
    let body =
        serde_json::json!({"nodeId": "n1", "hookEvent": evil, "subtype": evil, "turnId": evil}).to_string();
    let facts = LaunchFacts {
        resume_ref: None,
        generation: "g1".to_owned(),
        session_name: "seat@local".to_owned(),
        node_id: "n1".to_owned(),
        preset_name: "dsh".to_owned(),
    };
    let expected = Expected {
        attempt: "a1".to_owned(),
        harness: "dsh".to_owned(),
    };
    let seat = SeatReading::new(facts);
    let mut observer = Observer::new(Watched { seat, expected }, 0);
    let exchanges = [
        Exchange::Started {
            id: 1,
            at: 0,
            body_at: Some(0),
            method: "POST".to_owned(),
            path: "/".to_owned(),
            authorization: Authorization::Wrong,
            content_type: None,
            body: body.into_bytes(),
            body_cut: false,
            token_removed: false,
        },
        Exchange::Ended {
            id: 1,
            at: 0,
            how: Ending::Answered { status: 401 },
            recorded: false,
        },
    ];
    for event in exchanges
        .iter()
        .flat_map(|exchange| observer.exchange(exchange, 0))
    {
        page.board.tell(event);
    }
    page.board.tell(BoardEvent::Pane(vec![shown(&evil, 500)]));
    page.board.tell(BoardEvent::Line(LineShown {
        at: 0,
        way: Way::ToAgent,
        text: shown(&evil, 500),
    }));
    page.browser
        .until("document.querySelectorAll('#lines > li').length === 1");
    page.browser
        .run("for (const details of document.querySelectorAll('details')) details.open = true");
    assert!(
        page.browser
            .text()
            .contains("<script>document.title = 'taken'</script>")
    );
    assert!(page.browser.text().contains("␛]0;taken"));
    let made = "return document.querySelectorAll('#posts script, #posts img, #lines img, #pane img').length";
    assert_eq!(page.browser.run(made), 0);
    assert_eq!(
        page.browser.run("return document.title"),
        "dev-builder@rig – seat board"
    );
    let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(page.browser.run(overflow), 0);
    page.picture("hostile");
    page.assert_quiet();
}

/// Nothing sticks out sideways, at any width, in either scheme, whatever is shown.
#[test]
fn it_fits_every_width_and_scheme() {
    for (name, size, dark) in [
        ("light", (1280, 1000), false),
        ("dark", (1280, 1000), true),
        ("narrow", (360, 1400), false),
    ] {
        let Some(page) = shown_page(size, dark) else {
            return;
        };
        let fits = |what: &str| {
            let overflow =
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(page.browser.run(overflow), 0, "{name}, {what}");
            let words = "return [...document.querySelectorAll('.word')].filter((word) => word.scrollWidth > word.clientWidth).length";
            assert_eq!(page.browser.run(words), 0, "{name}, {what}");
            page.picture(&format!("{name}-{what}"));
        };
        fill(&page.board);
        reading(&page.board, "ready", "idle");
        page.browser
            .until("document.querySelector('#activity-reading .word').textContent === '■ idle'");
        fits("idle");
        reading(&page.board, "ready", "working");
        page.board.tell(BoardEvent::Waiting("answer".into()));
        page.browser
            .until("document.querySelector('#activity-reading .word').textContent === '▶ working'");
        page.browser.until("!document.getElementById('gates').hidden");
        fits("working");
        page.board.tell(BoardEvent::Opened("answer".into()));
        page.board
            .tell(post(9, "Notification/permission_prompt", true, "{}"));
        for (id, method) in [(1, "initialize"), (2, "session/prompt")] {
            page.board.tell(BoardEvent::Asks(AskShown {
                id,
                at: 1_793_275_204_000,
                method: method.into(),
            }));
        }
        reading(&page.board, "unconfirmed", "needs input");
        page.browser
            .until("document.querySelector('#activity-reading .word').textContent === '! needs input'");
        page.browser
            .until("document.querySelectorAll('.ask').length === 2");
        fits("needs-input");
        page.assert_quiet();
    }
}

/// A seat in the middle of its work.
fn fill(board: &Board) {
    board.tell(BoardEvent::Record(RecordShown {
        at: 1_793_275_200_500,
        says: "conversation 0b3c-77".into(),
        content: Some(
            r#"{"format": 1, "attempt": "7d9d1d0e-9f5e-4f8e-8d0a-2f1c7c2b9a11", "harness": "dsh", "nativeRef": "0b3c-77", "producer": "dsh-seat 1.4.0"}"#
                .into(),
        ),
    }));
    let body = r#"{"sessionName": "dev-builder@rig", "nodeId": "01JB", "runtime": "dsh", "generation": "g", "sequence": 3}"#;
    board.tell(post(1, "SessionStart", true, body));
    board.tell(post(2, "UserPromptSubmit/accepted", true, body));
    board.tell(post(3, "Stop/end_turn", true, body));
    board.tell(post(4, "Stop/end_turn", false, body));
    let mut pane = vec![
        "dsh seat ready · conversation 0b3c-77".to_owned(),
        "you ▸ From: dev-lead@rig".to_owned(),
        "  Have a look at the failing test.".to_owned(),
        String::new(),
        "agent ▸ I found it: the clock was read twice.".to_owned(),
    ];
    pane.push("─".repeat(160));
    board.tell(BoardEvent::Pane(pane));
    for (way, text) in [
        (
            Way::ToAgent,
            r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"0b3c-77","prompt":[{"type":"text","text":"Have a look at the failing test."}]}}"#,
        ),
        (
            Way::ToRunner,
            r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#,
        ),
        (Way::Note, "attention cleared"),
    ] {
        board.tell(BoardEvent::Line(LineShown {
            at: 1_793_275_202_000,
            way,
            text: text.into(),
        }));
    }
}
