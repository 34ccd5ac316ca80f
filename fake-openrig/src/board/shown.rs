//! Makes a stranger's text fit to be shown: cut to a length, and with every character that would steer something
//! written as what it is.

/// The first `limit` characters of `text`. Control characters but for newlines and tabs become visible, and so do those
/// that turn the direction of the text around. What was cut off is said.
pub fn shown(text: &str, limit: usize) -> String {
    let mut characters = text.chars();
    let mut out = String::new();
    for character in characters.by_ref().take(limit) {
        match character {
            '\n' | '\t' => out.push(character),
            '\u{0}'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(character))),
            '\u{7f}' => out.push('\u{2421}'),
            '\u{80}'..='\u{9f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}' => out.extend(character.escape_unicode()),
            _ => out.push(character),
        }
    }
    let rest = characters.as_str().len();
    if rest > 0 {
        out.push_str(&format!(" … and {rest} bytes more"));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_would_steer_is_visible() {
        assert_eq!(shown("a\u{1b}[2J\u{7f}\r\n\tb", 100), "a␛[2J␡␍\n\tb");
        assert_eq!(shown("\u{202e}\u{9b}", 100), "\\u{202e}\\u{9b}");
        assert_eq!(shown("<b>&amp;", 100), "<b>&amp;");
    }

    #[test]
    fn what_is_cut_is_said() {
        assert_eq!(shown("äöü", 3), "äöü");
        assert_eq!(shown("äöü", 2), "äö … and 2 bytes more");
    }

    proptest! {
        #[test]
        fn nothing_steers_and_nothing_is_long(text in any::<String>(), limit in 0_usize..50) {
            let out = shown(&text, limit);
            prop_assert!(!out.chars().any(|character| character.is_control() && !"\n\t".contains(character)));
            prop_assert!(out.chars().count() <= limit * 8 + 40);
        }
    }
}
