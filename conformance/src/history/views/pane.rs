//! The pane: raw bytes are the truth, the screen is derived.
//!
//! A judge that needs text present looks at the screen, because a program may write it in pieces anywhere; a judge
//! that needs text absent looks at the raw bytes.

use std::num::NonZeroU16;

use crate::history::{Event, Fact, Pane, Step};

/// How many lines above the screen are remembered.
const SCROLLBACK: usize = 4_000;

/// A terminal's screen, fed with what the seat wrote.
pub struct Screen {
    parser: vt100::Parser,
}

impl Screen {
    /// An empty screen of that size (rows, columns).
    #[must_use]
    pub fn new(size: (u16, u16)) -> Self {
        let at_least_one = |cells: u16| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
        Self {
            parser: vt100::Parser::new(at_least_one(size.0), at_least_one(size.1), SCROLLBACK),
        }
    }

    /// Takes in what the seat wrote.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
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
        let columns = self.parser.screen().size().1;
        self.parser
            .screen()
            .rows(0, columns.get())
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    /// Everything shown since the beginning that is still remembered: what scrolled away, then the visible lines.
    #[must_use]
    pub fn all_lines(&mut self) -> Vec<String> {
        let (rows, _) = self.parser.screen().size();
        self.parser.screen_mut().set_scrollback(usize::MAX);
        let above = self.parser.screen().scrollback();
        let mut lines = Vec::new();
        let mut offset = above;
        while offset > 0 {
            self.parser.screen_mut().set_scrollback(offset);
            let page = usize::from(rows.get()).min(offset);
            lines.extend(self.lines().into_iter().take(page));
            offset -= page;
        }
        self.parser.screen_mut().set_scrollback(0);
        lines.extend(self.lines());
        lines
    }
}

/// Text as it is compared on a screen: without blanks and line ends, since a program may wrap and indent as it likes.
pub(crate) fn squeezed(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_whitespace() && !character.is_control())
        .collect()
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
    let mut screen = Screen::new(size);
    let mut count_before = None;
    for (event, bytes) in output(events) {
        if event.at > until {
            break;
        }
        if event.at >= from && count_before.is_none() {
            count_before = Some(occurrences(&mut screen, &wanted));
        }
        screen.feed(bytes);
        if let Some(before) = count_before
            && occurrences(&mut screen, &wanted) > before
        {
            return Some(event);
        }
    }
    None
}

fn occurrences(screen: &mut Screen, wanted: &str) -> usize {
    let shown: String = screen.all_lines().iter().map(|line| squeezed(line)).collect();
    shown.matches(wanted).count()
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
    fn what_scrolled_away_is_still_there_in_order() {
        let mut screen = Screen::new((3, 20));
        for number in 1..=10 {
            screen.feed(format!("line {number}\r\n").as_bytes());
        }
        let lines = screen.all_lines();
        let shown: Vec<&str> = lines
            .iter()
            .map(String::as_str)
            .filter(|line| !line.is_empty())
            .collect();
        let expected: Vec<String> = (1..=10).map(|number| format!("line {number}")).collect();
        assert_eq!(shown, expected);
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
