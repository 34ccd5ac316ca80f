//! `rig send`: the bytes that reach a pane, and how `--verify` looks for them.

use std::time::{Duration, SystemTime};

use crate::calendar::Utc;

/// What the Enter key sends to a program in raw mode.
pub const ENTER: &[u8] = b"\r";

/// How long OpenRig waits between a paste and Enter.
pub const ENTER_DELAY: Duration = Duration::from_millis(200);

/// How many lines of the pane `--verify` looks at.
pub const VERIFY_LINES: usize = 30;

/// How many characters of the sent text `--verify` looks for.
pub const VERIFY_CHARACTERS: usize = 40;

const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// The text of an ordinary send. Nothing in `body` is escaped, and there is no final newline. `sent` is a moment as
/// [`sent_at`] writes it. A send with `--raw` is its body alone.
pub fn envelope(from: &str, to: &str, body: &str, sent: &str) -> String {
    format!("From: {from}\nTo: {to}\nSent: {sent}\n---\n{body}\n---\n↩ Reply: rig send {from} \"...\"")
}

/// A moment as an envelope shows it: `MM-DD HH:MMZ`, in UTC.
pub fn sent_at(time: SystemTime) -> String {
    let utc = Utc::from(time);
    format!(
        "{:02}-{:02} {:02}:{:02}Z",
        utc.month, utc.day, utc.hour, utc.minute
    )
}

/// The bytes of one paste: `text` as it is, newlines as LF and none added, between paste markers if the program has
/// turned mode 2004 on (`bracketed`). A marker inside the text is not escaped, as in tmux.
pub fn paste(text: &str, bracketed: bool) -> Vec<u8> {
    if bracketed {
        [PASTE_START, text.as_bytes(), PASTE_END].concat()
    } else {
        text.as_bytes().to_vec()
    }
}

/// What `--verify` found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verified {
    /// The beginning of the text is in the pane more often than before.
    Delivered,
    /// It is not; the send may still have arrived.
    RenderedUnconfirmed,
}

/// Looks for the first 40 characters of the sent text in the last 30 lines of the pane, `before` and `after` the send.
/// A line is one row of the screen without the blanks at its end. Newlines in the text match line breaks.
pub fn verify(before: &[String], after: &[String], text: &str) -> Verified {
    let start: String = text.chars().take(VERIFY_CHARACTERS).collect();
    if !start.is_empty() && count(after, &start) > count(before, &start) {
        Verified::Delivered
    } else {
        Verified::RenderedUnconfirmed
    }
}

fn count(lines: &[String], start: &str) -> usize {
    lines[lines.len().saturating_sub(VERIFY_LINES)..]
        .join("\n")
        .matches(start)
        .count()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn an_envelope_line_by_line() {
        let sent = sent_at(UNIX_EPOCH + Duration::from_secs(1_793_275_200));
        let text = envelope("lead@rig", "pod-member@rig", "one\n/abort\n---", &sent);
        let expected = [
            "From: lead@rig",
            "To: pod-member@rig",
            "Sent: 10-29 12:00Z",
            "---",
            "one",
            "/abort",
            "---",
            "---",
            "↩ Reply: rig send lead@rig \"...\"",
        ];
        assert_eq!(text, expected.join("\n"));
    }

    #[test]
    fn a_paste_adds_markers_and_nothing_else() {
        assert_eq!(paste("a\nb", true), b"\x1b[200~a\nb\x1b[201~");
        assert_eq!(paste("a\nb", false), b"a\nb");
    }

    #[test]
    fn verify_spans_the_break_between_from_and_to() {
        let text = envelope("lead@rig", "pod-member@rig", "do it", "10-29 12:00Z");
        let after = lines(&format!("ready\nyou ▸ {text}"));
        assert_eq!(verify(&lines("ready"), &after, &text), Verified::Delivered);
    }

    #[test]
    fn verify_counts_what_was_there_before() {
        let once = lines("you ▸ hello");
        let twice = lines("you ▸ hello\nyou ▸ hello");
        assert_eq!(verify(&once, &once, "hello"), Verified::RenderedUnconfirmed);
        assert_eq!(verify(&once, &twice, "hello"), Verified::Delivered);
    }

    #[test]
    fn verify_looks_at_forty_characters_and_thirty_lines() {
        let long = "é".repeat(40) + "not rendered";
        assert_eq!(verify(&[], &["é".repeat(40)], &long), Verified::Delivered);
        assert_eq!(
            verify(&[], &["é".repeat(39)], &long),
            Verified::RenderedUnconfirmed
        );

        let mut after = vec![String::new(); VERIFY_LINES];
        after.insert(0, "hello".to_owned());
        assert_eq!(verify(&[], &after, "hello"), Verified::RenderedUnconfirmed);
        after.pop();
        assert_eq!(verify(&[], &after, "hello"), Verified::Delivered);
    }

    #[test]
    fn verify_never_confirms_an_empty_text() {
        assert_eq!(verify(&[], &lines("a"), ""), Verified::RenderedUnconfirmed);
    }

    #[test]
    fn verify_wants_the_text_unindented() {
        assert_eq!(
            verify(&[], &lines("From: a\n  To: b"), "From: a\nTo: b"),
            Verified::RenderedUnconfirmed
        );
    }

    proptest! {
        #[test]
        fn what_was_rendered_is_found(text in "[a-z ]{1,60}(\n[a-z]{1,20}){0,3}") {
            let after: Vec<String> = text.split('\n').map(str::to_owned).collect();
            prop_assert_eq!(verify(&[], &after, &text), Verified::Delivered);
        }
    }
}
