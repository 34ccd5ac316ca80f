//! Serves one request: reads it, applies the fault that holds, answers.

use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::connect_info::{ConnectInfo, Connected, IntoMakeServiceWithConnectInfo};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::serve::IncomingStream;

use super::answer::{self, Answer, Seat};
use super::connection::{Connection, Cut};
use super::ledger::{Head, Ledger, OpenExchange};
use super::port::{Acceptor, Port};
use super::{Authorization, Ending, Fault};
use crate::calendar::Utc;

/// A body is read up to this size in order to answer it in peace; more is left unread, which closes the connection.
const READ_LIMIT: usize = 256 * 1024 * 1024;

struct Endpoint {
    seat: Arc<Seat>,
    ledger: Arc<Ledger>,
    port: Arc<Port>,
}

/// The connection a request came on.
#[derive(Clone)]
pub(super) struct Client(Arc<Connection>);

impl Connected<IncomingStream<'_, Acceptor>> for Client {
    fn connect_info(stream: IncomingStream<'_, Acceptor>) -> Self {
        Self(stream.io().connection().clone())
    }
}

pub(super) fn service(
    seat: Arc<Seat>,
    ledger: Arc<Ledger>,
    port: Arc<Port>,
) -> IntoMakeServiceWithConnectInfo<Router, Client> {
    let endpoint = Arc::new(Endpoint { seat, ledger, port });
    // Every method and path comes here: a request that goes astray is evidence too.
    Router::new()
        .fallback(serve)
        .with_state(endpoint)
        .into_make_service_with_connect_info()
}

async fn serve(
    State(endpoint): State<Arc<Endpoint>>,
    ConnectInfo(Client(connection)): ConnectInfo<Client>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let authorization = endpoint.seat.authorize(&parts.headers);
    let Some(mut exchange) = endpoint.ledger.begin(&connection, head(&parts, authorization)) else {
        return response(&Answer::flooded());
    };
    let is_whole = read(body, &mut exchange).await;
    if !is_whole && connection.ending().is_some() {
        // Dropping the exchange reports it; nobody is there for the answer.
        return StatusCode::BAD_REQUEST.into_response();
    }
    let body_cut = exchange.body_cut();
    let body = exchange.body_arrived();
    let received_at = Utc::from(SystemTime::now()).rfc3339();
    let answer = endpoint.seat.answer(&answer::Request {
        method: parts.method.as_str(),
        path: parts.uri.path(),
        authorization,
        body: &body,
        body_cut,
        received_at: &received_at,
    });
    endpoint.conclude(exchange, &connection, answer).await
}

impl Endpoint {
    /// Ends an exchange as the fault that holds asks for. A response on a connection that was cut goes nowhere.
    async fn conclude(&self, exchange: OpenExchange, connection: &Connection, answer: Answer) -> Response {
        let setting = self.port.setting();
        match setting.fault {
            Fault::Healthy => answered(exchange, &answer),
            Fault::Slow(delay) => {
                tokio::select! {
                    () = tokio::time::sleep(delay) => {}
                    () = self.port.switched_from(setting) => {}
                }
                answered(exchange, &answer)
            }
            Fault::Status(status) => {
                let status = StatusCode::from_u16(status)
                    .ok()
                    .filter(|status| !status.is_informational());
                answered(
                    exchange,
                    &Answer::refusal(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)),
                )
            }
            Fault::BadBody => {
                exchange.end(Ending::Answered { status: 200 }, answer.recorded);
                (
                    StatusCode::OK,
                    [(header::CONTENT_TYPE, "application/json")],
                    "<html>not JSON",
                )
                    .into_response()
            }
            Fault::CloseMidAnswer => {
                exchange.end(Ending::AnswerCut, answer.recorded);
                let body = answer.body.to_string();
                let half = &body.as_bytes()[..body.len() / 2];
                let head = format!(
                    "HTTP/1.1 {} \r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    answer.status.as_u16(),
                    body.len()
                );
                // A client that left early misses nothing it was promised.
                let _ = connection.write_raw(&[head.as_bytes(), half].concat()).await;
                connection.cut(Cut::Close);
                response(&answer)
            }
            Fault::Hang => {
                self.port.switched_from(setting).await;
                exchange.end(Ending::Hung, false);
                connection.cut(Cut::Close);
                response(&answer)
            }
            // The switch came while this request was being read, and has cut its connection.
            Fault::Refuse | Fault::Reset => response(&answer),
        }
    }
}

fn answered(exchange: OpenExchange, answer: &Answer) -> Response {
    exchange.end(
        Ending::Answered {
            status: answer.status.as_u16(),
        },
        answer.recorded,
    );
    response(answer)
}

fn response(answer: &Answer) -> Response {
    let content_type = [(header::CONTENT_TYPE, "application/json")];
    (answer.status, content_type, answer.body.to_string()).into_response()
}

fn head(parts: &Parts, authorization: Authorization) -> Head {
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    Head {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.to_string(),
        authorization,
        content_type: content_type.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
    }
}

/// Reads a body into its exchange. False if it broke off.
async fn read(mut body: Body, exchange: &mut OpenExchange) -> bool {
    while exchange.body_size() <= READ_LIMIT {
        match std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            // A frame that is not data is a trailer.
            Some(Ok(frame)) => exchange.push(&frame.into_data().unwrap_or_default()),
            Some(Err(_)) => return false,
            None => return true,
        }
    }
    true
}
