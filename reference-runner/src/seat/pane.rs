//! What the person at the pane sees.
//!
//! Showing never waits: text goes into a bounded queue, and a task of its own takes it to the terminal. When
//! a terminal takes nothing for long, text is dropped and the pane says so once it can.
//!
//! A raw terminal needs CR and LF at each line end. Text that came from elsewhere loses its control
//! characters first, so that no agent can move the cursor, hide what was said or set the terminal's modes.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::sync::{Notify, watch};

/// The most bytes that wait for the terminal. Holds several of the largest prompts.
const LARGEST_BACKLOG: usize = 8 * 1024 * 1024;

/// The longest line of somebody else's that is shown as a notice, in characters.
const LONGEST_NOTICE: usize = 400;

/// The pane's side that the seat talks to.
#[derive(Debug)]
pub(crate) struct Pane {
    line_end: &'static str,
    state: Mutex<State>,
    arrived: Notify,
    /// Pieces not yet carried to the terminal.
    open: watch::Sender<usize>,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    dropped: bool,
    at_line_start: bool,
}

impl Pane {
    /// A pane on a raw terminal, or on anything else that takes lines.
    pub(crate) fn new(is_raw: bool) -> Self {
        Self {
            line_end: if is_raw { "\r\n" } else { "\n" },
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                bytes: 0,
                dropped: false,
                at_line_start: true,
            }),
            arrived: Notify::new(),
            open: watch::Sender::new(0),
        }
    }

    /// Mirrors an accepted prompt, whole, its lines unindented: that is what `rig send --verify` looks for.
    pub(crate) fn prompt(&self, text: &str) {
        self.line(&format!("you ▸ {}", plain(text)));
    }

    /// Shows a piece of the agent's answer as it comes.
    pub(crate) fn text(&self, text: &str) {
        self.push(&plain(text), false);
    }

    /// Begins a new line if the agent's last piece left one open.
    pub(crate) fn end_text(&self) {
        self.push("", true);
    }

    /// Shows a line of the runner's own, or somebody else's words in one line.
    pub(crate) fn notice(&self, text: &str) {
        self.line(&format!("· {}", shortened(text)));
    }

    /// Shows what went wrong and what to do about it.
    pub(crate) fn error(&self, what: &str, hint: &str) {
        self.line(&format!("error: {}", shortened(what)));
        self.line(&format!("hint: {hint}"));
    }

    /// Sends codes to the terminal as they are.
    pub(crate) fn codes(&self, codes: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.enqueue(&mut state, codes.as_bytes().to_vec());
    }

    /// The next piece for the terminal.
    pub(crate) async fn next(&self) -> Vec<u8> {
        loop {
            let arrived = self.arrived.notified();
            if let Some(piece) = self.take() {
                return piece;
            }
            arrived.await;
        }
    }

    /// Says that a piece given by [`Pane::next`] was carried out.
    pub(crate) fn carried(&self) {
        self.open.send_modify(|open| *open = open.saturating_sub(1));
    }

    /// Waits until everything so far was carried out.
    pub(crate) async fn settled(&self) {
        // `self` holds the watch's sender, so waiting can't fail.
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }

    fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let piece = state.waiting.pop_front()?;
        state.bytes -= piece.len();
        Some(piece)
    }

    fn line(&self, text: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let opening = if state.at_line_start { "" } else { self.line_end };
        let text = text.replace('\n', self.line_end);
        self.enqueue(
            &mut state,
            format!("{opening}{text}{}", self.line_end).into_bytes(),
        );
        state.at_line_start = true;
    }

    fn push(&self, text: &str, end_line: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shown = text.replace('\n', self.line_end);
        if !text.is_empty() {
            state.at_line_start = text.ends_with('\n');
        }
        if end_line && !state.at_line_start {
            shown.push_str(self.line_end);
            state.at_line_start = true;
        }
        if !shown.is_empty() {
            self.enqueue(&mut state, shown.into_bytes());
        }
    }

    fn enqueue(&self, state: &mut State, piece: Vec<u8>) {
        if state.bytes + piece.len() > LARGEST_BACKLOG {
            state.dropped = true;
            return;
        }
        let mut pieces = vec![piece];
        if std::mem::take(&mut state.dropped) {
            let gap = format!(
                "{0}· some output is missing here: the terminal did not take it{0}",
                self.line_end
            );
            pieces.insert(0, gap.into_bytes());
        }
        for piece in pieces {
            state.bytes += piece.len();
            state.waiting.push_back(piece);
            self.open.send_modify(|open| *open += 1);
        }
        self.arrived.notify_one();
    }
}

/// The text without control characters, but for line ends and tabs.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace(
        |character: char| character.is_control() && character != '\n' && character != '\t',
        "",
    )
}

/// The text as one line, cut to what a person reads.
fn shortened(text: &str) -> String {
    let line = plain(text).replace(['\n', '\t'], " ");
    let line = line.trim();
    match line.char_indices().nth(LONGEST_NOTICE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pane: &Pane) -> String {
        let mut bytes = Vec::new();
        while let Some(piece) = pane.take() {
            bytes.extend(piece);
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_prompt_is_mirrored_whole_with_raw_line_ends() {
        let pane = Pane::new(true);
        pane.prompt("From: a\n\tTo: b\r\n---\nü\x1b[2J\u{9b}x");
        assert_eq!(shown(&pane), "you ▸ From: a\r\n\tTo: b\r\n---\r\nü[2Jx\r\n");
    }

    #[test]
    fn notices_begin_on_a_line_of_their_own() {
        let pane = Pane::new(false);
        pane.text("half a li");
        pane.text("ne");
        pane.notice("queued");
        pane.text("more\n");
        pane.end_text();
        pane.error("it\nbroke", "fix it");
        assert_eq!(
            shown(&pane),
            "half a line\n· queued\nmore\nerror: it broke\nhint: fix it\n"
        );
    }

    #[test]
    fn long_notices_are_cut_at_a_character() {
        let pane = Pane::new(false);
        pane.notice(&"ü".repeat(LONGEST_NOTICE + 1));
        assert_eq!(shown(&pane), format!("· {}…\n", "ü".repeat(LONGEST_NOTICE)));
    }

    #[test]
    fn a_terminal_that_takes_nothing_costs_no_more_than_the_backlog() {
        let pane = Pane::new(false);
        let megabyte = "x".repeat(1024 * 1024);
        for _ in 0..20 {
            pane.text(&megabyte);
        }
        assert_eq!(shown(&pane).len(), LARGEST_BACKLOG);
        pane.notice("after");
        assert!(shown(&pane).contains("some output is missing here"));
    }

    #[tokio::test]
    async fn settled_waits_for_what_was_carried() {
        let pane = Pane::new(false);
        pane.notice("one");
        assert_eq!(pane.next().await, "· one\n".as_bytes());
        pane.carried();
        pane.settled().await;
    }
}
