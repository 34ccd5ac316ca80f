//! One HTTP/1.1 POST over a plain TCP connection, as small as activity needs it.
//!
//! The whole exchange has one time limit, and no more of an answer is read than it says it has, up to a
//! bound: an endpoint that hangs, floods or keeps the connection open costs that time and no more.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::endpoint::Endpoint;

/// How long one post may take unless its endpoint says otherwise.
pub(crate) const LIMIT: Duration = Duration::from_secs(2);

/// The most of an answer that is read.
const LARGEST_ANSWER: usize = 64 * 1024;

/// Why a post did not arrive.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PostError {
    #[error("'{0}' is not an http:// address")]
    Address(String),
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error("{0}")]
    Connection(#[from] std::io::Error),
    #[error("the answer is not HTTP")]
    NotHttp,
    #[error("it answered with status {0}")]
    Refused(u16),
}

/// Posts `body`, which is JSON, to the endpoint's activity address. Ok only on a 2xx answer.
pub(crate) async fn post(endpoint: &Endpoint, body: &str) -> Result<(), PostError> {
    let limit = endpoint.time_limit;
    let status = tokio::time::timeout(limit, exchange(endpoint, body)).await;
    match status.map_err(|_| PostError::TimedOut(limit))?? {
        200..=299 => Ok(()),
        status => Err(PostError::Refused(status)),
    }
}

async fn exchange(endpoint: &Endpoint, body: &str) -> Result<u16, PostError> {
    let (authority, prefix) =
        split_base(&endpoint.base).ok_or_else(|| PostError::Address(endpoint.base.clone()))?;
    let address = if has_port(authority) {
        authority.to_owned()
    } else {
        format!("{authority}:80")
    };
    let mut connection = TcpStream::connect(address).await?;
    let request = format!(
        "POST {prefix}/api/activity/hooks HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        endpoint.token,
        body.len(),
    );
    connection.write_all(request.as_bytes()).await?;
    read_status(&mut connection).await
}

/// Authority and path of an http base. Any other scheme is none.
fn split_base(base: &str) -> Option<(&str, &str)> {
    let rest = base.strip_prefix("http://")?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    (!authority.is_empty() && !authority.contains(['@', ' ']) && !path.contains(' '))
        .then_some((authority, path))
}

fn has_port(authority: &str) -> bool {
    let host_end = authority.rfind(']').unwrap_or(0);
    authority[host_end..].contains(':')
}

/// Reads an answer to its end, as far as it says where that is, and returns its status.
async fn read_status(connection: &mut TcpStream) -> Result<u16, PostError> {
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some((status, length)) = parse_answer(&answer)
            && answer.len() >= length.min(LARGEST_ANSWER)
        {
            return Ok(status);
        }
        let count = connection.read(&mut chunk).await?;
        if count == 0 || answer.len() > LARGEST_ANSWER {
            return parse_answer(&answer)
                .map(|(status, _)| status)
                .ok_or(PostError::NotHttp);
        }
        answer.extend_from_slice(&chunk[..count]);
    }
}

/// The final status and the whole length of an answer whose head is complete. Interim (1xx) answers are
/// passed over.
fn parse_answer(answer: &[u8]) -> Option<(u16, usize)> {
    let mut start = 0;
    loop {
        let rest = answer.get(start..)?;
        let head_length = rest.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
        let head = std::str::from_utf8(&rest[..head_length]).ok()?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        words.next().filter(|version| version.starts_with("HTTP/1."))?;
        let status: u16 = words.next()?.parse().ok()?;
        start += head_length;
        if (100..200).contains(&status) {
            continue;
        }
        let body_length = lines
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse().ok())
            .unwrap_or(0);
        return Some((status, start.saturating_add(body_length)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Serves one connection: reads a whole request, answers, then keeps the connection open until the client
    /// leaves.
    async fn serve_once(listener: TcpListener, answer: &'static str) -> String {
        let (mut connection, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        let mut chunk = [0; 1024];
        while !request.ends_with(b"}") {
            let count = connection.read(&mut chunk).await.unwrap();
            assert_ne!(count, 0, "the request ended early");
            request.extend_from_slice(&chunk[..count]);
        }
        connection.write_all(answer.as_bytes()).await.unwrap();
        while connection.read(&mut chunk).await.is_ok_and(|count| count > 0) {}
        String::from_utf8(request).unwrap()
    }

    async fn listener() -> (TcpListener, Endpoint) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        (
            listener,
            Endpoint {
                base,
                token: "secret".into(),
                time_limit: LIMIT,
            },
        )
    }

    #[tokio::test]
    async fn a_post_is_whole_and_an_answer_ends_where_it_says() {
        let (listener, endpoint) = listener().await;
        let answer =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{\"ok\":true}";
        let (request, result) = tokio::join!(serve_once(listener, answer), post(&endpoint, r#"{"a":1}"#));
        result.unwrap();
        assert!(
            request.starts_with("POST /api/activity/hooks HTTP/1.1\r\n"),
            "{request}"
        );
        assert!(
            request.contains("\r\nAuthorization: Bearer secret\r\n"),
            "{request}"
        );
        assert!(request.contains("\r\nContent-Length: 7\r\n"), "{request}");
        assert!(request.ends_with("\r\n\r\n{\"a\":1}"), "{request}");
    }

    #[tokio::test]
    async fn an_error_status_is_an_error() {
        let (listener, endpoint) = listener().await;
        let answer = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
        let (_, result) = tokio::join!(serve_once(listener, answer), post(&endpoint, "{}"));
        assert!(matches!(result, Err(PostError::Refused(503))), "{result:?}");
    }

    #[tokio::test]
    async fn a_refused_connection_is_an_error() {
        let (listener, endpoint) = listener().await;
        drop(listener);
        assert!(matches!(
            post(&endpoint, "{}").await,
            Err(PostError::Connection(_))
        ));
    }

    #[tokio::test]
    async fn something_else_than_http_is_an_error() {
        let (listener, endpoint) = listener().await;
        let server = async {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut chunk = [0; 1024];
            let _ = connection.read(&mut chunk).await.unwrap();
            connection.write_all(b"SSH-2.0-x\r\n\r\n").await.unwrap();
        };
        let ((), result) = tokio::join!(server, post(&endpoint, "{}"));
        assert!(
            matches!(result, Err(PostError::NotHttp | PostError::Connection(_))),
            "{result:?}"
        );
    }

    #[tokio::test]
    async fn a_hanging_endpoint_is_given_up() {
        let (listener, endpoint) = listener().await;
        let result = post(&endpoint, "{}").await;
        drop(listener);
        assert!(matches!(result, Err(PostError::TimedOut(_))), "{result:?}");
    }

    #[tokio::test]
    async fn https_is_refused_at_once() {
        let endpoint = Endpoint {
            base: "https://127.0.0.1:1".into(),
            token: "t".into(),
            time_limit: LIMIT,
        };
        assert!(matches!(post(&endpoint, "{}").await, Err(PostError::Address(_))));
    }

    #[test]
    fn bases_are_split() {
        assert_eq!(split_base("http://h:1"), Some(("h:1", "")));
        assert_eq!(split_base("http://[::1]:1/rig"), Some(("[::1]:1", "/rig")));
        assert_eq!(split_base("http:///x"), None);
        assert!(has_port("[::1]:1") && !has_port("[::1]") && has_port("h:1") && !has_port("h"));
    }
}
