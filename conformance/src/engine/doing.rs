//! Doing: what a step does to the seat, its agent or its endpoint.

use std::io;
use std::time::{Duration, SystemTime};

use fake_agent::control;
use fake_openrig::{endpoint, send};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::driver::Driver;
use super::lanes::{Written, order};
use crate::history::views::Screen;
use crate::history::{Bytes, Delivery, Fact, Pane, Step};
use crate::scenario::{self, EndpointFault};

/// Time for the runner to read one piece before the next comes. Only how pieces fall into reads depends on it, never
/// a verdict.
const BETWEEN_PIECES: Duration = Duration::from_millis(1);

/// How long the terminal may take to bring what was written before.
const PASTE_MODE: Duration = Duration::from_millis(250);

fn delivery(bracketed: bool) -> Delivery {
    if bracketed { Delivery::Paste } else { Delivery::Raw }
}

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

    pub(super) async fn send_raw(&mut self, text: &str) -> io::Result<()> {
        self.paste(text, text).await?;
        self.pass(send::ENTER_DELAY).await;
        self.enter().await
    }

    pub(super) async fn interrupt(&mut self) -> io::Result<()> {
        self.record(Fact::Step(Step::Interrupted));
        self.write(vec![3]).await
    }

    pub(super) fn clear_attention(&mut self) {
        self.record(Fact::Step(Step::ClearedAttention));
        if let Some(reading) = &mut self.reading {
            reading.cleared();
        }
        if let Some(feed) = &mut self.feed {
            feed.cleared();
        }
        self.tell_reading();
    }

    /// Pastes `text`; `whole` is what the message will be at its Enter.
    pub(super) async fn paste(&mut self, text: &str, whole: &str) -> io::Result<()> {
        let bracketed = self.paste_is_bracketed().await;
        self.begin_block(whole, delivery(bracketed));
        self.write(send::paste(text, bracketed)).await
    }

    /// Whether the program has bracketed paste on. What it wrote before its record may still be on its way through the
    /// terminal when the record is seen; a program that never turns it on costs that wait.
    async fn paste_is_bracketed(&mut self) -> bool {
        let until = Instant::now() + PASTE_MODE;
        while !self.observed.screen.bracketed_paste() && self.pump(until).await {}
        self.observed.screen.bracketed_paste()
    }

    pub(super) async fn paste_in_pieces(&mut self, pieces: &scenario::Pieces, whole: &str) -> io::Result<()> {
        let bracketed = self.paste_is_bracketed().await;
        self.begin_block(whole, delivery(bracketed));
        for piece in send::paste(&pieces.text, bracketed).chunks(pieces.bytes.max(1)) {
            self.write(piece.to_vec()).await?;
            self.pass(BETWEEN_PIECES).await;
        }
        Ok(())
    }

    pub(super) async fn burst(&mut self, texts: &[String]) -> io::Result<()> {
        let bracketed = self.paste_is_bracketed().await;
        let mut bytes = Vec::new();
        for text in texts {
            self.begin_block(text, delivery(bracketed));
            self.end_block();
            bytes.extend_from_slice(&send::paste(text, bracketed));
            bytes.extend_from_slice(send::ENTER);
        }
        self.write(bytes).await
    }

    pub(super) async fn type_keys(&mut self, text: &str, whole: &str) -> io::Result<()> {
        self.begin_block(whole, Delivery::Typed);
        for key in text.chars() {
            self.write(key.to_string().into_bytes()).await?;
        }
        Ok(())
    }

    pub(super) fn begin_block(&mut self, whole: &str, delivery: Delivery) {
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
                bytes: Bytes(send::ENTER.to_vec()),
            }));
        }
    }

    pub(super) async fn enter(&mut self) -> io::Result<()> {
        if self.block_is_open {
            self.block_is_open = false;
            self.record(Fact::Step(Step::Entered { block: self.blocks }));
        } else {
            self.record(Fact::Step(Step::Typed {
                bytes: Bytes(send::ENTER.to_vec()),
            }));
        }
        self.write(send::ENTER.to_vec()).await
    }

    /// Writes to the terminal, taking everything in meanwhile: a seat that answers while it is written to must not
    /// stand still.
    pub(super) async fn write(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        let Some(writer) = self.running.as_ref().and_then(|running| running.writer.clone()) else {
            return Ok(());
        };
        let (done, mut written) = oneshot::channel();
        self.record(Fact::Pane(Pane::Input {
            bytes: Bytes(bytes.clone()),
        }));
        if writer.send(Written { bytes, done }).is_err() {
            return Ok(());
        }
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

    pub(super) async fn release(&mut self, gate: &str) -> io::Result<()> {
        self.record(Fact::Step(Step::Opened {
            gate: gate.to_owned(),
        }));
        for agent in self.agents.values_mut() {
            // An agent that is gone is told by its own lane.
            let _ = order(&mut agent.orders, &control::Order::Open(gate.to_owned())).await;
        }
        Ok(())
    }

    pub(super) fn resize(&mut self, size: (u16, u16)) -> io::Result<()> {
        self.record(Fact::Step(Step::Resized { size }));
        match self
            .running
            .as_ref()
            .and_then(|running| running.terminal.as_ref())
        {
            Some(terminal) => terminal.resize(size),
            None => Ok(()),
        }
    }

    pub(super) fn set_endpoint(&mut self, fault: EndpointFault) -> io::Result<()> {
        self.record(Fact::Step(Step::Endpoint {
            fault: fault.to_string(),
        }));
        let fault = match fault {
            EndpointFault::Healthy => endpoint::Fault::Healthy,
            EndpointFault::Hang => endpoint::Fault::Hang,
            EndpointFault::Slow(delay) => endpoint::Fault::Slow(delay.duration()),
            EndpointFault::Refuse => endpoint::Fault::Refuse,
            EndpointFault::Reset => endpoint::Fault::Reset,
            EndpointFault::Status(status) => endpoint::Fault::Status(status),
            EndpointFault::BadBody => endpoint::Fault::BadBody,
        };
        self.endpoint.set(fault).map_err(io::Error::other)
    }
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
            _ => None,
        })
        .collect()
}
