//! Whether the pane has shown a text, while it is being written.

use crate::history::views::{Screen, squeezed};

/// So much of what scrolled away is remembered, without blanks.
const REMEMBERED: usize = 256 << 10;

/// What the pane showed so far.
#[derive(Debug, Default)]
pub(super) struct Shown {
    scrolled_away: String,
    /// The text that was looked for last and not found, until the pane changes.
    missed: Option<String>,
}

impl Shown {
    /// The seat wrote something.
    pub(super) fn changed(&mut self, screen: &mut Screen) {
        self.missed = None;
        self.scrolled_away.push_str(&screen.take_scrolled_away());
        // Half at a time, so that no byte is moved often.
        if self.scrolled_away.len() > 2 * REMEMBERED {
            let mut from = self.scrolled_away.len() - REMEMBERED;
            while !self.scrolled_away.is_char_boundary(from) {
                from += 1;
            }
            self.scrolled_away.drain(..from);
        }
    }

    /// Whether `text` is to be seen, or scrolled away; blanks and wrapping don't count.
    pub(super) fn holds(&mut self, screen: &Screen, text: &str) -> bool {
        if self.missed.as_deref() == Some(text) {
            return false;
        }
        let wanted = squeezed(text);
        let visible = screen.visible();
        let end = self.scrolled_away.len();
        self.scrolled_away.push_str(&visible);
        let holds = self.scrolled_away.contains(&wanted);
        self.scrolled_away.truncate(end);
        self.missed = (!holds).then(|| text.to_owned());
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_where_it_is_and_where_it_went() {
        let mut screen = Screen::telling_what_scrolls_away((3, 10));
        let mut shown = Shown::default();
        let write = |shown: &mut Shown, screen: &mut Screen, text: &str| {
            screen.feed(text.as_bytes());
            shown.changed(screen);
        };
        assert!(!shown.holds(&screen, "fix the bug"));
        write(&mut shown, &mut screen, "please fix the\r\n  bug");
        assert!(shown.holds(&screen, "fix the bug"));
        write(&mut shown, &mut screen, &"\r\nmore".repeat(20));
        assert!(shown.holds(&screen, "fix the bug"));
        write(&mut shown, &mut screen, &"\r\n0123456789".repeat(200_000));
        assert!(!shown.holds(&screen, "fix the bug"));
        assert!(shown.scrolled_away.len() <= 2 * REMEMBERED);
    }
}
