//! Activity: what the seat reports to OpenRig about its turns, and how the reports look.
//!
//! Every report carries the launch's own names and the time at which the fact happened, which never goes
//! backwards. The reports are numbered and sent by [`poster`], in order, one at a time.

pub(crate) mod endpoint;
pub(crate) mod http;
pub(crate) mod poster;

use serde_json::{Value, json};

use crate::launch::LaunchFacts;
use crate::seat::clock::WallClock;

/// A fact worth reporting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fact {
    /// The prompt of this turn was submitted.
    Accepted { turn: u64 },
    /// The agent ended the turn.
    TurnEnded { turn: u64 },
    /// The agent said that the turn was cancelled.
    Cancelled { turn: u64 },
    /// The agent answered the prompt with an error; the turn is over.
    TurnFailed { turn: u64 },
    /// The seat is ready, or still idle.
    Idle,
    /// A permission was asked for, and refused.
    PermissionAsked { turn: Option<u64> },
    /// The agent's process was seen to end.
    AgentExited,
}

/// Turns facts into the bodies of posts.
#[derive(Debug)]
pub(crate) struct Reporter {
    session_name: Option<String>,
    node_id: Option<String>,
    harness: String,
    generation: Option<String>,
    liveness_seconds: u32,
    clock: WallClock,
}

impl Reporter {
    pub(crate) fn new(facts: &LaunchFacts) -> Self {
        Self {
            session_name: facts.session_name.clone(),
            node_id: facts.node_id.clone(),
            harness: facts.harness.clone(),
            generation: facts.generation.clone(),
            liveness_seconds: facts.liveness_seconds,
            clock: WallClock::new(),
        }
    }

    /// The body that reports `fact`, which has just happened.
    pub(crate) fn body(&mut self, fact: &Fact) -> Value {
        let exited;
        let (event, subtype, turn) = match fact {
            Fact::Accepted { turn } => ("UserPromptSubmit", "accepted", Some(*turn)),
            Fact::TurnEnded { turn } => ("Stop", "turn_ended", Some(*turn)),
            Fact::Cancelled { turn } => ("Stop", "cancelled", Some(*turn)),
            Fact::TurnFailed { turn } => ("Stop", "prompt_error", Some(*turn)),
            Fact::Idle => ("Stop", "idle", None),
            Fact::PermissionAsked { turn } => ("Notification", "permission_prompt", *turn),
            Fact::AgentExited => {
                exited = format!("{}_exited", self.harness);
                ("Stop", exited.as_str(), None)
            }
        };
        let mut body = json!({
            "sessionName": self.session_name,
            "nodeId": self.node_id,
            "runtime": self.harness,
            "generation": self.generation,
            "occurredAt": self.clock.now_rfc3339(),
            "hookEvent": event,
            "subtype": subtype,
        });
        if let Some(turn) = turn {
            body["turnId"] = turn.to_string().into();
        }
        // Every Stop but an exit is an idle report, and OpenRig stops believing one that no newer one
        // follows.
        if event == "Stop" && *fact != Fact::AgentExited {
            body["livenessSeconds"] = self.liveness_seconds.into();
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::LaunchFacts;
    use crate::options::Options;

    fn reporter() -> Reporter {
        let mut facts = LaunchFacts::of_this_process(Options {
            agent: vec!["dsh".into()],
            liveness_seconds: 7,
        });
        facts.session_name = Some("dev-builder@my-rig".into());
        facts.node_id = Some("node-1".into());
        facts.harness = "my-dsh".into();
        facts.generation = Some("generation-1".into());
        Reporter::new(&facts)
    }

    #[test]
    fn every_report_has_the_launchs_names_and_a_time() {
        let body = reporter().body(&Fact::Idle);
        assert_eq!(body["sessionName"], "dev-builder@my-rig");
        assert_eq!(body["nodeId"], "node-1");
        assert_eq!(body["runtime"], "my-dsh");
        assert_eq!(body["generation"], "generation-1");
        assert!(body["occurredAt"].as_str().unwrap().ends_with('Z'));
    }

    #[test]
    fn liveness_is_on_every_stop_but_the_exit() {
        let mut reporter = reporter();
        for fact in [
            Fact::Idle,
            Fact::TurnEnded { turn: 1 },
            Fact::Cancelled { turn: 1 },
        ] {
            assert_eq!(reporter.body(&fact)["livenessSeconds"], 7);
        }
        for fact in [
            Fact::AgentExited,
            Fact::Accepted { turn: 1 },
            Fact::PermissionAsked { turn: Some(1) },
        ] {
            assert_eq!(reporter.body(&fact).get("livenessSeconds"), None);
        }
    }

    #[test]
    fn a_turns_reports_share_its_id_and_an_exit_names_the_harness() {
        let mut reporter = reporter();
        let accepted = reporter.body(&Fact::Accepted { turn: 3 });
        assert_eq!(
            (&accepted["hookEvent"], &accepted["subtype"]),
            (&"UserPromptSubmit".into(), &"accepted".into())
        );
        assert_eq!(
            accepted["turnId"],
            reporter.body(&Fact::TurnFailed { turn: 3 })["turnId"]
        );
        assert_eq!(reporter.body(&Fact::AgentExited)["subtype"], "my-dsh_exited");
    }
}
