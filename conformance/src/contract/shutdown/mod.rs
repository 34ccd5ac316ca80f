//! §9: how a seat ends. What survives a stop holds tokens, files and ports that nobody looks after.

mod ending;
mod honest_end;
mod stop;
mod survivors;
#[cfg(test)]
mod tests;

pub(super) use stop::{Kind, Stop};

use super::clause::{Clause, Group, Level::*};

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "shutdown.hangup",
        level: Must,
        basis: "§9 read",
        text: "on SIGHUP, with and without end of input, the runner and the agent end within 10 s",
        judge: ending::hangup,
    },
    Clause {
        id: "shutdown.terminate",
        level: Must,
        basis: "§9 read",
        text: "on SIGTERM the runner and the agent end within 10 s too",
        judge: ending::terminate,
    },
    Clause {
        id: "shutdown.end-of-input",
        level: Should,
        basis: "read",
        text: "on the terminal's end of file the runner and the agent end within 10 s too",
        judge: ending::end_of_input,
    },
    Clause {
        id: "shutdown.no-orphans",
        level: Must,
        basis: "list",
        text: "nothing of the agent's process group outlives the stop, unless limits names it",
        judge: survivors::no_orphans,
    },
    Clause {
        id: "shutdown.survivors-declared",
        level: Should,
        basis: "list",
        text: "a child in its own session that outlives the stop is named in limits",
        judge: survivors::survivors_declared,
    },
    Clause {
        id: "shutdown.honest-end",
        level: Must,
        basis: "§4 §6",
        text: "stopping posts no Stop/cancelled and no plain idle that is not a fact; an exit only if the agent's exit \
               was observed",
        judge: honest_end::honest_end,
    },
];
