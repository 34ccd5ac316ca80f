//! The built binary as its users meet it.
#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on says so best by panicking where it stands"
)]

mod board;
mod command;
mod declared;
mod hostile;
mod interrupted;
mod lint;
mod many_seats;
mod pipes;
mod play;
mod profile;
mod programs;
mod reference;
mod support;
mod tmux;
mod variants;
