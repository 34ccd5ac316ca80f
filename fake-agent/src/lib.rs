//! A scripted ACP v1 agent: raw JSON-RPC lines on its standard streams, no SDK.
//!
//! A [`script::Script`] says what the agent answers, when it waits, and how it misbehaves. An engine
//! drives it over a Unix socket with the messages of [`control`]; without one it runs alone.
//!
//! What a process observes and does is reported in the order in which it happened. What the runner can see
//! is reported before it is done, and nothing is done between the last report and the exit.

mod actions;
mod agent;
mod arrivals;
mod built_in;
mod bytes;
mod children;
mod clock;
mod command_line;
pub mod control;
mod ending;
mod orders;
mod questions;
mod reporter;
pub mod script;
mod script_file;
mod standard_error;
mod waiting;
mod wire;

pub use command_line::main;
