//! What an engine and the fake agent say to each other: JSON lines over a Unix stream socket.
//!
//! The agent connects and sends [`Fact::Hello`]. The engine's first [`Order`] is the script; the agent
//! reads nothing from its standard input before it has one. When the socket closes, the agent exits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::bytes::Bytes;
use crate::script::{Action, Exit, Script};

/// What the engine asks of the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The script to play. Must be the first order, and comes once.
    Script(Box<Script>),
    /// Opens the gate of this name, for good.
    Open(String),
    /// What to do about a question of the agent's.
    Do(Told),
}

/// An answer to [`Fact::Asks`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// The question.
    pub ask: u64,
    /// What to do, in order.
    pub actions: Vec<Action>,
    /// Whether the question stays open for more.
    pub more: bool,
}

/// One thing that the agent observed or did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// When, in nanoseconds of CLOCK_MONOTONIC.
    pub at: u64,
    /// What.
    pub fact: Fact,
}

/// What a [`Report`] is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// The agent started. Always the first report.
    Hello(Box<Hello>),
    /// A line came from the runner. Stamped right after the read that completed it.
    Received {
        /// The line, without its newline.
        line: Bytes,
        /// Why the line is not a whole one. Such a line is recorded and not acted upon.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unfinished: Option<Unfinished>,
    },
    /// The runner closed the agent's standard input.
    EndOfInput,
    /// The next lines go to the runner in an unusual way: one cut in several writes, or several in one.
    Framed {
        /// How many lines.
        lines: u32,
        /// In how many writes.
        writes: u32,
    },
    /// A message goes to the runner. Stamped just before its first byte is written.
    Sent {
        /// The line, without its newline.
        line: Bytes,
    },
    /// Bytes that are no message go to the runner. Stamped just before the first of them is written.
    RawSent {
        /// The bytes, with any newlines among them.
        bytes: Bytes,
    },
    /// A list of actions came to a gate, or passed it.
    Gate {
        /// The gate's name.
        name: String,
        /// Which of the two.
        state: GateState,
    },
    /// A list of actions asks what to do.
    Asks {
        /// The question, counted from 1.
        ask: u64,
        /// The method of the message that the list runs for; empty at the start of the process.
        method: String,
    },
    /// A child process runs, in the session it was asked to have.
    Child {
        /// Its process id.
        pid: u32,
        /// Whether it leads a session of its own.
        own_session: bool,
    },
    /// The agent closes its standard output. What it would write from here on is dropped.
    StdoutClosed,
    /// Standard output can't be written: the runner closed it. What would follow is dropped.
    StdoutFailed {
        /// The system's reason.
        reason: String,
    },
    /// Text goes to standard error. Stamped just before the first byte is written.
    Stderr {
        /// How many bytes.
        bytes: u64,
    },
    /// The agent ends of its own accord, right after this report.
    Ending(Exit),
    /// The script asked for something impossible; the action in question was skipped.
    Trouble {
        /// What, in words.
        text: String,
    },
}

/// How the agent was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// Its process id.
    pub pid: u32,
    /// What `--label` said.
    pub label: Option<String>,
    /// The runner's own arguments: all that follow `--`.
    pub arguments: Vec<Bytes>,
    /// All of the environment. Bytes of a name that are not UTF-8 are replaced by U+FFFD.
    pub environment: BTreeMap<String, Bytes>,
    /// The working directory; empty if it is gone.
    pub directory: Bytes,
    /// The process group's id.
    pub process_group: u32,
    /// The session's id.
    pub session: u32,
}

/// Where a list of actions stands at a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    /// It came to the gate. Reported at an open gate too.
    Waiting,
    /// It went on.
    Passed,
}

/// Why a received line is not a whole one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unfinished {
    /// It is longer than 8 MiB; the report holds only its first 64 KiB.
    TooLong,
    /// The input ended before its newline.
    EndOfInput,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::SignalName;

    #[test]
    fn orders_look_as_documented() {
        let open: Order = serde_json::from_str(r#"{"open":"answer"}"#).unwrap();
        assert_eq!(open, Order::Open("answer".into()));
        let told: Order =
            serde_json::from_str(r#"{"do":{"ask":3,"actions":[{"end":"end_turn"}],"more":false}}"#).unwrap();
        let expected = Told {
            ask: 3,
            actions: vec![Action::End("end_turn".into())],
            more: false,
        };
        assert_eq!(told, Order::Do(expected));
        let script: Order =
            serde_json::from_str(r#"{"script":{"turns":[[{"say":"hi"},"close_stdout"]]}}"#).unwrap();
        let again: Order = serde_json::from_str(&serde_json::to_string(&script).unwrap()).unwrap();
        assert_eq!(again, script);
    }

    #[test]
    fn reports_look_as_documented() {
        let report = |fact| serde_json::to_string(&Report { at: 7, fact }).unwrap();
        assert_eq!(
            report(Fact::Received {
                line: "{}".into(),
                unfinished: None
            }),
            r#"{"at":7,"fact":{"received":{"line":"{}"}}}"#
        );
        assert_eq!(report(Fact::EndOfInput), r#"{"at":7,"fact":"end_of_input"}"#);
        assert_eq!(
            report(Fact::Ending(Exit::Signal(SignalName::Kill))),
            r#"{"at":7,"fact":{"ending":{"signal":"KILL"}}}"#
        );
        assert_eq!(
            report(Fact::Gate {
                name: "a".into(),
                state: GateState::Waiting
            }),
            r#"{"at":7,"fact":{"gate":{"name":"a","state":"waiting"}}}"#
        );
    }

    #[test]
    fn reports_round_trip() {
        let facts = [
            Fact::Hello(Box::new(Hello {
                pid: 1,
                label: Some("dsh".into()),
                arguments: vec![Bytes::from(&[0xfe][..])],
                environment: BTreeMap::from([("HOME".into(), "/".into())]),
                directory: "/".into(),
                process_group: 1,
                session: 1,
            })),
            Fact::Received {
                line: Bytes::from(&[0xff][..]),
                unfinished: Some(Unfinished::TooLong),
            },
            Fact::Sent { line: "x".into() },
            Fact::RawSent { bytes: "x\n".into() },
            Fact::Asks {
                ask: 1,
                method: "session/prompt".into(),
            },
            Fact::Child {
                pid: 3,
                own_session: true,
            },
            Fact::StdoutClosed,
            Fact::StdoutFailed {
                reason: "gone".into(),
            },
            Fact::Stderr { bytes: 9 },
            Fact::Ending(Exit::Code(3)),
            Fact::Trouble { text: "no".into() },
        ];
        for fact in facts {
            let report = Report { at: u64::MAX, fact };
            let json = serde_json::to_string(&report).unwrap();
            assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
        }
    }
}
