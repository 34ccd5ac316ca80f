//! The built binary as its users meet it.
#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on says so best by panicking where it stands"
)]

mod board;
mod command;
mod declared;
mod interrupted;
mod lint;
mod play;
mod profile;
mod programs;
mod reference;
mod support;
mod variants;
