//! One stop of a seat: what began it, who lived then, and who was still there when its time was over.

use crate::contract::grace::{MILLISECOND, SECOND};
use crate::history::views::LaunchView;
use crate::history::{Event, Fact, Process, Step, Wire};

/// How long a stopped seat has to end by itself.
pub(super) const GIVEN: u64 = 10 * SECOND;

/// The engine's own clocks may differ by this much from the time it means to give.
const SLACK: u64 = 100 * MILLISECOND;

/// What a process left behind is, as far as the history says (reading 43).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::contract) enum Kind {
    /// The runner, or a process of its own group that is nothing of the agent's.
    Runner,
    /// The agent itself.
    Agent,
    /// Something else of the agent's process group.
    AgentsGroup,
    /// A process that left the groups of both.
    Elsewhere,
}

/// A process that was still there when the stop's time was over.
pub(in crate::contract) struct Left<'h> {
    pub(in crate::contract) event: &'h Event,
    pub(in crate::contract) pid: u32,
    pub(in crate::contract) command: &'h str,
    pub(in crate::contract) kind: Kind,
}

pub(in crate::contract) struct Stop<'v, 'h> {
    launch: &'v LaunchView<'h>,
    /// The event that began it.
    pub(in crate::contract) began: &'h Event,
    /// In what way.
    pub(in crate::contract) how: &'h str,
    /// The event of its end: everything was gone, or was killed.
    pub(in crate::contract) over: Option<&'h Event>,
}

impl<'v, 'h> Stop<'v, 'h> {
    /// The stop of this launch. A pipe may end, and the seat go on for as long as it likes (reading 21).
    pub(in crate::contract) fn of(launch: &'v LaunchView<'h>) -> Option<Self> {
        let (began, how) = launch.events.iter().find_map(|event| match &event.fact {
            Fact::Step(Step::Stopping { how }) => Some((*event, how.as_str())),
            _ => None,
        })?;
        if how == "end_of_input" && launch.facts.transport == "pipe" {
            return None;
        }
        let over = launch
            .events
            .iter()
            .copied()
            .find(|event| matches!(event.fact, Fact::Step(Step::Stopped { .. })));
        Some(Self {
            launch,
            began,
            how,
            over,
        })
    }

    /// The way in words.
    pub(in crate::contract) fn way(&self) -> &'static str {
        match self.how {
            "hangup" => "the terminal hung up",
            "hangup_signal" => "SIGHUP",
            "terminate" => "SIGTERM",
            "end_of_input" => "the end of the terminal's input",
            _ => "the stop",
        }
    }

    /// The runner's exit, if it came after the stop began.
    pub(in crate::contract) fn runner_exit(&self) -> Option<&'h Event> {
        self.launch.runner_exit().filter(|exit| exit.at >= self.began.at)
    }

    /// Whether the runner was there to be stopped.
    pub(in crate::contract) fn runner_lived(&self) -> bool {
        self.runner().is_some()
            && self
                .launch
                .runner_exit()
                .is_none_or(|exit| exit.at >= self.began.at)
    }

    /// Processes still there when the time was over.
    pub(in crate::contract) fn left(&self) -> Vec<Left<'h>> {
        self.launch
            .events
            .iter()
            .filter(|event| event.sequence > self.began.sequence)
            .filter_map(|event| match &event.fact {
                Fact::Process(Process::Survivor {
                    pid,
                    process_group,
                    command,
                    ..
                }) => Some(Left {
                    event,
                    pid: *pid,
                    command,
                    kind: self.kind(*pid, *process_group),
                }),
                _ => None,
            })
            .collect()
    }

    /// Whether it had all the time that it has to be given; a run that is broken off gives less.
    pub(in crate::contract) fn had_its_time(&self, left: &Left<'_>) -> bool {
        left.event.at.saturating_sub(self.began.at) + SLACK >= GIVEN
    }

    fn kind(&self, pid: u32, process_group: u32) -> Kind {
        let agents = self.agents();
        if self.runner() == Some(pid) {
            return Kind::Runner;
        }
        if agents.contains(&pid) {
            return Kind::Agent;
        }
        match self.children().find(|(child, _, _)| *child == pid) {
            Some((_, true, _)) => return Kind::Elsewhere,
            Some((_, false, _)) => return Kind::AgentsGroup,
            None => {}
        }
        if agents.contains(&process_group) {
            Kind::AgentsGroup
        } else if self.runner() == Some(process_group) {
            Kind::Runner
        } else {
            Kind::Elsewhere
        }
    }

    fn runner(&self) -> Option<u32> {
        self.launch.events.iter().find_map(|event| match event.fact {
            Fact::Process(Process::RunnerStarted { pid }) => Some(pid),
            _ => None,
        })
    }

    fn agents(&self) -> Vec<u32> {
        self.launch
            .agents
            .iter()
            .filter_map(|agent| match agent.started.fact {
                Fact::Wire(Wire::AgentStarted { pid, .. }) => Some(pid),
                _ => None,
            })
            .collect()
    }

    /// Children that agents are known to have started before the stop: pid, whether in its own session, and the event.
    pub(in crate::contract) fn children(&self) -> impl Iterator<Item = (u32, bool, &'h Event)> {
        self.launch.events.iter().filter_map(|event| match event.fact {
            Fact::Wire(Wire::Child { pid, own_session, .. }) => Some((pid, own_session, *event)),
            _ => None,
        })
    }
}
