//! What a person's keys mean, found in the bytes that a terminal sends.

const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// Ctrl-], which leaves a seat that is played.
const LEAVE: u8 = 0x1d;

/// The same key where a program has asked the terminal for more exact keys.
const LEAVE_EXACT: &[u8] = b"\x1b[93;5u";

/// One or more keys of a kind, with their bytes. All but [`Key::Leave`] are the runner's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// Characters that become part of a message.
    Text(Vec<u8>),
    /// A paste begins or ends.
    PasteEdge(Vec<u8>),
    /// A piece of a paste.
    Pasted(Vec<u8>),
    /// Enter, outside of a paste.
    Enter,
    /// Ctrl-C, outside of a paste.
    Interrupt,
    /// What only the runner knows the meaning of: an arrow, Backspace, an answer of the terminal's.
    Other(Vec<u8>),
    /// Ctrl-], outside of a paste.
    Leave,
}

impl Key {
    /// The bytes for the runner.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(bytes) | Self::PasteEdge(bytes) | Self::Pasted(bytes) | Self::Other(bytes) => bytes,
            Self::Enter => b"\r",
            Self::Interrupt => b"\x03",
            Self::Leave => b"",
        }
    }
}

/// Cuts bytes into keys, wherever they are cut into reads. Nothing is held back but the beginning of a paste's end.
#[derive(Debug, Default)]
pub struct KeyScanner {
    in_paste: bool,
    held: Vec<u8>,
}

impl KeyScanner {
    /// The keys in the next bytes.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        let mut keys = Vec::new();
        while !rest.is_empty() {
            let (key, length) = if self.in_paste {
                let Some(found) = self.pasted(rest) else { break };
                found
            } else {
                self.typed(rest)
            };
            rest = &rest[length..];
            keys.push(key);
        }
        keys
    }

    /// The next piece of a paste; none if it may be the beginning of its end.
    fn pasted(&mut self, rest: &[u8]) -> Option<(Key, usize)> {
        if rest.starts_with(PASTE_END) {
            self.in_paste = false;
            return Some((Key::PasteEdge(PASTE_END.to_vec()), PASTE_END.len()));
        }
        let end = (0..rest.len()).find(|at| {
            let tail = &rest[*at..];
            tail.starts_with(PASTE_END) || PASTE_END.starts_with(tail)
        });
        match end {
            Some(0) => {
                self.held = rest.to_vec();
                None
            }
            end => {
                let length = end.unwrap_or(rest.len());
                Some((Key::Pasted(rest[..length].to_vec()), length))
            }
        }
    }

    fn typed(&mut self, rest: &[u8]) -> (Key, usize) {
        match rest[0] {
            b'\r' => (Key::Enter, 1),
            3 => (Key::Interrupt, 1),
            LEAVE => (Key::Leave, 1),
            0x1b if rest.starts_with(PASTE_START) => {
                self.in_paste = true;
                (Key::PasteEdge(PASTE_START.to_vec()), PASTE_START.len())
            }
            0x1b if rest.starts_with(LEAVE_EXACT) => (Key::Leave, LEAVE_EXACT.len()),
            0x1b => {
                let length = sequence(rest);
                (Key::Other(rest[..length].to_vec()), length)
            }
            byte if is_text(byte) => {
                let length = rest.iter().position(|byte| !is_text(*byte)).unwrap_or(rest.len());
                (Key::Text(rest[..length].to_vec()), length)
            }
            byte => (Key::Other(vec![byte]), 1),
        }
    }
}

fn is_text(byte: u8) -> bool {
    byte >= 0x20 && byte != 0x7f
}

/// The length of the escape sequence at the beginning, as far as it is there.
fn sequence(rest: &[u8]) -> usize {
    let Some(second) = rest.get(1) else { return 1 };
    match second {
        // Parameters, then one final byte.
        b'[' => rest[2..]
            .iter()
            .position(|byte| (0x40..=0x7e).contains(byte))
            .map_or(rest.len(), |at| at + 3),
        b'O' => rest.len().min(3),
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Key {
        Key::Text(text.as_bytes().to_vec())
    }

    #[test]
    fn keys_are_told_apart() {
        let keys = KeyScanner::default().take("hé\r\x03\x7f\x1b[A\x1bOPx\x1d".as_bytes());
        let other = |bytes: &[u8]| Key::Other(bytes.to_vec());
        let expected = [
            text("hé"),
            Key::Enter,
            Key::Interrupt,
            other(b"\x7f"),
            other(b"\x1b[A"),
            other(b"\x1bOP"),
            text("x"),
            Key::Leave,
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn in_a_paste_every_byte_is_text() {
        let mut scanner = KeyScanner::default();
        let mut keys = scanner.take(b"\x1b[200~a\r\x1d\x03\x1b[20");
        keys.extend(scanner.take(b"1~\r"));
        let expected = [
            Key::PasteEdge(PASTE_START.to_vec()),
            Key::Pasted(b"a\r\x1d\x03".to_vec()),
            Key::PasteEdge(PASTE_END.to_vec()),
            Key::Enter,
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn the_exact_form_leaves_too() {
        assert_eq!(KeyScanner::default().take(LEAVE_EXACT), [Key::Leave]);
    }

    proptest! {
        /// The runner gets every byte, in order, however they are cut: all but Ctrl-] and what may yet be a paste's end.
        #[test]
        fn nothing_is_lost(bytes in proptest::collection::vec(prop_oneof![Just(0x1b), Just(b'['), Just(b'2'), Just(b'0'),
            Just(b'1'), Just(b'~'), any::<u8>()], 0..80), cut in 0_usize..80) {
            prop_assume!(!bytes.contains(&LEAVE));
            let mut scanner = KeyScanner::default();
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let mut out = Vec::new();
            for key in scanner.take(first).iter().chain(&scanner.take(second)) {
                out.extend_from_slice(key.bytes());
            }
            out.extend_from_slice(&scanner.held);
            prop_assert_eq!(out, bytes);
        }
    }
}
