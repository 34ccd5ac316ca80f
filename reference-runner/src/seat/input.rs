//! From terminal bytes to messages.
//!
//! Everything up to an Enter outside a paste is one block, and one block is one message. Reads may end
//! anywhere, in the middle of a paste marker or of a character: the decoder keeps its place, so any cutting
//! of the same bytes gives the same input. Inside a paste every byte is text, except Ctrl-C and the end
//! marker.
//!
//! Memory is bounded: a block over [`LARGEST_BLOCK`] is refused whole, and its bytes are not kept.

/// The largest block that is taken, in bytes. It is what OpenRig's own runners take.
pub(crate) const LARGEST_BLOCK: usize = 1024 * 1024;

/// The longest key sequence that is looked at; longer ones are no key's.
const LONGEST_SEQUENCE: usize = 32;

const ENTER: u8 = b'\r';
const CTRL_C: u8 = 0x03;
const BACKSPACE: u8 = 0x08;
const ESCAPE: u8 = 0x1b;
const DELETE: u8 = 0x7f;
const PASTE_START: &[u8] = b"200~";
const PASTE_END: &[u8] = b"201~";

/// What a person or OpenRig put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// One whole message.
    Block(String),
    /// The block that is exactly `/abort`, or Ctrl-C. `discarded` says that Ctrl-C took a half-typed block
    /// with it.
    Abort { discarded: bool },
    /// A block of this many bytes was over the limit.
    TooLarge { bytes: usize },
}

/// How the bytes come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A terminal in raw mode: pastes, keys, Enter.
    Terminal,
    /// No terminal: each line is a message.
    Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Between keys.
    Typing,
    /// Inside a paste.
    Pasting,
    /// In what is left of a paste that Ctrl-C has put an end to. Its rest must not become a message; a new
    /// paste, or an Enter if the end marker never comes, ends this.
    Discarding,
}

/// Turns bytes into input. One per seat.
#[derive(Debug)]
pub(crate) struct Decoder {
    source: Source,
    place: Place,
    block: Vec<u8>,
    /// The block's size, which goes on counting after its bytes are no longer kept.
    size: usize,
    /// A key sequence under way, from its escape on.
    sequence: Vec<u8>,
}

impl Decoder {
    pub(crate) fn new(source: Source) -> Self {
        Self {
            source,
            place: Place::Typing,
            block: Vec::new(),
            size: 0,
            sequence: Vec::new(),
        }
    }

    /// Takes what one read returned and gives the input it completes.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<Input> {
        let mut inputs = Vec::new();
        for &byte in bytes {
            match self.source {
                Source::Terminal => self.take_key(byte, &mut inputs),
                Source::Lines => self.take_line_byte(byte, &mut inputs),
            }
        }
        inputs
    }

    /// The end of the bytes. Without a terminal a last line needs no line end; a terminal's half block is no
    /// message.
    pub(crate) fn finish(&mut self) -> Vec<Input> {
        let mut inputs = Vec::new();
        if self.source == Source::Lines {
            self.end_block(&mut inputs);
        }
        inputs
    }

    fn take_line_byte(&mut self, byte: u8, inputs: &mut Vec<Input>) {
        match byte {
            b'\n' => {
                if self.block.last() == Some(&b'\r') {
                    self.block.pop();
                    self.size -= 1;
                }
                self.end_block(inputs);
            }
            CTRL_C => self.abort(inputs),
            text => self.keep(text),
        }
    }

    fn take_key(&mut self, byte: u8, inputs: &mut Vec<Input>) {
        if byte == CTRL_C {
            self.place = match self.place {
                Place::Typing => Place::Typing,
                Place::Pasting | Place::Discarding => Place::Discarding,
            };
            self.sequence.clear();
            self.abort(inputs);
        } else if byte == ESCAPE {
            self.give_up_sequence();
            self.sequence.push(ESCAPE);
        } else if !self.sequence.is_empty() {
            self.continue_sequence(byte, inputs);
        } else {
            self.take_plain(byte, inputs);
        }
    }

    /// A byte that is no part of a key sequence.
    fn take_plain(&mut self, byte: u8, inputs: &mut Vec<Input>) {
        match (self.place, byte) {
            (Place::Pasting, text) => self.keep(text),
            (Place::Discarding, ENTER) => self.place = Place::Typing,
            (Place::Discarding, _) => {}
            (Place::Typing, ENTER) => self.end_block(inputs),
            (Place::Typing, BACKSPACE | DELETE) => self.erase(),
            (Place::Typing, text @ (b'\n' | b'\t' | 0x20..)) => self.keep(text),
            (Place::Typing, _other_control) => {}
        }
    }

    fn continue_sequence(&mut self, byte: u8, inputs: &mut Vec<Input>) {
        if self.place == Place::Pasting {
            // Only the end marker counts; anything else was text from its escape on.
            self.sequence.push(byte);
            let expected = [b"\x1b[", PASTE_END].concat();
            if self.sequence == expected {
                self.sequence.clear();
                self.place = Place::Typing;
            } else if !expected.starts_with(&self.sequence) {
                self.give_up_sequence();
            }
            return;
        }
        match (self.sequence.len(), byte) {
            (1, b'[' | b'O') => self.sequence.push(byte),
            (1, _) => {
                // Escape and then an ordinary key: the escape means nothing here, the key does.
                self.sequence.clear();
                self.take_plain(byte, inputs);
            }
            (_, 0x20..=0x3f) if self.sequence.len() < LONGEST_SEQUENCE => self.sequence.push(byte),
            _ => {
                let is_bracketed = self.sequence[1] == b'[';
                let parameters = [&self.sequence[2..], &[byte]].concat();
                self.sequence.clear();
                if is_bracketed && parameters == PASTE_START {
                    self.place = Place::Pasting;
                } else if is_bracketed && parameters == PASTE_END {
                    self.place = Place::Typing;
                } else if !(0x40..=0x7e).contains(&byte) {
                    // Not the end of a key sequence: it was broken off, and this byte stands for itself.
                    self.take_plain(byte, inputs);
                }
            }
        }
    }

    /// A sequence that leads nowhere: in a paste it was text, elsewhere a key without a meaning here.
    fn give_up_sequence(&mut self) {
        for byte in std::mem::take(&mut self.sequence) {
            if self.place == Place::Pasting {
                self.keep(byte);
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        self.size += 1;
        if self.size <= LARGEST_BLOCK {
            self.block.push(byte);
        } else {
            self.block = Vec::new();
        }
    }

    /// Takes back the last character, whole.
    fn erase(&mut self) {
        while let Some(byte) = self.block.pop() {
            self.size -= 1;
            let is_continuation = byte & 0b1100_0000 == 0b1000_0000;
            if !is_continuation {
                break;
            }
        }
    }

    fn abort(&mut self, inputs: &mut Vec<Input>) {
        let discarded = self.size > 0;
        self.block.clear();
        self.size = 0;
        inputs.push(Input::Abort { discarded });
    }

    fn end_block(&mut self, inputs: &mut Vec<Input>) {
        let block = std::mem::take(&mut self.block);
        let size = std::mem::take(&mut self.size);
        if size > LARGEST_BLOCK {
            inputs.push(Input::TooLarge { bytes: size });
        } else if block == b"/abort" {
            inputs.push(Input::Abort { discarded: false });
        } else if !block.iter().all(u8::is_ascii_whitespace) {
            // The channel carries text, not bytes: what is not UTF-8 can't be sent as it is.
            let text = String::from_utf8(block)
                .unwrap_or_else(|fault| String::from_utf8_lossy(fault.as_bytes()).into_owned());
            inputs.push(Input::Block(text));
        }
    }
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
