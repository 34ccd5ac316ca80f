//! Drives seats: one scenario on one seat, many side by side. It records and asserts nothing.

mod driver;
mod lanes;
mod launching;
mod observed;
mod recorder;
mod run;
mod setup;
mod stopping;

pub use run::{Progress, SeatRun, run};
pub use setup::{Claims, RunnerCommand, Setup};
