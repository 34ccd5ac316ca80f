//! §4: report turn boundaries. What the posts say, in which order, of which facts, and that nothing waits for them.

mod accepted;
mod addressee;
mod beats;
mod blocking;
mod body;
mod chatter;
mod departure;
mod early_stop;
mod endpoint;
mod exit;
mod false_exit;
mod liveness;
mod occurred_at;
mod order;
mod outage;
mod timestamp;
mod turn_end;
mod turns;

pub(super) use chatter::{quiet_until, told_after_stop, updates_outside_turns};
pub(super) use turns::{Turn, turns};

use super::clause::{Clause, Group, Level::*};

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "activity.fields",
        level: Must,
        basis: "list",
        text: "every post has sessionName, nodeId, runtime, generation, sequence, occurredAt, hookEvent and subtype",
        judge: body::fields,
    },
    Clause {
        id: "activity.names-from-launch",
        level: Must,
        basis: "§4",
        text: "sessionName, nodeId, runtime and generation are this launch's own",
        judge: addressee::names_from_launch,
    },
    Clause {
        id: "activity.bearer",
        level: Must,
        basis: "§4",
        text: "every post carries Authorization: Bearer with the token",
        judge: addressee::bearer,
    },
    Clause {
        id: "activity.sequence",
        level: Must,
        basis: "§4",
        text: "sequences are whole numbers, strictly increasing in the order sent",
        judge: order::sequence,
    },
    Clause {
        id: "activity.one-at-a-time",
        level: Must,
        basis: "§4",
        text: "a post starts only after the one before ended (answered or given up)",
        judge: order::one_at_a_time,
    },
    Clause {
        id: "activity.occurred-at",
        level: Must,
        basis: "§4",
        text: "occurredAt is RFC 3339 in UTC, never goes backwards, and is within 5 s of the fact",
        judge: occurred_at::occurred_at,
    },
    Clause {
        id: "activity.endpoint-url",
        level: Must,
        basis: "§4",
        text: "OPENRIG_URL is used, with and without a slash at its end",
        judge: endpoint::url,
    },
    Clause {
        id: "activity.endpoint-port",
        level: Must,
        basis: "§4",
        text: "else OPENRIG_PORT is used, with OPENRIG_HOST or 127.0.0.1",
        judge: endpoint::port,
    },
    Clause {
        id: "activity.endpoint-file",
        level: Must,
        basis: "§4",
        text: "else activity-endpoint.json is used",
        judge: endpoint::file,
    },
    Clause {
        id: "activity.never-blocks-agent",
        level: Must,
        basis: "§4",
        text: "with an endpoint that hangs, refuses, resets or errors, prompts, permission answers, cancels and launch \
               records go out as promptly as with a healthy one",
        judge: blocking::never_blocks_agent,
    },
    Clause {
        id: "activity.short-timeout",
        level: Must,
        basis: "§4",
        text: "a hung post is given up within 10 s, and later posts go out",
        judge: outage::short_timeout,
    },
    Clause {
        id: "activity.survives-outage",
        level: Should,
        basis: "read",
        text: "after an outage the next fact is posted, and the runner lives",
        judge: outage::survives_outage,
    },
    Clause {
        id: "activity.accepted",
        level: Must,
        basis: "§4",
        text: "exactly one UserPromptSubmit/accepted for each prompt submitted, and none otherwise",
        judge: accepted::accepted,
    },
    Clause {
        id: "activity.accepted-not-early",
        level: Must,
        basis: "§4",
        text: "accepted is not posted before that prompt was submitted: a queued message is not accepted",
        judge: accepted::accepted_not_early,
    },
    Clause {
        id: "activity.turn-end",
        level: Must,
        basis: "§4",
        text: "a turn that ended and holds no attention gets exactly one idle or cancelled Stop",
        judge: turn_end::turn_end,
    },
    Clause {
        id: "activity.stop-not-early",
        level: Must,
        basis: "§4",
        text: "no idle Stop or beat between a prompt's submission and the agent's answer, however long or silent",
        judge: early_stop::stop_not_early,
    },
    Clause {
        id: "activity.turn-id",
        level: Info,
        basis: "§4",
        text: "a turn's accepted and Stop carry the same turnId",
        judge: turn_end::turn_id,
    },
    Clause {
        id: "activity.liveness-range",
        level: Must,
        basis: "§4",
        text: "livenessSeconds, where present on an idle Stop, is a whole number from 1 to 3600",
        judge: liveness::range,
    },
    Clause {
        id: "activity.liveness-every-idle",
        level: Must,
        basis: "§4",
        text: "a runner that states livenessSeconds on one idle Stop states it on all",
        judge: liveness::every_idle,
    },
    Clause {
        id: "activity.beats",
        level: Must,
        basis: "§4",
        text: "a runner that states livenessSeconds stays idle in OpenRig's reading for as long as it lives and is idle",
        judge: beats::beats,
    },
    Clause {
        id: "activity.exit-posted",
        level: Must,
        basis: "§4",
        text: "when the agent's process ends, idle or in a turn, whatever its code or signal, Stop/<preset name>_exited is posted, \
               once",
        judge: exit::exit_posted,
    },
    Clause {
        id: "activity.exit-not-idle",
        level: Must,
        basis: "list",
        text: "no plain idle Stop is posted for the agent's exit, nor after it",
        judge: exit::exit_not_idle,
    },
    Clause {
        id: "activity.no-false-exit",
        level: Must,
        basis: "§4",
        text: "no exit is posted while the agent's process lives, its output closed for instance",
        judge: false_exit::no_false_exit,
    },
    Clause {
        id: "activity.agent-chatter",
        level: Should,
        basis: "read",
        text: "updates outside a turn are not turn boundaries",
        judge: chatter::agent_chatter,
    },
];
