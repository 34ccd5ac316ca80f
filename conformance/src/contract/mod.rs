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
mod endpoint_faults;
mod evidence;
mod finding;
mod grace;
#[cfg(test)]
mod history_builder;
mod identity;
mod input;
mod permission;
mod quote;
mod resume;
mod robust;
mod shutdown;
#[cfg(test)]
mod unrelated;
mod watch;

pub use clause::{Basis, Clause, Group, Level};
pub use finding::{Decided, Finding};

/// The name of this clause set; a report says which one it used.
pub const CONTRACT: &str = "0.7.6-draft";

/// Every clause, group by group.
pub fn clauses() -> impl Iterator<Item = &'static Clause> {
    [
        identity::CLAUSES,
        activity::CLAUSES,
        input::CLAUSES,
        cancel::CLAUSES,
        permission::CLAUSES,
        resume::CLAUSES,
        evidence::CLAUSES,
        robust::CLAUSES,
        shutdown::CLAUSES,
    ]
    .into_iter()
    .flatten()
}

/// The clause of that id.
#[must_use]
pub fn clause(id: &str) -> Option<&'static Clause> {
    clauses().find(|clause| clause.id == id)
}
