//! The Agent Client Protocol, version 1, on the official SDK: one process per seat, one conversation, one
//! prompt at a time.
//!
//! The parts: [`transport`] joins the agent's lines to the SDK, [`incoming`] takes what the agent says on its
//! own, [`opening`] opens or reopens the conversation ([`reopen`] judges failures, [`model`] finds the
//! declared model), and this file is the adapter.
//!
//! No client capability is advertised, since none is served: every request of the agent's but a permission
//! request is answered with "method not found", every permission request with "cancelled".

mod incoming;
mod link;
mod model;
mod opening;
mod permission;
mod reopen;
mod transport;

use std::path::Path;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{CancelNotification, ContentBlock, PromptRequest, TextContent};
use serde_json::Value;

use self::incoming::Heard;
use self::link::{AskError, Link};
use super::{Adapter, Cap, End, Event, EventSender, Force, Job, Refusal, Work, process};
use crate::error::Error;
use crate::seat::lanes::Lanes;

/// The adapter for agents that speak ACP.
pub(crate) struct Acp {
    job: Job,
    lanes: Arc<Lanes>,
    link: Arc<Link>,
    heard: Arc<Heard>,
    events: EventSender,
    work: Work,
    prepared: Option<String>,
}

impl Acp {
    fn begin(&self, reference: Option<String>) {
        let (link, job, events) = (Arc::clone(&self.link), self.job.clone(), self.events.clone());
        tokio::spawn(async move { opening::open(&link, &job, reference.as_deref(), &events).await });
    }
}

impl Adapter for Acp {
    /// ACP says nothing of accounts: the agent's program stands for one. The protocol leaves open what a
    /// second prompt meanwhile does, and agents differ, so there is never one.
    fn cap_for(job: &Job) -> Cap {
        let program = program_name(job);
        let key = job
            .model
            .as_ref()
            .map_or_else(|| program.clone(), |model| format!("{program}:{model}"));
        Cap { key, turns: 1 }
    }

    fn check(job: Job) -> Result<Job, Refusal> {
        if job.command.first().is_none_or(String::is_empty) {
            return Err(Refusal(
                "no agent command was given: pass one, such as 'dsh acp'".into(),
            ));
        }
        if !job.working_directory.is_absolute() {
            let folder = job.working_directory.display();
            return Err(Refusal(format!(
                "the working directory '{folder}' is not absolute, and ACP needs it so"
            )));
        }
        Ok(job)
    }

    fn start(job: Job, lanes: Arc<Lanes>, events: EventSender) -> Result<(Self, Work), Error> {
        let link = Arc::new(Link::new());
        let heard = Arc::new(Heard::new());
        let (inbound, channel) = transport::start(Arc::clone(&lanes), Arc::clone(&heard), events.clone());
        let work = process::start(&job, &lanes, &events, inbound)?;
        link::drive(channel, &link, &heard, &events);
        let adapter = Self {
            job,
            lanes,
            link,
            heard,
            events,
            work: work.clone(),
            prepared: None,
        };
        Ok((adapter, work))
    }

    fn open(&mut self) {
        self.begin(None);
    }

    fn reopen(&mut self, reference: &str) {
        self.begin(Some(reference.to_owned()));
    }

    fn prepare(&mut self, prompt: String) -> Work {
        self.prepared = Some(prompt);
        self.work.clone()
    }

    fn run(&mut self) {
        let (Some(prompt), Some(session)) = (self.prepared.take(), self.link.session()) else {
            return;
        };
        self.heard.begin_turn();
        let request = PromptRequest::new(session, vec![ContentBlock::Text(TextContent::new(prompt))]);
        let (events, heard) = (self.events.clone(), Arc::clone(&self.heard));
        let sent = self
            .link
            .ask_then("session/prompt", &request, move |answer| match end_of(answer) {
                Some(end) => {
                    events.send(Event::Final {
                        answer: heard.end_turn(),
                    });
                    events.send(Event::End(end));
                }
                None => events.send(Event::Unreachable("the connection to the agent has ended".into())),
            });
        if !sent {
            self.events
                .send(Event::Unreachable("the connection to the agent has ended".into()));
        }
    }

    /// ACP has no call for it, and what a second prompt does is up to each agent.
    fn steer(&mut self, _text: &str) -> Result<(), Refusal> {
        Err(Refusal(
            "ACP can't steer a turn under way: send it as the next prompt".into(),
        ))
    }

    fn interrupt(&mut self) {
        if let Some(session) = self.link.session() {
            self.link.notify(CancelNotification::new(session));
        }
    }

    async fn kill(&mut self, force: Force) {
        process::kill(&self.lanes, force).await;
    }

    async fn reap(&mut self, work: &Work) {
        process::reap(&self.lanes, work).await;
    }
}

/// What the answer to a prompt says of the turn. None if it is no answer of the agent's.
fn end_of(answer: Result<Value, AskError>) -> Option<End> {
    match answer {
        Ok(answer) => Some(match answer["stopReason"].as_str() {
            Some("cancelled") => End::Interrupted,
            reason => End::Completed {
                reason: reason.unwrap_or("no stop reason given").to_owned(),
            },
        }),
        Err(AskError::Answered(error)) => Some(End::Failed {
            reason: link::describe(&error),
        }),
        Err(AskError::Disconnected) => None,
    }
}

/// The agent program's own name.
fn program_name(job: &Job) -> String {
    let program = job.command.first().map(String::as_str).unwrap_or_default();
    Path::new(program)
        .file_name()
        .map_or_else(|| program.to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_client_protocol::Error as AcpError;
    use serde_json::json;

    #[test]
    fn only_the_stop_reason_says_cancelled() {
        assert_eq!(
            end_of(Ok(json!({"stopReason": "cancelled"}))),
            Some(End::Interrupted)
        );
        for answer in [
            json!({"stopReason": "end_turn"}),
            json!({"stopReason": 7}),
            json!(null),
        ] {
            assert!(matches!(end_of(Ok(answer)), Some(End::Completed { .. })));
        }
        let cancelled = AcpError::new(-32800, "Request cancelled");
        assert!(matches!(
            end_of(Err(AskError::Answered(cancelled))),
            Some(End::Failed { .. })
        ));
        assert_eq!(end_of(Err(AskError::Disconnected)), None);
    }

    #[test]
    fn a_job_without_a_command_or_an_absolute_folder_is_refused() {
        let job = |command: &[&str], folder: &str| Job {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            working_directory: folder.into(),
            model: None,
        };
        assert!(Acp::check(job(&["dsh"], "/folder")).is_ok());
        assert!(Acp::check(job(&[], "/folder")).is_err());
        assert!(Acp::check(job(&[""], "/folder")).is_err());
        assert!(Acp::check(job(&["dsh"], "folder")).is_err());
    }
}
