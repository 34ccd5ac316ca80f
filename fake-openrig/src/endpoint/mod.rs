//! The activity endpoint of one seat: OpenRig's answers, on demand its failures, and a record of every exchange.
//!
//! What the endpoint sees comes out as [`Exchange`] events. They are true about order: an exchange's end is stamped
//! before its answer can reach the client, and a request that a client has left is ended before the next one is
//! stamped as started. Overlapping stamps therefore mean that the client overlapped its requests. The token is in
//! no event, wherever a client puts it.
//!
//! Memory is bounded whatever a client sends: see [`Limits`].

mod answer;
mod connection;
mod exchange;
mod fault;
mod handler;
mod ledger;
mod port;
mod redaction;

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

pub use exchange::{Authorization, Ending, Exchange};
pub use fault::Fault;

use crate::launch::Launch;
use crate::{Error, Result, Token};
use answer::Seat;
use ledger::Ledger;
use port::Port;

/// The seat an endpoint answers for.
#[derive(Debug, Clone)]
pub struct EndpointOptions {
    /// The activity token.
    pub token: Token,
    /// The one session it knows.
    pub session_name: String,
    /// That session's node.
    pub node_id: String,
    /// The preset's name, by which an exit is told from other stops.
    pub preset_name: String,
    /// What it keeps of a client that floods it.
    pub limits: Limits,
}

impl From<&Launch> for EndpointOptions {
    fn from(launch: &Launch) -> Self {
        Self {
            token: launch.token.clone(),
            session_name: launch.session_name.clone(),
            node_id: launch.node_id.clone(),
            preset_name: launch.runtime.clone(),
            limits: Limits::default(),
        }
    }
}

/// How much an endpoint keeps. Its events together hold no more than `bytes` and one body for each connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one body. A longer body is read to its end, up to 256 MiB, and answered 413.
    pub body: usize,
    /// Exchanges and events of connections that are reported. After these, requests are answered 503 and only counted.
    pub exchanges: u64,
    /// Bytes of all bodies and request lines reported; reaching it ends the reports too.
    pub bytes: usize,
    /// Connections at a time; further ones wait until one of these closes.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 256 * 1024,
            exchanges: 20_000,
            bytes: 32 * 1024 * 1024,
            connections: 256,
        }
    }
}

/// A running endpoint on 127.0.0.1. Dropping it closes its port and every connection.
#[derive(Debug)]
pub struct Endpoint {
    port: Arc<Port>,
    ledger: Arc<Ledger>,
    accepting: JoinHandle<()>,
}

impl Endpoint {
    /// Starts a healthy endpoint on a free port, and hands over the events of its exchanges. The events end some
    /// time after the endpoint is dropped.
    ///
    /// # Errors
    /// [`Error::NoRuntime`] outside of a tokio runtime; [`Error::Socket`] if no port can be had.
    pub fn start(options: EndpointOptions) -> Result<(Self, UnboundedReceiver<Exchange>)> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| Error::NoRuntime)?;
        let (events, receiver) = unbounded_channel();
        let ledger = Arc::new(Ledger::new(events, &options.token, options.limits));
        let port = Arc::new(Port::open(runtime.clone(), ledger.clone())?);
        let seat = Arc::new(Seat::from(options));
        let service = handler::service(seat, ledger.clone(), port.clone());
        let listener = port::Acceptor::new(port.clone(), ledger.limits().connections);
        let accepting = runtime.spawn(async move {
            // It ends only by being aborted.
            let _ = axum::serve(listener, service).await;
        });
        Ok((
            Self {
                port,
                ledger,
                accepting,
            },
            receiver,
        ))
    }

    /// The port it listens on; the same for as long as it lives.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Switches the endpoint's behaviour. A request that arrives after this returns meets the new one. Requests that
    /// hang are closed and slow ones answered; [`Fault::Refuse`] closes and [`Fault::Reset`] resets all connections
    /// that are open. Setting the fault that holds already changes nothing.
    ///
    /// # Errors
    /// [`Error::Socket`] if the port can't be listened on again.
    pub fn set(&self, fault: Fault) -> Result<()> {
        self.port.set(fault)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.accepting.abort();
        self.port.close();
        self.ledger.close();
    }
}
