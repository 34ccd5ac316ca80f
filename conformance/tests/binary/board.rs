//! A seat's board, over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

/// A page's view of a board: its events, and its presses.
pub(crate) struct Page {
    host: String,
    path: String,
    events: BufReader<TcpStream>,
}

impl Page {
    /// Opens the board at this address.
    pub(crate) fn open(address: &str) -> Self {
        let (host, path) = address
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once('/'))
            .unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /{path}events HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
        let mut events = BufReader::new(stream);
        let mut status = String::new();
        events.read_line(&mut status).unwrap();
        assert!(status.contains(" 200 "), "{status}");
        Self {
            host: host.to_owned(),
            path: path.to_owned(),
            events,
        }
    }

    /// Waits for an event of which `wanted` gives something. Those in the whole picture count too, one by one.
    pub(crate) fn until<T>(&mut self, mut wanted: impl FnMut(&str, &Value) -> Option<T>) -> T {
        loop {
            let mut line = String::new();
            assert!(self.events.read_line(&mut line).unwrap() > 0, "the events ended");
            let Some(data) = line.strip_prefix("data: ") else {
                continue;
            };
            let event: Value = serde_json::from_str(data).unwrap();
            let (name, told) = event.as_object().unwrap().iter().next().unwrap();
            if name == "whole" {
                let singles = [
                    ("reading", "reading"),
                    ("record", "record"),
                    ("seat", "launched"),
                    ("runner_ended", "runner_ended"),
                ];
                let found = singles
                    .iter()
                    .find_map(|(field, name)| wanted(name, &told[*field]));
                let lists = [
                    ("posts", "post"),
                    ("gates", "waiting"),
                    ("asks", "asks"),
                    ("lines", "line"),
                ];
                let found = found.or_else(|| {
                    lists.iter().find_map(|(field, name)| {
                        let list = told[*field].as_array().unwrap();
                        list.iter().find_map(|told| wanted(name, told))
                    })
                });
                if let Some(found) = found {
                    return found;
                }
            } else if let Some(found) = wanted(name, told) {
                return found;
            }
        }
    }

    /// Waits until the seat reads so.
    pub(crate) fn until_reading(&mut self, launch: &str, activity: &str) {
        self.until(|name, told| {
            (name == "reading" && told["launch"] == launch && told["activity"] == activity).then_some(())
        });
    }

    /// Waits for a post of that name to have ended.
    pub(crate) fn until_post(&mut self, event: &str) -> Value {
        self.until(|name, told| {
            (name == "post" && told["event"] == event && !told["outcome"].is_null()).then(|| told.clone())
        })
    }

    /// Presses, and gives the status of the answer.
    pub(crate) fn press(&self, press: &Value) -> u16 {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let (host, path, body) = (&self.host, &self.path, press.to_string());
        write!(
            stream,
            "POST /{path}press HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }
}
