//! Faults of setting up the terminal, leaving it, and doing without one.

use std::time::Duration;

use reference_runner::{Crossing, Edge};

use crate::Mutant;
use crate::altered::{on_crossing, on_shown, on_typed};
use crate::pastes::{ENTER, replaced};
use crate::shown::show;

const PASTE_ON: &str = "\x1b[?2004h";
const PASTE_OFF: &str = "\x1b[?2004l";

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "terminal-not-raw",
        clause: "input.raw-mode",
        fault: "leaves the terminal in line mode",
        edge: terminal_not_raw,
    },
    Mutant {
        name: "terminal-raw-late",
        clause: "input.raw-mode",
        fault: "puts the terminal into raw mode only after it has written its record",
        edge: || {
            on_crossing(|_, crossing| match crossing {
                Crossing::TerminalRaw(true) => Some(Vec::new()),
                Crossing::Record(_) => Some(vec![crossing.clone(), late(), Crossing::TerminalRaw(true)]),
                _ => None,
            })
        },
    },
    Mutant {
        name: "paste-mode-off",
        clause: "input.bracketed-paste",
        fault: "does not turn bracketed paste on",
        edge: || {
            on_shown(|_, text| {
                text.contains(PASTE_ON)
                    .then(|| vec![show(text.replace(PASTE_ON, ""))])
            })
        },
    },
    Mutant {
        name: "paste-mode-late",
        clause: "input.bracketed-paste",
        fault: "turns bracketed paste on only after it has written its record",
        edge: || {
            on_crossing(|_, crossing| match crossing {
                Crossing::Shown(bytes) if bytes == PASTE_ON.as_bytes() => Some(Vec::new()),
                Crossing::Record(_) => Some(vec![crossing.clone(), late(), show(PASTE_ON)]),
                _ => None,
            })
        },
    },
    Mutant {
        name: "resize-drops-input",
        clause: "input.resize",
        fault: "drops what is typed next after its terminal has changed its size",
        edge: resize_drops_input,
    },
    Mutant {
        name: "lines-joined",
        clause: "input.no-tty-lines",
        fault: "takes everything piped in for one message",
        edge: || {
            on_typed(|seen, bytes| {
                (!seen.is_raw).then(|| vec![Crossing::Typed(replaced(bytes, b"\n", b" "))])
            })
        },
    },
    Mutant {
        name: "pipe-coloured",
        clause: "input.no-tty-plain",
        fault: "writes escape codes without a terminal",
        edge: || on_shown(|seen, text| (!seen.is_raw).then(|| vec![show(format!("\x1b[1m{text}\x1b[0m"))])),
    },
    Mutant {
        name: "terminal-left-raw",
        clause: "input.terminal-restored",
        fault: "leaves the terminal raw",
        edge: || on_crossing(|_, crossing| (*crossing == Crossing::TerminalRaw(false)).then(Vec::new)),
    },
    Mutant {
        name: "paste-mode-left-on",
        clause: "input.terminal-restored",
        fault: "leaves bracketed paste on",
        edge: || {
            on_shown(|_, text| {
                text.contains(PASTE_OFF)
                    .then(|| vec![show(text.replace(PASTE_OFF, ""))])
            })
        },
    },
];

/// Long enough for a reader that watches the record to look at the terminal.
fn late() -> Crossing {
    Crossing::Pause(Duration::from_millis(400))
}

/// A terminal in line mode makes a line feed of Enter.
fn terminal_not_raw() -> Box<dyn Edge> {
    on_crossing(|_, crossing| match crossing {
        Crossing::TerminalRaw(true) => Some(Vec::new()),
        Crossing::Typed(bytes) if bytes.ends_with(b"\n") => {
            let mut bytes = bytes.clone();
            bytes.pop();
            bytes.push(ENTER);
            Some(vec![Crossing::Typed(bytes)])
        }
        _ => None,
    })
}

/// What a redraw does that begins with an empty line.
fn resize_drops_input() -> Box<dyn Edge> {
    let size = || rustix::termios::tcgetwinsize(rustix::stdio::stdin()).ok();
    let mut known = None;
    on_typed(move |_, _| {
        let now = size().map(|size| (size.ws_row, size.ws_col));
        let before = known.replace(now);
        (before.is_some_and(|before| before != now)).then(Vec::new)
    })
}
