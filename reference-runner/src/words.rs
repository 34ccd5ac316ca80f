//! Splits a command into words the way a person expects: blanks, quotes and backslashes, and nothing else of
//! a shell.

/// The words of `command`. An error says which quote was left open.
pub(crate) fn split(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => quoted(&mut characters, '\'', word.get_or_insert_default())?,
            '"' => quoted(&mut characters, '"', word.get_or_insert_default())?,
            '\\' => {
                let next = characters.next().ok_or("a backslash at the end quotes nothing")?;
                word.get_or_insert_default().push(next);
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Takes characters up to the closing `quote` into `word`. Inside double quotes a backslash quotes `"` and
/// itself.
fn quoted(characters: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Result<(), String> {
    while let Some(character) = characters.next() {
        match character {
            end if end == quote => return Ok(()),
            '\\' if quote == '"' => match characters.next() {
                Some(escaped @ ('"' | '\\')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
                None => break,
            },
            other => word.push(other),
        }
    }
    Err(format!("the quote {quote} is never closed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blanks_quotes_and_backslashes_make_words() {
        let words = split(r#"  dsh  acp --name 'two words' "a \"b\" \\ \n" c\ d '' "#).unwrap();
        assert_eq!(
            words,
            ["dsh", "acp", "--name", "two words", r#"a "b" \ \n"#, "c d", ""]
        );
    }

    #[test]
    fn open_quotes_are_refused() {
        assert!(split("dsh 'acp").unwrap_err().contains('\''));
        assert!(split("dsh \"acp").unwrap_err().contains('"'));
        assert!(split("dsh \\").is_err());
    }

    proptest! {
        #[test]
        fn single_quoted_words_come_back_unchanged(words in proptest::collection::vec("[^']{0,12}", 0..6)) {
            let command = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(split(&command).unwrap(), words);
        }
    }
}
