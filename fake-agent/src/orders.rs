//! The agent's end of the control socket: says hello, and follows the engine's orders.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::exit;
use std::sync::Arc;

use crate::agent::Agent;
use crate::control::{Bytes, Fact, Hello, Order};
use crate::reporter::Reporter;
use crate::script::Script;
use crate::wire::lines::{LineEnd, LineReader};

/// An order longer than this is not the engine's.
const LONGEST_ORDER: usize = 64 << 20;

/// Where orders come from.
pub(crate) struct Orders {
    lines: LineReader<UnixStream>,
    line: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum OrdersError {
    #[error("the engine closed the control socket")]
    Closed,
    #[error("an order is longer than 64 MiB")]
    TooLong,
    #[error("an order can't be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("the first order is not a script")]
    NoScript,
}

/// Connects to the engine.
pub(crate) fn connect(path: &Path) -> io::Result<(Arc<Reporter>, Orders)> {
    let socket = UnixStream::connect(path)?;
    let lines = LineReader::new(socket.try_clone()?, LONGEST_ORDER);
    Ok((
        Reporter::engine(socket)?,
        Orders {
            lines,
            line: Vec::new(),
        },
    ))
}

/// Sends the first report.
pub(crate) fn say_hello(reporter: &Reporter, label: Option<String>, arguments: Vec<OsString>) {
    let bytes = |text: OsString| Bytes::from(text.into_vec());
    let (process_group, session) = group_and_session();
    reporter.report(|| {
        Fact::Hello(Box::new(Hello {
            pid: std::process::id(),
            label,
            arguments: arguments.into_iter().map(bytes).collect(),
            environment: std::env::vars_os()
                .map(|(name, value)| (name.to_string_lossy().into_owned(), bytes(value)))
                .collect(),
            directory: bytes(std::env::current_dir().unwrap_or_default().into()),
            process_group,
            session,
        }))
    });
}

/// This process's group and session; 0 stands for one whose leader is outside this process's namespace, as where a
/// container runs a command.
fn group_and_session() -> (u32, u32) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name stands in brackets and may hold anything, brackets too; after it come state, parent, group, session.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut numbers = fields
        .split_ascii_whitespace()
        .skip(2)
        .map(|field| field.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

impl Orders {
    /// Waits for the first order.
    pub(crate) fn script(&mut self) -> Result<Script, OrdersError> {
        match self.next()? {
            Order::Script(script) => Ok(*script),
            Order::Open(_) | Order::Do(_) => Err(OrdersError::NoScript),
        }
    }

    /// Follows the orders, in a thread that ends the process when the engine is gone.
    pub(crate) fn follow(mut self, agent: Arc<Agent>) -> io::Result<()> {
        std::thread::Builder::new()
            .name("orders".into())
            .spawn(move || self.follow_all(&agent))?;
        Ok(())
    }

    fn follow_all(&mut self, agent: &Agent) {
        loop {
            match self.next() {
                Ok(Order::Open(gate)) => agent.arrivals.open_gate(gate),
                Ok(Order::Do(told)) => {
                    if let Err(trouble) = agent.questions.told(told) {
                        agent.reporter.trouble(trouble.to_string());
                    }
                }
                Ok(Order::Script(_)) => agent
                    .reporter
                    .trouble("a second script came: only the first is played"),
                Err(OrdersError::Closed) => exit(1),
                Err(error) => agent.reporter.trouble(error.to_string()),
            }
        }
    }

    fn next(&mut self) -> Result<Order, OrdersError> {
        match self.lines.next(&mut self.line) {
            Ok(Some(LineEnd::Newline)) => Ok(serde_json::from_slice(&self.line)?),
            Ok(Some(LineEnd::TooLong)) => Err(OrdersError::TooLong),
            // What is left of an order that was cut off is of no use, and a broken socket is a closed one.
            Ok(Some(LineEnd::EndOfInput) | None) | Err(_) => Err(OrdersError::Closed),
        }
    }
}
