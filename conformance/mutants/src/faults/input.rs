//! Faults of taking input: blocks, their text, control.

use reference_runner::{Crossing, Edge};
use serde_json::Value;

use crate::Mutant;
use crate::altered::{Instead, on_crossing, on_message_to_agent, on_typed};
use crate::messages::{cancel, prompt_text, to_agent};
use crate::pastes::{CTRL_C, END, ENTER, Pastes, START, replaced};

/// Stands for nothing, where nothing would not count: it is taken out of what leaves.
const MARK: &str = "\u{2060}";

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "block-split-at-lines",
        clause: "input.one-block-one-prompt",
        fault: "submits each line of a block as a prompt of its own",
        edge: || on_typed(|_, bytes| Some(vec![Crossing::Typed(replaced(bytes, b"\n", &cut_of_a_block()))])),
    },
    Mutant {
        name: "block-split-at-blank-lines",
        clause: "input.one-block-one-prompt",
        fault: "submits each paragraph of a block as a prompt of its own",
        edge: || {
            on_typed(|_, bytes| Some(vec![Crossing::Typed(replaced(bytes, b"\n\n", &cut_of_a_block()))]))
        },
    },
    Mutant {
        name: "block-split-by-length",
        clause: "input.one-block-one-prompt",
        fault: "splits a block after each 64 characters",
        edge: block_split_by_length,
    },
    Mutant {
        name: "text-trimmed",
        clause: "input.exact-text",
        fault: "trims blanks from a message",
        edge: || text_as(|text| text.trim().to_owned()),
    },
    Mutant {
        name: "text-tabs-expanded",
        clause: "input.exact-text",
        fault: "makes blanks of tabs",
        edge: || text_as(|text| text.replace('\t', "    ")),
    },
    Mutant {
        name: "text-ascii",
        clause: "input.exact-text",
        fault: "replaces what is not ASCII",
        edge: || text_as(|text| text.replace(|character: char| !character.is_ascii(), "?")),
    },
    Mutant {
        name: "text-in-one-line",
        clause: "input.exact-text",
        fault: "makes blanks of line ends",
        edge: || text_as(|text| text.replace('\n', " ")),
    },
    Mutant {
        name: "text-without-envelope",
        clause: "input.one-block-one-prompt",
        fault: "passes on only the body of a message in an envelope",
        edge: || {
            text_as(|text| {
                let mut parts = text.split("\n---\n");
                parts.nth(1).unwrap_or(text).to_owned()
            })
        },
    },
    Mutant {
        name: "paste-submits",
        clause: "input.nothing-before-enter",
        fault: "submits at the end of a paste, before Enter",
        edge: || {
            on_typed(|_, bytes| {
                Some(vec![Crossing::Typed(replaced(
                    bytes,
                    END,
                    &[END, &[ENTER]].concat(),
                ))])
            })
        },
    },
    Mutant {
        name: "markers-only-whole",
        clause: "input.split-reads",
        fault: "loses a paste marker that two reads share",
        edge: markers_only_whole,
    },
    Mutant {
        name: "characters-only-whole",
        clause: "input.split-reads",
        fault: "loses a character that two reads share",
        edge: || {
            on_typed(|_, bytes| {
                Some(vec![Crossing::Typed(
                    String::from_utf8_lossy(bytes).into_owned().into_bytes(),
                )])
            })
        },
    },
    Mutant {
        name: "first-block-of-read-only",
        clause: "input.blocks-in-one-read",
        fault: "drops what follows an Enter in the same read",
        edge: first_block_of_read_only,
    },
    Mutant {
        name: "block-cut",
        clause: "input.large-block",
        fault: "cuts a message at 32 KiB",
        edge: || {
            text_as(|text| {
                let end = (0..=text.len().min(32 * 1024))
                    .rev()
                    .find(|end| text.is_char_boundary(*end));
                text[..end.unwrap_or(0)].to_owned()
            })
        },
    },
    Mutant {
        name: "abort-with-blanks",
        clause: "input.abort-exact",
        fault: "takes /abort with blanks around it for control",
        edge: || on_typed(|_, bytes| Some(vec![Crossing::Typed(replaced(bytes, b"/abort ", b"/abort"))])),
    },
    Mutant {
        name: "abort-with-more",
        clause: "input.abort-exact",
        fault: "takes every message that begins with /abort for control",
        edge: || on_messages_text(|text, session| (text.starts_with("/abort")).then(|| cancel(session))),
    },
    Mutant {
        name: "abort-at-the-end",
        clause: "input.abort-exact",
        fault: "takes every message that ends with /abort for control",
        edge: || on_messages_text(|text, session| (text.ends_with(" /abort")).then(|| cancel(session))),
    },
    Mutant {
        name: "abort-line-acts",
        clause: "input.abort-line-is-text",
        fault: "submits a message with an /abort line in it, and acts on the line",
        edge: abort_line_acts,
    },
    Mutant {
        name: "abort-line-left-out",
        clause: "input.exact-text",
        fault: "leaves an /abort line out of a message",
        edge: || {
            text_as(|text| {
                let lines: Vec<&str> = text.split('\n').filter(|line| *line != "/abort").collect();
                lines.join("\n")
            })
        },
    },
    Mutant {
        name: "enter-submits-nothing",
        clause: "input.empty-enter",
        fault: "submits an empty prompt for a bare Enter",
        edge: enter_submits_nothing,
    },
    Mutant {
        name: "ctrl-c-in-paste-is-text",
        clause: "input.ctrl-c-in-paste",
        fault: "takes a Ctrl-C byte inside a paste for nothing",
        edge: ctrl_c_in_paste_is_text,
    },
];

/// What ends one block and begins the next in the middle of a paste.
fn cut_of_a_block() -> Vec<u8> {
    [END, &[ENTER], START].concat()
}

/// Changes the text of every prompt.
fn text_as(change: fn(&str) -> String) -> Box<dyn Edge> {
    on_message_to_agent(move |_, message| Some(vec![to_agent(&with_text(message, change)?)]))
}

fn with_text(mut message: Value, change: impl Fn(&str) -> String) -> Option<Value> {
    let text = change(prompt_text(&message)?);
    message["params"]["prompt"][0]["text"] = text.into();
    Some(message)
}

/// Sends something else instead of a prompt with such a text.
fn on_messages_text(instead: fn(&str, &str) -> Option<Value>) -> Box<dyn Edge> {
    on_message_to_agent(move |_, message| {
        let session = message["params"]["sessionId"].as_str()?;
        instead(prompt_text(&message)?, session).map(|other| vec![to_agent(&other)])
    })
}

fn block_split_by_length() -> Box<dyn Edge> {
    const LONGEST: usize = 64;
    let mut pastes = Pastes::default();
    let mut length = 0;
    on_typed(move |_, bytes| {
        let mut typed = Vec::new();
        for (byte, is_inside) in pastes.follow(bytes) {
            length = if is_inside { length + 1 } else { 0 };
            // A cut inside a marker would be another fault.
            if length > LONGEST && byte.is_ascii_alphabetic() {
                typed.extend(cut_of_a_block());
                length = 0;
            }
            typed.push(byte);
        }
        Some(vec![Crossing::Typed(typed)])
    })
}

fn markers_only_whole() -> Box<dyn Edge> {
    on_typed(|_, bytes| {
        let shared = (1..START.len()).rev().find(|length| {
            [START, END]
                .iter()
                .any(|marker| bytes.ends_with(&marker[..*length]))
        })?;
        Some(vec![Crossing::Typed(bytes[..bytes.len() - shared].to_vec())])
    })
}

fn first_block_of_read_only() -> Box<dyn Edge> {
    let mut pastes = Pastes::default();
    on_typed(move |_, bytes| {
        let mut is_over = false;
        let mut first = Vec::new();
        for (byte, is_inside) in pastes.follow(bytes) {
            if !is_over {
                first.push(byte);
            }
            is_over |= byte == ENTER && !is_inside;
        }
        Some(vec![Crossing::Typed(first)])
    })
}

fn abort_line_acts() -> Box<dyn Edge> {
    on_message_to_agent(|_, message| {
        let session = message["params"]["sessionId"].as_str()?;
        let has_line = prompt_text(&message)?.lines().any(|line| line == "/abort");
        has_line.then(|| vec![to_agent(&message), to_agent(&cancel(session))])
    })
}

fn enter_submits_nothing() -> Box<dyn Edge> {
    let mut is_empty = true;
    on_crossing(move |_, crossing| -> Instead {
        match crossing {
            Crossing::Typed(bytes) => {
                let is_bare = is_empty && bytes == &[ENTER];
                is_empty = bytes.ends_with(&[ENTER]);
                is_bare.then(|| vec![Crossing::Typed([MARK.as_bytes(), &[ENTER]].concat())])
            }
            Crossing::Shown(bytes) => Some(vec![Crossing::Shown(replaced(bytes, MARK.as_bytes(), b""))]),
            Crossing::ToAgent(line) => {
                let message = serde_json::from_str(line).ok()?;
                Some(vec![to_agent(&with_text(message, |text| {
                    text.replace(MARK, "")
                })?)])
            }
            _ => None,
        }
    })
}

fn ctrl_c_in_paste_is_text() -> Box<dyn Edge> {
    let mut pastes = Pastes::default();
    on_typed(move |_, bytes| {
        let typed = pastes
            .follow(bytes)
            .filter(|(byte, is_inside)| !(*byte == CTRL_C && *is_inside))
            .map(|(byte, _)| byte);
        Some(vec![Crossing::Typed(typed.collect())])
    })
}
