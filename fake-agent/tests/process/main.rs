//! The built program as a runner and an engine meet it: over pipes and a control socket.

#![expect(
    clippy::unwrap_used,
    reason = "a panic is how a test fails, in its helpers too"
)]

mod actions;
mod alone;
mod endings;
mod orders;
mod output;
mod support;
