//! Collects a seat's events, in bounded memory, with the token in none of them.

use std::borrow::Cow;

use super::setup::Setup;
use super::torn_token;
use crate::history::{Bytes, Event, FORMAT, Fact, Header, History, Pane, Step, TOKEN_MARK, Wire};
use crate::scenario::Scenario;
use crate::seat::clock;

/// So many bytes of raw content are kept of one seat; what comes later is counted and not kept.
const KEPT: usize = 96 << 20;

/// So many events are kept of one seat.
const EVENTS: usize = 400_000;

#[derive(Debug)]
pub(crate) struct Recorder {
    header: Header,
    start: u64,
    events: Vec<Event>,
    bytes: usize,
    dropped: u64,
    token: Vec<u8>,
}

impl Recorder {
    pub(crate) fn new(setup: &Setup, scenario: &Scenario, token: &str) -> Self {
        let header = Header {
            format: FORMAT.into(),
            contract: setup.contract.name.into(),
            scenario: scenario.id.clone(),
            exercises: scenario.exercises.clone(),
            declared: setup.declared.clone(),
            wall_start_ns: clock::wall_now(),
        };
        let token = token.as_bytes().to_vec();
        Self {
            header,
            start: clock::now(),
            events: Vec::new(),
            bytes: 0,
            dropped: 0,
            token,
        }
    }

    /// Adds a fact of this launch that was seen at `at` (`CLOCK_MONOTONIC`).
    pub(crate) fn add(&mut self, launch: u32, at: u64, fact: Fact) {
        let fact = self.without_token(fact);
        let size = size(&fact);
        if self.bytes + size > KEPT || self.events.len() >= EVENTS {
            self.dropped += 1;
            return;
        }
        self.bytes += size;
        self.events.push(Event {
            sequence: 0,
            at: at.saturating_sub(self.start),
            launch,
            fact,
        });
    }

    /// The history, and how many events were not kept.
    pub(crate) fn finish(mut self) -> (History, u64) {
        // A token may fall across two reads; only now is it known what came after each.
        torn_token::replace(&mut self.events, &self.token);
        (History::new(self.header, self.events), self.dropped)
    }

    /// The fact as it may be kept and shown.
    pub(crate) fn without_token(&self, fact: Fact) -> Fact {
        match fact {
            Fact::Pane(Pane::Output { bytes }) => Fact::Pane(Pane::Output {
                bytes: self.clean(bytes),
            }),
            Fact::Wire(Wire::ToAgent { agent, line }) => Fact::Wire(Wire::ToAgent {
                agent,
                line: self.clean(line),
            }),
            Fact::Wire(Wire::FromAgent { agent, line }) => Fact::Wire(Wire::FromAgent {
                agent,
                line: self.clean(line),
            }),
            Fact::Wire(Wire::AgentStarted {
                agent,
                pid,
                arguments,
                environment,
            }) => {
                let clean = |text: String| {
                    String::from_utf8_lossy(&self.clean(text.into_bytes().into()).0).into_owned()
                };
                Fact::Wire(Wire::AgentStarted {
                    agent,
                    pid,
                    arguments: arguments.into_iter().map(clean).collect(),
                    environment: environment
                        .into_iter()
                        .map(|(name, value)| (name, clean(value)))
                        .collect(),
                })
            }
            Fact::Record(mut record) => {
                record.content = record.content.map(|content| self.clean(content));
                Fact::Record(record)
            }
            Fact::Step(Step::TimedOut {
                what,
                limit_ms,
                cut_short,
                screen,
            }) => Fact::Step(Step::TimedOut {
                what,
                limit_ms,
                cut_short,
                screen: self.clean_screen(screen),
            }),
            other => other,
        }
    }

    /// A token that is wrapped stands in no line, but in several.
    fn clean_screen(&self, screen: Vec<String>) -> Vec<String> {
        let holds = |text: &str| replaced(text.as_bytes(), &self.token) != text.as_bytes();
        if screen.iter().any(|line| holds(line)) || holds(&screen.concat()) {
            return vec![String::from_utf8_lossy(TOKEN_MARK).into_owned()];
        }
        screen
    }

    fn clean(&self, bytes: Bytes) -> Bytes {
        match replaced(&bytes.0, &self.token) {
            Cow::Borrowed(_) => bytes,
            Cow::Owned(clean) => Bytes(clean),
        }
    }
}

fn replaced<'b>(bytes: &'b [u8], token: &[u8]) -> Cow<'b, [u8]> {
    let find = |bytes: &[u8]| bytes.windows(token.len()).position(|window| window == token);
    if token.is_empty() || bytes.len() < token.len() || find(bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut clean = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while rest.len() >= token.len()
        && let Some(at) = find(rest)
    {
        clean.extend_from_slice(&rest[..at]);
        clean.extend_from_slice(TOKEN_MARK);
        rest = &rest[at + token.len()..];
    }
    clean.extend_from_slice(rest);
    Cow::Owned(clean)
}

fn size(fact: &Fact) -> usize {
    match fact {
        Fact::Pane(Pane::Output { bytes } | Pane::Input { bytes })
        | Fact::Wire(
            Wire::ToAgent { line: bytes, .. }
            | Wire::FromAgent { line: bytes, .. }
            | Wire::FromAgentRaw { bytes, .. },
        )
        | Fact::Post(crate::history::PostFact::Started { body: bytes, .. }) => bytes.0.len(),
        Fact::Record(record) => record.content.as_ref().map_or(0, |content| content.0.len()),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_taken_out_wherever_it_stands() {
        assert_eq!(
            replaced(b"a token here, token", b"token"),
            [b"a ", TOKEN_MARK, b" here, ", TOKEN_MARK].concat()
        );
        assert_eq!(replaced(b"tok", b"token"), b"tok".as_slice());
        assert_eq!(replaced(b"", b"token"), b"".as_slice());
    }
}
