//! The contract as clauses: one file per group, and in it each clause's id, level, basis and text beside the function
//! that judges it. To find the code for `cancel.posted`, open `cancel.rs` and look for that id.
//!
//! A judge is a pure function over one seat's history. It knows nothing of the scenario that made it: every clause
//! looks at every history.

mod activity;
mod cancel;
mod clause;
#[cfg(test)]
mod conformant;
pub(crate) mod declaration;
mod endpoint_faults;
mod evidence;
mod finding;
mod grace;
mod handoff;
#[cfg(test)]
mod history_builder;
mod identity;
mod input;
mod permission;
mod quote;
pub mod readings;
mod resume;
mod robust;
mod set;
mod shutdown;
#[cfg(test)]
mod unrelated;
mod watch;

pub use clause::{Basis, Clause, Group, Level};
pub use declaration::PresetText;
pub use finding::{Decided, Finding};
pub(crate) use resume::proof::reopened;
pub use set::ClauseSet;
