//! What nobody else must read: `evidence.no-secrets`.
//!
//! The token itself is in no history. Where it stood in what a runner showed or handed on, there is a mark.

use crate::contract::finding::{Finding, Tally};
use crate::contract::watch::cited;
use crate::history::views::Views;
use crate::history::{Fact, Pane, TOKEN_MARK, Wire};

pub(super) fn no_secrets(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let mut shown = 0;
        let mut started = None;
        for event in launch.events.iter().copied() {
            match &event.fact {
                Fact::Pane(Pane::Output { bytes }) => {
                    if holds_mark(&bytes.0) {
                        tally.broken("the token of the activity endpoint is in the pane", &[event]);
                    }
                    shown += bytes.0.len();
                }
                Fact::Wire(Wire::AgentStarted { arguments, .. }) => {
                    if arguments.iter().any(|argument| holds_mark(argument.as_bytes())) {
                        tally.broken(
                            "the token of the activity endpoint is among the agent's arguments, for every program to read",
                            &[event],
                        );
                    }
                    started = started.or(Some(event));
                }
                _ => {}
            }
        }
        if let Some(started) = started
            && shown > 0
            && launch.facts.endpoint_told != "nothing"
        {
            tally.held(
                format!("the token is neither in the agent's arguments nor in {shown} bytes of the pane"),
                &cited(launch, &[started]),
            );
        }
    }
    tally.finding()
}

fn holds_mark(bytes: &[u8]) -> bool {
    bytes.windows(TOKEN_MARK.len()).any(|window| window == TOKEN_MARK)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Fact, Wire};

    const CLAUSE: &str = "evidence.no-secrets";

    #[test]
    fn no_secrets() {
        assert_held(CLAUSE, &HistoryBuilder::ready().shows("ready"));
        assert_broken(
            CLAUSE,
            &HistoryBuilder::ready().shows("posting with ‹hook token›"),
        );
        let in_arguments = HistoryBuilder::ready().fact(Fact::Wire(Wire::AgentStarted {
            agent: 2,
            pid: 9,
            arguments: vec!["dsh".into(), "--token=‹hook token›".into()],
            environment: BTreeMap::new(),
        }));
        assert_broken(CLAUSE, &in_arguments);
        // In its environment it may be: that is the agent's own to read.
        let in_environment = HistoryBuilder::ready()
            .shows("ready")
            .fact(Fact::Wire(Wire::AgentStarted {
                agent: 2,
                pid: 9,
                arguments: vec!["dsh".into()],
                environment: BTreeMap::from([("TOKEN".to_owned(), "‹hook token›".to_owned())]),
            }));
        assert_held(CLAUSE, &in_environment);
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready());
        let untold = HistoryBuilder::empty()
            .launch(|facts| facts.endpoint_told = "nothing".into())
            .agent_started()
            .shows("ready");
        assert_not_exercised(CLAUSE, &untold);
    }
}
