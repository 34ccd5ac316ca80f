//! A plain HTTP client, which sends exactly the headers that a test wants.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A request to 127.0.0.1 whose whole answer is awaited.
pub(crate) fn request(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut reader = BufReader::new(begin(port, method, path, headers, body));
    let (status, head) = read_head(&mut reader);
    let mut body = Vec::new();
    match length(&head).or((status == 204).then_some(0)) {
        Some(length) => {
            body.resize(length, 0);
            reader.read_exact(&mut body).unwrap();
        }
        None => {
            reader.read_to_end(&mut body).unwrap();
        }
    }
    Answer {
        status,
        head,
        body: String::from_utf8(body).unwrap(),
    }
}

/// A request whose answer comes bit by bit.
pub(crate) fn stream(port: u16, path: &str, headers: &[(&str, &str)]) -> (u16, BufReader<TcpStream>) {
    let mut reader = BufReader::new(begin(port, "GET", path, headers, ""));
    let (status, _) = read_head(&mut reader);
    (status, reader)
}

/// The next server-sent event's data.
pub(crate) fn next_event(reader: &mut BufReader<TcpStream>) -> serde_json::Value {
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the events ended");
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).unwrap();
        }
    }
}

fn begin(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    write!(stream, "{head}\r\n{body}").unwrap();
    stream
}

fn read_head(reader: &mut BufReader<TcpStream>) -> (u16, String) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(
            reader.read_line(&mut head).unwrap() > 0,
            "no whole answer: {head}"
        );
    }
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap(), head.to_ascii_lowercase())
}

fn length(head: &str) -> Option<usize> {
    head.lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|length| length.trim().parse().ok())
}
