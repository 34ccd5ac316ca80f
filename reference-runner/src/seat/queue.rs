//! Messages that wait for their turn, in the order they came.

use std::collections::VecDeque;

/// More than this many waiting bytes is not taken: a seat nobody serves must not grow without end.
const LARGEST_BACKLOG: usize = 16 * 1024 * 1024;

/// The waiting messages.
#[derive(Debug, Default)]
pub(crate) struct WaitingMessages {
    messages: VecDeque<String>,
    bytes: usize,
}

/// The message did not fit beside what waits already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl WaitingMessages {
    pub(crate) fn push(&mut self, message: String) -> Result<(), Full> {
        if self.bytes + message.len() > LARGEST_BACKLOG {
            return Err(Full);
        }
        self.bytes += message.len();
        self.messages.push_back(message);
        Ok(())
    }

    pub(crate) fn pop(&mut self) -> Option<String> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.len();
        Some(message)
    }

    /// Forgets everything that waits and says how many messages that were.
    pub(crate) fn clear(&mut self) -> usize {
        self.bytes = 0;
        std::mem::take(&mut self.messages).len()
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_in_the_order_they_went_in() {
        let mut waiting = WaitingMessages::default();
        for message in ["one", "two", "three"] {
            waiting.push(message.to_owned()).unwrap();
        }
        assert_eq!(waiting.pop().as_deref(), Some("one"));
        assert_eq!(waiting.len(), 2);
        assert_eq!(waiting.clear(), 2);
        assert_eq!(waiting.pop(), None);
    }

    #[test]
    fn a_full_backlog_takes_no_more_until_something_left() {
        let mut waiting = WaitingMessages::default();
        waiting.push("x".repeat(LARGEST_BACKLOG - 1)).unwrap();
        assert_eq!(waiting.push("yy".to_owned()), Err(Full));
        waiting.push("y".to_owned()).unwrap();
        assert!(waiting.pop().is_some());
        waiting.push("zz".to_owned()).unwrap();
        assert_eq!(waiting.len(), 2);
    }
}
