//! Drives seats: one scenario on one seat, many side by side. It records and asserts nothing.

mod board_feed;
mod by_hand;
mod control_lines;
mod doing;
mod driver;
mod hosting;
mod idle_reports;
mod kept;
mod keys;
mod lanes;
mod launching;
mod observed;
mod playing;
mod recorder;
mod run;
mod sending;
mod setup;
mod shown;
mod stopping;
mod taking;
mod torn_token;
mod waiting;
mod waiting_room;

pub use keys::{Key, KeyScanner};
pub use playing::{Hand, Play, Stay, play};
pub use run::{Progress, SeatRun, run};
pub use setup::{Claims, RunnerCommand, Setup};
