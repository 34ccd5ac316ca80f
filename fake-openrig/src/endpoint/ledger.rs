//! Numbers, stamps and reports exchanges, and keeps count of what a flooding client may still have reported.
//!
//! Everything is stamped under one lock, which makes the order of the stamps the order of what happened.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use super::connection::Connection;
use super::redaction::Redaction;
use super::{Authorization, Ending, Exchange, Limits};
use crate::{Token, clock};

const PATH_LIMIT: usize = 1024;
const CONTENT_TYPE_LIMIT: usize = 256;
const METHOD_LIMIT: usize = 32;

#[derive(Debug)]
pub(super) struct Ledger {
    token: Token,
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    events: UnboundedSender<Exchange>,
    last_id: u64,
    under_way: HashMap<u64, UnderWay>,
    reports_left: u64,
    bytes_left: usize,
    unreported: u64,
    newest_unreported: u64,
}

/// An exchange without an end.
#[derive(Debug)]
struct UnderWay {
    connection: Arc<Connection>,
    started_reported: bool,
    /// The end that was found out before the start could be reported.
    end: Option<(u64, Ending)>,
}

/// A request's head, as far as it is reported.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) authorization: Authorization,
    pub(super) content_type: Option<String>,
}

impl Ledger {
    pub(super) fn new(events: UnboundedSender<Exchange>, token: &Token, limits: Limits) -> Self {
        let state = State {
            events,
            last_id: 0,
            under_way: HashMap::new(),
            reports_left: limits.exchanges,
            bytes_left: limits.bytes,
            unreported: 0,
            newest_unreported: 0,
        };
        Self {
            token: token.clone(),
            limits,
            state: Mutex::new(state),
        }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Opens an exchange whose head has just arrived. None if a limit was reached: it was only counted.
    pub(super) fn begin(self: &Arc<Self>, connection: &Arc<Connection>, head: Head) -> Option<OpenExchange> {
        connection.brought_request();
        let mut state = self.state();
        state.end_the_left();
        let at = clock::now();
        if !state.may_report(at) {
            return None;
        }
        state.last_id += 1;
        let id = state.last_id;
        let under_way = UnderWay {
            connection: connection.clone(),
            started_reported: false,
            end: None,
        };
        state.under_way.insert(id, under_way);
        Some(OpenExchange {
            ledger: self.clone(),
            id,
            at,
            head: Some(head),
            body: Vec::new(),
            body_size: 0,
            connection: connection.clone(),
        })
    }

    /// Reports what happened to a connection apart from any exchange.
    pub(super) fn connection(&self, event: impl FnOnce(u64) -> Exchange) {
        let mut state = self.state();
        let at = clock::now();
        if state.may_report(at) {
            state.report(event(at));
        }
    }

    /// The endpoint is being dropped.
    pub(super) fn close(&self) {
        let state = self.state();
        if state.unreported > 1 {
            state.report(Exchange::Flooded {
                at: state.newest_unreported,
                count: state.unreported,
            });
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn report(&self, event: Exchange) {
        // Nobody may be listening any more, which is no concern of the endpoint's.
        let _ = self.events.send(event);
    }

    fn may_report(&mut self, at: u64) -> bool {
        if self.unreported == 0 && self.reports_left > 0 && self.bytes_left > 0 {
            self.reports_left -= 1;
            return true;
        }
        self.unreported += 1;
        self.newest_unreported = at;
        if self.unreported == 1 {
            self.report(Exchange::Flooded { at, count: 1 });
        }
        false
    }

    /// Ends the exchanges that will have no answer. A client that gives a request up and sends the next may have
    /// that one read first; without this look around, the two would seem to overlap.
    fn end_the_left(&mut self) {
        let mut ended = Vec::new();
        for (&id, exchange) in &mut self.under_way {
            if exchange.end.is_none()
                && let Some(how) = exchange.connection.ending()
            {
                exchange.end = Some((clock::now(), how));
                if exchange.started_reported {
                    ended.push(id);
                }
            }
        }
        // In the order in which they started; a map has none.
        ended.sort_unstable();
        for id in ended {
            self.end(id, Ending::GivenUp, false);
        }
    }

    /// Reports an end, unless one was reported before. An end found out earlier goes before `how`.
    fn end(&mut self, id: u64, how: Ending, recorded: bool) {
        let Some(exchange) = self.under_way.remove(&id) else {
            return;
        };
        let (at, how, recorded) = match exchange.end {
            Some((at, earlier)) => (at, earlier, false),
            None => (clock::now(), how, recorded),
        };
        self.report(Exchange::Ended {
            id,
            at,
            how,
            recorded,
        });
    }
}

/// An exchange that was begun. If it is dropped without an end, its client has left or its connection was cut.
pub(super) struct OpenExchange {
    ledger: Arc<Ledger>,
    id: u64,
    at: u64,
    /// None once the start was reported.
    head: Option<Head>,
    body: Vec<u8>,
    body_size: usize,
    connection: Arc<Connection>,
}

impl OpenExchange {
    /// Takes the next part of the body.
    pub(super) fn push(&mut self, part: &[u8]) {
        // So much more than is kept that a token across the cut can be seen.
        let limit = self.ledger.limits.body + self.ledger.token.reveal().len();
        let room = limit.saturating_sub(self.body.len());
        self.body.extend_from_slice(&part[..part.len().min(room)]);
        self.body_size += part.len();
    }

    pub(super) fn body_size(&self) -> usize {
        self.body_size
    }

    pub(super) fn body_cut(&self) -> bool {
        self.body_size > self.ledger.limits.body
    }

    /// Reports the start, and gives the body back. To be called once, when the whole body has arrived.
    pub(super) fn body_arrived(&mut self) -> Vec<u8> {
        let ledger = self.ledger.clone();
        let mut state = ledger.state();
        self.report_started(&mut state, Some(clock::now()));
        std::mem::take(&mut self.body)
    }

    /// Reports an end. If the connection was cut meanwhile, that is how it ended.
    pub(super) fn end(self, how: Ending, recorded: bool) {
        let (how, recorded) = match self.connection.cut_ending() {
            Some(cut) => (cut, false),
            None => (how, recorded),
        };
        self.ledger.state().end(self.id, how, recorded);
    }

    fn report_started(&mut self, state: &mut State, body_at: Option<u64>) {
        let Some(head) = self.head.take() else { return };
        let mut redaction = Redaction::of(&self.ledger.token);
        let method = redaction.text(&head.method, METHOD_LIMIT);
        let path = redaction.text(&head.path, PATH_LIMIT);
        let content_type = head
            .content_type
            .map(|text| redaction.text(&text, CONTENT_TYPE_LIMIT));
        let body = redaction.bytes(&self.body, self.ledger.limits.body);
        let size = method.len() + path.len() + content_type.as_ref().map_or(0, String::len) + body.len();
        state.bytes_left = state.bytes_left.saturating_sub(size);
        if let Some(exchange) = state.under_way.get_mut(&self.id) {
            exchange.started_reported = true;
        }
        state.report(Exchange::Started {
            id: self.id,
            at: self.at,
            body_at,
            method,
            path,
            authorization: head.authorization,
            content_type,
            body,
            body_cut: self.body_cut(),
            token_removed: redaction.removed,
        });
    }
}

impl Drop for OpenExchange {
    fn drop(&mut self) {
        let ledger = self.ledger.clone();
        let mut state = ledger.state();
        if !state.under_way.contains_key(&self.id) {
            return;
        }
        self.report_started(&mut state, None);
        let how = self.connection.ending().unwrap_or(Ending::GivenUp);
        state.end(self.id, how, false);
    }
}
