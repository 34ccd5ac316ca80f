//! What became of the runner after something unusual from its agent: it went on, it ended, or it fell silent.
//!
//! Only the wire, the keys and the runner's process are asked, never a post or words in the pane: those have clauses of
//! their own.

use crate::contract::finding::Tally;
use crate::contract::grace::{CROSSING, DUE, machine_was_late};
use crate::contract::permission::{is_answerable, quit_unasked};
use crate::contract::watch::{agent_lost, cited, free_after, free_until, possible_orders};
use crate::history::Event;
use crate::history::views::{Exchange, LaunchView, Views, milliseconds};

/// A longer message may be refused whole (input.large-block).
const SURELY_TAKEN: usize = 64 * 1024;

pub(super) enum Aftermath<'h> {
    /// The runner did what only a later line from the agent could bring about.
    WentOn {
        /// The agent's line.
        heard: &'h Event,
        /// What the runner did.
        sign: &'h Event,
    },
    /// The runner ended, and nothing else explains it.
    Ended(&'h Event),
    /// Something was due from here on and never came.
    Silent { since: &'h Event, missing: String },
    /// Nothing can be said.
    Unknown,
}

pub(super) fn aftermath<'h>(launch: &LaunchView<'h>, agent: u32, cause: &Event) -> Aftermath<'h> {
    let quit = quit_unasked(launch, cause.at).filter(|quit| is_to_blame(launch, cause, quit));
    // While a runner is ending, another part of it may still answer what came right behind the cause.
    let at_once = quit.filter(|quit| quit.at.saturating_sub(cause.at) < CROSSING);
    if let Some(quit) = at_once {
        return Aftermath::Ended(quit);
    }
    if let Some((heard, sign)) = sign_of_hearing(launch, agent, cause) {
        return Aftermath::WentOn { heard, sign };
    }
    if let Some(quit) = quit {
        return Aftermath::Ended(quit);
    }
    let silent = unanswered_request(launch, agent, cause).or_else(|| unsent_message(launch, agent, cause));
    match silent {
        Some((since, missing)) if had_its_time(launch, agent, since) => Aftermath::Silent { since, missing },
        _ => Aftermath::Unknown,
    }
}

/// Judges one disturbance. Gives the agent's line that the runner has surely read, and with it all before it.
pub(super) fn judge_aftermath<'h>(
    views: &Views<'_>,
    launch: &LaunchView<'h>,
    agent: u32,
    cause: &'h Event,
    what: &str,
    tally: &mut Tally,
) -> Option<&'h Event> {
    match aftermath(launch, agent, cause) {
        Aftermath::WentOn { heard, sign } => {
            tally.held(format!("the runner went on after {what}"), &[cause, heard, sign]);
            return Some(heard);
        }
        Aftermath::Ended(quit) => tally.broken(
            format!(
                "the runner ended {} after {what}",
                milliseconds(quit.at.saturating_sub(cause.at))
            ),
            &[cause, quit],
        ),
        Aftermath::Silent { since, missing } => {
            tell_silence(
                views,
                launch,
                cause,
                since,
                &format!("after {what}, {missing}"),
                tally,
            );
        }
        Aftermath::Unknown => {}
    }
    None
}

/// Tells that something due since `since` never came.
pub(super) fn tell_silence(
    views: &Views<'_>,
    launch: &LaunchView<'_>,
    cause: &Event,
    since: &Event,
    said: &str,
    tally: &mut Tally,
) {
    let waited = free_after(launch, since.at);
    let said = format!("{said} in {}", milliseconds(waited));
    let events = cited(launch, &[cause, since]);
    if machine_was_late(views, since.at, free_until(launch), waited) {
        tally.inconclusive(said, &events);
    } else {
        tally.broken(said, &events);
    }
}

/// The agent's line at or after `cause`, and what the runner can only have done after reading it: its answer to a
/// request, or a prompt or an open that had to wait for an answer.
fn sign_of_hearing<'h>(launch: &LaunchView<'h>, agent: u32, cause: &Event) -> Option<(&'h Event, &'h Event)> {
    let of_the_agent = |exchange: &&Exchange<'h>| exchange.request.agent == agent;
    let from_cause_on = |event: &Event| event.sequence >= cause.sequence;
    let answers = launch
        .asked
        .iter()
        .filter(of_the_agent)
        .filter(|asked| from_cause_on(asked.request.event))
        .filter_map(|asked| Some((asked.request.event, asked.answers.first()?.event)));
    let steps: Vec<&Exchange<'h>> = launch
        .requests
        .iter()
        .filter(of_the_agent)
        .filter(|request| is_step(request.method()))
        .collect();
    let heard: Vec<&'h Event> = steps
        .iter()
        .filter_map(|step| step.answers.first())
        .map(|answer| answer.event)
        .filter(|answer| from_cause_on(answer))
        .collect();
    let next_steps = steps.iter().filter_map(|step| {
        let asked = step.request.event;
        let answer = heard.iter().find(|answer| answer.sequence < asked.sequence)?;
        Some((*answer, asked))
    });
    answers.chain(next_steps).min_by_key(|(_, sign)| sign.sequence)
}

/// Requests of which each waits for the answer to the one before.
fn is_step(method: &str) -> bool {
    matches!(
        method,
        "initialize" | "session/new" | "session/load" | "session/resume" | "session/prompt"
    )
}

/// Before a conversation is open a runner may end for reasons of its own, an agent that does not answer for instance.
fn is_to_blame(launch: &LaunchView<'_>, cause: &Event, quit: &Event) -> bool {
    let refused = launch
        .requests
        .iter()
        .any(|request| request.method() != "session/prompt" && request.error().is_some());
    let speaks_version_1 = launch.initialized().is_none_or(|answer| {
        answer
            .at("/result/protocolVersion")
            .is_some_and(|version| version == 1)
    });
    match launch.conversation() {
        Some((_, opened)) => opened.at <= quit.at,
        None => !refused && speaks_version_1 && quit.at.saturating_sub(cause.at) < DUE,
    }
}

fn unanswered_request<'h>(launch: &LaunchView<'h>, agent: u32, cause: &Event) -> Option<(&'h Event, String)> {
    let (_, opened) = launch.conversation()?;
    launch
        .asked
        .iter()
        .filter(|asked| asked.request.agent == agent && asked.answers.is_empty())
        .filter(|asked| {
            let event = asked.request.event;
            event.sequence >= cause.sequence && event.at > opened.at && is_answerable(launch, asked)
        })
        .map(|asked| {
            let missing = format!("the request {} got no answer", asked.method());
            (asked.request.event, missing)
        })
        .next()
}

/// The last message that was entered, if nothing kept it from being submitted and it was not.
fn unsent_message<'h>(launch: &LaunchView<'h>, agent: u32, cause: &Event) -> Option<(&'h Event, String)> {
    let (_, opened) = launch.conversation()?;
    let message = launch.messages_to_prompt().last()?;
    let entered = message.entered.filter(|entered| entered.at > opened.at)?;
    let kept_back = !possible_orders(launch).is_empty()
        || message.text.len() > SURELY_TAKEN
        || launch
            .requests
            .iter()
            .any(|request| request.request.agent != agent || request.answers.is_empty());
    let submitted = launch
        .prompts
        .iter()
        .any(|prompt| prompt.exchange.request.event.sequence > entered.sequence);
    if kept_back || submitted {
        return None;
    }
    let last_answer = launch
        .requests
        .iter()
        .filter_map(|request| request.answers.first())
        .map(|answer| answer.event)
        .max_by_key(|answer| answer.sequence);
    let since = last_answer
        .into_iter()
        .chain([entered])
        .max_by_key(|event| event.sequence)?;
    (since.sequence >= cause.sequence).then(|| (since, "the next message was not submitted".to_owned()))
}

fn had_its_time(launch: &LaunchView<'_>, agent: u32, since: &Event) -> bool {
    let until = agent_lost(launch, agent).map_or(u64::MAX, |lost| lost.at);
    free_until(launch).min(until).saturating_sub(since.at) >= DUE
}
