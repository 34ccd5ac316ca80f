//! Which prompt came of which message.
//!
//! Texts are compared as the contract asks: to the byte, but CR and CRLF count as LF. What fits no message exactly is
//! looked at once more: a message with other blanks, a piece of one, several in one, one that was sent already.

use std::borrow::Cow;

use crate::contract::grace::CROSSING;
use crate::history::views::{Block, LaunchView, Prompt};
use crate::history::{Fact, Step};

/// Where a prompt's text came from; messages by their place in the launch's `blocks`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// The first input's file.
    FirstInput,
    /// This message, to the byte.
    Exact(usize),
    /// This message, but the text is not its own.
    Altered(usize),
    /// A part of this message.
    Piece(usize),
    /// Several messages in one prompt.
    Merged(Vec<usize>),
    /// A message that had become a prompt before.
    Again(usize),
    /// Nothing that was entered as a message, as far as can be told.
    Unknown,
}

/// A text as it is compared: CR and CRLF inside a paste may arrive as LF.
pub(super) fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// A message's text as it is compared.
pub(super) fn text_of(block: &Block<'_>) -> String {
    with_line_feeds(&String::from_utf8_lossy(block.text))
}

/// The launch's prompts, each with its origin.
pub(super) struct Origins<'v, 'h> {
    launch: &'v LaunchView<'h>,
    origins: Vec<Origin>,
}

impl<'v, 'h> Origins<'v, 'h> {
    pub(super) fn new(launch: &'v LaunchView<'h>) -> Self {
        let mut search = Search::new(launch);
        search.first_input();
        search.exact();
        search.first_input_altered();
        for index in 0..launch.prompts.len() {
            search.inexact(index);
        }
        let origins = search
            .origins
            .into_iter()
            .map(|origin| origin.unwrap_or(Origin::Unknown))
            .collect();
        Self { launch, origins }
    }

    /// Each prompt with its origin, in order.
    pub(super) fn each(&self) -> impl Iterator<Item = (&'v Prompt<'h>, &Origin)> {
        self.launch.prompts.iter().zip(&self.origins)
    }

    /// The prompt that this message became, if its text arrived in one.
    pub(super) fn arrived(&self, block: usize) -> Option<&'v Prompt<'h>> {
        self.each()
            .find(|(_, origin)| matches!(origin, Origin::Exact(of) | Origin::Altered(of) if *of == block))
            .map(|(prompt, _)| prompt)
    }

    /// Whether the message became a prompt with its very text.
    pub(super) fn arrived_exactly(&self, block: usize) -> bool {
        self.origins.contains(&Origin::Exact(block))
    }

    /// Every prompt that this message has a part in.
    pub(super) fn of_block(&self, block: usize) -> Vec<(&'v Prompt<'h>, &Origin)> {
        self.each()
            .filter(|(_, origin)| match origin {
                Origin::Exact(of) | Origin::Altered(of) | Origin::Piece(of) | Origin::Again(of) => {
                    *of == block
                }
                Origin::Merged(of) => of.contains(&block),
                Origin::FirstInput | Origin::Unknown => false,
            })
            .collect()
    }
}

struct Search<'v, 'h> {
    launch: &'v LaunchView<'h>,
    /// The prompts' texts.
    prompts: Vec<String>,
    /// The messages' texts; `None` for what need not become a prompt.
    blocks: Vec<Option<String>>,
    /// Whether a message was found in some prompt.
    found: Vec<bool>,
    origins: Vec<Option<Origin>>,
}

impl<'v, 'h> Search<'v, 'h> {
    fn new(launch: &'v LaunchView<'h>) -> Self {
        let blocks: Vec<Option<String>> = launch
            .blocks
            .iter()
            .map(|block| (!block.is_abort() && !block.is_blank()).then(|| text_of(block)))
            .collect();
        Self {
            launch,
            prompts: launch
                .prompts
                .iter()
                .map(|prompt| with_line_feeds(&prompt.text().unwrap_or_default()))
                .collect(),
            found: vec![false; blocks.len()],
            blocks,
            origins: vec![None; launch.prompts.len()],
        }
    }

    /// Messages that began to be written before that prompt was read and have not become one.
    fn candidates(&self, prompt: usize) -> impl Iterator<Item = (usize, &str)> {
        let at = self.launch.prompts[prompt].at();
        self.blocks
            .iter()
            .enumerate()
            .filter(move |(index, _)| !self.found[*index] && self.launch.blocks[*index].sent.at <= at)
            .filter_map(|(index, text)| Some((index, text.as_deref()?)))
    }

    fn set(&mut self, prompt: usize, origin: Origin) {
        match &origin {
            Origin::Exact(block) | Origin::Altered(block) => self.found[*block] = true,
            Origin::Merged(blocks) => blocks.iter().for_each(|block| self.found[*block] = true),
            // Of a message that was cut up, more pieces may follow.
            Origin::FirstInput | Origin::Piece(_) | Origin::Again(_) | Origin::Unknown => {}
        }
        self.origins[prompt] = Some(origin);
    }

    /// The first input's final newline may be kept or not (reading 27).
    fn first_input(&mut self) {
        let Some(first) = &self.launch.facts.first_input else {
            return;
        };
        let first = with_line_feeds(first);
        let same = |text: &String| text.trim_end_matches('\n') == first.trim_end_matches('\n');
        if let Some(prompt) = self.prompts.iter().position(same) {
            self.set(prompt, Origin::FirstInput);
        }
    }

    /// What a first input became is for `handoff.first-input` to judge.
    fn first_input_altered(&mut self) {
        let is_due = self.launch.facts.first_input.is_some() && !self.launch.is_resume();
        if is_due && !self.origins.contains(&Some(Origin::FirstInput)) && self.origins.first() == Some(&None)
        {
            self.set(0, Origin::FirstInput);
        }
    }

    /// Of several messages with one text the next in line is meant, if there is one: one before may have been dropped.
    fn exact(&mut self) {
        let mut newest = None;
        for prompt in 0..self.prompts.len() {
            if self.origins[prompt].is_some() {
                continue;
            }
            let same: Vec<usize> = self
                .candidates(prompt)
                .filter(|(_, text)| *text == self.prompts[prompt])
                .map(|(index, _)| index)
                .collect();
            let in_line = same
                .iter()
                .find(|index| newest.is_none_or(|newest| **index > newest));
            if let Some(block) = in_line.or(same.first()).copied() {
                newest = newest.max(Some(block));
                self.set(prompt, Origin::Exact(block));
            }
        }
    }

    fn inexact(&mut self, prompt: usize) {
        if self.origins[prompt].is_some() || self.prompts[prompt].trim().is_empty() {
            return;
        }
        let origin = self
            .other_blanks(prompt)
            .or_else(|| self.again(prompt))
            // Keys that are no message may have become a prompt, or a part of one.
            .or_else(|| (!self.keys_before(prompt)).then(|| self.guessed(prompt))?);
        if let Some(origin) = origin {
            self.set(prompt, origin);
        }
    }

    fn other_blanks(&self, prompt: usize) -> Option<Origin> {
        let wanted = without_blanks(&self.prompts[prompt]);
        self.candidates(prompt)
            .find(|(_, text)| without_blanks(text) == wanted)
            .map(|(index, _)| Origin::Altered(index))
    }

    fn again(&self, prompt: usize) -> Option<Origin> {
        let same = |text: &Option<String>| text.as_ref() == Some(&self.prompts[prompt]);
        let at = self.launch.prompts[prompt].at();
        (0..self.blocks.len())
            .find(|index| {
                self.found[*index] && same(&self.blocks[*index]) && self.launch.blocks[*index].sent.at <= at
            })
            .map(Origin::Again)
    }

    fn guessed(&self, prompt: usize) -> Option<Origin> {
        self.merged(prompt)
            .or_else(|| self.piece(prompt))
            .or_else(|| self.next_in_line(prompt))
    }

    /// Two messages or more that make up most of the prompt.
    fn merged(&self, prompt: usize) -> Option<Origin> {
        let text = without_blanks(&self.prompts[prompt]);
        let mut rest: &str = &text;
        let mut parts: Vec<usize> = Vec::new();
        let mut length = 0;
        for (index, part) in self.candidates(prompt) {
            let part = without_blanks(part);
            if let Some(place) = rest.find(part.as_ref()) {
                rest = &rest[place + part.len()..];
                length += part.len();
                parts.push(index);
            }
        }
        (parts.len() > 1 && 2 * length >= text.len()).then_some(Origin::Merged(parts))
    }

    fn piece(&self, prompt: usize) -> Option<Origin> {
        let piece = self.prompts[prompt].trim();
        self.candidates(prompt)
            .find(|(_, text)| text.contains(piece))
            .map(|(index, _)| Origin::Piece(index))
    }

    /// Nothing else can have become a prompt than the messages: then it is the next one, however little it resembles it.
    fn next_in_line(&self, prompt: usize) -> Option<Origin> {
        let at = self.launch.prompts[prompt].at().saturating_add(CROSSING);
        let cut_up = |block: usize| self.origins.contains(&Some(Origin::Piece(block)));
        self.candidates(prompt)
            .filter(|(index, _)| !cut_up(*index))
            .find(|(index, _)| {
                self.launch.blocks[*index]
                    .entered
                    .is_some_and(|entered| entered.at <= at)
            })
            .map(|(index, _)| Origin::Altered(index))
    }

    fn keys_before(&self, prompt: usize) -> bool {
        let at = self.launch.prompts[prompt].at();
        self.launch.events.iter().any(|event| {
            event.at <= at
                && matches!(&event.fact, Fact::Step(Step::Typed { bytes }) if bytes.0.iter().any(|byte| !matches!(byte, b'\r' | b'\n')))
        })
    }
}

fn without_blanks(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_whitespace) {
        Cow::Owned(text.split_whitespace().collect())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::history_builder::HistoryBuilder;
    use crate::history::Bytes;
    use crate::history::views::Views;

    fn origins(builder: &HistoryBuilder) -> Vec<Origin> {
        let history = builder.history();
        let views = Views::new(&history);
        Origins::new(&views.launches[0]).origins
    }

    /// These messages, entered one after another, and then these prompts.
    fn seat(blocks: &[&str], prompts: &[&str]) -> Vec<Origin> {
        let ready = HistoryBuilder::ready();
        let entered = blocks.iter().fold(ready, |history, block| history.block(block));
        origins(&prompts.iter().fold(entered, |history, prompt| {
            history.prompt_text_only(prompt).end_turn("end_turn")
        }))
    }

    #[test]
    fn a_message_is_found_whatever_its_line_ends_are() {
        assert_eq!(seat(&["a\r\nb\rc"], &["a\nb\nc"]), [Origin::Exact(0)]);
        assert_eq!(
            seat(&["a", "b"], &["b", "a"]),
            [Origin::Exact(1), Origin::Exact(0)]
        );
    }

    #[test]
    fn of_equal_messages_the_next_in_line_is_meant() {
        assert_eq!(
            seat(&["go", "go"], &["go", "go", "go"]),
            [Origin::Exact(0), Origin::Exact(1), Origin::Again(0)]
        );
        assert_eq!(
            seat(&["go", "other", "go"], &["other", "go"]),
            [Origin::Exact(1), Origin::Exact(2)]
        );
    }

    #[test]
    fn what_is_not_exact_is_told_apart() {
        assert_eq!(seat(&[" a\tb "], &["a b"]), [Origin::Altered(0)]);
        assert_eq!(seat(&["grün"], &["gr?n"]), [Origin::Altered(0)]);
        assert_eq!(
            seat(&["one\ntwo"], &["one", "two"]),
            [Origin::Piece(0), Origin::Piece(0)]
        );
        assert_eq!(seat(&["one", "two"], &["one\ntwo"]), [Origin::Merged(vec![0, 1])]);
        assert_eq!(
            seat(&["one"], &["one", "elsewhere"]),
            [Origin::Exact(0), Origin::Unknown]
        );
    }

    #[test]
    fn control_and_blanks_become_nothing() {
        assert_eq!(seat(&["/abort", "  "], &["/abort"]), [Origin::Unknown]);
    }

    #[test]
    fn the_first_input_is_no_message() {
        let first = |prompt: &str| {
            HistoryBuilder::empty()
                .launch(|facts| facts.first_input = Some("start\n".into()))
                .agent_started()
                .opened()
                .block("work")
                .prompt_text_only(prompt)
                .end_turn("end_turn")
                .prompt_text_only("work")
        };
        assert_eq!(origins(&first("start")), [Origin::FirstInput, Origin::Exact(0)]);
        assert_eq!(origins(&first("altered")), [Origin::FirstInput, Origin::Exact(0)]);
    }

    #[test]
    fn other_keys_leave_it_open() {
        let typed = HistoryBuilder::ready()
            .fact(Fact::Step(Step::Typed {
                bytes: Bytes::from("o"),
            }))
            .block("one\ntwo")
            .prompt_text_only("oone\ntwo");
        assert_eq!(origins(&typed), [Origin::Unknown]);
    }
}
