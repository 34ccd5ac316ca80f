//! §2: what the preset says. Judged once over a run, from the preset's text; `seatcheck lint` does it without any run.

pub(super) mod limits;
mod preset;
mod proven;
mod shape;
#[cfg(test)]
mod tests;

pub use preset::PresetText;
pub(crate) use preset::{Declaration, DeclarationFinding};
pub(crate) use proven::Reopened;

use super::clause::{Clause, Level::*};
use super::finding::Finding;
use crate::history::views::Views;

/// A clause about the preset and its judge.
pub(crate) struct DeclarationClause {
    /// The clause as all others are.
    pub(crate) clause: Clause,
    /// Judges the preset, by what the run showed.
    pub(crate) judge: fn(&Declaration<'_>) -> DeclarationFinding,
}

/// No seat's history puts these clauses to the test.
fn not_of_one_seat(_: &Views<'_>) -> Finding {
    Finding::NotExercised
}

pub(crate) const CLAUSES: &[DeclarationClause] = &[
    DeclarationClause {
        clause: Clause {
            id: "declaration.shape",
            level: Must,
            basis: "§2",
            text: "format 1, a name, a command; known fields have the right types; an unknown field is a note",
            judge: not_of_one_seat,
        },
        judge: shape::shape,
    },
    DeclarationClause {
        clause: Clause {
            id: "declaration.maintainer",
            level: Should,
            basis: "§2",
            text: "a maintainer is named",
            judge: not_of_one_seat,
        },
        judge: shape::maintainer,
    },
    DeclarationClause {
        clause: Clause {
            id: "declaration.launch-result-required",
            level: Must,
            basis: "§2",
            text: "runner: true comes with launch_result: true",
            judge: not_of_one_seat,
        },
        judge: shape::launch_result_required,
    },
    DeclarationClause {
        clause: Clause {
            id: "declaration.not-names-conversation",
            level: Must,
            basis: "§2",
            text: "runner: true is not combined with names_conversation",
            judge: not_of_one_seat,
        },
        judge: shape::not_names_conversation,
    },
    DeclarationClause {
        clause: Clause {
            id: "declaration.resume-proven",
            level: Must,
            basis: "§2",
            text: "resume: true only if a real reopen, after a turn, twice over, and a refused missing one (no \
                   session/new, no nativeRef) both held in this run",
            judge: not_of_one_seat,
        },
        judge: proven::resume_proven,
    },
    DeclarationClause {
        clause: Clause {
            id: "declaration.limits-named",
            level: Should,
            basis: "list",
            text: "limits speaks of: the /abort prompt, Ctrl-C in a paste, input without a TTY, not binary-safe, \
                   permission requests refused, what survives a stop, what is unsupported",
            judge: not_of_one_seat,
        },
        judge: limits::limits_named,
    },
];
