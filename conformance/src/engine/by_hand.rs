//! What was typed by hand, as the history tells it.
//!
//! A message that was plainly typed or pasted is told like any other, once its Enter is there: its text is known then.
//! As soon as a key comes whose meaning only the runner knows (Backspace, an arrow), the text is not known any more, and
//! bytes are told as bytes: a judge must not hold a runner to a text that the kit only guesses.

use super::keys::Key;
use crate::history::{Bytes, Delivery, Step};

/// The message that is being typed.
#[derive(Debug, Default)]
pub(super) struct ByHand {
    began: Option<u64>,
    text: Vec<u8>,
    bytes: Vec<u8>,
    typed: bool,
    /// Since some key the text is the runner's secret, up to the next Enter.
    unknown: bool,
}

impl ByHand {
    /// Takes a key that was pressed at `now`. Gives what is to be told before its bytes are written, and when each was;
    /// `blocks` counts the messages of the seat.
    pub(super) fn take(&mut self, key: &Key, now: u64, blocks: &mut u32) -> Vec<(u64, Step)> {
        match key {
            Key::Leave => Vec::new(),
            Key::Interrupt => {
                let pending = self.began.is_some() || self.unknown;
                let mut steps = self.give_up();
                self.unknown = pending;
                steps.push((now, Step::Interrupted));
                steps
            }
            Key::Other(_) => {
                let mut steps = self.give_up();
                self.unknown = true;
                steps.push((now, typed(key.bytes())));
                steps
            }
            Key::Enter if self.unknown => {
                self.unknown = false;
                vec![(now, typed(key.bytes()))]
            }
            Key::Enter => self.entered(now, blocks),
            _ if self.unknown => vec![(now, typed(key.bytes()))],
            Key::Text(text) | Key::Pasted(text) => {
                self.typed |= matches!(key, Key::Text(_));
                self.text.extend_from_slice(text);
                self.add(key, now);
                Vec::new()
            }
            Key::PasteEdge(_) => {
                self.add(key, now);
                Vec::new()
            }
        }
    }

    /// Something else goes into the seat's input now: what stands there is told as bytes.
    pub(super) fn give_up(&mut self) -> Vec<(u64, Step)> {
        let pending = std::mem::take(self);
        self.unknown = pending.unknown;
        match pending.began {
            Some(began) => vec![(began, typed(&pending.bytes))],
            None => Vec::new(),
        }
    }

    fn add(&mut self, key: &Key, now: u64) {
        self.began.get_or_insert(now);
        self.bytes.extend_from_slice(key.bytes());
    }

    fn entered(&mut self, now: u64, blocks: &mut u32) -> Vec<(u64, Step)> {
        let message = std::mem::take(self);
        let Some(began) = message.began else {
            return vec![(now, typed(b"\r"))];
        };
        *blocks += 1;
        let block = *blocks;
        let delivery = if message.typed {
            Delivery::Typed
        } else {
            Delivery::Paste
        };
        let sent = Step::Sent {
            block,
            text: Bytes(message.text),
            delivery,
        };
        vec![(began, sent), (now, Step::Entered { block })]
    }
}

fn typed(bytes: &[u8]) -> Step {
    Step::Typed {
        bytes: Bytes(bytes.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::keys::KeyScanner;

    fn told(bytes: &[u8]) -> Vec<(u64, Step)> {
        let (mut hand, mut blocks, mut now) = (ByHand::default(), 0, 0);
        let mut steps = Vec::new();
        for key in KeyScanner::default().take(bytes) {
            now += 1;
            steps.extend(hand.take(&key, now, &mut blocks));
        }
        steps
    }

    fn sent(block: u32, text: &str, delivery: Delivery) -> Step {
        Step::Sent {
            block,
            text: text.into(),
            delivery,
        }
    }

    #[test]
    fn a_plain_message_is_told_whole_from_its_first_key() {
        let expected = [
            (1, sent(1, "hello", Delivery::Typed)),
            (2, Step::Entered { block: 1 }),
            (3, sent(2, "two\nlines", Delivery::Paste)),
            (6, Step::Entered { block: 2 }),
        ];
        assert_eq!(told(b"hello\r\x1b[200~two\nlines\x1b[201~\r"), expected);
    }

    #[test]
    fn a_bare_enter_and_a_ctrl_c() {
        assert_eq!(told(b"\r\x03"), [(1, typed(b"\r")), (2, Step::Interrupted)]);
    }

    #[test]
    fn what_was_edited_is_told_as_bytes_up_to_its_enter() {
        let expected = [
            (1, typed(b"helo")),
            (2, typed(b"\x7f")),
            (3, typed(b"lo")),
            (4, typed(b"\r")),
            (5, sent(1, "next", Delivery::Typed)),
            (6, Step::Entered { block: 1 }),
        ];
        assert_eq!(told(b"helo\x7flo\rnext\r"), expected);
    }

    #[test]
    fn a_ctrl_c_in_the_middle_of_a_message_leaves_the_rest_unknown() {
        let expected = [
            (1, typed(b"a")),
            (2, Step::Interrupted),
            (3, typed(b"b")),
            (4, typed(b"\r")),
        ];
        assert_eq!(told(b"a\x03b\r"), expected);
    }
}
