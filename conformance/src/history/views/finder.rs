//! Counts how often a text was shown, in time that grows with what is new.

use super::pane::Screen;

/// Looks for one text in what scrolled off a screen and what is still to be seen on it.
#[derive(Debug)]
pub(super) struct Finder {
    wanted: String,
    /// How often it stands in what scrolled away.
    scrolled: usize,
    /// The end of what scrolled away, shorter than the text: an occurrence may begin there.
    tail: String,
}

impl Finder {
    /// `wanted` is squeezed and not empty.
    pub(super) fn new(wanted: String) -> Self {
        Self {
            wanted,
            scrolled: 0,
            tail: String::new(),
        }
    }

    /// How often the text was shown, counting what is on the screen now.
    pub(super) fn count(&mut self, screen: &mut Screen) -> usize {
        let gone = screen.take_scrolled_away();
        if !gone.is_empty() {
            self.tail.push_str(&gone);
            self.scrolled += occurrences(&self.tail, &self.wanted);
            self.keep_the_end();
        }
        self.scrolled + occurrences(&(self.tail.clone() + &screen.visible()), &self.wanted)
    }

    /// Keeps what is too short to hold the text.
    fn keep_the_end(&mut self) {
        let mut from = self.tail.len().saturating_sub(self.wanted.len() - 1);
        while !self.tail.is_char_boundary(from) {
            from += 1;
        }
        self.tail.drain(..from);
    }
}

/// How often `wanted` begins anywhere in `text`; occurrences may overlap, so that no way of cutting the text changes
/// the number.
fn occurrences(text: &str, wanted: &str) -> usize {
    let mut count = 0;
    let mut rest = text;
    while let Some(at) = rest.find(wanted) {
        count += 1;
        let next = rest[at..].chars().next().map_or(1, char::len_utf8);
        rest = &rest[at + next..];
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::history::views::squeezed;

    /// The same count from a terminal that remembers everything, looked through anew each time.
    fn counted_anew(terminal: &mut vt100::Parser, wanted: &str) -> usize {
        let (rows, columns) = terminal.screen().size();
        terminal.screen_mut().set_scrollback(usize::MAX);
        let mut offset = terminal.screen().scrollback();
        let mut text = String::new();
        while offset > 0 {
            terminal.screen_mut().set_scrollback(offset);
            let page = usize::from(rows.get()).min(offset);
            text.extend(terminal.screen().rows(0, columns.get()).take(page));
            offset -= page;
        }
        terminal.screen_mut().set_scrollback(0);
        text.extend(terminal.screen().rows(0, columns.get()));
        occurrences(&squeezed(&text), wanted)
    }

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[ab ]{1,6}",
            2 => Just("\r\n".to_owned()),
            1 => "é{1,3}",
            1 => (1_u8..6, 1_u8..9).prop_map(|(row, column)| format!("\x1b[{row};{column}H")),
            1 => prop::sample::select(vec![
                "\x1b[2J", "\x1b[K", "\x1b[1m", "\x1b[0m", "\x1b[S", "\x1b[L", "\x1b[M", "\x1bM", "\x1b[?1049h",
                "\x1b[?1049l", "\x1b[2;3r", "\x1b[r", "\x1b[P", "\x1b[@", "\t", "\x08", "\x1b[A", "\x1b[",
            ])
            .prop_map(str::to_owned),
        ]
    }

    proptest! {
        #[test]
        fn it_counts_what_looking_through_everything_counts(
            chunks in prop::collection::vec(prop::collection::vec(piece(), 1..6), 1..30),
            wanted in "[abé]{1,4}",
        ) {
            let mut screen = Screen::telling_what_scrolls_away((4, 7));
            let mut finder = Finder::new(wanted.clone());
            let size = |cells| std::num::NonZeroU16::new(cells).unwrap();
            let mut terminal = vt100::Parser::new(size(4), size(7), 10_000);
            for chunk in chunks {
                let bytes = chunk.concat();
                screen.feed(bytes.as_bytes());
                terminal.process(bytes.as_bytes());
                // A full-screen program's screen hides what scrolled away before it; the finder remembers.
                let counted = finder.count(&mut screen);
                if !terminal.screen().alternate_screen() {
                    prop_assert_eq!(counted, counted_anew(&mut terminal, &wanted));
                }
            }
        }
    }
}
