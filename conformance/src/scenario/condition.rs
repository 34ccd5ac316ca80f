//! What a scenario can wait for.

use serde::Deserialize;

/// Something to wait for. What counts occurrences counts them per launch and uses each once: the second
/// `until: {agent: session/prompt}` of a launch waits for the second prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// The agent has read a message with this method.
    Agent(String),
    /// The agent has answered a request with this method.
    Answered(String),
    /// The runner has answered a request of the agent with this method.
    Replied(String),
    /// The agent waits at this gate.
    Gate(String),
    /// The agent's input ended.
    AgentInputEnded,
    /// An agent process has started.
    AgentStarted,
    /// An agent process has ended.
    AgentEnded,
    /// OpenRig would read the seat so: ready, resumed, missing, unconfirmed, attention; working, idle, needs_input,
    /// exited, unknown.
    Seat(SeatState),
    /// A post with this hook event and subtype has arrived, as `UserPromptSubmit/accepted`; `*` stands for any
    /// subtype, `_exited` for the preset's own exit.
    Post(String),
    /// The pane has shown this text since the launch; blanks and wrapping don't count.
    Pane(String),
    /// The seat has written something to its pane since this step began.
    Output,
    /// The runner has ended.
    RunnerEnded,
    /// One of these has come.
    Any(Vec<Condition>),
}

/// How OpenRig reads a seat, as far as a scenario waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatState {
    /// A usable record came in a new launch.
    Ready,
    /// It came in a resume.
    Resumed,
    /// The record says missing.
    Missing,
    /// The last report reads working.
    Working,
    /// The last report reads idle.
    Idle,
    /// The last report asks for a person.
    NeedsInput,
    /// The last report says that the agent exited.
    Exited,
}

impl SeatState {
    /// The word for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Resumed => "resumed",
            Self::Missing => "missing",
            Self::Working => "working",
            Self::Idle => "idle",
            Self::NeedsInput => "needs input",
            Self::Exited => "exited",
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Agent(method) => write!(formatter, "the agent to read {method}"),
            Self::Answered(method) => write!(formatter, "the agent to answer {method}"),
            Self::Replied(method) => write!(formatter, "the runner to answer {method}"),
            Self::Gate(name) => write!(formatter, "the agent to come to its gate {name:?}"),
            Self::AgentInputEnded => formatter.write_str("the agent's input to end"),
            Self::AgentStarted => formatter.write_str("an agent to be started"),
            Self::AgentEnded => formatter.write_str("the agent to end"),
            Self::Seat(state) => write!(formatter, "the seat to read {}", state.as_str()),
            Self::Post(name) => write!(formatter, "the post {name}"),
            Self::Pane(text) => write!(formatter, "the pane to show {text:?}"),
            Self::Output => formatter.write_str("the seat to write something"),
            Self::RunnerEnded => formatter.write_str("the runner to end"),
            Self::Any(conditions) => {
                for (index, condition) in conditions.iter().enumerate() {
                    if index > 0 {
                        formatter.write_str(", or ")?;
                    }
                    condition.fmt(formatter)?;
                }
                Ok(())
            }
        }
    }
}
