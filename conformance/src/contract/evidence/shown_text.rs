//! How a judge looks for a text in the pane, whatever a runner does to make it fit there.
//!
//! A runner may wrap and indent, take control characters out or write them in some other way, put a mark before each
//! line, and shorten what is long. What it may not do is show something else.

pub(in crate::contract) use super::written::Written;
use super::written::{squeezed, without_escapes};
use crate::history::Event;
use crate::history::views::LaunchView;

/// A text to be looked for.
#[derive(Debug)]
pub(in crate::contract) struct ShownText {
    /// Runs of characters that every runner can show as they are, without blanks.
    pieces: Vec<String>,
}

impl ShownText {
    /// The first `limit` characters of `text`, not counting blanks.
    pub(in crate::contract) fn first_of(text: &str, limit: usize) -> Self {
        let mut left = limit;
        let mut pieces = Vec::new();
        for run in without_escapes(text).split(cannot_be_shown) {
            let piece: String = squeezed(run).chars().take(left).collect();
            left -= piece.chars().count();
            if !piece.is_empty() {
                pieces.push(piece);
            }
        }
        Self { pieces }
    }

    /// The last `limit` characters of `text`, not counting blanks.
    pub(in crate::contract) fn last_of(text: &str, limit: usize) -> Self {
        let mut left = limit;
        let mut pieces = Vec::new();
        for run in without_escapes(text).rsplit(cannot_be_shown) {
            let run = squeezed(run);
            let length = run.chars().count();
            let piece: String = run.chars().skip(length.saturating_sub(left)).collect();
            left -= piece.chars().count();
            if !piece.is_empty() {
                pieces.insert(0, piece);
            }
        }
        Self { pieces }
    }

    /// How long it is, not counting blanks and what can't be shown.
    pub(in crate::contract) fn length(text: &str) -> usize {
        let shown = |character: &char| !character.is_whitespace() && !cannot_be_shown(*character);
        without_escapes(text).chars().filter(shown).count()
    }

    /// Only the first line: a title of several lines may be shown by its first.
    pub(in crate::contract) fn first_line(mut self) -> Self {
        self.pieces.truncate(1);
        self
    }

    /// Whether there is nothing to look for.
    pub(in crate::contract) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The event with which it was first to be seen anew between two times, in one piece or line by line.
    pub(in crate::contract) fn first_shown<'h>(
        &self,
        launch: &LaunchView<'h>,
        from: u64,
        until: u64,
    ) -> Option<&'h Event> {
        self.first_written(&Written::between(launch, from, until))
            .or_else(|| self.first_on_screen(launch, from, until))
    }

    /// The event with which it was first written.
    pub(in crate::contract) fn first_written<'h>(&self, written: &Written<'h>) -> Option<&'h Event> {
        self.first(|text| written.first(text))
    }

    /// The event with which it was first to be seen on the screen anew, if a program put it together there. Takes
    /// longer.
    pub(in crate::contract) fn first_on_screen<'h>(
        &self,
        launch: &LaunchView<'h>,
        from: u64,
        until: u64,
    ) -> Option<&'h Event> {
        self.first(|text| launch.first_shown(text, from, until))
    }

    fn first<'h>(&self, find: impl Fn(&str) -> Option<&'h Event>) -> Option<&'h Event> {
        if self.is_empty() {
            return None;
        }
        let each = || {
            let found: Option<Vec<&Event>> = self.pieces.iter().map(|piece| find(piece)).collect();
            found?.into_iter().max_by_key(|event| event.sequence)
        };
        find(&self.pieces.concat()).or_else(each)
    }
}

/// Characters that a careful runner keeps from a terminal: controls, invisible and turning ones, what is no text.
fn cannot_be_shown(character: char) -> bool {
    let invisible = matches!(
        character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    character.is_control() || invisible || character == char::REPLACEMENT_CHARACTER
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pieces_are_what_every_runner_can_show() {
        let text = ShownText::first_of("do\tit \u{1b}[31mnow\u{202e}\r\nor later", 200);
        assert_eq!(text.pieces, ["do", "it", "now", "orlater"]);
        assert_eq!(text.first_line().pieces, ["do"]);
        assert!(ShownText::first_of("\u{1b}[0m \n", 200).is_empty());
    }

    #[test]
    fn a_long_text_is_cut_across_its_lines() {
        let text = ShownText::first_of("abc\ndef\nghi", 5);
        assert_eq!(text.pieces, ["abc", "de"]);
        assert_eq!(ShownText::length("a b\nc\u{7}"), 3);
    }

    proptest! {
        #[test]
        fn no_text_is_cut_to_more_than_was_asked_for(text: String, limit in 0_usize..50) {
            let pieces = ShownText::first_of(&text, limit).pieces;
            let length: usize = pieces.iter().map(|piece| piece.chars().count()).sum();
            prop_assert_eq!(length, ShownText::length(&text).min(limit));
        }
    }
}
