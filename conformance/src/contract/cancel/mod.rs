//! §6: requested isn't the same as done.

mod ending;
mod sending;
mod shown;
#[cfg(test)]
mod tests;

use super::clause::{Clause, Group, Level::*};
use crate::history::Event;
use crate::history::views::LaunchView;

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "cancel.abort-sends",
        level: Must,
        basis: "§6",
        text: "/abort mid-turn sends session/cancel for that session, and no prompt",
        judge: sending::abort_sends,
    },
    Clause {
        id: "cancel.ctrl-c-sends",
        level: Must,
        basis: "§6",
        text: "so does Ctrl-C outside a paste; neither the agent nor the runner dies of it",
        judge: sending::ctrl_c_sends,
    },
    Clause {
        id: "cancel.notification",
        level: Must,
        basis: "§6",
        text: "session/cancel is a notification: it has no id",
        judge: sending::notification,
    },
    Clause {
        id: "cancel.requested-shown",
        level: Must,
        basis: "§6",
        text: "that a cancel was requested, and when, is on record (pane or post) before the agent's answer",
        judge: shown::requested_shown,
    },
    Clause {
        id: "cancel.only-agents-word",
        level: Must,
        basis: "§6",
        text: "no Stop/cancelled before, or without, a prompt answered with stopReason cancelled (end_turn, an error, \
               -32800 or silence are not it)",
        judge: ending::only_agents_word,
    },
    Clause {
        id: "cancel.posted",
        level: Must,
        basis: "§6",
        text: "such an answer gets exactly one Stop/cancelled, unless attention is held",
        judge: ending::posted,
    },
    Clause {
        id: "cancel.ignored-stays-working",
        level: Must,
        basis: "§6",
        text: "an agent that ignores the cancel leaves the seat working",
        judge: ending::ignored_stays_working,
    },
    Clause {
        id: "cancel.one-end",
        level: Should,
        basis: "read",
        text: "a second answer to the same prompt changes nothing",
        judge: ending::one_end,
    },
    Clause {
        id: "cancel.none-when-idle",
        level: Should,
        basis: "read",
        text: "no session/cancel with no prompt in flight",
        judge: sending::none_when_idle,
    },
    Clause {
        id: "cancel.next-turn-safe",
        level: Should,
        basis: "read",
        text: "the next prompt goes out only after the cancelled one was answered, and is not cancelled by it",
        judge: sending::next_turn_safe,
    },
    Clause {
        id: "cancel.no-spend-claim",
        level: Info,
        basis: "§6",
        text: "the pane does not claim that the provider stopped work or spend",
        judge: shown::no_spend_claim,
    },
];

/// The events, and the one that ended the watch: an absence is decided by it.
fn cited<'h>(launch: &LaunchView<'h>, events: &[&'h Event]) -> Vec<&'h Event> {
    events.iter().copied().chain(launch.closing_event()).collect()
}
