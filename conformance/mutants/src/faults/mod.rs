//! The faults, one file per clause group or part of one, each with its table.

mod activity;
mod cancel;
mod endpoint;
mod evidence;
mod handoff;
mod identity;
mod input;
mod permission;
mod posting;
mod queue;
mod resume;
mod robust;
mod shutdown;
mod terminal;
#[cfg(test)]
mod tests;

use crate::Mutant;

pub(crate) const TABLES: &[&[Mutant]] = &[
    identity::MUTANTS,
    activity::MUTANTS,
    posting::MUTANTS,
    endpoint::MUTANTS,
    terminal::MUTANTS,
    input::MUTANTS,
    queue::MUTANTS,
    cancel::MUTANTS,
    permission::MUTANTS,
    resume::MUTANTS,
    handoff::MUTANTS,
    shutdown::MUTANTS,
    evidence::MUTANTS,
    robust::MUTANTS,
];
