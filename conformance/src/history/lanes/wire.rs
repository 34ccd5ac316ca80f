//! The lane of the wire: lines between runner and agent, as the agent saw them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::history::Bytes;

/// Lines between runner and agent. `agent` counts the agent processes of a launch from 1.
///
/// A line to the agent is stamped right after the agent read it, a line from the agent just before it was written:
/// whatever the runner does because of an answer therefore stands after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// An agent process started.
    AgentStarted {
        /// Which.
        agent: u32,
        /// Its process id.
        pid: u32,
        /// Its arguments, the name it was called by first.
        arguments: Vec<String>,
        /// Its environment.
        environment: BTreeMap<String, String>,
    },
    /// The agent read a line.
    ToAgent {
        /// Which agent.
        agent: u32,
        /// Without its newline.
        line: Bytes,
    },
    /// The agent is about to write its next lines in an unusual way: one cut in several writes, or several in one.
    Framed {
        /// Which agent.
        agent: u32,
        /// How many lines.
        lines: u32,
        /// In how many writes.
        writes: u32,
    },
    /// The agent wrote a line.
    FromAgent {
        /// Which agent.
        agent: u32,
        /// Without its newline.
        line: Bytes,
    },
    /// The agent wrote bytes that are no frame of its own making.
    FromAgentRaw {
        /// Which agent.
        agent: u32,
        /// The bytes.
        bytes: Bytes,
    },
    /// The agent's input ended.
    EndOfInput {
        /// Which agent.
        agent: u32,
    },
    /// The agent came to a gate, or passed it.
    Gate {
        /// Which agent.
        agent: u32,
        /// The gate.
        name: String,
        /// False: waiting before it.
        passed: bool,
    },
    /// The agent closed its standard output and lives on.
    StdoutClosed {
        /// Which agent.
        agent: u32,
    },
    /// The agent wrote this many bytes on its standard error.
    Stderr {
        /// Which agent.
        agent: u32,
        /// How many.
        bytes: u64,
    },
    /// The agent started a child.
    Child {
        /// Which agent.
        agent: u32,
        /// The child.
        pid: u32,
        /// Whether it leads a session of its own.
        own_session: bool,
    },
    /// The agent is about to end of its own accord.
    Ending {
        /// Which agent.
        agent: u32,
        /// The exit code, if it exits.
        code: Option<i32>,
        /// The signal, if it kills itself.
        signal: Option<String>,
    },
    /// The agent's process is gone.
    AgentEnded {
        /// Which agent.
        agent: u32,
    },
    /// The script could not be carried out: a fault of the scenario.
    Trouble {
        /// Which agent.
        agent: u32,
        /// What.
        text: String,
    },
}
