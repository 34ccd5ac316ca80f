//! A place in a file that somebody wrote, as people read it: where, what is wrong, and the line itself.

/// How much of a line is shown, in characters.
const SHOWN: usize = 160;

/// The line of that number, from 1, without what steers a terminal.
pub(super) fn line_of(text: &str, line: usize) -> String {
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    line.chars().take(SHOWN).map(printable).collect()
}

/// The line with a mark under the column.
pub(super) fn marked(text: &str, line: usize, column: usize) -> String {
    let before = column.saturating_sub(1).min(SHOWN);
    format!("    {}\n    {:before$}^", line_of(text, line), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_under_the_column() {
        assert_eq!(marked("a: 1\nb:\t2", 2, 4), "    b: 2\n       ^");
        assert_eq!(marked("", 3, 0), "    \n    ^");
    }
}
