//! One accepted connection, which the endpoint can cut from outside of the task that serves it.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker, ready};

use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;

use super::Ending;
use super::port::Port;

/// How the endpoint ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// By closing it.
    Close,
    /// By resetting it.
    Reset,
}

/// The outside handle of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// Weak, because only the serving task's end may close the socket.
    stream: Weak<TcpStream>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    cut: Option<Cut>,
    task: Option<Waker>,
    brought_bytes: bool,
    brought_request: bool,
}

impl Connection {
    /// Has the connection closed; its task does so as soon as it runs. The first cut counts.
    pub(super) fn cut(&self, how: Cut) {
        let mut state = self.state();
        if state.cut.is_some() {
            return;
        }
        if let (Cut::Reset, Some(stream)) = (how, self.stream.upgrade()) {
            // It fails only on a socket that is gone, which needs no reset.
            let _ = stream.set_zero_linger();
        }
        state.cut = Some(how);
        if let Some(task) = state.task.take() {
            task.wake();
        }
    }

    /// Notes that a request was read from it.
    pub(super) fn brought_request(&self) {
        self.state().brought_request = true;
    }

    /// How an exchange ends that has no answer when its connection was cut; none if it was not.
    pub(super) fn cut_ending(&self) -> Option<Ending> {
        self.state().cut.map(|cut| match cut {
            Cut::Close => Ending::Hung,
            Cut::Reset => Ending::Reset,
        })
    }

    /// How an exchange ends that can have no answer any more, cut or left by its client; none while it may have one.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.cut_ending()
            .or_else(|| self.is_left().then_some(Ending::GivenUp))
    }

    /// Whether the client has closed its side and everything it sent was read.
    fn is_left(&self) -> bool {
        let Some(stream) = self.stream.upgrade() else {
            return true;
        };
        match rustix::net::recv(&*stream, &mut [0_u8; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((_, received)) => received == 0,
            Err(Errno::AGAIN | Errno::INTR) => false,
            Err(_) => true,
        }
    }

    /// Writes bytes past the HTTP server. Only for an exchange of which nothing was answered yet.
    pub(super) async fn write_raw(&self, mut bytes: &[u8]) -> io::Result<()> {
        let stream = self.stream.upgrade().ok_or(io::ErrorKind::NotConnected)?;
        while !bytes.is_empty() {
            stream.writable().await?;
            match stream.try_write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Refuses to go on if the connection was cut; otherwise notes whom to wake when it is.
    fn check(&self, context: &Context<'_>) -> io::Result<()> {
        let mut state = self.state();
        match state.cut {
            Some(Cut::Close) => Err(io::ErrorKind::ConnectionAborted.into()),
            Some(Cut::Reset) => Err(io::ErrorKind::ConnectionReset.into()),
            None => {
                match &mut state.task {
                    Some(task) => task.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
                Ok(())
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the HTTP server reads and writes.
pub(super) struct ConnectionIo {
    stream: Arc<TcpStream>,
    connection: Arc<Connection>,
    id: u64,
    port: Arc<Port>,
    /// Its place among the connections the endpoint serves at a time.
    _permit: OwnedSemaphorePermit,
}

impl ConnectionIo {
    pub(super) fn new(accepted: Accepted, port: Arc<Port>, permit: OwnedSemaphorePermit) -> Self {
        let Accepted {
            stream,
            connection,
            id,
        } = accepted;
        Self {
            stream,
            connection,
            id,
            port,
            _permit: permit,
        }
    }

    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }
}

impl Drop for ConnectionIo {
    fn drop(&mut self) {
        let state = self.connection.state();
        let is_astray = state.brought_bytes && !state.brought_request;
        drop(state);
        self.port.forget(self.id, is_astray);
    }
}

/// A connection that the port knows and nobody serves yet.
pub(super) struct Accepted {
    stream: Arc<TcpStream>,
    connection: Arc<Connection>,
    id: u64,
}

impl Accepted {
    pub(super) fn new(stream: TcpStream, id: u64) -> Self {
        // Answers are small and awaited: they should not wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let stream = Arc::new(stream);
        let connection = Connection {
            stream: Arc::downgrade(&stream),
            state: Mutex::default(),
        };
        Self {
            stream,
            connection: Arc::new(connection),
            id,
        }
    }

    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }
}

impl AsyncRead for ConnectionIo {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.connection.check(context)?;
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            match self.stream.try_read_buf(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(size) => {
                    self.connection.state().brought_bytes |= size > 0;
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl AsyncWrite for ConnectionIo {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.connection.check(context)?;
        loop {
            ready!(self.stream.poll_write_ready(context))?;
            match self.stream.try_write_vectored(slices) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A connection to be reset must not be ended in good order first.
        self.connection.check(context)?;
        Poll::Ready(rustix::net::shutdown(&*self.stream, Shutdown::Write).map_err(io::Error::from))
    }
}
