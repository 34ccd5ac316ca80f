//! Manners of posting.

use std::time::Duration;

use reference_runner::{Crossing, Edge};
use serde_json::Value;

use super::Manner;
use crate::altered::{Instead, on_crossing, on_launch, on_launch_and_crossing, on_post};
use crate::messages::is;
use crate::posts::{self, STILL_IDLE, TURN_ENDED, beside, post};

/// From the runner outwards: the turn's id goes last, others go by it.
pub(super) const TERSE: &[Manner] = &[
    Manner {
        reading: 4,
        does: "looks for no token in the file where the address came in a variable",
        edge: address_and_token_from_one_place,
    },
    Manner {
        reading: 5,
        does: "posts a Notification for a turn that failed",
        edge: || {
            on_post(|_, body| {
                posts::is(body, "Stop", "prompt_error").then(|| {
                    let mut body = body.clone();
                    body["hookEvent"] = "Notification".into();
                    without_fields(&mut body, &["livenessSeconds"]);
                    vec![Crossing::Post(body)]
                })
            })
        },
    },
    Manner {
        reading: 7,
        does: "posts nothing for a permission that was asked for outside a turn",
        edge: || on_post(|_, body| (is_permission(body) && body.get("turnId").is_none()).then(Vec::new)),
    },
    Manner {
        reading: 8,
        does: "posts one Notification for all permissions of a turn",
        edge: || on_post(|seen, body| (is_permission(body) && seen.is_attention_held).then(Vec::new)),
    },
    Manner {
        reading: 17,
        does: "posts nothing on becoming ready, and no beats",
        edge: || on_post(|_, body| posts::is(body, "Stop", STILL_IDLE).then(Vec::new)),
    },
    Manner {
        reading: 19,
        does: "posts no exit once it was told to stop",
        edge: no_exit_at_the_stop,
    },
    Manner {
        reading: 2,
        does: "states neither turnId nor livenessSeconds, and has other words for a turn's end",
        edge: || {
            on_post(|_, body| {
                let mut body = body.clone();
                without_fields(&mut body, &["turnId", "livenessSeconds"]);
                if posts::is(&body, "Stop", TURN_ENDED) {
                    body["subtype"] = "finished".into();
                }
                Some(vec![Crossing::Post(body)])
            })
        },
    },
];

pub(super) const EAGER: &[Manner] = &[
    Manner {
        reading: 2,
        does: "beats every second, and at once behind each turn's end",
        edge: || {
            on_launch_and_crossing(
                |facts| facts.liveness_seconds = 1,
                |seen, crossing| match crossing {
                    Crossing::Post(body) if posts::is(body, "Stop", TURN_ENDED) => {
                        let Crossing::Post(mut beat) = beside(body, seen, "Stop", STILL_IDLE) else {
                            return None;
                        };
                        beat["livenessSeconds"] = body["livenessSeconds"].clone();
                        Some(vec![crossing.clone(), Crossing::Post(beat)])
                    }
                    _ => None,
                },
            )
        },
    },
    Manner {
        reading: 8,
        does: "posts a permission twice",
        edge: || {
            on_post(|_, body| {
                is_permission(body).then(|| vec![Crossing::Post(body.clone()), posts::again(body)])
            })
        },
    },
    Manner {
        reading: 1,
        does: "sends a turn's end while the next prompt is on its way already",
        edge: || {
            on_post(|_, body| {
                posts::is_turn_end(body).then(|| vec![Crossing::Pause(BEHIND), Crossing::Post(body.clone())])
            })
        },
    },
    Manner {
        reading: 31,
        does: "posts accepted while the prompt is still on its way to the agent",
        edge: accepted_on_the_way,
    },
    Manner {
        reading: 3,
        does: "sends a post that failed once more, with its number",
        edge: || on_post(|_, body| Some(vec![Crossing::PostTwiceIfLost(body.clone())])),
    },
];

/// How long before the agent reads the prompt its accepted may come. A quarter of a second is let pass.
const ON_THE_WAY: Duration = Duration::from_millis(40);

/// How long a turn's end waits, long enough for the next prompt to go out before it.
const BEHIND: Duration = Duration::from_millis(60);

fn is_permission(body: &Value) -> bool {
    posts::is(body, "Notification", "permission_prompt")
}

fn without_fields(body: &mut Value, fields: &[&str]) {
    if let Some(body) = body.as_object_mut() {
        body.retain(|field, _| !fields.contains(&field.as_str()));
    }
}

fn address_and_token_from_one_place() -> Box<dyn Edge> {
    on_launch(|facts| {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if is_set("OPENRIG_URL") && !is_set("OPENRIG_ACTIVITY_HOOK_TOKEN") {
            facts.endpoint = None;
        }
    })
}

fn no_exit_at_the_stop() -> Box<dyn Edge> {
    let mut is_stopping = false;
    on_crossing(move |_, crossing| -> Instead {
        match crossing {
            Crossing::Signal(_) | Crossing::EndOfInput => is_stopping = true,
            Crossing::Post(body) if is_stopping && posts::is_exit(body) => return Some(Vec::new()),
            _ => {}
        }
        None
    })
}

fn accepted_on_the_way() -> Box<dyn Edge> {
    let mut turn = 0;
    on_crossing(move |seen, crossing| -> Instead {
        match crossing {
            Crossing::ToAgent(line) if is(&serde_json::from_str(line).ok()?, "session/prompt") => {
                turn += 1;
                let Crossing::Post(mut accepted) = post(seen, "UserPromptSubmit", "accepted") else {
                    return None;
                };
                accepted["turnId"] = u64::to_string(&turn).into();
                Some(vec![
                    Crossing::Post(accepted),
                    Crossing::Pause(ON_THE_WAY),
                    crossing.clone(),
                ])
            }
            Crossing::Post(body) if posts::is(body, "UserPromptSubmit", "accepted") => Some(Vec::new()),
            _ => None,
        }
    })
}
