//! What a terminal says when a program asks it something.
//!
//! Behind a pseudo terminal of our own there is no terminal, and a program that waits for an answer would wait for
//! ever, though it works in a pane of OpenRig's, which is tmux. So the usual queries are answered as tmux answers
//! them; what tmux 3.3a leaves unanswered in a session that nobody is attached to (colours, modes, keyboard protocols)
//! stays unanswered here too. Only the size has its two numbers in the usual order, which that version swaps.

use crate::history::views::Query;

/// The answer, as it comes out of the keyboard's side.
pub(crate) fn answer(query: Query) -> Vec<u8> {
    match query {
        Query::Attributes => b"\x1b[?1;2c".to_vec(),
        Query::SecondaryAttributes => b"\x1b[>84;0;0c".to_vec(),
        Query::Version => b"\x1bP>|tmux 3.3a\x1b\\".to_vec(),
        Query::Status => b"\x1b[0n".to_vec(),
        Query::Cursor(row, column) => format!("\x1b[{row};{column}R").into_bytes(),
        Query::Size(rows, columns) => format!("\x1b[8;{rows};{columns}t").into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::views::Screen;

    fn answers(output: &[u8]) -> String {
        let mut screen = Screen::new((24, 80));
        screen.feed(output);
        let answers = screen.take_queries().into_iter().flat_map(answer).collect();
        String::from_utf8(answers).unwrap()
    }

    #[test]
    fn what_tmux_answers_is_answered() {
        assert_eq!(answers(b"\x1b[c\x1b[0c"), "\x1b[?1;2c\x1b[?1;2c");
        assert_eq!(answers(b"\x1b[>c"), "\x1b[>84;0;0c");
        assert_eq!(answers(b"\x1b[5n"), "\x1b[0n");
        assert_eq!(answers(b"\x1b[3;7H\x1b[6n"), "\x1b[3;7R");
        assert_eq!(answers(&[&[b'x'; 80][..], b"\x1b[6n"].concat()), "\x1b[1;80R");
        assert_eq!(answers(b"\x1b[>0q"), "\x1bP>|tmux 3.3a\x1b\\");
        assert_eq!(answers(b"\x1b[18t"), "\x1b[8;24;80t");
    }

    #[test]
    fn what_tmux_does_not_answer_is_not_answered() {
        let unanswered = "\x1b[=c\x1b[?6n\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]4;1;?\x07\x1b[?2004$p\x1b[?u\x1bP+q544e\x1b\\\
                          \x1b[14t\x1b[21t\x1b[x\x05\x1b]52;c;?\x07\x1bZ\x1b[1c\x1b[2 q";
        assert_eq!(answers(unanswered.as_bytes()), "");
    }
}
