//! Living with agents as they are: what an agent may write without the runner losing the thread.

mod aftermath;
mod disturbances;
mod frames;
mod ids;
mod late_update;
mod prompt_error;
mod schema;
mod silence;
mod split_frames;
#[cfg(test)]
mod tests;

use super::clause::{Clause, Group, Level::*};

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "robust.frames-valid",
        level: Must,
        basis: "read (ACP)",
        text: "every line the runner sends is one JSON-RPC message that fits the schema of ACP v1",
        judge: frames::frames_valid,
    },
    Clause {
        id: "robust.id-spaces",
        level: Must,
        basis: "read (JSON-RPC)",
        text: "the agent's request ids are its own: equal to ids the runner uses, they confuse nothing",
        judge: ids::id_spaces,
    },
    Clause {
        id: "robust.stdout-noise",
        level: Should,
        basis: "read",
        text: "log lines, blanks, scalars and arrays between frames are passed over: the turn completes",
        judge: disturbances::stdout_noise,
    },
    Clause {
        id: "robust.split-frames",
        level: Must,
        basis: "read",
        text: "frames split anywhere, inside UTF-8 too, or joined are read right",
        judge: split_frames::split_frames,
    },
    Clause {
        id: "robust.large-frame",
        level: Should,
        basis: "read",
        text: "a line of 1 MiB from the agent is read",
        judge: disturbances::large_frame,
    },
    Clause {
        id: "robust.stderr-flood",
        level: Must,
        basis: "read",
        text: "1 MiB on the agent's standard error in the middle of a turn blocks nothing",
        judge: disturbances::stderr_flood,
    },
    Clause {
        id: "robust.unknown-update",
        level: Must,
        basis: "read",
        text: "updates of an unknown kind, and unknown fields in them, are ignored",
        judge: disturbances::unknown_update,
    },
    Clause {
        id: "robust.late-update",
        level: Should,
        basis: "read",
        text: "an update after the turn's answer does not reopen the turn",
        judge: late_update::late_update,
    },
    Clause {
        id: "robust.prompt-error",
        level: Must,
        basis: "read",
        text: "a prompt answered with an error ends the turn: not working for ever, not cancelled, and the next prompt \
               works",
        judge: prompt_error::prompt_error,
    },
    Clause {
        id: "robust.silent-handshake",
        level: Should,
        basis: "read",
        text: "an agent that is silent at initialize or at the open: no record, it is said in the pane, and the seat can \
               be stopped",
        judge: silence::silent_handshake,
    },
];
