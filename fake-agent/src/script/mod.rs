//! What a fake agent is told to do.
//!
//! The types are read from YAML through `serde_yaml::with::singleton_map_recursive` (`- say: hello`) and
//! travel as JSON; both forms hold the same. Nothing in them is untagged or flattened, so that a mistake
//! is reported where it stands.

mod action;
mod delay;
mod exit;
mod fields;
mod raw;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

pub use action::{Action, Permission, Request};
pub use delay::{Delay, DelayError};
pub use exit::{Exit, SignalName};
pub use raw::{Raw, RawError};

/// A whole script. Every field may be left out; the default is an agent that opens and reopens
/// conversations and answers each prompt with one text and `end_turn`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// `agentInfo` in the answer to initialize; `null` leaves it out.
    pub info: Option<Info>,
    /// `protocolVersion` in the answer to initialize, of any type.
    pub protocol_version: Value,
    /// `agentCapabilities` in the answer to initialize, as it stands. The built-in answers go by it too.
    pub capabilities: Value,
    /// The ids that session/new hands out, in this order; after them come `conversation-N`, where N
    /// counts every session/new of the process.
    pub conversations: Vec<String>,
    /// What the end of standard input does: exit with code 0, or nothing.
    pub end_of_input: Reaction,
    /// What SIGTERM does: exit with code 0, or nothing. Without it SIGTERM kills as usual.
    pub terminate: Option<Reaction>,
    /// How every line is cut when it is written.
    pub framing: Option<Framing>,
    /// Runs when the process starts, before anything is read.
    pub at_start: Vec<Action>,
    /// Replaces the built-in answer to a method, or follows a notification. session/prompt is not among
    /// them: it has `turns`.
    #[serde(deserialize_with = "methods")]
    pub on: BTreeMap<String, Vec<Action>>,
    /// Runs after the answer to session/new, session/load or session/resume was written, unless it was
    /// an error.
    pub after_open: Vec<Action>,
    /// What the first, second, … session/prompt of this process gets.
    pub turns: Vec<Vec<Action>>,
    /// What every session/prompt beyond `turns` gets.
    pub otherwise: Vec<Action>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            info: Some(Info {
                name: "fake-agent".into(),
                title: None,
                version: "1".into(),
            }),
            protocol_version: json!(1),
            capabilities: json!({"loadSession": true}),
            conversations: Vec::new(),
            end_of_input: Reaction::Exit,
            terminate: None,
            framing: None,
            at_start: Vec::new(),
            on: BTreeMap::new(),
            after_open: Vec::new(),
            turns: Vec::new(),
            otherwise: vec![Action::Say("done".into()), Action::End("end_turn".into())],
        }
    }
}

impl Script {
    /// Every action of the script, those inside `repeat` included.
    pub(crate) fn actions(&self) -> Vec<&Action> {
        let lists = self.on.values().chain(&self.turns);
        let mut open: Vec<&[Action]> = lists.map(Vec::as_slice).collect();
        open.extend([&self.at_start[..], &self.after_open, &self.otherwise]);
        let mut all = Vec::new();
        while let Some(list) = open.pop() {
            for action in list {
                all.push(action);
                if let Action::Repeat { actions, .. } = action {
                    open.push(actions);
                }
            }
        }
        all
    }
}

/// Who the agent says it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Info {
    /// The program's name.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The version, as text.
    pub version: String,
}

/// What an event does to the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reaction {
    /// It exits with code 0.
    Exit,
    /// It lives on.
    Ignore,
}

/// How a line is cut into writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Framing {
    /// Bytes in one write, at least 1.
    pub chunk: std::num::NonZeroUsize,
    /// The pause between two writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Delay>,
}

fn methods<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Vec<Action>>, D::Error> {
    /// A key, checked while it is read, so that a refusal shows its place.
    #[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
    #[serde(try_from = "String")]
    struct Method(String);

    impl TryFrom<String> for Method {
        type Error = &'static str;

        fn try_from(method: String) -> Result<Self, Self::Error> {
            if method == "session/prompt" {
                return Err("`on` can't hold session/prompt: use `turns` and `otherwise`");
            }
            Ok(Self(method))
        }
    }

    let on = BTreeMap::<Method, Vec<Action>>::deserialize(deserializer)?;
    Ok(on
        .into_iter()
        .map(|(Method(method), actions)| (method, actions))
        .collect())
}

#[cfg(test)]
mod tests;
