//! Faults of how posts look and how they are sent.

use std::time::Duration;

use reference_runner::{Crossing, Edge, LaunchFacts};
use serde_json::{Value, json};

use crate::Mutant;
use crate::altered::{on_crossing, on_launch, on_message_to_agent, on_post, on_record, on_shown};
use crate::messages::{is, to_agent};
use crate::posts::{self, post, with, without};
use crate::records::put;
use crate::shown::{self, show};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "post-without-runtime",
        clause: "activity.fields",
        fault: "leaves runtime out of its posts",
        edge: || on_post(|_, body| Some(vec![without(body, "runtime")])),
    },
    Mutant {
        name: "post-without-node",
        clause: "activity.fields",
        fault: "leaves nodeId out of its posts",
        edge: || on_post(|_, body| Some(vec![without(body, "nodeId")])),
    },
    Mutant {
        name: "stop-without-subtype",
        clause: "activity.fields",
        fault: "leaves the subtype out of the posts of a turn's end",
        edge: || on_post(|_, body| posts::is_turn_end(body).then(|| vec![without(body, "subtype")])),
    },
    Mutant {
        name: "post-own-session-name",
        clause: "activity.names-from-launch",
        fault: "posts under a session name of its own",
        edge: || post_with("sessionName", "dsh"),
    },
    Mutant {
        name: "post-own-generation",
        clause: "activity.names-from-launch",
        fault: "posts a generation of its own",
        edge: || post_with("generation", "1"),
    },
    Mutant {
        name: "post-names-protocol",
        clause: "activity.names-from-launch",
        fault: "posts the protocol as the runtime",
        edge: || post_with("runtime", "acp"),
    },
    Mutant {
        name: "post-other-token",
        clause: "activity.bearer",
        fault: "posts with a token of its own",
        edge: || {
            on_launch(|facts| {
                if let Some(endpoint) = &mut facts.endpoint {
                    endpoint.token = "not-the-token".to_owned();
                }
            })
        },
    },
    Mutant {
        name: "sequence-constant",
        clause: "activity.sequence",
        fault: "gives every post the same sequence",
        edge: || on_post(|_, body| Some(vec![with(body, "sequence", 1)])),
    },
    Mutant {
        name: "sequence-per-turn",
        clause: "activity.sequence",
        fault: "begins the sequence anew with each accepted prompt",
        edge: sequence_per_turn,
    },
    Mutant {
        name: "sequence-with-fraction",
        clause: "activity.sequence",
        fault: "gives sequences that are no whole numbers",
        edge: || {
            on_post(|_, body| {
                let sequence = body["sequence"].as_f64()?;
                Some(vec![with(body, "sequence", sequence / 1000.0)])
            })
        },
    },
    Mutant {
        name: "sequence-as-text",
        clause: "activity.sequence",
        fault: "gives the sequence as text",
        edge: || on_post(|_, body| Some(vec![with(body, "sequence", body["sequence"].to_string())])),
    },
    Mutant {
        name: "posts-side-by-side",
        clause: "activity.one-at-a-time",
        fault: "does not wait for the post before",
        edge: || on_post(|_, body| Some(vec![Crossing::PostConcurrently(body.clone())])),
    },
    Mutant {
        name: "time-without-offset",
        clause: "activity.occurred-at",
        fault: "gives times without saying that they are UTC",
        edge: || {
            on_post(|_, body| {
                let time = body["occurredAt"].as_str()?.trim_end_matches('Z');
                Some(vec![with(body, "occurredAt", time)])
            })
        },
    },
    Mutant {
        name: "time-stands-still",
        clause: "activity.occurred-at",
        fault: "gives every post the same long past time",
        edge: || post_with("occurredAt", "2026-01-01T00:00:00Z"),
    },
    Mutant {
        name: "time-as-number",
        clause: "activity.occurred-at",
        fault: "gives times as seconds since 1970",
        edge: || on_post(|_, body| Some(vec![with(body, "occurredAt", 1_790_000_000)])),
    },
    Mutant {
        name: "prompt-waits-for-posts",
        clause: "activity.never-blocks-agent",
        fault: "submits a prompt only when every post before it was answered",
        edge: || {
            on_message_to_agent(|_, message| {
                is(&message, "session/prompt").then(|| vec![Crossing::AwaitPosts, to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "refusal-waits-for-posts",
        clause: "activity.never-blocks-agent",
        fault: "refuses a permission only when every post before it was answered",
        edge: || {
            on_message_to_agent(|seen, message| {
                let refuses = seen.replied_method(&message) == Some("session/request_permission");
                refuses.then(|| vec![Crossing::AwaitPosts, to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "cancel-waits-for-posts",
        clause: "activity.never-blocks-agent",
        fault: "sends a cancel only when every post before it was answered",
        edge: || {
            on_message_to_agent(|_, message| {
                is(&message, "session/cancel").then(|| vec![Crossing::AwaitPosts, to_agent(&message)])
            })
        },
    },
    Mutant {
        name: "record-waits-for-post",
        clause: "activity.never-blocks-agent",
        fault: "posts that it has started, and writes its record only when that was answered",
        edge: || {
            on_record(|seen, record| {
                Some(vec![
                    post(seen, "SessionStart", "started"),
                    Crossing::AwaitPosts,
                    put(&record),
                ])
            })
        },
    },
    Mutant {
        name: "agent-read-after-posts",
        clause: "activity.never-blocks-agent",
        fault: "reads on from the agent only when every post so far was answered",
        edge: || {
            on_crossing(|_, crossing| {
                matches!(crossing, Crossing::FromAgent(_))
                    .then(|| vec![Crossing::AwaitPosts, crossing.clone()])
            })
        },
    },
    Mutant {
        name: "post-without-time-limit",
        clause: "activity.short-timeout",
        fault: "waits for a post's answer for an hour",
        edge: || on_launch(|facts| set_time_limit(facts, Duration::from_secs(3600))),
    },
    Mutant {
        name: "post-with-long-time-limit",
        clause: "activity.short-timeout",
        fault: "waits for a post's answer for 30 seconds",
        edge: || on_launch(|facts| set_time_limit(facts, Duration::from_secs(30))),
    },
    Mutant {
        name: "outage-ends-seat",
        clause: "activity.survives-outage",
        fault: "ends when a post does not arrive",
        edge: || {
            on_shown(|_, text| {
                text.contains(shown::POST_LOST)
                    .then(|| vec![show(text), Crossing::Exit(1)])
            })
        },
    },
    Mutant {
        name: "outage-ends-posting",
        clause: "activity.survives-outage",
        fault: "posts nothing any more once a post did not arrive",
        edge: outage_ends_posting,
    },
];

/// Sets one field of every post.
fn post_with(field: &'static str, value: &'static str) -> Box<dyn Edge> {
    on_post(move |_, body| Some(vec![with(body, field, value)]))
}

fn set_time_limit(facts: &mut LaunchFacts, limit: Duration) {
    if let Some(endpoint) = &mut facts.endpoint {
        endpoint.time_limit = limit;
    }
}

fn sequence_per_turn() -> Box<dyn Edge> {
    let mut sequence = 0;
    on_post(move |_, body: &Value| {
        sequence = if posts::is(body, "UserPromptSubmit", "accepted") {
            1
        } else {
            sequence + 1
        };
        Some(vec![with(body, "sequence", json!(sequence))])
    })
}

fn outage_ends_posting() -> Box<dyn Edge> {
    let mut has_given_up = false;
    on_crossing(move |_, crossing| match crossing {
        Crossing::Shown(bytes) => {
            has_given_up |= std::str::from_utf8(bytes).ok()?.contains(shown::POST_LOST);
            None
        }
        Crossing::Post(_) => has_given_up.then(Vec::new),
        _ => None,
    })
}
