//! A seat with its endpoint, for one test.

use fake_openrig::Token;
use fake_openrig::endpoint::{Authorization, Ending, Endpoint, EndpointOptions, Exchange, Limits};
use tokio::sync::mpsc::UnboundedReceiver;

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
pub(crate) const PATH: &str = "/api/activity/hooks";

/// A running endpoint and what it reports.
pub(crate) struct Seat {
    pub(crate) endpoint: Endpoint,
    pub(crate) events: UnboundedReceiver<Exchange>,
}

/// A start, with what the tests look at.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) id: u64,
    pub(crate) at: u64,
    pub(crate) body_at: Option<u64>,
    pub(crate) authorization: Authorization,
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    pub(crate) body_cut: bool,
    pub(crate) token_removed: bool,
}

/// An end.
#[derive(Debug, PartialEq)]
pub(crate) struct End {
    pub(crate) id: u64,
    pub(crate) at: u64,
    pub(crate) how: Ending,
    pub(crate) recorded: bool,
}

impl Seat {
    pub(crate) fn start() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let options = EndpointOptions {
            token: Token::from(TOKEN.to_owned()),
            session_name: "pod-member@rig".to_owned(),
            node_id: "n1".to_owned(),
            preset_name: "dsh".to_owned(),
            limits,
        };
        let (endpoint, events) = Endpoint::start(options).unwrap();
        Self { endpoint, events }
    }

    pub(crate) fn port(&self) -> u16 {
        self.endpoint.port()
    }

    pub(crate) async fn event(&mut self) -> Exchange {
        let event = self.events.recv().await.unwrap();
        assert!(!format!("{event:?}").contains(TOKEN), "the token is in {event:?}");
        // Bytes are printed as numbers above.
        if let Exchange::Started { body, .. } = &event {
            assert!(
                !String::from_utf8_lossy(body).contains(TOKEN),
                "the token is in the body of {event:?}"
            );
        }
        event
    }

    /// The next event, which must be a start.
    pub(crate) async fn started(&mut self) -> Start {
        match self.event().await {
            Exchange::Started {
                id,
                at,
                body_at,
                authorization,
                path,
                body,
                body_cut,
                token_removed,
                ..
            } => Start {
                id,
                at,
                body_at,
                authorization,
                path,
                body,
                body_cut,
                token_removed,
            },
            other => panic!("not a start: {other:?}"),
        }
    }

    /// The next event, which must be an end.
    pub(crate) async fn ended(&mut self) -> End {
        match self.event().await {
            Exchange::Ended {
                id,
                at,
                how,
                recorded,
            } => End {
                id,
                at,
                how,
                recorded,
            },
            other => panic!("not an end: {other:?}"),
        }
    }

    /// The next two events: one exchange from start to end.
    pub(crate) async fn exchange(&mut self) -> (Start, End) {
        let (start, end) = (self.started().await, self.ended().await);
        assert_eq!(start.id, end.id);
        assert!(start.at <= end.at);
        (start, end)
    }
}

/// A request with these header lines.
pub(crate) fn request(method: &str, path: &str, headers: &[String], body: &[u8]) -> Vec<u8> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A post as a good runner sends it, with this body.
pub(crate) fn post(body: &str) -> Vec<u8> {
    let headers = [
        format!("authorization: Bearer {TOKEN}"),
        "content-type: application/json".to_owned(),
    ];
    request("POST", PATH, &headers, body.as_bytes())
}

/// The body of a good post.
pub(crate) fn body(sequence: u64) -> String {
    format!(r#"{{"nodeId": "n1", "sequence": {sequence}, "hookEvent": "Stop", "subtype": "end_turn"}}"#)
}
