//! Who may look and who may press.

use fake_openrig::board::{Board, BoardEvent, Control, Press};
use tokio::sync::mpsc;

use crate::http::{self, Answer};

struct Served {
    board: Board,
    pressed: mpsc::Receiver<Press>,
    port: u16,
    path: String,
    host: String,
    runtime: tokio::runtime::Runtime,
}

fn served(controls: Vec<Control>) -> Served {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (board, pressed) = runtime.block_on(Board::start(controls)).unwrap();
    let (host, path) = board
        .address()
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .unwrap();
    let port = host.rsplit_once(':').unwrap().1.parse().unwrap();
    Served {
        port,
        path: format!("/{path}"),
        host: host.to_owned(),
        board,
        pressed,
        runtime,
    }
}

impl Served {
    fn get(&self, host: &str, path: &str) -> Answer {
        http::request(
            self.port,
            "GET",
            path,
            &[("host", host), ("connection", "close")],
            "",
        )
    }

    fn press(&self, headers: &[(&str, &str)], body: &str) -> u16 {
        let mut all = vec![("host", self.host.as_str())];
        all.extend(headers);
        http::request(self.port, "POST", &format!("{}press", self.path), &all, body).status
    }
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn the_page_needs_its_key_and_its_host() {
    let served = served(Vec::new());
    let page = served.get(&served.host, &served.path);
    assert_eq!(page.status, 200);
    let named = served.get(&format!("localhost:{}", served.port), &served.path);
    assert_eq!(named.status, 200);

    let other_key = format!("/{}/", "0".repeat(served.path.len() - 2));
    for path in [other_key.as_str(), "/", "/x/", &served.path[..20]] {
        assert_eq!(served.get(&served.host, path).status, 404, "{path}");
    }
    for host in ["evil.example", "127.0.0.1", "evil.example:80", "", "127.0.0.1:1"] {
        assert_eq!(served.get(host, &served.path).status, 403, "{host}");
    }
    // Nothing of the seat is told before the key is checked.
    assert!(!served.get(&served.host, "/x/").body.contains("Seat"));
}

#[test]
fn the_page_may_load_nothing_and_be_framed_by_nobody() {
    let served = served(Vec::new());
    let page = served.get(&served.host, &served.path);
    for part in [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "connect-src 'self'",
        "referrer-policy: no-referrer",
    ] {
        assert!(page.head.contains(part), "{part} is not in {}", page.head);
    }
    assert!(!page.head.contains("unsafe-inline"), "{}", page.head);
    let nonce = page
        .head
        .split_once("script-src 'nonce-")
        .and_then(|(_, rest)| rest.split_once('\''))
        .unwrap()
        .0;
    assert!(page.body.contains(&format!("<script nonce=\"{nonce}\">")));
    assert!(
        !page.body.contains("http://") && !page.body.contains("https://") && !page.body.contains("innerHTML")
    );
    let again = served.get(&served.host, &served.path);
    assert!(!again.body.contains(nonce), "a nonce is used once");
}

#[test]
fn what_happens_is_told_as_events_after_the_whole() {
    let served = served(vec![Control::Send]);
    served.board.tell(BoardEvent::Waiting("before".into()));
    let path = format!("{}events", served.path);
    let (status, mut events) = http::stream(served.port, &path, &[("host", &served.host)]);
    assert_eq!(status, 200);
    let whole = http::next_event(&mut events);
    assert_eq!(whole["whole"]["gates"], serde_json::json!(["before"]));
    assert_eq!(whole["whole"]["controls"], serde_json::json!(["send"]));
    served.board.tell(BoardEvent::Waiting("after".into()));
    assert_eq!(
        http::next_event(&mut events),
        serde_json::json!({"waiting": "after"})
    );
}

#[test]
fn a_page_that_fell_behind_gets_the_whole_again() {
    let served = served(Vec::new());
    let path = format!("{}events", served.path);
    let (_, mut events) = http::stream(served.port, &path, &[("host", &served.host)]);
    http::next_event(&mut events);
    // Far more than the sockets between hold.
    let lines = vec!["x".repeat(1000); 50];
    for _ in 0..2000 {
        served.board.tell(BoardEvent::Pane(lines.clone()));
    }
    served.board.tell(BoardEvent::Over("the test ends".into()));
    let mut wholes = 0;
    loop {
        let event = http::next_event(&mut events);
        wholes += u32::from(!event["whole"].is_null());
        if event["over"] == "the test ends" || event["whole"]["over"] == "the test ends" {
            break;
        }
    }
    assert!(wholes >= 1, "it was never told the whole again");
}

#[test]
fn only_so_many_pages_are_served() {
    let served = served(Vec::new());
    let path = format!("{}events", served.path);
    let open: Vec<_> = (0..16)
        .map(|_| {
            let (status, mut events) = http::stream(served.port, &path, &[("host", &served.host)]);
            http::next_event(&mut events);
            assert_eq!(status, 200);
            events
        })
        .collect();
    let (status, _) = http::stream(served.port, &path, &[("host", &served.host)]);
    assert_eq!(status, 503);
    drop(open);
}

#[test]
fn a_press_reaches_its_host() {
    let mut served = served(vec![Control::Send, Control::Interrupt]);
    let origin = format!("http://{}", served.host);
    let own = [
        JSON,
        ("origin", origin.as_str()),
        ("sec-fetch-site", "same-origin"),
    ];
    assert_eq!(served.press(&own, r#"{"send": "two\nlines"}"#), 204);
    assert_eq!(served.press(&[JSON], r#""interrupt""#), 204);
    let pressed = served
        .runtime
        .block_on(async { (served.pressed.recv().await, served.pressed.recv().await) });
    assert_eq!(
        pressed,
        (Some(Press::Send("two\nlines".into())), Some(Press::Interrupt))
    );
}

#[test]
fn no_other_page_can_press() {
    let mut served = served(vec![Control::Interrupt]);
    let press = r#""interrupt""#;
    let port = served.port + 1;
    let neighbour = format!("http://127.0.0.1:{port}");
    for headers in [
        vec![JSON, ("origin", "https://evil.example")],
        vec![JSON, ("origin", &neighbour)],
        vec![JSON, ("origin", "null")],
        vec![JSON, ("sec-fetch-site", "cross-site")],
        vec![JSON, ("sec-fetch-site", "same-site")],
    ] {
        assert_eq!(served.press(&headers, press), 403, "{headers:?}");
    }
    // What a form can send.
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ] {
        assert_eq!(served.press(&[("content-type", kind)], press), 415, "{kind}");
    }
    let wrong = http::request(
        served.port,
        "POST",
        "/wrong/press",
        &[("host", &served.host), JSON],
        press,
    );
    assert_eq!(wrong.status, 404);
    assert!(served.pressed.try_recv().is_err(), "a press came through");
}

#[test]
fn what_the_host_does_not_offer_is_refused() {
    let mut served = served(vec![Control::ClearAttention]);
    assert_eq!(served.press(&[JSON], r#"{"send": "x"}"#), 409);
    assert_eq!(served.press(&[JSON], r#"{"launch": {"resume": false}}"#), 409);
    assert_eq!(served.press(&[JSON], r#"{"reboot": true}"#), 400);
    assert_eq!(
        served.press(&[JSON], &format!("\"{}\"", "x".repeat(3 << 20))),
        413
    );
    assert!(served.pressed.try_recv().is_err(), "a press came through");
}
