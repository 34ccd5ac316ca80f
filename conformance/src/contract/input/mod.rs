//! §5: one submitted message is one prompt. What is put into the terminal arrives at the agent whole, exact, and in its
//! turn.

mod arrival;
mod control;
mod edges;
mod leaving;
mod mid_turn;
mod origin;
mod pasted_interrupt;
mod piped;
mod queue_report;
mod reads;
mod resize;
mod terminal;
mod whole;

use super::clause::{Clause, Group, Level::*};

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "input.raw-mode",
        level: Must,
        basis: "§5",
        text: "the terminal is raw before the seat reads ready",
        judge: terminal::raw_mode,
    },
    Clause {
        id: "input.bracketed-paste",
        level: Must,
        basis: "§5",
        text: "bracketed paste (mode 2004) is on before the seat reads ready",
        judge: terminal::bracketed_paste,
    },
    Clause {
        id: "input.one-block-one-prompt",
        level: Must,
        basis: "§5",
        text: "everything up to an Enter outside a paste is one session/prompt",
        judge: whole::one_block_one_prompt,
    },
    Clause {
        id: "input.exact-text",
        level: Must,
        basis: "§5",
        text: "the prompt's text is the block's, to the byte: newlines, blanks, tabs, non-ASCII; CR and CRLF inside a \
               paste may arrive as LF",
        judge: whole::exact_text,
    },
    Clause {
        id: "input.nothing-before-enter",
        level: Must,
        basis: "§5",
        text: "no prompt goes out before Enter, however late it comes",
        judge: edges::nothing_before_enter,
    },
    Clause {
        id: "input.split-reads",
        level: Must,
        basis: "§5",
        text: "paste markers and UTF-8 split anywhere across reads change nothing",
        judge: reads::split_reads,
    },
    Clause {
        id: "input.blocks-in-one-read",
        level: Should,
        basis: "read",
        text: "two blocks arriving in one read are two prompts",
        judge: reads::blocks_in_one_read,
    },
    Clause {
        id: "input.large-block",
        level: Should,
        basis: "read",
        text: "64 KiB arrives whole; 1 MiB arrives whole or is refused whole, visibly",
        judge: reads::large_block,
    },
    Clause {
        id: "input.abort-exact",
        level: Must,
        basis: "§5",
        text: "only a block that is exactly /abort is control: `/abort ` and `/abort now` and `x /abort` are prompts",
        judge: control::abort_exact,
    },
    Clause {
        id: "input.abort-line-is-text",
        level: Must,
        basis: "§5",
        text: "an /abort line inside a block is text",
        judge: control::abort_line_is_text,
    },
    Clause {
        id: "input.mid-turn-waits",
        level: Must,
        basis: "§5",
        text: "a message mid-turn is submitted after that turn's end, in order, one prompt a turn; prompts never overlap",
        judge: mid_turn::waits,
    },
    Clause {
        id: "input.mid-turn-queued",
        level: Must,
        basis: "§5",
        text: "a message mid-turn is reported as queued (pane or post), never as steering",
        judge: queue_report::queued,
    },
    Clause {
        id: "input.before-ready",
        level: Should,
        basis: "read",
        text: "a message sent before the handshake is submitted once after it",
        judge: edges::before_ready,
    },
    Clause {
        id: "input.empty-enter",
        level: Should,
        basis: "read",
        text: "a bare Enter submits nothing",
        judge: edges::empty_enter,
    },
    Clause {
        id: "input.no-tty-lines",
        level: Must,
        basis: "§5",
        text: "without a terminal each line is a message",
        judge: piped::no_tty_lines,
    },
    Clause {
        id: "input.no-tty-plain",
        level: Info,
        basis: "read",
        text: "without a terminal no escape codes are written",
        judge: piped::no_tty_plain,
    },
    Clause {
        id: "input.terminal-restored",
        level: Should,
        basis: "read",
        text: "on leaving, mode 2004 is off and the terminal's settings are as found",
        judge: leaving::terminal_restored,
    },
    Clause {
        id: "input.resize",
        level: Info,
        basis: "read",
        text: "resizes during a paste or a turn change nothing",
        judge: resize::resize,
    },
    Clause {
        id: "input.ctrl-c-in-paste",
        level: Info,
        basis: "§5",
        text: "a Ctrl-C byte inside a paste also aborts (a declared limit)",
        judge: pasted_interrupt::ctrl_c_in_paste,
    },
];
