//! The activity endpoint as a client sees it over a socket, and what it reports meanwhile.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod answers;
mod client;
mod faults;
mod limits;
mod order;
mod seat;
