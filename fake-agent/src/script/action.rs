//! The single things that a script can ask for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fields::present;
use super::{Delay, Exit, Raw};

/// One action. A list of them runs in order, beside the lists of other requests.
///
/// An action that needs a session takes the one that the request names, else the one opened last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Sends an `agent_message_chunk` with this text.
    Say(String),
    /// Sends an `agent_thought_chunk` with this text.
    Think(String),
    /// Sends one `agent_message_chunk` with a text of this many bytes.
    SayLarge {
        /// The length of the text.
        bytes: usize,
    },
    /// Sends a session/update with this `update`.
    Update(Value),
    /// The same for any session.
    UpdateFor {
        /// The session's id.
        session: String,
        /// The `update`.
        update: Value,
    },
    /// Sends so many pairs of a `user_message_chunk` and an `agent_message_chunk`.
    Replay {
        /// How many pairs.
        turns: usize,
    },
    /// Sends a notification.
    Notify {
        /// Its method.
        method: String,
        /// Its parameters; without them the field is left out.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "present"
        )]
        params: Option<Value>,
    },
    /// Sends a request of the agent's own.
    Request(Request),
    /// Sends a session/request_permission.
    Permission(Permission),
    /// Sends a `tool_call` update.
    ToolCall {
        /// The tool call's id.
        id: String,
        /// What people see.
        title: String,
        /// `pending` if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<String>,
    },
    /// Sends a `tool_call_update` with a status.
    ToolDone {
        /// The tool call's id.
        id: String,
        /// `completed`, `failed` or any other.
        status: String,
    },
    /// Waits until a message with this method has come since this list began.
    Await(String),
    /// Waits for the answer to the agent's own request of this id.
    AwaitAnswer(Value),
    /// Waits until the engine opens the gate of this name. Alone, gates are open.
    Gate(String),
    /// Asks the engine what to do, and does what it orders until it orders no more. Alone, it answers as usual.
    Ask,
    /// Waits for so long.
    Pause(Delay),
    /// Answers the request as if the script had not mentioned its method (a prompt: `end_turn`).
    Answer,
    /// Answers the request with this result.
    Result(Value),
    /// Answers the request with this stop reason.
    End(String),
    /// Answers the request with an error.
    Error {
        /// The code.
        code: i64,
        /// The message.
        message: String,
        /// More about it; without it the field is left out.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "present"
        )]
        data: Option<Value>,
    },
    /// Sends any JSON as one message line.
    Send(Value),
    /// Writes bytes to standard output, with nothing added.
    Raw(Raw),
    /// Writes a line to standard output that is no message.
    Noise(String),
    /// Sends several message lines in a single write, whatever the framing.
    Joined(Vec<Value>),
    /// Writes a line to standard error.
    Stderr(String),
    /// Writes this many bytes to standard error, in lines.
    StderrFlood {
        /// How many bytes, newlines included.
        bytes: u64,
    },
    /// Starts a child process that lives until it is killed, or for one hour.
    Child {
        /// Whether it leads a session of its own; else it stays in the agent's process group.
        own_session: bool,
    },
    /// Closes standard output. What would be written after it is dropped.
    CloseStdout,
    /// Ends the process.
    Exit(Exit),
    /// Runs the actions several times.
    Repeat {
        /// How often.
        times: u64,
        /// What.
        actions: Vec<Action>,
    },
}

/// A request that the agent sends to the runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The parameters; without them the field is left out.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub params: Option<Value>,
    /// The id, of any type. Without it the next of the agent's own numbers, from 0 up.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub id: Option<Value>,
    /// Takes the id of the runner's request that is being answered, instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_id: bool,
    /// Adds a member `filler` of this many bytes to the parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filler: Option<usize>,
    /// Whether the next action waits for the answer.
    #[serde(default = "yes")]
    pub wait: bool,
}

/// A session/request_permission. All of it may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Permission {
    /// The request's id, as in [`Request`].
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub id: Option<Value>,
    /// The title; without it the tool call holds only its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool call's id, `call-1` if absent. `null` leaves the whole `toolCall` out.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub tool_call: Option<Option<String>>,
    /// The options offered; without it allow once, allow always and reject once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<Value>>,
    /// Another session than the list's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The tool call's `rawInput`; without it the field is left out.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub raw_input: Option<Value>,
    /// Whether the next action waits for the answer.
    pub wait: bool,
}

impl Default for Permission {
    fn default() -> Self {
        Self {
            id: None,
            title: None,
            tool_call: None,
            options: None,
            session: None,
            raw_input: None,
            wait: true,
        }
    }
}

fn yes() -> bool {
    true
}
