//! OpenRig's side of one seat, without OpenRig.
//!
//! A runner sees OpenRig through four things: the environment of its launch, the folder where its launch record
//! goes, an HTTP endpoint for activity posts, and text pasted into its pane. This crate makes all four, and reads
//! a seat from what comes back as OpenRig would. It judges nothing: what a runner ought to have done is for others
//! to say.
//!
//! The parts that decide something ([`record`], [`post`], [`reading`], [`send`], [`preset`]) are pure functions of
//! what they are given. [`launch`], [`endpoint`], [`record_watch`] and
//! [`board`] touch the system. Times are nanoseconds of
//! `CLOCK_MONOTONIC`.

pub mod board;
mod calendar;
mod clock;
pub mod endpoint;
mod error;
mod hook_event;
pub mod launch;
pub mod post;
pub mod preset;
mod random;
pub mod reading;
pub mod record;
pub mod record_watch;
pub mod send;
mod serve;
mod token;

pub use error::Error;
pub use serve::main;
pub use token::Token;

/// What the fallible functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;
