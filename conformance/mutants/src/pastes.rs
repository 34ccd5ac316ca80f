//! Which bytes of what is typed stand inside a paste, across reads; and typing a message.

use reference_runner::Crossing;

pub(crate) const START: &[u8] = b"\x1b[200~";
pub(crate) const END: &[u8] = b"\x1b[201~";
pub(crate) const ENTER: u8 = b'\r';
pub(crate) const CTRL_C: u8 = 0x03;

/// Follows bracketed pastes.
#[derive(Debug, Default)]
pub(crate) struct Pastes {
    is_inside: bool,
    /// The last bytes, as many as a marker has.
    recent: Vec<u8>,
}

impl Pastes {
    /// Each byte of one read, and whether it stands inside a paste.
    pub(crate) fn follow<'a>(&'a mut self, bytes: &'a [u8]) -> impl Iterator<Item = (u8, bool)> + 'a {
        bytes.iter().map(|byte| {
            if self.recent.len() == START.len() {
                self.recent.remove(0);
            }
            self.recent.push(*byte);
            let was_inside = self.is_inside;
            if self.recent == START {
                self.is_inside = true;
            } else if self.recent == END {
                self.is_inside = false;
            }
            // A marker's last byte is no text of the paste.
            (*byte, was_inside && self.is_inside)
        })
    }
}

/// Typing this text as a message: pasted, then Enter.
pub(crate) fn typed_message(text: &str) -> Crossing {
    Crossing::Typed([START, text.as_bytes(), END, &[ENTER]].concat())
}

/// The bytes with every `from` replaced.
pub(crate) fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(from) {
            replaced.extend_from_slice(to);
            rest = after;
        } else {
            replaced.push(rest[0]);
            rest = &rest[1..];
        }
    }
    replaced
}

/// Whether `part` stands somewhere in the bytes.
pub(crate) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pastes_are_followed_across_reads_however_they_are_cut() {
        let typed = b"a\r\x1b[200~b\rc\x1b[201~\r";
        for cut in 0..typed.len() {
            let mut pastes = Pastes::default();
            let mut outside = 0;
            for part in [&typed[..cut], &typed[cut..]] {
                outside += pastes
                    .follow(part)
                    .filter(|(byte, is_inside)| *byte == ENTER && !is_inside)
                    .count();
            }
            assert_eq!(outside, 2, "cut at {cut}");
        }
    }

    #[test]
    fn parts_are_found_and_replaced() {
        assert_eq!(replaced(b"aXXbX", b"X", b"yy"), b"ayyyybyy");
        assert!(contains(b"abc", b"bc") && !contains(b"abc", b"cb"));
    }
}
