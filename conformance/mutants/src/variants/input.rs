//! Manners of input and of control.

use std::time::{SystemTime, UNIX_EPOCH};

use reference_runner::{Crossing, Edge};

use super::Manner;
use crate::altered::{Instead, on_crossing, on_message_to_agent, on_typed};
use crate::messages::{cancel, prompt_text, to_agent};
use crate::pastes::{CTRL_C, END, ENTER, Pastes, START, replaced};
use crate::shown::show;

pub(super) const TERSE: &[Manner] = &[
    Manner {
        reading: 10,
        does: "sends session/cancel again when it is asked again in the same turn",
        edge: cancel_again,
    },
    Manner {
        reading: 9,
        does: "drops what waits when it is asked to cancel, and says so",
        edge: || Box::new(DroppingQueue::default()),
    },
    Manner {
        reading: 24,
        does: "takes nothing back on backspace",
        edge: || {
            let mut pastes = Pastes::default();
            on_typed(move |_, bytes| {
                let is_kept = |(byte, is_inside): &(u8, bool)| *is_inside || !BACKSPACE.contains(byte);
                let kept = pastes.follow(bytes).filter(is_kept).map(|(byte, _)| byte);
                Some(vec![Crossing::Typed(kept.collect())])
            })
        },
    },
    Manner {
        reading: 27,
        does: "leaves out the final newline of the first input",
        edge: || {
            let mut is_first = true;
            on_message_to_agent(move |seen, mut message| {
                let text = prompt_text(&message)?.to_owned();
                let is_first_input =
                    std::mem::take(&mut is_first) && seen.first_input.is_some() && seen.to_reopen.is_none();
                let shorter = text.strip_suffix('\n').filter(|_| is_first_input)?;
                message["params"]["prompt"][0]["text"] = shorter.into();
                Some(vec![to_agent(&message)])
            })
        },
    },
];

pub(super) const EAGER: &[Manner] = &[
    Manner {
        reading: 25,
        does: "keeps a half-typed block over Ctrl-C",
        edge: half_block_kept,
    },
    Manner {
        reading: 22,
        does: "takes Ctrl-D outside a block for the end of input",
        edge: end_on_ctrl_d,
    },
];

const CTRL_D: u8 = 0x04;
/// Terminals send either for the same key.
const BACKSPACE: [u8; 2] = [0x7f, 0x08];

/// What was typed, piece by piece: whole blocks with their Enter, and interrupts.
#[derive(Debug, Default)]
struct Blocks {
    pastes: Pastes,
    open: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Block(Vec<u8>),
    Abort(Vec<u8>),
    Interrupt(Vec<u8>),
}

impl Blocks {
    fn take(&mut self, bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (byte, is_inside) in self.pastes.follow(bytes) {
            self.open.push(byte);
            if is_inside || (byte != ENTER && byte != CTRL_C) {
                continue;
            }
            let block = std::mem::take(&mut self.open);
            let is_abort = replaced(&replaced(&block, START, b""), END, b"") == b"/abort\r";
            pieces.push(match byte {
                CTRL_C => Piece::Interrupt(block),
                _ if is_abort => Piece::Abort(block),
                _ => Piece::Block(block),
            });
        }
        pieces
    }
}

fn cancel_again() -> Box<dyn Edge> {
    let mut blocks = Blocks::default();
    on_typed(move |seen, bytes| -> Instead {
        let asks = blocks
            .take(bytes)
            .iter()
            .any(|piece| !matches!(piece, Piece::Block(_)));
        let session = seen.session.as_ref()?;
        (asks && seen.is_working() && seen.is_cancel_asked)
            .then(|| vec![Crossing::Typed(bytes.to_vec()), to_agent(&cancel(session))])
    })
}

/// Keeps messages that come in a turn itself and types one of them at each turn's end, so that they can be dropped.
#[derive(Debug, Default)]
struct DroppingQueue {
    is_working: bool,
    blocks: Blocks,
    waiting: std::collections::VecDeque<Vec<u8>>,
    prompts: Vec<serde_json::Value>,
}

impl DroppingQueue {
    fn take_typed(&mut self, bytes: &[u8]) -> Vec<Crossing> {
        let mut happens = Vec::new();
        for piece in self.blocks.take(bytes) {
            match piece {
                Piece::Block(block) if self.is_working => {
                    self.waiting.push_back(block);
                    let before = self.waiting.len() - 1;
                    happens.push(show(format!("· queued: {before} more before it\r\n")));
                }
                Piece::Block(block) => happens.push(Crossing::Typed(block)),
                Piece::Abort(block) | Piece::Interrupt(block) => {
                    happens.push(Crossing::Typed(block));
                    let dropped = std::mem::take(&mut self.waiting).len();
                    if dropped > 0 {
                        happens.push(show(format!("· {dropped} queued, dropped with this turn\r\n")));
                    }
                }
            }
        }
        // What is no whole block yet stays with the runner, as long as no block of this turn stands before it.
        if !self.is_working {
            happens.extend(self.half_block());
        }
        happens
    }

    fn half_block(&mut self) -> Option<Crossing> {
        let half = std::mem::take(&mut self.blocks.open);
        (!half.is_empty()).then_some(Crossing::Typed(half))
    }

    fn end_turn(&mut self) -> Option<Crossing> {
        match self.waiting.pop_front() {
            // The runner submits it: the next turn has as good as begun.
            Some(block) => Some(Crossing::Typed(block)),
            None => {
                self.is_working = false;
                self.half_block()
            }
        }
    }
}

impl Edge for DroppingQueue {
    fn cross(&mut self, crossing: Crossing) -> Vec<Crossing> {
        let mut happens = vec![crossing];
        match &happens[0] {
            Crossing::Typed(bytes) => {
                let bytes = bytes.clone();
                return self.take_typed(&bytes);
            }
            Crossing::ToAgent(line) => {
                if let Ok(message) = serde_json::from_str(line)
                    && prompt_text(&message).is_some()
                {
                    self.is_working = true;
                    self.prompts.push(message["id"].clone());
                }
            }
            Crossing::FromAgent(line) => {
                if let Ok(message) = serde_json::from_str::<serde_json::Value>(line)
                    && message.get("method").is_none()
                    && let Some(at) = self.prompts.iter().position(|id| *id == message["id"])
                {
                    self.prompts.swap_remove(at);
                    happens.extend(self.end_turn());
                }
            }
            _ => {}
        }
        happens
    }
}

fn half_block_kept() -> Box<dyn Edge> {
    let mut pastes = Pastes::default();
    let mut half = 0_usize;
    on_typed(move |seen, bytes| -> Instead {
        let mut kept = Vec::new();
        for (byte, is_inside) in pastes.follow(bytes) {
            let is_control = !is_inside && (byte == ENTER || byte == CTRL_C);
            if is_control && byte == CTRL_C && half > 0 {
                continue;
            }
            half = if is_control { 0 } else { half + 1 };
            kept.push(byte);
        }
        if kept.len() == bytes.len() {
            return None;
        }
        let mut happens = vec![Crossing::Typed(kept)];
        let session = seen.session.as_ref().filter(|_| seen.is_working());
        if let Some(session) = session.filter(|_| !seen.is_cancel_asked) {
            happens.push(to_agent(&cancel(session)));
            happens.push(show(format!("· cancel requested {} UTC\r\n", time_of_day())));
        }
        Some(happens)
    })
}

fn time_of_day() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs() % 86_400;
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

fn end_on_ctrl_d() -> Box<dyn Edge> {
    let mut blocks = Blocks::default();
    on_crossing(move |_, crossing| -> Instead {
        let Crossing::Typed(bytes) = crossing else {
            return None;
        };
        if blocks.open.is_empty() && bytes.starts_with(&[CTRL_D]) {
            return Some(vec![Crossing::EndOfInput]);
        }
        blocks.take(bytes);
        None
    })
}
