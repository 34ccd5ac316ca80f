//! The wire's lines as JSON-RPC messages, paired into exchanges.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::history::{Event, Fact, Wire};

/// One agent process of a launch.
#[derive(Debug, Clone)]
pub struct Agent<'h> {
    /// Its number within the launch, from 1.
    pub number: u32,
    /// The event of its start.
    pub started: &'h Event,
    /// The event of its end, if it ended within the history.
    pub ended: Option<&'h Event>,
}

/// Which way a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    ToAgent,
    FromAgent,
}

/// A line that is a JSON-RPC message, or is not.
#[derive(Debug, Clone)]
pub struct Message<'h> {
    /// The event it stands in.
    pub event: &'h Event,
    /// The agent process at the other end.
    pub agent: u32,
    pub(crate) way: Way,
    /// The parsed line; `None` where it is no JSON object.
    pub body: Option<Value>,
    /// What kind of message it is.
    pub shape: Shape,
}

/// The kinds of JSON-RPC messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// It has a method and an id.
    Request {
        /// The method.
        method: String,
    },
    /// It has a method and no id.
    Notification {
        /// The method.
        method: String,
    },
    /// It has an id and a result or an error.
    Response,
    /// None of these.
    Other,
}

impl<'h> Message<'h> {
    pub(crate) fn parse(event: &'h Event, agent: u32, way: Way, line: &[u8]) -> Self {
        let body = serde_json::from_slice::<Value>(line)
            .ok()
            .filter(Value::is_object);
        let shape = body.as_ref().map_or(Shape::Other, |body| {
            let method = body.get("method").and_then(Value::as_str);
            match (method, body.get("id")) {
                (Some(method), Some(_)) => Shape::Request {
                    method: method.into(),
                },
                (Some(method), None) => Shape::Notification {
                    method: method.into(),
                },
                (None, Some(_)) if body.get("result").is_some() || body.get("error").is_some() => {
                    Shape::Response
                }
                _ => Shape::Other,
            }
        });
        Self {
            event,
            agent,
            way,
            body,
            shape,
        }
    }

    /// The method of a request or notification.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        match &self.shape {
            Shape::Request { method } | Shape::Notification { method } => Some(method),
            Shape::Response | Shape::Other => None,
        }
    }

    /// Whether the runner sent it.
    #[must_use]
    pub fn to_agent(&self) -> bool {
        self.way == Way::ToAgent
    }

    /// A value inside the message, by JSON pointer.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.body.as_ref().and_then(|body| body.pointer(pointer))
    }

    /// A text inside the message, by JSON pointer.
    #[must_use]
    pub fn text_at(&self, pointer: &str) -> Option<&str> {
        self.at(pointer).and_then(Value::as_str)
    }

    /// The message's id, with its type.
    #[must_use]
    pub fn id(&self) -> Option<&Value> {
        self.at("/id")
    }
}

/// A request and every answer that carried its id, in either direction.
#[derive(Debug, Clone)]
pub struct Exchange<'h> {
    /// The request.
    pub request: Message<'h>,
    /// Its answers; a well-behaved peer gives one.
    pub answers: Vec<Message<'h>>,
}

impl Exchange<'_> {
    /// The request's method.
    #[must_use]
    pub fn method(&self) -> &str {
        self.request.method().unwrap_or_default()
    }

    /// The first answer.
    #[must_use]
    pub fn answer(&self) -> Option<&Message<'_>> {
        self.answers.first()
    }

    /// Whether the first answer is a result, `null` included.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.answer()
            .is_some_and(|answer| answer.at("/result").is_some() && self.error().is_none())
    }

    /// The first answer's error; some peers send a null beside a result.
    #[must_use]
    pub fn error(&self) -> Option<&Value> {
        self.answer()?.at("/error").filter(|error| !error.is_null())
    }
}

/// All lines of a launch as messages, in order. Bytes that an agent wrote raw are part of the stream like any other: a
/// line that they make up is stamped with the last of them.
pub(crate) fn messages<'h>(events: &[&'h Event]) -> Vec<Message<'h>> {
    let mut messages = Vec::new();
    let mut begun: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for event in events {
        match &event.fact {
            Fact::Wire(Wire::ToAgent { agent, line }) => {
                messages.push(Message::parse(event, *agent, Way::ToAgent, &line.0));
            }
            Fact::Wire(Wire::FromAgent { agent, line }) => {
                let mut whole = begun.remove(agent).unwrap_or_default();
                whole.extend_from_slice(&line.0);
                messages.push(Message::parse(event, *agent, Way::FromAgent, &whole));
            }
            Fact::Wire(Wire::FromAgentRaw { agent, bytes }) => {
                let open = begun.entry(*agent).or_default();
                open.extend_from_slice(&bytes.0);
                let whole = open
                    .iter()
                    .rposition(|byte| *byte == b'\n')
                    .map_or(0, |end| end + 1);
                let lines: Vec<u8> = open.drain(..whole).collect();
                messages.extend(
                    lines
                        .split(|byte| *byte == b'\n')
                        .filter(|line| !line.is_empty())
                        .map(|line| Message::parse(event, *agent, Way::FromAgent, line)),
                );
            }
            _ => {}
        }
    }
    messages
}

/// Requests that went `way`, each with the answers that came the other way: an answer belongs to the newest request
/// of its id before it.
pub(crate) fn exchanges<'h>(messages: &[Message<'h>], way: Way) -> Vec<Exchange<'h>> {
    let mut exchanges: Vec<Exchange<'h>> = Vec::new();
    for message in messages {
        match message.shape {
            Shape::Request { .. } if message.way == way => {
                exchanges.push(Exchange {
                    request: message.clone(),
                    answers: Vec::new(),
                });
            }
            Shape::Response if message.way != way => {
                let asked = exchanges.iter_mut().rev().find(|exchange| {
                    exchange.request.agent == message.agent && exchange.request.id() == message.id()
                });
                if let Some(asked) = asked {
                    asked.answers.push(message.clone());
                }
            }
            _ => {}
        }
    }
    exchanges
}

/// The agent processes of a launch.
pub(crate) fn agents<'h>(events: &[&'h Event]) -> Vec<Agent<'h>> {
    let mut agents: Vec<Agent<'h>> = Vec::new();
    for event in events {
        match &event.fact {
            Fact::Wire(Wire::AgentStarted { agent, .. }) => {
                agents.push(Agent {
                    number: *agent,
                    started: event,
                    ended: None,
                });
            }
            Fact::Wire(Wire::AgentEnded { agent }) => {
                if let Some(known) = agents.iter_mut().find(|known| known.number == *agent) {
                    known.ended = Some(event);
                }
            }
            _ => {}
        }
    }
    agents
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Bytes;

    fn event(fact: Wire) -> Event {
        Event {
            sequence: 0,
            at: 0,
            launch: 1,
            fact: Fact::Wire(fact),
        }
    }

    fn raw(agent: u32, text: &str) -> Event {
        event(Wire::FromAgentRaw {
            agent,
            bytes: Bytes::from(text),
        })
    }

    fn ids(events: &[Event]) -> Vec<Option<i64>> {
        let events: Vec<&Event> = events.iter().collect();
        messages(&events)
            .iter()
            .map(|message| message.id().and_then(Value::as_i64))
            .collect()
    }

    #[test]
    fn raw_bytes_make_lines_wherever_they_are_cut() {
        let cut = [
            raw(1, "{\"id\":1,"),
            raw(2, "{\"id\":2}\n"),
            raw(1, "\"result\":{}}\n{\"id\":3}\n{\"id\""),
            event(Wire::FromAgent {
                agent: 1,
                line: Bytes::from(":4}"),
            }),
        ];
        assert_eq!(ids(&cut), [Some(2), Some(1), Some(3), Some(4)]);
    }

    #[test]
    fn a_line_behind_noise_is_none() {
        let spoilt = [
            raw(1, "log: "),
            event(Wire::FromAgent {
                agent: 1,
                line: Bytes::from("{\"id\":1}"),
            }),
        ];
        assert_eq!(ids(&spoilt), [None]);
    }
}
