//! The SDK's connection, and how this adapter asks and tells over it.
//!
//! Requests go out untyped, built from the SDK's own types, and answers come in as plain JSON: what is sent
//! always fits the schema, and an answer that doesn't quite fit it is read as far as it goes.
//!
//! Every answer is taken through an ordered callback. The alternative, awaiting the SDK's handle, would send
//! `$/cancel_request` whenever such a future is dropped.

use std::sync::{Arc, OnceLock};

use agent_client_protocol::v1::schema::SessionId;
use agent_client_protocol::v1::{ConnectionTo, Dispatch};
use agent_client_protocol::{
    Agent, Channel, Client, Error, JsonRpcNotification, UntypedMessage, is_connection_terminated,
    is_incoming_transport_closed, on_receive_dispatch,
};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::incoming::{self, Heard};
use crate::adapter::{Event, EventSender};

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AskError {
    /// The agent answered with an error.
    Answered(Error),
    /// There is no connection to answer over.
    Disconnected,
}

/// The connection and the conversation, as soon as there are any.
pub(super) struct Link {
    connection: watch::Sender<Option<ConnectionTo<Agent>>>,
    session: OnceLock<String>,
}

impl Link {
    pub(super) fn new() -> Self {
        Self {
            connection: watch::Sender::new(None),
            session: OnceLock::new(),
        }
    }

    /// The open conversation.
    pub(super) fn session(&self) -> Option<SessionId> {
        self.session.get().map(|session| SessionId::new(session.as_str()))
    }

    /// Names the open conversation. There is only ever one.
    pub(super) fn set_session(&self, session: &str) {
        let _ = self.session.set(session.to_owned());
    }

    /// Asks and waits for the answer, however long that takes.
    pub(super) async fn ask(&self, method: &'static str, params: &impl Serialize) -> Result<Value, AskError> {
        // `self` holds the watch's sender, so waiting can't fail.
        let _ = self.connection.subscribe().wait_for(Option::is_some).await;
        let (sender, receiver) = oneshot::channel();
        self.ask_then(method, params, move |answer| drop(sender.send(answer)));
        receiver.await.unwrap_or(Err(AskError::Disconnected))
    }

    /// Asks, and calls `then` with the answer, before anything that the agent says after it is looked at.
    /// False if the question could not be sent; then nothing is called.
    pub(super) fn ask_then(
        &self,
        method: &'static str,
        params: &impl Serialize,
        then: impl FnOnce(Result<Value, AskError>) + Send + 'static,
    ) -> bool {
        let connection = self.connection.borrow().clone();
        let (Some(connection), Ok(request)) = (connection, UntypedMessage::new(method, params)) else {
            return false;
        };
        let sent = connection
            .prepare_request(request)
            .on_receiving_result(async move |answer| {
                then(answer.map_err(|error| {
                    if is_connection_terminated(&error) || is_incoming_transport_closed(&error) {
                        AskError::Disconnected
                    } else {
                        AskError::Answered(error)
                    }
                }));
                Ok(())
            });
        sent.is_ok()
    }

    /// Sends a notification. Without a connection there is nobody to notify.
    pub(super) fn notify(&self, notification: impl JsonRpcNotification) {
        if let Some(connection) = &*self.connection.borrow() {
            let _ = connection.send_notification(notification);
        }
    }
}

/// Runs the SDK's connection over `channel` until the runtime ends.
pub(super) fn drive(channel: Channel, link: &Arc<Link>, heard: &Arc<Heard>, events: &EventSender) {
    let (link, heard, events) = (Arc::clone(link), Arc::clone(heard), events.clone());
    tokio::spawn(async move {
        let handler_events = events.clone();
        let handler_link = Arc::clone(&link);
        let handle = async move |dispatch: Dispatch, _connection: ConnectionTo<Agent>| {
            incoming::handle(dispatch, &handler_link, &heard, &handler_events)
        };
        let ended = Client
            .v1()
            .name(env!("CARGO_PKG_NAME"))
            .on_receive_dispatch(handle, on_receive_dispatch!())
            .connect_with(channel, async move |connection: ConnectionTo<Agent>| {
                link.connection.send_replace(Some(connection.clone()));
                connection.incoming_closed().await;
                Ok(())
            })
            .await;
        let reason = ended
            .err()
            .map_or_else(|| "it was closed".to_owned(), |error| describe(&error));
        events.send(Event::Unreachable(format!(
            "the connection to the agent has ended: {reason}"
        )));
    });
}

/// An error of the agent's in one line.
pub(super) fn describe(error: &Error) -> String {
    let code = i32::from(error.code);
    let data = error.data.as_ref().filter(|data| !data.is_null());
    let data = data.map(|data| data.as_str().map_or_else(|| data.to_string(), str::to_owned));
    match data {
        Some(data) => format!("{} (code {code}): {data}", error.message),
        None => format!("{} (code {code})", error.message),
    }
}
