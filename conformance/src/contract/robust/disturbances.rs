//! What an agent may write and a runner must bear: noise, large lines, a flood on standard error, unknown updates.

use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::DUE;
use crate::contract::watch::{agent_lost, free_until};
use crate::history::views::{LaunchView, Message, Views};
use crate::history::{Event, Fact, Wire};

use super::aftermath::{judge_aftermath, tell_silence};

const MEBIBYTE: usize = 1024 * 1024;

/// The kinds of updates in the protocol's first version.
const KNOWN_UPDATES: [&str; 11] = [
    "agent_message_chunk",
    "agent_thought_chunk",
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "plan",
    "session_info_update",
    "tool_call",
    "tool_call_update",
    "usage_update",
    "user_message_chunk",
];

pub(super) fn stdout_noise(views: &Views<'_>) -> Finding {
    lines(views, "a line that is no message", |message| {
        message.body.is_none()
    })
}

pub(super) fn large_frame(views: &Views<'_>) -> Finding {
    lines(views, "a line of 1 MiB", |message| {
        message.body.is_some()
            && matches!(&message.event.fact, Fact::Wire(Wire::FromAgent { line, .. }) if line.0.len() >= MEBIBYTE)
    })
}

pub(super) fn unknown_update(views: &Views<'_>) -> Finding {
    lines(views, "an update of an unknown kind", |message| {
        message.method() == Some("session/update")
            && message
                .text_at("/params/update/sessionUpdate")
                .is_some_and(|kind| !KNOWN_UPDATES.contains(&kind))
    })
}

/// Judges what followed each of the agent's lines of a sort.
fn lines(views: &Views<'_>, what: &str, is_one: impl Fn(&Message<'_>) -> bool) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        // The runner reads in order: a line it has surely read vouches for all before it.
        let mut read_until = 0;
        for message in launch.messages.iter().filter(|message| !message.to_agent()) {
            if message.event.sequence < read_until || !is_one(message) {
                continue;
            }
            if message.event.at >= launch.end_of_free_run() {
                break;
            }
            let heard = judge_aftermath(views, launch, message.agent, message.event, what, &mut tally);
            match heard {
                Some(heard) => read_until = heard.sequence,
                // What is missing after this one is missing after all that follow.
                None => break,
            }
        }
    }
    tally.finding()
}

pub(super) fn stderr_flood(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for (flood, agent) in floods(launch) {
            match next_sign_of_agent(launch, flood, agent) {
                Some(_) => {
                    judge_aftermath(views, launch, agent, flood, "1 MiB on standard error", &mut tally);
                }
                None if was_left_alone(launch, flood, agent) => tell_silence(
                    views,
                    launch,
                    flood,
                    flood,
                    "the agent, which goes on once its standard error is read, wrote nothing more",
                    &mut tally,
                ),
                None => {}
            }
        }
    }
    tally.finding()
}

/// Floods in the middle of a turn.
fn floods<'h>(launch: &LaunchView<'h>) -> Vec<(&'h Event, u32)> {
    let in_a_turn = |at| launch.prompts.iter().any(|prompt| prompt.in_flight_at(at));
    launch
        .events
        .iter()
        .filter_map(|event| match event.fact {
            Fact::Wire(Wire::Stderr { agent, bytes })
                if bytes >= MEBIBYTE as u64 && in_a_turn(event.at) && event.at < launch.end_of_free_run() =>
            {
                Some((*event, agent))
            }
            _ => None,
        })
        .collect()
}

/// What the agent did next, before the stop. An agent that floods does something visible right after it: it writes, or
/// comes to a gate. While nobody reads its standard error, it can't.
fn next_sign_of_agent<'h>(launch: &LaunchView<'h>, flood: &Event, number: u32) -> Option<&'h Event> {
    launch.events.iter().copied().find(|event| {
        event.sequence > flood.sequence
            && event.at < launch.end_of_free_run()
            && match &event.fact {
                Fact::Wire(
                    Wire::FromAgent { agent, .. }
                    | Wire::FromAgentRaw { agent, .. }
                    | Wire::Gate { agent, .. },
                ) => *agent == number,
                _ => false,
            }
    })
}

fn was_left_alone(launch: &LaunchView<'_>, flood: &Event, agent: u32) -> bool {
    let until = agent_lost(launch, agent).map_or(u64::MAX, |lost| lost.at);
    free_until(launch).min(until).saturating_sub(flood.at) >= DUE
}
