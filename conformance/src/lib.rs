//! seatcheck: shows, with evidence that anyone can judge again, where a program keeps the OpenRig runner contract.
//!
//! The way of the data: scenario → engine → history → pure judge → report. Nothing flows back.

pub mod cli;
pub mod contract;
mod coverage;
pub mod engine;
pub mod hidden;
pub mod history;
pub mod judgement;
pub mod scenario;
mod seat;
