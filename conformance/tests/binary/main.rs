//! The built binary as its users meet it.
#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on says so best by panicking where it stands"
)]

mod command;
mod declared;
mod interrupted;
mod lint;
mod profile;
mod programs;
mod reference;
mod support;
mod variants;
