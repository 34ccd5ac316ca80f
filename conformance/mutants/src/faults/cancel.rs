//! Faults of cancelling.

use std::time::Duration;

use reference_runner::{Crossing, Edge};
use serde_json::{Value, json};

use crate::Mutant;
use crate::altered::{
    Instead, on_crossing, on_message_from_agent, on_message_to_agent, on_post, on_shown, on_typed,
};
use crate::messages::{cancel, from_agent, is, is_answer, prompt_text, result, to_agent};
use crate::pastes::{CTRL_C, replaced};
use crate::posts::{self, STILL_IDLE, TURN_ENDED, post};
use crate::shown::{self, show};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "cancel-not-sent",
        clause: "cancel.abort-sends",
        fault: "shows that a cancel was requested, and sends none",
        edge: || on_cancel(|_, _| Vec::new()),
    },
    Mutant {
        name: "cancel-once-in-a-life",
        clause: "cancel.abort-sends",
        fault: "sends a cancel in one turn, and in none after it",
        edge: || {
            let mut has_sent = false;
            on_message_to_agent(move |_, message| {
                (is(&message, "session/cancel") && std::mem::replace(&mut has_sent, true)).then(Vec::new)
            })
        },
    },
    Mutant {
        name: "cancel-other-session",
        clause: "cancel.abort-sends",
        fault: "sends the cancel for another session",
        edge: || on_cancel(|_, _| vec![to_agent(&cancel("another-session"))]),
    },
    Mutant {
        name: "abort-as-prompt",
        clause: "cancel.abort-sends",
        fault: "takes /abort for a message",
        edge: abort_as_prompt,
    },
    Mutant {
        name: "ctrl-c-ignored",
        clause: "cancel.ctrl-c-sends",
        fault: "takes no notice of Ctrl-C",
        edge: || on_ctrl_c(|bytes| vec![Crossing::Typed(replaced(bytes, &[CTRL_C], b""))]),
    },
    Mutant {
        name: "ctrl-c-kills-agent",
        clause: "cancel.ctrl-c-sends",
        fault: "kills the agent on Ctrl-C",
        edge: || on_ctrl_c(|_| vec![Crossing::KillAgent]),
    },
    Mutant {
        name: "ctrl-c-ends-seat",
        clause: "cancel.ctrl-c-sends",
        fault: "ends on Ctrl-C",
        edge: || on_ctrl_c(|_| vec![Crossing::Exit(130)]),
    },
    Mutant {
        name: "cancel-as-request",
        clause: "cancel.notification",
        fault: "sends session/cancel with an id",
        edge: cancel_as_request,
    },
    Mutant {
        name: "cancel-not-shown",
        clause: "cancel.requested-shown",
        fault: "says nothing when it has requested a cancel",
        edge: || on_shown(|_, text| text.contains(shown::CANCEL_REQUESTED).then(Vec::new)),
    },
    Mutant {
        name: "cancel-shown-once",
        clause: "cancel.requested-shown",
        fault: "says of the first cancel that it was requested, and of none after it",
        edge: || {
            let mut has_shown = false;
            on_shown(move |_, text| {
                let is_another =
                    text.contains(shown::CANCEL_REQUESTED) && std::mem::replace(&mut has_shown, true);
                is_another.then(Vec::new)
            })
        },
    },
    Mutant {
        name: "cancel-shown-late",
        clause: "cancel.requested-shown",
        fault: "says that it requested a cancel only once the agent has answered",
        edge: cancel_shown_late,
    },
    Mutant {
        name: "cancelled-on-asking",
        clause: "cancel.only-agents-word",
        fault: "posts Stop/cancelled as soon as it has asked",
        edge: cancelled_on_asking,
    },
    Mutant {
        name: "cancelled-by-end-turn",
        clause: "cancel.only-agents-word",
        fault: "takes any stop reason after a cancel for cancelled",
        edge: || {
            on_message_from_agent(|seen, mut message| {
                let ends = seen.is_cancel_asked && seen.ends_turn(&message);
                if !ends || message.get("result").is_none() {
                    return None;
                }
                message["result"]["stopReason"] = "cancelled".into();
                Some(vec![from_agent(&message)])
            })
        },
    },
    Mutant {
        name: "cancelled-by-error",
        clause: "cancel.only-agents-word",
        fault: "takes an error after a cancel for cancelled",
        edge: || {
            on_message_from_agent(|seen, message| {
                let fails =
                    seen.is_cancel_asked && seen.ends_turn(&message) && message.get("error").is_some();
                fails.then(|| vec![from_agent(&cancelled(&message["id"]))])
            })
        },
    },
    Mutant {
        name: "cancelled-by-exit",
        clause: "cancel.only-agents-word",
        fault: "posts Stop/cancelled when the agent ends after a cancel",
        edge: || {
            on_post(|seen, body| {
                let dies = posts::is_exit(body) && seen.is_working() && seen.is_cancel_asked;
                dies.then(|| vec![posts::beside(body, seen, "Stop", "cancelled"), posts::again(body)])
            })
        },
    },
    Mutant {
        name: "cancelled-not-posted",
        clause: "cancel.posted",
        fault: "posts nothing for a cancelled turn",
        edge: || on_post(|_, body| posts::is(body, "Stop", "cancelled").then(Vec::new)),
    },
    Mutant {
        name: "cancelled-twice",
        clause: "cancel.posted",
        fault: "posts Stop/cancelled twice",
        edge: || {
            on_post(|_, body| {
                posts::is(body, "Stop", "cancelled")
                    .then(|| vec![Crossing::Post(body.clone()), posts::again(body)])
            })
        },
    },
    Mutant {
        name: "cancelled-as-turn-end",
        clause: "cancel.posted",
        fault: "posts a cancelled turn's end like any other",
        edge: || {
            on_post(|_, body| {
                posts::is(body, "Stop", "cancelled").then(|| vec![posts::with(body, "subtype", TURN_ENDED)])
            })
        },
    },
    Mutant {
        name: "cancel-reads-idle",
        clause: "cancel.ignored-stays-working",
        fault: "posts idle as soon as it has asked for a cancel",
        edge: || on_cancel(|seen, message| vec![to_agent(message), post_idle(seen)]),
    },
    Mutant {
        name: "cancel-given-up",
        clause: "cancel.ignored-stays-working",
        fault: "posts idle a little after it has asked for a cancel",
        edge: || {
            on_cancel(|seen, message| {
                let pause = Crossing::Pause(Duration::from_millis(700));
                vec![to_agent(message), pause, post_idle(seen)]
            })
        },
    },
    Mutant {
        name: "cancel-ends-turn",
        clause: "cancel.ignored-stays-working",
        fault: "takes having asked for a cancel for the turn's end",
        edge: || {
            on_cancel(|seen, message| {
                let ended = seen
                    .prompt
                    .iter()
                    .map(|id| from_agent(&result(id.clone(), json!({"stopReason": "end_turn"}))));
                std::iter::once(to_agent(message)).chain(ended).collect()
            })
        },
    },
    Mutant {
        name: "second-answer-counts",
        clause: "cancel.one-end",
        fault: "ends a turn again on a second answer to its prompt",
        edge: || on_second_answer(TURN_ENDED),
    },
    Mutant {
        name: "second-answer-cancels",
        clause: "cancel.one-end",
        fault: "reports a turn as cancelled on a second answer to its prompt",
        edge: || on_second_answer("cancelled"),
    },
    Mutant {
        name: "cancel-while-idle",
        clause: "cancel.none-when-idle",
        fault: "sends session/cancel with no prompt in flight",
        edge: || {
            on_shown(|seen, text| {
                let session = seen.session.as_deref()?;
                text.contains(shown::NOTHING_TO_CANCEL)
                    .then(|| vec![to_agent(&cancel(session)), show(text)])
            })
        },
    },
    Mutant {
        name: "cancel-frees-seat",
        clause: "cancel.next-turn-safe",
        fault: "submits the next message without waiting for the cancelled prompt's answer",
        edge: || {
            on_cancel(|seen, message| {
                let ended = seen.prompt.iter().map(|id| from_agent(&cancelled(id)));
                std::iter::once(to_agent(message)).chain(ended).collect()
            })
        },
    },
    Mutant {
        name: "cancel-repeated",
        clause: "cancel.next-turn-safe",
        fault: "sends a cancel once more when the next prompt has gone out",
        edge: cancel_repeated,
    },
    Mutant {
        name: "cancel-claims-spend",
        clause: "cancel.no-spend-claim",
        fault: "says in the pane that a cancel has stopped the spend",
        edge: || {
            on_shown(|_, text| {
                text.contains(shown::CANCEL_REQUESTED)
                    .then(|| vec![show(text), show("· provider stopped, no further cost\r\n")])
            })
        },
    },
];

/// What happens instead of sending a cancel.
fn on_cancel(instead: fn(&crate::seen::Seen, &Value) -> Vec<Crossing>) -> Box<dyn Edge> {
    on_message_to_agent(move |seen, message| is(&message, "session/cancel").then(|| instead(seen, &message)))
}

/// What happens instead of a read with a Ctrl-C in it.
fn on_ctrl_c(instead: fn(&[u8]) -> Vec<Crossing>) -> Box<dyn Edge> {
    on_typed(move |_, bytes| bytes.contains(&CTRL_C).then(|| instead(bytes)))
}

/// Posts such a Stop for an answer to a prompt that was answered already.
fn on_second_answer(subtype: &'static str) -> Box<dyn Edge> {
    on_message_from_agent(move |seen, message| {
        let is_second = is_answer(&message) && seen.answered_prompt.as_ref() == message.get("id");
        is_second.then(|| vec![post(seen, "Stop", subtype)])
    })
}

fn cancelled(prompt: &Value) -> Value {
    result(prompt.clone(), json!({"stopReason": "cancelled"}))
}

fn post_idle(seen: &crate::seen::Seen) -> Crossing {
    post(seen, "Stop", STILL_IDLE)
}

/// The runner's decoder takes `/abort` for control. A mark inside hides it there, and is taken out of what
/// leaves.
fn abort_as_prompt() -> Box<dyn Edge> {
    const PLAIN: &str = "/abort";
    const MARKED: &str = "/ab\u{2060}ort";
    on_crossing(|_, crossing| -> Instead {
        match crossing {
            Crossing::Typed(bytes) => Some(vec![Crossing::Typed(replaced(
                bytes,
                PLAIN.as_bytes(),
                MARKED.as_bytes(),
            ))]),
            Crossing::Shown(bytes) => Some(vec![Crossing::Shown(replaced(
                bytes,
                MARKED.as_bytes(),
                PLAIN.as_bytes(),
            ))]),
            Crossing::ToAgent(line) => {
                let mut message: Value = serde_json::from_str(line).ok()?;
                let text = prompt_text(&message)?.replace(MARKED, PLAIN);
                message["params"]["prompt"][0]["text"] = text.into();
                Some(vec![to_agent(&message)])
            }
            _ => None,
        }
    })
}

fn cancel_as_request() -> Box<dyn Edge> {
    const ID: &str = "cancel-1";
    on_crossing(|_, crossing| -> Instead {
        match crossing {
            Crossing::ToAgent(line) => {
                let mut message: Value = serde_json::from_str(line).ok()?;
                if !is(&message, "session/cancel") {
                    return None;
                }
                message["id"] = ID.into();
                Some(vec![to_agent(&message)])
            }
            Crossing::FromAgent(line) => {
                let message: Value = serde_json::from_str(line).ok()?;
                (is_answer(&message) && message["id"] == ID).then(Vec::new)
            }
            _ => None,
        }
    })
}

fn cancel_shown_late() -> Box<dyn Edge> {
    let mut held = Vec::new();
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::Shown(bytes) if seen.is_working() => {
                let text = std::str::from_utf8(bytes).ok()?;
                text.contains(shown::CANCEL_REQUESTED).then(|| {
                    held.push(crossing.clone());
                    Vec::new()
                })
            }
            Crossing::FromAgent(line) => {
                let message = serde_json::from_str(line).ok()?;
                let is_due = seen.ends_turn(&message) && !held.is_empty();
                is_due.then(|| {
                    // The judge allows for a pane that is a little behind.
                    let pause = Crossing::Pause(Duration::from_millis(500));
                    [crossing.clone(), pause]
                        .into_iter()
                        .chain(held.drain(..))
                        .collect()
                })
            }
            _ => None,
        }
    })
}

fn cancelled_on_asking() -> Box<dyn Edge> {
    let mut is_posted = false;
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::ToAgent(line) => {
                let message = serde_json::from_str(line).ok()?;
                is(&message, "session/cancel").then(|| {
                    is_posted = true;
                    vec![crossing.clone(), post(seen, "Stop", "cancelled")]
                })
            }
            // Once is enough.
            Crossing::Post(body) if posts::is(body, "Stop", "cancelled") => {
                std::mem::take(&mut is_posted).then(Vec::new)
            }
            _ => None,
        }
    })
}

fn cancel_repeated() -> Box<dyn Edge> {
    let mut is_due = false;
    on_message_to_agent(move |_, message| {
        if is(&message, "session/cancel") {
            is_due = true;
            return None;
        }
        let session = message["params"]["sessionId"].as_str()?;
        let repeats = is(&message, "session/prompt") && std::mem::take(&mut is_due);
        repeats.then(|| vec![to_agent(&message), to_agent(&cancel(session))])
    })
}
