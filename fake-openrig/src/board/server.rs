//! Serves the page, its events and its buttons.
//!
//! Any page in the same browser can send requests to 127.0.0.1. What keeps others off: the key in the path, which no
//! other page can know; the Host header, so that no name that somebody points here is served; and for events and
//! presses, the headers by which a browser says where a request comes from.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream::{self, Stream};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::event::{Control, Press};
use super::{Change, Picture};
use crate::random;

/// Finds its events and buttons by relative addresses: the key stands nowhere in it.
const PAGE: &str = include_str!("page.html");

/// What stands in the page where the nonce belongs.
const NONCE: &str = "NONCE";

/// A press is no longer than this: a text that is sent, in JSON.
const LONGEST_PRESS: usize = 2 << 20;

struct Server {
    picture: Arc<Picture>,
    key: String,
    hosts: [String; 2],
    presses: mpsc::Sender<Press>,
    pages: Arc<Semaphore>,
}

pub(super) fn service(
    picture: Arc<Picture>,
    pages: Arc<Semaphore>,
    key: &str,
    port: u16,
    presses: mpsc::Sender<Press>,
) -> Router {
    let server = Arc::new(Server {
        picture,
        key: key.to_owned(),
        hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        presses,
        pages,
    });
    let own_page = middleware::from_fn_with_state(server.clone(), from_the_page);
    Router::new()
        .route("/{key}/events", get(events))
        .route("/{key}/press", post(press))
        .route_layer(own_page)
        .route("/{key}/", get(page))
        .layer(middleware::from_fn_with_state(server.clone(), for_this_seat))
        .layer(DefaultBodyLimit::max(LONGEST_PRESS))
        .with_state(server)
}

/// Lets only requests through that name this host and know the key.
async fn for_this_seat(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    if !host.is_some_and(|host| server.hosts.iter().any(|own| own == host)) {
        return (StatusCode::FORBIDDEN, "this is not its host\n").into_response();
    }
    let key = request.uri().path().split('/').nth(1).unwrap_or_default();
    if !same(key, &server.key) {
        return (StatusCode::NOT_FOUND, "the address holds another key\n").into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Lets only requests through that the page itself made, or a program that is no browser.
async fn from_the_page(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let own = |origin: &str| {
        server
            .hosts
            .iter()
            .any(|host| origin.strip_prefix("http://") == Some(host))
    };
    if text("origin").is_some_and(|origin| !own(origin))
        || text("sec-fetch-site").is_some_and(|site| site != "same-origin")
    {
        return (StatusCode::FORBIDDEN, "another page asks\n").into_response();
    }
    next.run(request).await
}

async fn page() -> Response {
    let Ok(nonce) = random::hex_64() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    (
        [(header::CONTENT_SECURITY_POLICY, policy)],
        Html(PAGE.replace(NONCE, &nonce)),
    )
        .into_response()
}

async fn events(State(server): State<Arc<Server>>) -> Response {
    match server.pages.clone().try_acquire_owned() {
        Ok(permit) => Sse::new(feed(server.picture.clone(), permit))
            .keep_alive(KeepAlive::default())
            .into_response(),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open\n").into_response(),
    }
}

/// The whole picture first, then each change; the whole again when a page fell too far behind.
fn feed(
    picture: Arc<Picture>,
    permit: OwnedSemaphorePermit,
) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    struct Reader {
        picture: Arc<Picture>,
        changes: Option<broadcast::Receiver<Change>>,
        over: bool,
        _permit: OwnedSemaphorePermit,
    }
    let reader = Reader {
        picture,
        changes: None,
        over: false,
        _permit: permit,
    };
    stream::unfold(reader, |mut reader| async move {
        if reader.over {
            return None;
        }
        let told = match &mut reader.changes {
            Some(changes) => match changes.recv().await {
                Ok(change) => Some(change),
                Err(RecvError::Lagged(_)) => None,
                Err(RecvError::Closed) => return None,
            },
            None => None,
        };
        let change = told.unwrap_or_else(|| {
            let (whole, changes) = reader.picture.look();
            reader.changes = Some(changes);
            whole
        });
        reader.over = change.last;
        Some((Ok(Event::default().data(change.text)), reader))
    })
}

async fn press(State(server): State<Arc<Server>>, headers: HeaderMap, body: Bytes) -> Response {
    // A form of another page can't send this type without being asked about first.
    let json = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes() == b"application/json");
    if !json {
        return (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "a press is application/json\n",
        )
            .into_response();
    }
    let press: Press = match serde_json::from_slice(&body) {
        Ok(press) => press,
        Err(error) => return (StatusCode::BAD_REQUEST, format!("no press: {error}\n")).into_response(),
    };
    if !server.offers(&press) {
        return (StatusCode::CONFLICT, "this host can't do that\n").into_response();
    }
    match server.presses.try_send(press) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the seat is busy, or gone\n").into_response(),
    }
}

impl Server {
    fn offers(&self, press: &Press) -> bool {
        let control = match press {
            Press::Send(_) | Press::SendRaw(_) => Control::Send,
            Press::Interrupt => Control::Interrupt,
            Press::ClearAttention => Control::ClearAttention,
            Press::Launch { .. } => Control::Launch,
            // Whoever shows a gate or a question can open or answer it.
            Press::Open(_) | Press::Answer { .. } => return true,
        };
        self.picture.state().has(control)
    }
}

/// Whether both are the same, in a time that tells nothing about where they differ.
fn same(given: &str, own: &str) -> bool {
    given.len() == own.len()
        && given
            .bytes()
            .zip(own.bytes())
            .fold(0, |differences, (a, b)| differences | (a ^ b))
            == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_compared_whole() {
        assert!(same("abc", "abc"));
        for other in ["", "ab", "abcd", "abd", "bbc"] {
            assert!(!same(other, "abc"), "{other}");
        }
    }
}
