//! The pane: raw bytes are the truth, the screen is derived.
//!
//! A judge that needs text present looks at the screen, because a program may write it in pieces anywhere; a judge
//! that needs text absent looks at the raw bytes.

use std::num::NonZeroU16;

use super::finder::Finder;
use super::queries::Query;
use super::repeats::Repeats;
use crate::history::{Event, Fact, Pane, Step};

/// A terminal's screen, fed with what the seat wrote.
pub struct Screen {
    parser: vt100::Parser<Beside>,
    repeats: Repeats,
}

/// What is not to be seen on the screen, since it was last taken.
#[derive(Default)]
struct Beside {
    /// Whether anybody asks for what scrolls away.
    tells: bool,
    /// What went off its top, squeezed.
    scrolled_away: String,
    state: vt100::capture::BasicFormattedCaptureState,
    queries: Vec<Query>,
}

/// So many queries may wait for their answers. A program that asks more at once reads none.
const MOST_QUERIES: usize = 256;

impl vt100::Callbacks for Beside {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        second: Option<u8>,
        parameters: &[&[u16]],
        last: char,
    ) {
        let (rows, columns) = screen.size();
        let size = (rows.get(), columns.get());
        let query = Query::of((first, second), parameters, last, screen.cursor_position(), size);
        if self.queries.len() < MOST_QUERIES {
            self.queries.extend(query);
        }
    }

    fn on_scroll(&mut self, row: vt100::capture::RowContents<'_>, alternate_screen: bool) {
        // A full-screen program's lines are gone with its screen, as in a real terminal.
        if alternate_screen || !self.tells {
            return;
        }
        let mut formatted = String::new();
        // A string takes everything.
        let _ = row.write_formatted_basic(&mut formatted, &mut self.state);
        let plain: String = vt100::capture::basic_formatted_to_plain(&formatted).collect();
        squeeze_onto(&mut self.scrolled_away, &plain);
    }
}

impl Screen {
    /// An empty screen of that size (rows, columns), which forgets what scrolls away.
    #[must_use]
    pub fn new(size: (u16, u16)) -> Self {
        Self::with(size, false)
    }

    /// The same, telling what scrolls away, which takes more time.
    pub(crate) fn telling_what_scrolls_away(size: (u16, u16)) -> Self {
        Self::with(size, true)
    }

    fn with(size: (u16, u16), tells: bool) -> Self {
        let at_least_one = |cells: u16| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
        // Nothing is kept above the screen: what scrolls away is told once, which costs what is new and no more.
        Self {
            parser: vt100::Parser::new_with_callbacks(
                at_least_one(size.0),
                at_least_one(size.1),
                0,
                Beside {
                    tells,
                    ..Beside::default()
                },
            ),
            repeats: Repeats::default(),
        }
    }

    /// Takes in what the seat wrote.
    pub fn feed(&mut self, bytes: &[u8]) {
        let columns = self.parser.screen().size().1;
        self.parser.process(&self.repeats.cut(bytes, columns.get()));
    }

    /// Takes another size (rows, columns), as the terminal did.
    pub fn resize(&mut self, size: (u16, u16)) {
        let at_least_one = |cells: u16| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
        let (rows, columns) = (at_least_one(size.0), at_least_one(size.1));
        self.parser.screen_mut().set_size(rows, columns);
    }

    /// Whether the program has bracketed paste on.
    #[must_use]
    pub fn bracketed_paste(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }

    /// The visible lines, without the blanks at their ends.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.rows().map(|line| line.trim_end().to_owned()).collect()
    }

    /// What is to be seen now, squeezed.
    pub(crate) fn visible(&self) -> String {
        let mut text = String::new();
        for row in self.rows() {
            squeeze_onto(&mut text, &row);
        }
        text
    }

    /// What scrolled away since this was last asked, squeezed.
    pub(crate) fn take_scrolled_away(&mut self) -> String {
        std::mem::take(&mut self.parser.callbacks_mut().scrolled_away)
    }

    /// What the program asked since this was last asked.
    pub(crate) fn take_queries(&mut self) -> Vec<Query> {
        std::mem::take(&mut self.parser.callbacks_mut().queries)
    }

    fn rows(&self) -> impl Iterator<Item = String> + '_ {
        let columns = self.parser.screen().size().1;
        self.parser.screen().rows(0, columns.get())
    }
}

/// Text as it is compared on a screen: without blanks and line ends, since a program may wrap and indent as it likes.
pub(crate) fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    squeeze_onto(&mut squeezed, text);
    squeezed
}

fn squeeze_onto(squeezed: &mut String, text: &str) {
    squeezed.extend(
        text.chars()
            .filter(|character| !character.is_whitespace() && !character.is_control()),
    );
}

/// What the seat wrote in a launch, in order.
pub(crate) fn output<'h>(events: &[&'h Event]) -> Vec<(&'h Event, &'h [u8])> {
    events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::Pane(Pane::Output { bytes }) => Some((*event, bytes.0.as_slice())),
            _ => None,
        })
        .collect()
}

/// The first pane output after which `text` is to be seen, on the screen or scrolled away, not counting what was to
/// be seen before `from`. `None` if it never showed.
///
/// Blanks, line ends and wrapping don't count: see [`squeezed`].
pub(crate) fn first_shown<'h>(
    events: &[&'h Event],
    size: (u16, u16),
    text: &str,
    from: u64,
    until: u64,
) -> Option<&'h Event> {
    let wanted = squeezed(text);
    if wanted.is_empty() {
        return None;
    }
    let mut screen = Screen::telling_what_scrolls_away(size);
    let mut finder = Finder::new(wanted);
    let mut count_before = None;
    for (event, bytes) in output(events) {
        if event.at > until {
            break;
        }
        if event.at >= from && count_before.is_none() {
            count_before = Some(finder.count(&mut screen));
        }
        screen.feed(bytes);
        if let Some(before) = count_before
            && finder.count(&mut screen) > before
        {
            return Some(event);
        }
    }
    None
}

/// When the engine began to stop the seat.
pub(crate) fn stopping<'h>(events: &[&'h Event]) -> Option<&'h Event> {
    events
        .iter()
        .copied()
        .find(|event| matches!(event.fact, Fact::Step(Step::Stopping { .. })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_scrolled_away_is_told_once_and_in_order() {
        let mut screen = Screen::telling_what_scrolls_away((3, 20));
        for number in 1..=5 {
            screen.feed(format!("\x1b[1mline {number}\x1b[0m\r\n").as_bytes());
        }
        assert_eq!(screen.take_scrolled_away(), "line1line2line3");
        assert_eq!(screen.visible(), "line4line5");
        screen.feed(b"line 6\r\n");
        assert_eq!(screen.take_scrolled_away(), "line4");
    }

    #[test]
    fn a_full_screen_programs_lines_are_gone_with_its_screen() {
        let mut screen = Screen::telling_what_scrolls_away((2, 20));
        screen.feed(b"before\x1b[?1049h\x1b[Hone\r\ntwo\r\nthree\x1b[?1049l");
        assert_eq!(screen.take_scrolled_away() + &screen.visible(), "before");
    }

    #[test]
    fn bracketed_paste_is_seen_wherever_the_bytes_are_cut() {
        let mut screen = Screen::new((24, 80));
        screen.feed(b"\x1b[?20");
        assert!(!screen.bracketed_paste());
        screen.feed(b"04h");
        assert!(screen.bracketed_paste());
    }
}
