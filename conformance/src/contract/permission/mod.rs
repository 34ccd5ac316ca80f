//! §7: refuse every request, and hold the attention it needs.

mod answers;
mod attention;
mod other_requests;
mod requests;
mod shown;
#[cfg(test)]
mod tests;

pub(super) use requests::{is_answerable, quit_unasked};

use super::clause::{Clause, Group, Level::*};

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "permission.refused",
        level: Must,
        basis: "§7",
        text: "every session/request_permission is answered {\"outcome\":{\"outcome\":\"cancelled\"}}",
        judge: answers::refused,
    },
    Clause {
        id: "permission.at-once",
        level: Must,
        basis: "§7",
        text: "within 1 s, needing no input, with any endpoint",
        judge: answers::at_once,
    },
    Clause {
        id: "permission.id-echoed",
        level: Must,
        basis: "§7",
        text: "the answer carries the request's id with its type (0, negative, text)",
        judge: answers::id_echoed,
    },
    Clause {
        id: "permission.each",
        level: Must,
        basis: "§7",
        text: "several at once, or one after another: each is answered once",
        judge: answers::each,
    },
    Clause {
        id: "permission.shown",
        level: Must,
        basis: "§7",
        text: "what was asked is in the pane: the request's title, else the title an earlier update gave that \
               toolCallId, else what its rawInput says, else the id",
        judge: shown::shown,
    },
    Clause {
        id: "permission.posted",
        level: Must,
        basis: "§7",
        text: "Notification/permission_prompt is posted",
        judge: attention::posted,
    },
    Clause {
        id: "permission.held",
        level: Must,
        basis: "§7",
        text: "from then to the next accepted prompt no other non-exit Stop, beat or working event is posted: also \
               when the turn ends, fails, or ends cancelled (asked for, or, as some agents do, because the \
               permission was refused)",
        judge: attention::held,
    },
    Clause {
        id: "permission.cleared-by-prompt",
        level: Must,
        basis: "§7",
        text: "the next accepted prompt is posted, and its turn reports normally again",
        judge: attention::cleared_by_prompt,
    },
    Clause {
        id: "permission.exit-while-held",
        level: Must,
        basis: "§4 §7",
        text: "an agent exit is still posted",
        judge: attention::exit_while_held,
    },
    Clause {
        id: "permission.odd-requests",
        level: Should,
        basis: "read",
        text: "empty options, another session's id, missing tool call: answered (refused or an error), nothing breaks",
        judge: answers::odd_requests,
    },
    Clause {
        id: "permission.unknown-32601",
        level: Must,
        basis: "§7",
        text: "any other request (fs/*, terminal/*, vendor) gets error -32601, the turn goes on; elicitation may get \
               -32602",
        judge: other_requests::unknown_refused,
    },
    Clause {
        id: "permission.capabilities-honest",
        level: Should,
        basis: "read (ACP)",
        text: "what initialize advertises is served",
        judge: other_requests::capabilities_honest,
    },
    Clause {
        id: "permission.notifications-ignored",
        level: Should,
        basis: "read",
        text: "an unknown notification gets no answer",
        judge: other_requests::notifications_ignored,
    },
];
