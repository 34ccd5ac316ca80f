//! Quoting what was seen in a finding's words.

/// How many characters of a text a finding shows.
const SHOWN: usize = 80;

/// The text in quotes, with escapes, cut to a length that can be read in a report.
pub(super) fn quoted(text: &str) -> String {
    let mut characters = text.chars();
    let beginning: String = characters.by_ref().take(SHOWN).collect();
    if characters.next().is_none() {
        format!("{beginning:?}")
    } else {
        format!("{beginning:?}… ({} bytes)", text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(quoted("a\tb"), r#""a\tb""#);
        let long = "ü".repeat(200);
        let shown = quoted(&long);
        assert!(shown.ends_with("… (400 bytes)"), "{shown}");
        assert_eq!(shown.matches('ü').count(), 80);
    }
}
