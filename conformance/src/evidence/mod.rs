//! Evidence: what a history looks like to those who did not see the run.

mod timeline;

pub use timeline::timeline;
