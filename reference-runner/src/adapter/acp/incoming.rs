//! What the agent says on its own: updates, permission requests, other requests, other notifications.
//!
//! All of it is taken in the SDK's dispatch loop, one message after the other, and nothing here waits: so a
//! permission request is answered as soon as its line was read, whatever the terminal, the endpoint or the
//! seat are doing.

use std::sync::{Mutex, PoisonError};

use agent_client_protocol::Error;
use agent_client_protocol::v1::Dispatch;
use agent_client_protocol::v1::schema::{RequestPermissionOutcome, RequestPermissionResponse};
use serde_json::Value;

use super::link::Link;
use super::permission::ToolCalls;
use crate::adapter::{Event, EventSender, Exit};

/// The notification by which the transport marks the end of what an ended agent said. An agent that sends one
/// of this name itself says nothing by it.
pub(super) const EXIT_MARK: &str = "_reference-runner/exit";

/// The longest answer that is kept whole.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// What was heard so far.
#[derive(Debug, Default)]
pub(super) struct Heard {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    tool_calls: ToolCalls,
    /// The answer of the turn under way, while it is not too long.
    answer: Option<String>,
    /// How the agent's process ended, until that was told.
    exit: Option<Exit>,
}

impl Heard {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Keeps how the agent's process ended, to be told when everything it said was heard.
    pub(super) fn set_exit(&self, exit: Exit) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).exit = Some(exit);
    }

    /// Tells the exit, if there was one.
    pub(super) fn tell_exit(&self, events: &EventSender) {
        let exit = self
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .exit
            .take();
        if let Some(exit) = exit {
            events.send(Event::Exited(exit));
        }
    }

    /// A turn begins: its answer starts from nothing.
    pub(super) fn begin_turn(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).answer = Some(String::new());
    }

    /// The turn is over. Gives the whole answer, if it was not too long.
    pub(super) fn end_turn(&self) -> Option<String> {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .answer
            .take()
    }
}

/// Takes one message.
pub(super) fn handle(
    dispatch: Dispatch,
    link: &Link,
    heard: &Heard,
    events: &EventSender,
) -> Result<(), Error> {
    match dispatch {
        Dispatch::Request(request, responder) => {
            events.hold();
            if request.method == "session/request_permission" {
                let refusal = RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
                responder.respond(serde_json::to_value(refusal)?)?;
                let mut state = heard.state.lock().unwrap_or_else(PoisonError::into_inner);
                let what = state.tool_calls.describe(&request.params);
                state.tool_calls.note(&request.params["toolCall"]);
                events.send(Event::PermissionAsked(what));
            } else {
                events.send(Event::Status(format!(
                    "the agent asked for {}, which is not served",
                    request.method
                )));
                responder.respond_with_error(Error::method_not_found())?;
            }
            Ok(())
        }
        Dispatch::Notification(notification) => {
            match notification.method.as_str() {
                "session/update" => take_update(&notification.params, link, heard, events),
                EXIT_MARK => heard.tell_exit(events),
                _ => {}
            }
            Ok(())
        }
        Dispatch::Response(answer, router) => router.route_with_result(answer),
    }
}

/// Takes an update of this seat's conversation. Kinds that mean nothing to a pane are passed over, new ones
/// too.
fn take_update(params: &Value, link: &Link, heard: &Heard, events: &EventSender) {
    if link
        .session()
        .is_some_and(|session| params["sessionId"] != *session.0)
    {
        return;
    }
    let update = &params["update"];
    let mut state = heard.state.lock().unwrap_or_else(PoisonError::into_inner);
    match update["sessionUpdate"].as_str() {
        Some("agent_message_chunk") => {
            let Some(text) = update["content"]["text"].as_str() else {
                return;
            };
            state.answer = state
                .answer
                .take()
                .filter(|answer| answer.len() + text.len() <= LONGEST_ANSWER);
            if let Some(answer) = &mut state.answer {
                answer.push_str(text);
            }
            events.send(Event::Text(text.to_owned()));
        }
        Some("tool_call") => {
            state.tool_calls.note(update);
            let title = update["title"].as_str().or(update["toolCallId"].as_str());
            events.send(Event::Tool(title.unwrap_or("a tool without a name").to_owned()));
        }
        Some("tool_call_update") => state.tool_calls.note(update),
        Some("usage_update") => {
            if let (Some(used), Some(size)) = (update["used"].as_u64(), update["size"].as_u64()) {
                events.send(Event::Usage { used, size });
            }
        }
        _ => {}
    }
}
