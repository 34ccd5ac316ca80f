//! What was typed into the seat, message by message.

use crate::history::{Delivery, Event, Fact, Step};

/// One message as it was put into the terminal.
#[derive(Debug, Clone)]
pub struct Block<'h> {
    /// Its number over the whole history, from 1.
    pub number: u32,
    /// The text, as pasted or typed.
    pub text: &'h [u8],
    /// How it went in.
    pub delivery: Delivery,
    /// The event of its first byte.
    pub sent: &'h Event,
    /// The event of its Enter; `None` if Enter never came.
    pub entered: Option<&'h Event>,
}

impl Block<'_> {
    /// Whether it is exactly `/abort`: control, not a prompt (§5).
    #[must_use]
    pub fn is_abort(&self) -> bool {
        self.text == b"/abort"
    }

    /// Whether it is blank: what a runner does with it is free, but for a bare Enter.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.text.iter().all(u8::is_ascii_whitespace)
    }
}

pub(crate) fn blocks<'h>(events: &[&'h Event]) -> Vec<Block<'h>> {
    let mut blocks: Vec<Block<'h>> = Vec::new();
    for event in events {
        match &event.fact {
            Fact::Step(Step::Sent {
                block,
                text,
                delivery,
            }) => blocks.push(Block {
                number: *block,
                text: &text.0,
                delivery: *delivery,
                sent: event,
                entered: None,
            }),
            Fact::Step(Step::Entered { block }) => {
                if let Some(sent) = blocks.iter_mut().find(|sent| sent.number == *block) {
                    sent.entered = Some(event);
                }
            }
            _ => {}
        }
    }
    blocks
}
