//! Keeps the token out of what is reported.

use crate::Token;

/// What stands in place of the token.
const REPLACEMENT: &[u8] = b"[token]";

/// Replaces the token wherever it stands. Remembers whether it ever did.
pub(super) struct Redaction<'a> {
    token: &'a [u8],
    pub(super) removed: bool,
}

impl<'a> Redaction<'a> {
    pub(super) fn of(token: &'a Token) -> Self {
        Self {
            token: token.reveal().as_bytes(),
            removed: false,
        }
    }

    /// `bytes` without the token, cut at `limit` bytes of what was given. Give it up to a token's length more than
    /// the limit, so that a token across the cut is seen whole.
    pub(super) fn bytes(&mut self, bytes: &[u8], limit: usize) -> Vec<u8> {
        let mut kept = Vec::with_capacity(bytes.len().min(limit));
        let mut place = 0;
        while place < bytes.len().min(limit) {
            if !self.token.is_empty() && bytes[place..].starts_with(self.token) {
                kept.extend_from_slice(REPLACEMENT);
                place += self.token.len();
                self.removed = true;
            } else {
                kept.push(bytes[place]);
                place += 1;
            }
        }
        kept
    }

    /// Text without the token, cut at `limit` characters.
    pub(super) fn text(&mut self, text: &str, limit: usize) -> String {
        let bytes = self.bytes(text.as_bytes(), text.len());
        String::from_utf8_lossy(&bytes).chars().take(limit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact(text: &str, limit: usize) -> (String, bool) {
        let token = Token::from("secret".to_owned());
        let mut redaction = Redaction::of(&token);
        let kept = redaction.bytes(text.as_bytes(), limit);
        (String::from_utf8(kept).unwrap(), redaction.removed)
    }

    #[test]
    fn the_token_is_replaced_wherever_it_stands() {
        assert_eq!(
            redact("a secret, secretsecret", 100),
            ("a [token], [token][token]".to_owned(), true)
        );
        assert_eq!(redact("secre", 100), ("secre".to_owned(), false));
        assert_eq!(redact("", 100), (String::new(), false));
    }

    #[test]
    fn a_token_across_the_cut_is_replaced_whole() {
        assert_eq!(redact("ab secret", 5), ("ab [token]".to_owned(), true));
        assert_eq!(redact("abcdef secret", 5), ("abcde".to_owned(), false));
    }

    #[test]
    fn a_text_is_cut_after_the_token_is_out() {
        let token = Token::from("secret".to_owned());
        assert_eq!(Redaction::of(&token).text("/secret?ü", 9), "/[token]?");
    }
}
