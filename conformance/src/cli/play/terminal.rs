//! The person's own terminal while a seat is in it, and how it was before.

use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;

use rustix::termios::{OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::cli::exit::Refusal;

/// What a runner may have switched on in the terminal and not off again: bracketed paste, mouse and focus reports, exact
/// keys, a hidden cursor, another screen, colours. Then the window's title as it was.
const BACK: &[u8] = b"\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[<u\x1b[>4m\x1b[!p\x1b[?25h\x1b[0m\x1b[23;2t";

/// Leaves the other screen. Only where the runner is on it: elsewhere it would move the cursor.
const OTHER_SCREEN_OFF: &[u8] = b"\x1b[?1049l";

/// The terminal, raw. Dropping it restores it.
pub(super) struct OwnTerminal {
    found: Termios,
}

impl OwnTerminal {
    /// Makes this terminal raw.
    pub(super) fn take() -> anyhow::Result<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(Refusal::usage(
                "play needs a terminal, for the runner to be in",
                "start it in a terminal, without redirecting its input or output",
            ));
        }
        let found = tcgetattr(io::stdin())?;
        let mut raw = found.clone();
        raw.make_raw();
        // A read never waits: whether there is something to read is asked before.
        raw.special_codes[SpecialCodeIndex::VMIN] = 0;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { found })
    }

    /// Rows and columns.
    pub(super) fn size(&self) -> (u16, u16) {
        size()
    }
}

impl Drop for OwnTerminal {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let mut output = io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from);
        if let Ok(output) = &mut output {
            let _ = output.write_all(BACK);
        }
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.found);
    }
}

/// The terminal's rows and columns; those of a classic one where it doesn't know.
pub(super) fn size() -> (u16, u16) {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => (size.ws_row, size.ws_col),
        _ => (24, 80),
    }
}

/// Keeps track of whether a program is on the terminal's other screen.
#[derive(Default)]
pub(super) struct OtherScreen {
    parser: vt100::Parser,
}

impl OtherScreen {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    /// The bytes that lead back from it, if the program is there.
    pub(super) fn way_back(&self) -> &'static [u8] {
        if self.parser.screen().alternate_screen() {
            OTHER_SCREEN_OFF
        } else {
            b""
        }
    }
}
