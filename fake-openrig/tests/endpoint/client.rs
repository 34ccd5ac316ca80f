//! A plain HTTP client that does exactly what a test says, wrong things included.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One connection to the endpoint.
pub(crate) struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

/// An answer that arrived whole.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Client {
    pub(crate) async fn connect(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            received: Vec::new(),
        })
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> io::Result<Response> {
        self.send(request).await?;
        self.response().await
    }

    /// Waits for an answer. An end of the stream before its end is `UnexpectedEof`.
    pub(crate) async fn response(&mut self) -> io::Result<Response> {
        let head_end = loop {
            if let Some(place) = self.received.windows(4).position(|window| window == b"\r\n\r\n") {
                break place + 4;
            }
            self.receive().await?;
        };
        let head = String::from_utf8(self.received[..head_end].to_vec())
            .unwrap()
            .to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length: usize = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.trim().parse().unwrap());
        while self.received.len() < head_end + length {
            self.receive().await?;
        }
        let rest = self.received.split_off(head_end + length);
        let body = self.received.split_off(head_end);
        self.received = rest;
        Ok(Response { status, body })
    }

    /// Waits for the end of the stream, in good order or not.
    pub(crate) async fn closed(&mut self) -> io::Result<()> {
        loop {
            match self.receive().await {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    async fn receive(&mut self) -> io::Result<()> {
        let mut part = [0; 4096];
        match self.stream.read(&mut part).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            size => {
                self.received.extend_from_slice(&part[..size]);
                Ok(())
            }
        }
    }
}
