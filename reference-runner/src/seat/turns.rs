//! The rules of turns, as a state machine without input or output: what happened goes in, what to do comes
//! out.
//!
//! Invariants:
//! - one prompt at a time; what arrives meanwhile waits, in order;
//! - a prompt is accepted once it was submitted, not when it was typed;
//! - a turn is cancelled only on the agent's own word;
//! - from a permission request to the next accepted prompt, attention is held: no turn's end, no sign of
//!   idleness;
//! - after the agent's exit nothing but that exit is reported.

use crate::adapter::End;
use crate::seat::activity::Fact;
use crate::seat::queue::WaitingMessages;

/// Something to do, in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Hand this prompt to the agent.
    Submit(String),
    /// Ask the agent to cancel the turn.
    Cancel,
    /// Mirror an accepted prompt in the pane.
    Mirror(String),
    /// Tell the person at the pane.
    Tell(Notice),
    /// Report it as activity.
    Report(Fact),
}

/// What the pane says about turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The message waits, with this many before it. `opening` says it waits for the agent to be ready.
    Queued {
        before: usize,
        opening: bool,
    },
    /// Too much waits already; the message was not taken.
    BacklogFull,
    /// The message can't be submitted any more.
    NotSubmitted {
        reason: String,
    },
    CancelRequested,
    CancelAlreadyRequested,
    NothingToCancel,
    /// A cancel leaves this many messages waiting.
    StillWaiting(usize),
    /// This many messages will never be submitted.
    WaitingLost(usize),
    /// The turn ended so, and the person may want to know.
    TurnEnded(End),
    /// The turn ended while attention is held.
    NeedsInput,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    /// The conversation is not open yet.
    Opening,
    Idle,
    Working(Turn),
    /// Nothing can be submitted any more.
    Closed,
    /// The agent's process has ended.
    Exited,
}

#[derive(Debug, PartialEq, Eq)]
struct Turn {
    number: u64,
    /// The prompt, until it is accepted and mirrored.
    unaccepted: Option<String>,
    cancel_requested: bool,
}

/// The turns of one seat.
#[derive(Debug)]
pub(crate) struct Turns {
    phase: Phase,
    waiting: WaitingMessages,
    last_number: u64,
    attention_held: bool,
    /// Why nothing can be submitted any more. A turn under way may still end.
    closed_for: Option<String>,
}

impl Turns {
    pub(crate) fn new() -> Self {
        Self {
            phase: Phase::Opening,
            waiting: WaitingMessages::default(),
            last_number: 0,
            attention_held: false,
            closed_for: None,
        }
    }

    /// The agent can take prompts.
    pub(crate) fn ready(&mut self) -> Vec<Action> {
        if self.phase != Phase::Opening {
            return Vec::new();
        }
        self.phase = Phase::Idle;
        let mut actions = Vec::from_iter(self.idle_fact().map(Action::Report));
        actions.extend(self.submit_next());
        actions
    }

    /// A message came in.
    pub(crate) fn message(&mut self, text: String) -> Vec<Action> {
        if let Some(reason) = &self.closed_for {
            return vec![Action::Tell(Notice::NotSubmitted {
                reason: reason.clone(),
            })];
        }
        match &self.phase {
            Phase::Closed | Phase::Exited => Vec::new(),
            Phase::Opening | Phase::Working(_) => {
                let notice = Notice::Queued {
                    before: self.waiting.len(),
                    opening: self.phase == Phase::Opening,
                };
                let taken = self.waiting.push(text);
                vec![Action::Tell(if taken.is_ok() {
                    notice
                } else {
                    Notice::BacklogFull
                })]
            }
            Phase::Idle => self.submit(text),
        }
    }

    /// A person asks for the turn's cancellation.
    pub(crate) fn abort(&mut self) -> Vec<Action> {
        let Phase::Working(turn) = &mut self.phase else {
            let mut actions = vec![Action::Tell(Notice::NothingToCancel)];
            actions.extend(self.still_waiting());
            return actions;
        };
        let mut actions = if turn.cancel_requested {
            vec![Action::Tell(Notice::CancelAlreadyRequested)]
        } else {
            turn.cancel_requested = true;
            vec![Action::Cancel, Action::Tell(Notice::CancelRequested)]
        };
        actions.extend(self.still_waiting());
        actions
    }

    /// The prompt was submitted.
    pub(crate) fn accepted(&mut self) -> Vec<Action> {
        let Phase::Working(turn) = &mut self.phase else {
            return Vec::new();
        };
        let Some(prompt) = turn.unaccepted.take() else {
            return Vec::new();
        };
        self.attention_held = false;
        vec![
            Action::Report(Fact::Accepted { turn: turn.number }),
            Action::Mirror(prompt),
        ]
    }

    /// The agent asks for a permission, which has been refused already. Allowed at any time.
    pub(crate) fn permission_asked(&mut self) -> Vec<Action> {
        // An agent that asks has read the prompt, whatever this runner has heard of its writing so far.
        let mut actions = self.accepted();
        if self.phase != Phase::Exited {
            self.attention_held = true;
            actions.push(Action::Report(Fact::PermissionAsked {
                turn: self.current_turn(),
            }));
        }
        actions
    }

    /// The agent ended the turn.
    pub(crate) fn ended(&mut self, end: End) -> Vec<Action> {
        // An answered prompt was submitted, too.
        let mut actions = self.accepted();
        let Phase::Working(turn) = &self.phase else {
            return actions;
        };
        let turn = turn.number;
        self.phase = if self.closed_for.is_some() {
            Phase::Closed
        } else {
            Phase::Idle
        };
        let fact = match &end {
            End::Completed { .. } => Fact::TurnEnded { turn },
            End::Interrupted => Fact::Cancelled { turn },
            End::Failed { .. } => Fact::TurnFailed { turn },
        };
        actions.push(Action::Tell(Notice::TurnEnded(end)));
        actions.push(if self.attention_held {
            Action::Tell(Notice::NeedsInput)
        } else {
            Action::Report(fact)
        });
        actions.extend(self.submit_next());
        actions
    }

    /// Nothing can be submitted from here on. A turn under way stays open until its end is heard.
    pub(crate) fn closed(&mut self, reason: &str) -> Vec<Action> {
        if self.closed_for.is_some() || self.phase == Phase::Exited {
            return Vec::new();
        }
        self.closed_for = Some(reason.to_owned());
        let mut actions = Vec::new();
        match &self.phase {
            Phase::Working(turn) if turn.unaccepted.is_some() => {
                self.phase = Phase::Closed;
                actions.push(Action::Tell(Notice::NotSubmitted {
                    reason: reason.to_owned(),
                }));
            }
            Phase::Working(_) => {}
            Phase::Opening | Phase::Idle | Phase::Closed | Phase::Exited => self.phase = Phase::Closed,
        }
        actions.extend(self.lose_waiting());
        actions
    }

    /// The agent's process was seen to end.
    pub(crate) fn exited(&mut self) -> Vec<Action> {
        if self.phase == Phase::Exited {
            return Vec::new();
        }
        self.phase = Phase::Exited;
        let mut actions = vec![Action::Report(Fact::AgentExited)];
        actions.extend(self.lose_waiting());
        actions
    }

    /// The report that the seat is idle, if that is a fact now and no attention is held.
    pub(crate) fn idle_fact(&self) -> Option<Fact> {
        (self.phase == Phase::Idle && !self.attention_held).then_some(Fact::Idle)
    }

    /// Whether the conversation is still being opened.
    pub(crate) fn is_opening(&self) -> bool {
        self.phase == Phase::Opening
    }

    /// Whether a turn is under way.
    pub(crate) fn is_working(&self) -> bool {
        matches!(self.phase, Phase::Working(_))
    }

    /// Whether everything that came in has had its turn, or never will have one.
    pub(crate) fn is_drained(&self) -> bool {
        match self.phase {
            Phase::Idle | Phase::Closed | Phase::Exited => self.waiting.is_empty(),
            Phase::Opening | Phase::Working(_) => false,
        }
    }

    fn current_turn(&self) -> Option<u64> {
        match &self.phase {
            Phase::Working(turn) => Some(turn.number),
            Phase::Opening | Phase::Idle | Phase::Closed | Phase::Exited => None,
        }
    }

    fn submit_next(&mut self) -> Vec<Action> {
        match self.waiting.pop() {
            Some(message) => self.submit(message),
            None => Vec::new(),
        }
    }

    fn submit(&mut self, text: String) -> Vec<Action> {
        self.last_number += 1;
        self.phase = Phase::Working(Turn {
            number: self.last_number,
            unaccepted: Some(text.clone()),
            cancel_requested: false,
        });
        vec![Action::Submit(text)]
    }

    fn still_waiting(&self) -> Option<Action> {
        (!self.waiting.is_empty()).then(|| Action::Tell(Notice::StillWaiting(self.waiting.len())))
    }

    fn lose_waiting(&mut self) -> Vec<Action> {
        let lost = self.waiting.clear();
        if lost == 0 {
            Vec::new()
        } else {
            vec![Action::Tell(Notice::WaitingLost(lost))]
        }
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
