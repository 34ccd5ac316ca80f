//! Doing: what a step does to the seat's agent, its endpoint or its terminal.

use std::io;

use fake_agent::control;
use fake_openrig::endpoint;
use tokio::time::Instant;

use super::driver::Driver;
use super::lanes::order;
use crate::history::{Fact, Step};
use crate::scenario::EndpointFault;

impl Driver<'_> {
    pub(super) fn clear_attention(&mut self) {
        self.record(Fact::Step(Step::ClearedAttention));
        if let Some(reading) = &mut self.reading {
            reading.cleared();
        }
        if let Some(feed) = &mut self.feed {
            feed.cleared();
        }
        self.tell_reading();
    }

    pub(super) async fn release(&mut self, gate: &str) -> io::Result<()> {
        self.record(Fact::Step(Step::Opened {
            gate: gate.to_owned(),
        }));
        for agent in self.agents.values_mut() {
            // An agent that is gone is told by its own lane.
            let _ = order(&mut agent.orders, &control::Order::Open(gate.to_owned())).await;
        }
        Ok(())
    }

    pub(super) async fn resize(&mut self, size: (u16, u16)) -> io::Result<()> {
        self.record(Fact::Step(Step::Resized { size }));
        let Some(connection) = self
            .running
            .as_ref()
            .and_then(|running| running.connection.clone())
        else {
            return Ok(());
        };
        let limit = Instant::now() + self.setup.patience;
        self.meanwhile(limit, connection.resize(size))
            .await
            .unwrap_or(Ok(()))
    }

    pub(super) fn set_endpoint(&mut self, fault: EndpointFault) -> io::Result<()> {
        self.record(Fact::Step(Step::Endpoint {
            fault: fault.to_string(),
        }));
        let fault = match fault {
            EndpointFault::Healthy => endpoint::Fault::Healthy,
            EndpointFault::Hang => endpoint::Fault::Hang,
            EndpointFault::Slow(delay) => endpoint::Fault::Slow(delay.duration()),
            EndpointFault::Refuse => endpoint::Fault::Refuse,
            EndpointFault::Reset => endpoint::Fault::Reset,
            EndpointFault::Status(status) => endpoint::Fault::Status(status),
            EndpointFault::BadBody => endpoint::Fault::BadBody,
        };
        self.endpoint.set(fault).map_err(io::Error::other)
    }
}
