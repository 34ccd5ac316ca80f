//! From a started agent to an open conversation: `initialize`, then open or reopen, then the declared model.
//!
//! A reopen never starts a new conversation, whatever goes wrong. There is no time limit on the agent's
//! answers: a slow agent is not a failed one, and the seat stays stoppable meanwhile.

use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    Implementation, InitializeRequest, LoadSessionRequest, NewSessionRequest, ResumeSessionRequest,
    SetSessionConfigOptionRequest,
};
use serde_json::{Value, json};

use super::link::{AskError, Link, describe};
use super::model::{self, Choice};
use super::reopen::{self, Method, Verdict};
use crate::adapter::{Conversation, Event, EventSender, Job, NotOpened};

/// How long the agent may take over the choice of a model before the seat goes on without it, and says so.
const MODEL_LIMIT: Duration = Duration::from_secs(10);

/// A conversation that did not open.
struct Failure {
    missing: bool,
    reason: String,
}

impl Failure {
    fn unconfirmed(reason: impl Into<String>) -> Self {
        Self {
            missing: false,
            reason: reason.into(),
        }
    }

    fn of(method: &str, error: AskError) -> Self {
        Self::unconfirmed(match error {
            AskError::Answered(error) => format!("the agent refused {method}: {}", describe(&error)),
            AskError::Disconnected => format!("the connection ended before {method} was answered"),
        })
    }
}

/// Opens a new conversation, or reopens the one named, and tells the seat.
pub(super) async fn open(link: &Link, job: &Job, reference: Option<&str>, events: &EventSender) {
    let mut producer = producer(&super::program_name(job), &Value::Null);
    let opened = async {
        let initialized = initialize(link).await?;
        producer = self::producer(&super::program_name(job), &initialized);
        match reference {
            Some(reference) => reopen(link, job, &initialized, reference).await,
            None => open_new(link, job).await,
        }
    };
    match opened.await {
        Ok((reference, answer)) => {
            link.set_session(&reference);
            events.send(Event::Opened(Conversation { reference, producer }));
            if let Some(model) = &job.model {
                apply_model(link, model, &answer, events).await;
            }
            events.send(Event::Ready);
        }
        Err(Failure { missing, reason }) => {
            events.send(Event::NotOpened(NotOpened {
                missing,
                reason,
                producer,
            }));
        }
    }
}

async fn initialize(link: &Link) -> Result<Value, Failure> {
    let request = InitializeRequest::new(ProtocolVersion::V1).client_info(Implementation::new(
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_VERSION"),
    ));
    // The SDK refuses an answer with another protocol version than the one asked for.
    link.ask("initialize", &request)
        .await
        .map_err(|error| Failure::of("initialize", error))
}

async fn open_new(link: &Link, job: &Job) -> Result<(String, Value), Failure> {
    let method = "session/new";
    let request = NewSessionRequest::new(job.working_directory.clone());
    let answer = link
        .ask(method, &request)
        .await
        .map_err(|error| Failure::of(method, error))?;
    match answer["sessionId"].as_str().filter(|session| !session.is_empty()) {
        Some(session) => Ok((session.to_owned(), answer)),
        None => Err(Failure::unconfirmed(format!(
            "the agent's answer to {method} names no conversation"
        ))),
    }
}

async fn reopen(
    link: &Link,
    job: &Job,
    initialized: &Value,
    reference: &str,
) -> Result<(String, Value), Failure> {
    let mut failure = Failure::unconfirmed("the agent advertises no way to reopen a conversation");
    for method in reopen::advertised(initialized) {
        let folder = job.working_directory.clone();
        let answer = match method {
            Method::Resume => {
                link.ask(
                    method.name(),
                    &ResumeSessionRequest::new(reference.to_owned(), folder),
                )
                .await
            }
            Method::Load => {
                link.ask(
                    method.name(),
                    &LoadSessionRequest::new(reference.to_owned(), folder),
                )
                .await
            }
        };
        let error = match answer {
            Ok(answer) if reopen::names_another(&answer, reference) => {
                let reason = format!(
                    "the agent's answer to {} names another conversation",
                    method.name()
                );
                return Err(Failure::unconfirmed(reason));
            }
            Ok(answer) => return Ok((reference.to_owned(), answer)),
            Err(error) => error,
        };
        let verdict = match &error {
            AskError::Answered(error) => reopen::judge(error, reference),
            AskError::Disconnected => Verdict::Unconfirmed,
        };
        failure = Failure::of(method.name(), error);
        match verdict {
            Verdict::Missing => {
                return Err(Failure {
                    missing: true,
                    ..failure
                });
            }
            Verdict::NotAMethod => {}
            Verdict::Unconfirmed => break,
        }
    }
    Err(failure)
}

/// Asks for the declared model, and says in the pane whatever keeps it from being applied.
async fn apply_model(link: &Link, wanted: &str, answer: &Value, events: &EventSender) {
    let session = link.session();
    let Some(session) = session else { return };
    let fault = match model::choose(answer, wanted) {
        Choice::NothingOffered => Some("the agent offers no choice of model".to_owned()),
        Choice::NotAmongOffered => Some("the agent does not offer it".to_owned()),
        Choice::Option { option, value } => {
            let request = SetSessionConfigOptionRequest::new(session, option, value.as_str());
            fault_of(link, "session/set_config_option", json!(request)).await
        }
        Choice::Model { id } => {
            fault_of(
                link,
                "session/set_model",
                json!({ "sessionId": session, "modelId": id }),
            )
            .await
        }
    };
    events.send(match fault {
        None => Event::Status(format!("the model {wanted} was asked for, and the agent agreed")),
        Some(fault) => Event::Message(format!("the declared model {wanted} is not applied: {fault}")),
    });
}

async fn fault_of(link: &Link, method: &'static str, params: Value) -> Option<String> {
    match tokio::time::timeout(MODEL_LIMIT, link.ask(method, &params)).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(Failure::of(method, error).reason),
        Err(_) => Some(format!(
            "the agent did not answer {method} within {} s",
            MODEL_LIMIT.as_secs()
        )),
    }
}

/// Who made this conversation, for people: runner, agent and protocol with their versions.
fn producer(program: &str, initialized: &Value) -> String {
    let agent = &initialized["agentInfo"];
    let name = agent["name"]
        .as_str()
        .filter(|name| !name.is_empty())
        .unwrap_or(program);
    let version = agent["version"]
        .as_str()
        .map(|version| format!(" {version}"))
        .unwrap_or_default();
    format!(
        "{} {}; {name}{version}; ACP 1",
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_VERSION")
    )
}
