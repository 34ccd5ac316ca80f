//! Faults of messages that have to wait.

use reference_runner::{Crossing, Edge};
use serde_json::{Value, json};

use crate::Mutant;
use crate::altered::{Instead, on_crossing, on_shown, on_typed};
use crate::messages::{from_agent, result};
use crate::pastes::{CTRL_C, ENTER, Pastes, contains};
use crate::shown::{QUEUED, show};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "queue-submitted-at-once",
        clause: "input.mid-turn-waits",
        fault: "takes a message that comes mid-turn for that turn's end, and submits it",
        edge: || {
            on_shown(|seen, text| {
                let prompt = seen.prompt.clone()?;
                let ended = result(prompt, json!({"stopReason": "end_turn"}));
                text.contains(QUEUED)
                    .then(|| vec![show(text), from_agent(&ended)])
            })
        },
    },
    Mutant {
        name: "queue-merged",
        clause: "input.mid-turn-waits",
        fault: "merges the messages that wait into one prompt",
        edge: || {
            queue(|blocks| {
                vec![
                    blocks
                        .concat()
                        .into_iter()
                        .filter(|byte| *byte != ENTER)
                        .chain([ENTER])
                        .collect(),
                ]
            })
        },
    },
    Mutant {
        name: "queue-reversed",
        clause: "input.mid-turn-waits",
        fault: "submits the newest waiting message first",
        edge: || {
            queue(|mut blocks| {
                blocks.reverse();
                blocks
            })
        },
    },
    Mutant {
        name: "queue-latest-only",
        clause: "input.mid-turn-waits",
        fault: "keeps only the newest waiting message",
        edge: || queue(|mut blocks| blocks.pop().into_iter().collect()),
    },
    Mutant {
        name: "queue-not-shown",
        clause: "input.mid-turn-queued",
        fault: "does not say that a message waits",
        edge: || on_shown(|_, text| text.contains(QUEUED).then(Vec::new)),
    },
    Mutant {
        name: "queue-as-steering",
        clause: "input.mid-turn-queued",
        fault: "says that a waiting message steers the turn under way",
        edge: || {
            on_shown(|_, text| {
                text.contains(QUEUED)
                    .then(|| vec![show("· steering the current turn with this message\r\n")])
            })
        },
    },
    Mutant {
        name: "early-message-lost",
        clause: "input.before-ready",
        fault: "drops what is typed before the conversation is open",
        edge: || on_typed(|seen, _| (!seen.is_open).then(Vec::new)),
    },
    Mutant {
        name: "early-message-twice",
        clause: "input.before-ready",
        fault: "submits twice what was typed before the conversation was open",
        edge: early_message_twice,
    },
];

/// Keeps the messages that come mid-turn itself, and types them as `order` gives them once the turn has ended.
/// Control is not kept.
fn queue(order: fn(Vec<Vec<u8>>) -> Vec<Vec<u8>>) -> Box<dyn Edge> {
    let mut pastes = Pastes::default();
    let mut block = Vec::new();
    let mut kept: Vec<Vec<u8>> = Vec::new();
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::Typed(bytes) if seen.is_working() => {
                let mut passed = Vec::new();
                for (byte, is_inside) in pastes.follow(bytes) {
                    block.push(byte);
                    let ends = !is_inside && (byte == ENTER || byte == CTRL_C);
                    if ends && (byte == CTRL_C || contains(&block, b"/abort")) {
                        passed.push(Crossing::Typed(std::mem::take(&mut block)));
                    } else if ends {
                        kept.push(std::mem::take(&mut block));
                        passed.push(show(format!("· {QUEUED}waits for the end of this turn\r\n")));
                    }
                }
                Some(passed)
            }
            Crossing::FromAgent(line) => {
                let message: Value = serde_json::from_str(line).ok()?;
                if !seen.ends_turn(&message) || (kept.is_empty() && block.is_empty()) {
                    return None;
                }
                let mut blocks = order(std::mem::take(&mut kept));
                // A block that was begun mid-turn and ends after it is the runner's again.
                blocks.push(std::mem::take(&mut block));
                let typed = blocks.into_iter().map(Crossing::Typed);
                Some(std::iter::once(crossing.clone()).chain(typed).collect())
            }
            _ => None,
        }
    })
}

fn early_message_twice() -> Box<dyn Edge> {
    let mut early: Vec<u8> = Vec::new();
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::Typed(bytes) if !seen.is_open => {
                early.extend(bytes);
                None
            }
            Crossing::ToAgent(line) if line.contains("session/prompt") && early.ends_with(&[ENTER]) => {
                Some(vec![
                    crossing.clone(),
                    Crossing::Typed(std::mem::take(&mut early)),
                ])
            }
            _ => None,
        }
    })
}
