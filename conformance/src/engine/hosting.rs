//! A launch in tmux: its server, what is typed into its pane, and its end.

use std::io;
use std::pin::pin;

use tokio::time::Instant;

use super::driver::Driver;
use super::lanes::order;
use crate::scenario::Transport;
use crate::seat::connection::Connection;
use crate::seat::input::Input;
use crate::seat::supervisor::{Order, Start};
use crate::seat::tmux::{Pane, Places};

impl Driver<'_> {
    /// Has the supervisor start a server, and types the runner's command into its pane as OpenRig does.
    pub(super) async fn host(&mut self, places: &Places, start: Start) -> io::Result<()> {
        places.write_script(&self.setup.seatcheck, &start.environment, &start.command)?;
        let host = places.host(
            &self.identity.session_name,
            self.setup.size,
            &start.environment,
            start.directory,
        );
        if let Some(running) = &mut self.running
            && let Some(orders) = &mut running.orders
        {
            order(orders, &Order::Host(Box::new(host))).await?;
        }
        self.wait_for_host().await?;
        let Some(pane) = self.pane() else {
            return Ok(());
        };
        let limit = Instant::now() + self.setup.patience;
        let typing = async {
            pane.put(&Input::Keys(places.typed())).await?;
            pane.put(&Input::Enter).await
        };
        self.meanwhile(limit, typing)
            .await
            .unwrap_or_else(|| Err(io::Error::other("tmux did not take the runner's command")))
    }

    async fn wait_for_host(&mut self) -> io::Result<()> {
        let limit = Instant::now() + self.setup.patience;
        while self
            .running
            .as_ref()
            .is_some_and(|running| !running.hosted && !running.ended)
            && self.fault.is_none()
        {
            if !self.pump_in_hurry(limit).await {
                return Err(io::Error::other("the tmux server did not come up"));
            }
        }
        match &self.fault {
            Some(why) => Err(io::Error::other(why.clone())),
            None => Ok(()),
        }
    }

    /// The pane of the launch that runs, if it runs in one.
    pub(super) fn pane(&self) -> Option<Pane> {
        match self.running.as_ref()?.connection.as_ref()? {
            Connection::Tmux(pane) => Some(pane.clone()),
            Connection::Terminal(_) | Connection::Pipes => None,
        }
    }

    /// Ends the session and its server, if there is one, and takes everything in meanwhile. Where that fails the seat's
    /// history is worth nothing, but its processes are still to be ended.
    pub(super) async fn kill_session(&mut self) {
        let Some(pane) = self.pane() else { return };
        let limit = Instant::now() + self.setup.patience;
        let fault = match self.meanwhile(limit, pane.kill_session()).await {
            Some(Ok(())) => return,
            Some(Err(error)) => error.to_string(),
            None => "tmux did not end the session".into(),
        };
        self.fault.get_or_insert(fault);
    }

    /// Does something while everything is taken in, whether or not everything is to end. `None` if the limit came first.
    pub(super) async fn meanwhile<T>(&mut self, limit: Instant, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                went_on = self.pump_in_hurry(limit) => if !went_on { return None },
            }
        }
    }

    /// Whether the runner has a session around it that its own end does not end.
    pub(super) fn is_hosted(&self) -> bool {
        self.transport == Transport::Tmux
    }
}
