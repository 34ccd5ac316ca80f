//! seatcheck: shows, with evidence that anyone can judge again, where a program keeps the OpenRig runner contract.
//!
//! The way of the data: scenario → engine → history → pure judge → report. Nothing flows back.

pub mod contract;
pub mod history;
