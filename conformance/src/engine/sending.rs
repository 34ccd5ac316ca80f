//! Sending: how a message's text, its Enter and single keys go into the seat.

use std::io;
use std::time::{Duration, SystemTime};

use fake_openrig::send;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::driver::Driver;
use super::lanes::Written;
use crate::history::views::Screen;
use crate::history::{Bytes, Delivery, Fact, Pane, Step};
use crate::scenario::{self, Transport};
use crate::seat::input::Input;

/// Time for the runner to read one piece before the next comes. Only how pieces fall into reads depends on it, never
/// a verdict.
const BETWEEN_PIECES: Duration = Duration::from_millis(1);

/// How long the terminal may take to bring what was written before.
const PASTE_MODE: Duration = Duration::from_millis(250);

impl Driver<'_> {
    pub(super) async fn send(&mut self, message: &scenario::Send) -> io::Result<()> {
        let text = send::envelope(
            &message.from,
            &self.identity.session_name,
            &message.text,
            &send::sent_at(SystemTime::now()),
        );
        let before = captured(&self.observed.screen);
        self.paste(&text, &text).await?;
        let block = self.blocks;
        self.pass(send::ENTER_DELAY).await;
        self.enter().await?;
        if message.verify {
            // OpenRig looks half a second after Enter.
            self.pass(Duration::from_millis(500)).await;
            let after = captured(&self.observed.screen);
            let found = send::verify(&before, &after, &text) == send::Verified::Delivered;
            self.record(Fact::Step(Step::Verified { block, found }));
        }
        Ok(())
    }

    /// The text as it stands, and Enter 200 ms later.
    pub(super) async fn send_raw(&mut self, text: &str) -> io::Result<()> {
        self.paste(text, text).await?;
        self.pass(send::ENTER_DELAY).await;
        self.enter().await
    }

    pub(super) async fn interrupt(&mut self) -> io::Result<()> {
        self.record(Fact::Step(Step::Interrupted));
        self.put(Input::Interrupt).await
    }

    /// Pastes `text`; `whole` is what the message will be at its Enter, from this text on.
    pub(super) async fn paste(&mut self, text: &str, whole: &str) -> io::Result<()> {
        let bracketed = self.paste_is_bracketed().await;
        self.begin(text, whole, pasted(bracketed));
        let text = text.to_owned();
        self.put(Input::Paste { text, bracketed }).await
    }

    /// Whether the program has bracketed paste on. What it wrote before its record may still be on its way through the
    /// terminal when the record is seen; a program that never turns it on costs that wait.
    async fn paste_is_bracketed(&mut self) -> bool {
        if self.transport == Transport::Pipe {
            return false;
        }
        let until = Instant::now() + PASTE_MODE;
        while !self.observed.screen.bracketed_paste() && self.pump(until).await {}
        self.observed.screen.bracketed_paste()
    }

    pub(super) async fn paste_in_pieces(&mut self, pieces: &scenario::Pieces, whole: &str) -> io::Result<()> {
        let bracketed = self.paste_is_bracketed().await;
        self.begin(&pieces.text, whole, pasted(bracketed));
        for piece in send::paste(&pieces.text, bracketed).chunks(pieces.bytes.max(1)) {
            self.put(Input::Bytes(piece.to_vec())).await?;
            self.pass(BETWEEN_PIECES).await;
        }
        Ok(())
    }

    pub(super) async fn burst(&mut self, texts: &[String]) -> io::Result<()> {
        let bracketed = self.paste_is_bracketed().await;
        let mut bytes = Vec::new();
        for text in texts {
            self.begin(text, text, pasted(bracketed));
            self.end_block();
            bytes.extend_from_slice(&send::paste(text, bracketed));
            bytes.extend_from_slice(&self.enter_key().bytes());
        }
        self.put(Input::Bytes(bytes)).await
    }

    pub(super) async fn type_keys(&mut self, text: &str, whole: &str) -> io::Result<()> {
        self.begin(text, whole, Delivery::Typed);
        for key in text.chars() {
            self.put(Input::Keys(key.to_string())).await?;
        }
        Ok(())
    }

    /// Begins what `text` begins. Without a terminal each line is a message of its own, and its end is its Enter.
    fn begin(&mut self, text: &str, whole: &str, delivery: Delivery) {
        if self.transport != Transport::Pipe {
            self.begin_block(whole, delivery);
            return;
        }
        let mut rest = whole;
        for _ in text.matches('\n') {
            let Some((line, after)) = rest.split_once('\n') else {
                break;
            };
            if !line.is_empty() {
                self.begin_block(line, Delivery::Line);
            }
            self.end_block();
            rest = after;
        }
        if !text.is_empty() && !text.ends_with('\n') {
            self.begin_block(rest.split('\n').next().unwrap_or_default(), Delivery::Line);
        }
    }

    fn begin_block(&mut self, whole: &str, delivery: Delivery) {
        if !self.block_is_open {
            self.block_is_open = true;
            self.blocks += 1;
            self.record(Fact::Step(Step::Sent {
                block: self.blocks,
                text: whole.into(),
                delivery,
            }));
        }
    }

    fn end_block(&mut self) {
        if self.block_is_open {
            self.block_is_open = false;
            self.record(Fact::Step(Step::Entered { block: self.blocks }));
        } else {
            self.record(Fact::Step(Step::Typed {
                bytes: Bytes(self.enter_key().bytes()),
            }));
        }
    }

    pub(super) async fn enter(&mut self) -> io::Result<()> {
        self.end_block();
        self.put(self.enter_key()).await
    }

    fn enter_key(&self) -> Input {
        match self.transport {
            Transport::Pipe => Input::LineEnd,
            Transport::Pty | Transport::Tmux => Input::Enter,
        }
    }

    /// Puts something into the seat, taking everything in meanwhile: a seat that answers while it is written to must not
    /// stand still.
    pub(super) async fn put(&mut self, input: Input) -> io::Result<()> {
        let Some(mut written) = self.put_at_leisure(input) else {
            return Ok(());
        };
        let deadline = Instant::now() + self.setup.patience;
        loop {
            tokio::select! {
                biased;
                // A terminal that is closed takes nothing: the awaits that follow say what that means.
                _ = &mut written => return Ok(()),
                went_on = self.pump(deadline) => if !went_on { return Ok(()) },
            }
        }
    }

    /// Puts something into the seat for the runner to take when it likes; when it is written is told. None where nothing
    /// can be put any more.
    pub(super) fn put_at_leisure(&mut self, input: Input) -> Option<oneshot::Receiver<io::Result<()>>> {
        let writer = self.running.as_ref().and_then(|running| running.writer.clone())?;
        let (done, written) = oneshot::channel();
        self.record(Fact::Pane(Pane::Input {
            bytes: Bytes(input.bytes()),
        }));
        writer.send(Written { input, done }).ok()?;
        Some(written)
    }
}

fn pasted(bracketed: bool) -> Delivery {
    if bracketed { Delivery::Paste } else { Delivery::Raw }
}

/// The pane as a capture shows it: without the empty lines below what was written.
fn captured(screen: &Screen) -> Vec<String> {
    let mut lines = screen.lines();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// The whole text of the message that begins at `index`: everything pasted or typed up to its Enter.
pub(super) fn pending_text(steps: &[scenario::Step], index: usize) -> String {
    steps[index..]
        .iter()
        .take_while(|step| !matches!(step, scenario::Step::Enter | scenario::Step::Stop))
        .filter_map(|step| match step {
            scenario::Step::Paste(text) | scenario::Step::Type(text) => Some(text.as_str()),
            scenario::Step::PasteInPieces(pieces) => Some(pieces.text.as_str()),
            scenario::Step::PasteLarge(large) => Some(large.text()),
            _ => None,
        })
        .collect()
}
