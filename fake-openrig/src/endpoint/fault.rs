//! The ways an endpoint can fail a runner.

use std::time::Duration;

/// How the endpoint behaves from now on. Only [`Fault::Healthy`] and [`Fault::Slow`] answer as OpenRig does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    /// As OpenRig.
    #[default]
    Healthy,
    /// Reads each request and never answers it. It ends when the client leaves or the fault is switched.
    Hang,
    /// Answers as OpenRig, this much later, or when the fault is switched.
    Slow(Duration),
    /// Nobody listens: a connection is refused (ECONNREFUSED). The port is kept.
    Refuse,
    /// Accepts a connection and resets it (ECONNRESET).
    Reset,
    /// Answers this status, with OpenRig's body where OpenRig has one. A number that is no final status is taken as 500.
    Status(u16),
    /// Records the post as OpenRig does and answers 200, with a body that is not JSON.
    BadBody,
    /// Records the post as OpenRig does, and closes the connection in the middle of the answer.
    CloseMidAnswer,
}
