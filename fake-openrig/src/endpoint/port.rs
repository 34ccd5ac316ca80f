//! The port of an endpoint: what holds it, the fault it shows, and the connections that are open on it.
//!
//! One lock covers the socket and the connections, so that a connection is either accepted before a switch, and
//! then known to it, or after.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};

use super::connection::{Accepted, Connection, ConnectionIo, Cut};
use super::ledger::Ledger;
use super::{Exchange, Fault};
use crate::{Error, Result};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1024;

/// The fault that holds, and how often it was switched.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Setting {
    pub(super) fault: Fault,
    pub(super) switches: u64,
}

#[derive(Debug)]
pub(super) struct Port {
    number: u16,
    runtime: Handle,
    ledger: Arc<Ledger>,
    setting: watch::Sender<Setting>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    socket: Socket,
    connections: HashMap<u64, Arc<Connection>>,
    accepted: u64,
}

#[derive(Debug)]
enum Socket {
    Listening(TcpListener),
    /// Bound, so that nobody else gets the port, but not listening, so that connections are refused.
    Held(TcpSocket),
    Closed,
}

impl Port {
    /// Listens on a free port.
    pub(super) fn open(runtime: Handle, ledger: Arc<Ledger>) -> Result<Self> {
        let socket = bind(0)?;
        let address = socket.local_addr().map_err(|source| Error::Socket {
            action: "bind a port",
            source,
        })?;
        let socket = Socket::Listening(listen(socket)?);
        Ok(Self {
            number: address.port(),
            runtime,
            ledger,
            setting: watch::Sender::default(),
            state: Mutex::new(State {
                socket,
                connections: HashMap::new(),
                accepted: 0,
            }),
        })
    }

    pub(super) fn number(&self) -> u16 {
        self.number
    }

    pub(super) fn setting(&self) -> Setting {
        *self.setting.borrow()
    }

    /// Waits until `setting` no longer holds.
    pub(super) async fn switched_from(&self, setting: Setting) {
        // It fails only when the sender is gone, which is part of `self`.
        let _ = self
            .setting
            .subscribe()
            .wait_for(|now| now.switches != setting.switches)
            .await;
    }

    pub(super) fn set(&self, fault: Fault) -> Result<()> {
        let mut state = self.state();
        if self.setting().fault == fault {
            return Ok(());
        }
        // Sockets are registered with the runtime of the endpoint, whichever thread this is.
        let _runtime = self.runtime.enter();
        match fault {
            Fault::Refuse => state.socket.hold(self.number)?,
            _ => state.socket.listen(self.number)?,
        }
        // The cuts come first: whoever sees the new fault finds its connection cut.
        match fault {
            Fault::Refuse => state.cut_all(Cut::Close),
            Fault::Reset => state.cut_all(Cut::Reset),
            _ => {}
        }
        self.setting.send_modify(|setting| {
            setting.fault = fault;
            setting.switches += 1;
        });
        Ok(())
    }

    /// Gives the port up and closes every connection.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.socket = Socket::Closed;
        state.cut_all(Cut::Close);
        self.setting.send_modify(|setting| setting.switches += 1);
    }

    /// Called when a connection is closed. `is_astray`: it brought bytes, but no request.
    pub(super) fn forget(&self, id: u64, is_astray: bool) {
        self.state().connections.remove(&id);
        if is_astray {
            self.ledger.connection(|at| Exchange::NoRequest { at });
        }
    }

    /// The next connection; none if it was reset. Pending while nobody listens: a switch must wake the caller then.
    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<Option<Accepted>>> {
        let mut state = self.state();
        let Socket::Listening(listener) = &state.socket else {
            return Poll::Pending;
        };
        let (stream, _) = ready!(listener.poll_accept(context))?;
        if self.setting().fault == Fault::Reset {
            stream.set_zero_linger()?;
            // Before the client can see it.
            self.ledger.connection(|at| Exchange::ConnectionReset { at });
            return Poll::Ready(Ok(None));
        }
        state.accepted += 1;
        let accepted = Accepted::new(stream, state.accepted);
        let id = state.accepted;
        state.connections.insert(id, accepted.connection().clone());
        Poll::Ready(Ok(Some(accepted)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn cut_all(&self, how: Cut) {
        for connection in self.connections.values() {
            connection.cut(how);
        }
    }
}

impl Socket {
    fn hold(&mut self, port: u16) -> Result<()> {
        if let Self::Listening(_) = self {
            // Both sockets are bound for a moment: at no time is the port free.
            *self = Self::Held(bind(port)?);
        }
        Ok(())
    }

    fn listen(&mut self, port: u16) -> Result<()> {
        *self = match std::mem::replace(self, Self::Closed) {
            Self::Listening(listener) => Self::Listening(listener),
            Self::Held(socket) => Self::Listening(listen(socket)?),
            // An earlier attempt failed.
            Self::Closed => Self::Listening(listen(bind(port)?)?),
        };
        Ok(())
    }
}

fn bind(port: u16) -> Result<TcpSocket> {
    let bound = TcpSocket::new_v4().and_then(|socket| {
        socket.set_reuseport(true)?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        Ok(socket)
    });
    bound.map_err(|source| Error::Socket {
        action: "bind a port",
        source,
    })
}

fn listen(socket: TcpSocket) -> Result<TcpListener> {
    socket.listen(BACKLOG).map_err(|source| Error::Socket {
        action: "listen",
        source,
    })
}

/// Hands the port's connections to the HTTP server.
pub(super) struct Acceptor {
    port: Arc<Port>,
    setting: watch::Receiver<Setting>,
    permits: Arc<Semaphore>,
}

impl Acceptor {
    /// Serves up to `connections` at a time.
    pub(super) fn new(port: Arc<Port>, connections: usize) -> Self {
        let setting = port.setting.subscribe();
        Self {
            port,
            setting,
            permits: Arc::new(Semaphore::new(connections.max(1))),
        }
    }
}

impl Listener for Acceptor {
    type Io = ConnectionIo;
    type Addr = ();

    async fn accept(&mut self) -> (ConnectionIo, ()) {
        loop {
            let Ok(permit) = self.permits.clone().acquire_owned().await else {
                // The semaphore is never closed.
                std::future::pending().await
            };
            let accepted = tokio::select! {
                accepted = std::future::poll_fn(|context| self.port.poll_accept(context)) => accepted,
                // The socket to accept from may be another one now.
                _ = self.setting.changed() => continue,
            };
            match accepted {
                Ok(Some(accepted)) => return (ConnectionIo::new(accepted, self.port.clone(), permit), ()),
                Ok(None) => {}
                // The client left the queue.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                // The process is out of files. The connection stays in the queue, so that trying again at once
                // would spin until one is closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}
