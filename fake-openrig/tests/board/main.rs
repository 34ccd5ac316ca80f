//! The seat board from outside: over HTTP, and in a real browser.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on says so best by panicking where it stands"
)]

mod browser;
mod guarded;
mod http;
mod page;
mod served;
