//! Drives seats: one scenario on one seat, many side by side. It records and asserts nothing.

mod doing;
mod driver;
mod hosting;
mod idle_reports;
mod lanes;
mod launching;
mod observed;
mod recorder;
mod run;
mod sending;
mod setup;
mod stopping;
mod taking;
mod torn_token;
mod waiting;

pub use run::{Progress, SeatRun, run};
pub use setup::{Claims, RunnerCommand, Setup};
