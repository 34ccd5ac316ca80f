//! Faults of what is posted: turn boundaries, idleness, exits.

use std::time::Duration;

use reference_runner::{Crossing, Edge};
use serde_json::{Value, json};

use crate::Mutant;
use crate::altered::{
    Instead, on_crossing, on_launch_and_crossing, on_message_from_agent, on_post, on_shown, on_typed,
};
use crate::messages::{from_agent, is, is_answer, is_update};
use crate::pastes::ENTER;
use crate::posts::{self, STILL_IDLE, TURN_ENDED, again, beside, post, with, without};
use crate::shown::{self, show};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "accepted-not-posted",
        clause: "activity.accepted",
        fault: "posts no accepted prompts",
        edge: || on_accepted(|_| Vec::new()),
    },
    Mutant {
        name: "accepted-twice",
        clause: "activity.accepted",
        fault: "posts each accepted prompt twice",
        edge: || on_accepted(|body| vec![Crossing::Post(body.clone()), again(body)]),
    },
    Mutant {
        name: "accepted-for-bare-enter",
        clause: "activity.accepted",
        fault: "posts accepted for a bare Enter, too",
        edge: accepted_for_bare_enter,
    },
    Mutant {
        name: "accepted-when-queued",
        clause: "activity.accepted-not-early",
        fault: "posts accepted for a message that waits for its turn",
        edge: accepted_when_queued,
    },
    Mutant {
        name: "turn-end-not-posted",
        clause: "activity.turn-end",
        fault: "posts nothing when a turn ends",
        edge: || on_turn_end(|_| Vec::new()),
    },
    Mutant {
        name: "turn-end-twice-without-liveness",
        clause: "activity.turn-end",
        fault: "states no livenessSeconds, and posts each turn's end twice",
        edge: || {
            on_post(|_, body| {
                let bare = without(body, "livenessSeconds");
                let Crossing::Post(second) = &bare else {
                    return None;
                };
                let second = again(second);
                Some(if posts::is_turn_end(body) {
                    vec![bare, second]
                } else {
                    vec![bare]
                })
            })
        },
    },
    Mutant {
        name: "idle-when-silent",
        clause: "activity.stop-not-early",
        fault: "posts idle when an agent has said nothing for a while",
        edge: || {
            on_post(|seen, body| {
                let pause = Crossing::Pause(Duration::from_millis(800));
                posts::is(body, "UserPromptSubmit", "accepted").then(|| {
                    vec![
                        Crossing::Post(body.clone()),
                        pause,
                        beside(body, seen, "Stop", STILL_IDLE),
                    ]
                })
            })
        },
    },
    Mutant {
        name: "idle-at-first-words",
        clause: "activity.stop-not-early",
        fault: "takes a piece of the answer for the turn's end",
        edge: || {
            on_message_from_agent(|seen, message| {
                (is_update(&message, "agent_message_chunk") && seen.is_working())
                    .then(|| vec![from_agent(&message), post(seen, "Stop", TURN_ENDED)])
            })
        },
    },
    Mutant {
        name: "any-answer-ends-turn",
        clause: "activity.stop-not-early",
        fault: "takes an answer to nothing it asked for the turn's end",
        edge: || {
            on_message_from_agent(|seen, message| {
                let is_stray = is_answer(&message) && seen.answered_method(&message).is_none();
                (is_stray && seen.is_working())
                    .then(|| vec![from_agent(&message), post(seen, "Stop", TURN_ENDED)])
            })
        },
    },
    Mutant {
        name: "turn-id-changes",
        clause: "activity.turn-id",
        fault: "ends a turn under another turnId than it began it",
        edge: || on_turn_end(|body| vec![with(body, "turnId", "0")]),
    },
    Mutant {
        name: "liveness-zero",
        clause: "activity.liveness-range",
        fault: "states livenessSeconds 0",
        edge: || liveness(0.into()),
    },
    Mutant {
        name: "liveness-fraction",
        clause: "activity.liveness-range",
        fault: "states livenessSeconds 2.5",
        edge: || liveness(json!(2.5)),
    },
    Mutant {
        name: "liveness-day",
        clause: "activity.liveness-range",
        fault: "states livenessSeconds 86400",
        edge: || liveness(86_400.into()),
    },
    Mutant {
        name: "liveness-text",
        clause: "activity.liveness-range",
        fault: "states livenessSeconds as text",
        edge: || liveness("20".into()),
    },
    Mutant {
        name: "liveness-on-beats-only",
        clause: "activity.liveness-every-idle",
        fault: "states livenessSeconds on beats, and on no turn's end",
        edge: || on_turn_end(|body| vec![without(body, "livenessSeconds")]),
    },
    Mutant {
        name: "liveness-on-turn-ends-only",
        clause: "activity.liveness-every-idle",
        fault: "states livenessSeconds on a turn's end, and on no beat",
        edge: || {
            on_post(|_, body| {
                posts::is(body, "Stop", STILL_IDLE).then(|| vec![without(body, "livenessSeconds")])
            })
        },
    },
    Mutant {
        name: "beats-missing",
        clause: "activity.beats",
        fault: "states livenessSeconds 1 and never says again that it is idle",
        edge: beats_missing,
    },
    Mutant {
        name: "exit-not-posted",
        clause: "activity.exit-posted",
        fault: "does not post that the agent has ended",
        edge: || on_exit(|_| Vec::new()),
    },
    Mutant {
        name: "exit-twice",
        clause: "activity.exit-posted",
        fault: "posts twice that the agent has ended",
        edge: || on_exit(|body| vec![Crossing::Post(body.clone()), again(body)]),
    },
    Mutant {
        name: "exit-of-other-name",
        clause: "activity.exit-posted",
        fault: "posts the agent's end under a name that is not the preset's",
        edge: || on_exit(|body| vec![with(body, "subtype", "agent_exited")]),
    },
    Mutant {
        name: "exit-as-idle",
        clause: "activity.exit-not-idle",
        fault: "posts the agent's end as a turn's end",
        edge: || on_exit(|body| vec![with(body, "subtype", TURN_ENDED)]),
    },
    Mutant {
        name: "exit-then-idle",
        clause: "activity.exit-not-idle",
        fault: "posts idle after the agent's end",
        edge: || {
            on_post(|seen, body| {
                posts::is_exit(body).then(|| {
                    vec![
                        Crossing::Post(body.clone()),
                        beside(body, seen, "Stop", STILL_IDLE),
                    ]
                })
            })
        },
    },
    Mutant {
        name: "closed-output-as-exit",
        clause: "activity.no-false-exit",
        fault: "takes the end of the agent's output for the agent's end",
        edge: || {
            on_shown(|seen, text| {
                let exited = format!("{}_exited", seen.names.get("runtime")?.as_str()?);
                text.contains(shown::OUTPUT_CLOSED)
                    .then(|| vec![show(text), post(seen, "Stop", &exited)])
            })
        },
    },
    Mutant {
        name: "chatter-as-work",
        clause: "activity.agent-chatter",
        fault: "posts working for what an agent says outside a turn",
        edge: || {
            on_message_from_agent(|seen, message| {
                let is_chatter = is(&message, "session/update") && seen.is_open && !seen.is_working();
                is_chatter.then(|| vec![from_agent(&message), post(seen, "PreToolUse", "active")])
            })
        },
    },
    Mutant {
        name: "chatter-as-turn",
        clause: "activity.agent-chatter",
        fault: "posts a turn's end for what an agent says outside a turn",
        edge: || {
            on_message_from_agent(|seen, message| {
                let is_chatter =
                    is_update(&message, "agent_message_chunk") && seen.is_open && !seen.is_working();
                is_chatter.then(|| {
                    vec![
                        from_agent(&message),
                        post(seen, "UserPromptSubmit", "accepted"),
                        post(seen, "Stop", TURN_ENDED),
                    ]
                })
            })
        },
    },
];

/// What happens instead of posting an accepted prompt.
fn on_accepted(instead: fn(&Value) -> Vec<Crossing>) -> Box<dyn Edge> {
    on_post(move |_, body| posts::is(body, "UserPromptSubmit", "accepted").then(|| instead(body)))
}

/// What happens instead of posting a turn's end.
fn on_turn_end(instead: fn(&Value) -> Vec<Crossing>) -> Box<dyn Edge> {
    on_post(move |_, body| posts::is_turn_end(body).then(|| instead(body)))
}

/// What happens instead of posting the agent's exit.
fn on_exit(instead: fn(&Value) -> Vec<Crossing>) -> Box<dyn Edge> {
    on_post(move |_, body| posts::is_exit(body).then(|| instead(body)))
}

/// States this on every idle report.
fn liveness(stated: Value) -> Box<dyn Edge> {
    on_post(move |_, body| {
        body.get("livenessSeconds")?;
        Some(vec![with(body, "livenessSeconds", stated.clone())])
    })
}

fn accepted_for_bare_enter() -> Box<dyn Edge> {
    let mut is_empty = true;
    on_typed(move |seen, bytes| {
        let is_bare = is_empty && bytes == [ENTER];
        is_empty = bytes.ends_with(&[ENTER]);
        is_bare.then(|| vec![post(seen, "UserPromptSubmit", "accepted")])
    })
}

/// Each message that has to wait is reported at once, and then not again when it is submitted.
fn accepted_when_queued() -> Box<dyn Edge> {
    let mut reported_early = 0_u32;
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::Shown(bytes) => {
                let text = std::str::from_utf8(bytes).ok()?;
                text.contains(shown::QUEUED).then(|| {
                    reported_early += 1;
                    vec![show(text), post(seen, "UserPromptSubmit", "accepted")]
                })
            }
            Crossing::Post(body) if posts::is(body, "UserPromptSubmit", "accepted") => {
                // The prompt under way was there before any message waited for it.
                let is_known = reported_early > 0 && body["turnId"] != "1";
                is_known.then(|| {
                    reported_early -= 1;
                    Vec::new()
                })
            }
            _ => None,
        }
    })
}

fn beats_missing() -> Box<dyn Edge> {
    let mut has_been_idle = false;
    on_launch_and_crossing(
        |facts| facts.liveness_seconds = 1,
        move |_, crossing| match crossing {
            Crossing::Post(body) if posts::is(body, "Stop", STILL_IDLE) => {
                std::mem::replace(&mut has_been_idle, true).then(Vec::new)
            }
            _ => None,
        },
    )
}
