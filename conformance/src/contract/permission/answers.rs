//! How permission requests were answered.

use serde_json::Value;

use super::super::endpoint_faults::{fault_at, faults};
use super::super::finding::{Finding, Tally};
use super::super::grace::{CROSSING, DUE, PROMPT, machine_was_late};
use super::super::watch::free_after;
use super::requests::{
    answer, is_answerable, is_error, is_refusal, is_response, judge_silence, oddity, offers_nothing,
    ordinary, permissions, quit_unasked, told, turn_of, wrote_raw_before,
};
use crate::history::Event;
use crate::history::views::{Exchange, LaunchView, Message, PostKind, Views, milliseconds};

pub(super) fn refused(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for asked in ordinary(launch) {
            let request = asked.request.event;
            match answer(launch, asked) {
                Some(answer) if is_refusal(answer) => {
                    tally.held("answered with the outcome cancelled", &[request, answer.event]);
                }
                Some(answer) if was_taken_back(launch, asked, answer) => {}
                Some(answer) => tally.broken(
                    format!("a permission request was answered with {}", told(answer)),
                    &[request, answer.event],
                ),
                None => judge_silence(views, launch, asked, &mut tally),
            }
        }
    }
    tally.finding()
}

/// Whether the agent had cancelled the request before the answer, which ACP lets be an error then.
fn was_taken_back(launch: &LaunchView<'_>, asked: &Exchange<'_>, answer: &Message<'_>) -> bool {
    is_error(Some(answer))
        && launch.messages.iter().any(|message| {
            !message.to_agent()
                && message.method() == Some("$/cancel_request")
                && message.at("/params/requestId") == asked.request.id()
                && message.event.sequence < answer.event.sequence
        })
}

pub(super) fn at_once(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    let faults = faults(views);
    for launch in &views.launches {
        for asked in ordinary(launch) {
            let request = asked.request.event;
            let Some(answer) = answer(launch, asked) else {
                judge_silence(views, launch, asked, &mut tally);
                continue;
            };
            let took = answer
                .event
                .at
                .saturating_sub(free_for(launch, answer).max(request.at));
            let events = [request, answer.event];
            let said = format!(
                "answered in {}, the endpoint being {}",
                milliseconds(took),
                fault_at(&faults, request.at).map_or("healthy", |fault| fault.name)
            );
            if took <= PROMPT {
                tally.held(said, &events);
            } else if machine_was_late(views, request.at, answer.event.at, PROMPT) {
                tally.inconclusive(said, &events);
            } else {
                tally.broken(said, &events);
            }
        }
    }
    tally.finding()
}

/// When the runner was free for this answer: requests that come at once are answered one after another, and on a slow
/// machine twenty of them take longer than one may (reading 8). 0 where nothing was answered before.
fn free_for(launch: &LaunchView<'_>, answer: &Message<'_>) -> u64 {
    permissions(launch)
        .filter_map(|other| self::answer(launch, other))
        .map(|other| other.event.at)
        .filter(|at| *at < answer.event.at)
        .max()
        .unwrap_or(0)
}

pub(super) fn id_echoed(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for asked in permissions(launch).filter(|asked| is_answerable(launch, asked)) {
            let id = asked.request.id().map(Value::to_string).unwrap_or_default();
            match (answer(launch, asked), misaddressed(launch, asked)) {
                (Some(answer), _) => tally.held(
                    format!("asked and answered under the id {id}"),
                    &[asked.request.event, answer.event],
                ),
                (None, Some(other)) => tally.broken(
                    format!(
                        "asked under the id {id}, answered under {}",
                        other.id().map(Value::to_string).unwrap_or_default()
                    ),
                    &[asked.request.event, other.event],
                ),
                (None, None) => {}
            }
        }
    }
    tally.finding()
}

/// A response that must be meant for this unanswered request, but carries another id.
fn misaddressed<'v, 'h>(launch: &'v LaunchView<'h>, asked: &Exchange<'_>) -> Option<&'v Message<'h>> {
    let wanted = asked.request.id()?;
    let later = launch.messages.iter().filter(|message| {
        message.agent == asked.request.agent && message.event.sequence > asked.request.event.sequence
    });
    let mut unclaimed = later.filter(|message| is_response(message) && !is_first_answer(launch, message));
    unclaimed.find(|message| {
        let Some(id) = message.id() else { return false };
        let explained = wrote_raw_before(launch, message);
        (id != wanted && same_but_for_type(id, wanted))
            || (!explained && message.at("/result/outcome").is_some() && !answers_any(launch, message))
    })
}

fn is_first_answer(launch: &LaunchView<'_>, message: &Message<'_>) -> bool {
    launch.asked.iter().any(|asked| {
        asked
            .answers
            .first()
            .is_some_and(|answer| answer.event.sequence == message.event.sequence)
    })
}

fn answers_any(launch: &LaunchView<'_>, message: &Message<'_>) -> bool {
    launch
        .asked
        .iter()
        .flat_map(|asked| &asked.answers)
        .any(|answer| answer.event.sequence == message.event.sequence)
}

/// 0 and "0", or 0 and 0.0.
fn same_but_for_type(one: &Value, other: &Value) -> bool {
    let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let numbers = one.as_f64().zip(other.as_f64());
    text(one) == text(other) || numbers.is_some_and(|(one, other)| one.total_cmp(&other).is_eq())
}

pub(super) fn each(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let end = launch.end_of_free_run();
        let several = ordinary(launch).count() > 1;
        let mut answered_once: Vec<&Event> = Vec::new();
        for asked in ordinary(launch) {
            let in_time: Vec<&Event> = asked
                .answers
                .iter()
                .map(|answer| answer.event)
                .filter(|event| event.at <= end)
                .collect();
            match in_time.as_slice() {
                [one] => answered_once.extend([asked.request.event, one]),
                [one, two, ..] => tally.broken(
                    format!("one permission request was answered {} times", in_time.len()),
                    &[asked.request.event, one, two],
                ),
                [] if several => judge_silence(views, launch, asked, &mut tally),
                [] => {}
            }
        }
        if answered_once.len() > 2 {
            tally.held(
                format!(
                    "{} permission requests, each answered once",
                    answered_once.len() / 2
                ),
                &answered_once,
            );
        }
    }
    tally.finding()
}

pub(super) fn odd_requests(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for asked in permissions(launch).filter(|asked| is_answerable(launch, asked)) {
            let oddity = match oddity(launch, asked) {
                None if offers_nothing(asked) => "no options",
                None => continue,
                Some(oddity) => oddity,
            };
            let request = asked.request.event;
            let Some(answer) = answer(launch, asked) else {
                judge_silence(views, launch, asked, &mut tally);
                continue;
            };
            if !is_refusal(answer) && !is_error(Some(answer)) {
                tally.broken(
                    format!(
                        "a permission request with {oddity} was answered with {}",
                        told(answer)
                    ),
                    &[request, answer.event],
                );
            } else if let Some(quit) =
                quit_unasked(launch, request.at).filter(|quit| quit.at.saturating_sub(request.at) < DUE)
            {
                tally.broken(
                    format!("the runner ended after a permission request with {oddity}"),
                    &[request, quit],
                );
            } else if let Some(sign) = sign_of_life(launch, asked, answer) {
                tally.held(
                    format!(
                        "a permission request with {oddity} was answered with {}, and the seat went on",
                        told(answer)
                    ),
                    &[request, answer.event, sign],
                );
            }
        }
    }
    tally.finding()
}

/// What shows that the seat went on after the answer: a line to the agent, a report of a turn, or a turn that ended
/// with the runner still there a while later.
fn sign_of_life<'h>(
    launch: &LaunchView<'h>,
    asked: &Exchange<'h>,
    answer: &Message<'h>,
) -> Option<&'h Event> {
    let line = launch
        .messages
        .iter()
        .find(|message| message.to_agent() && message.event.sequence > answer.event.sequence)
        .map(|message| message.event);
    let report = launch.posts.iter().find(|post| {
        (post.kind == PostKind::Accepted || post.kind.is_non_exit_stop())
            && post.started.sequence > answer.event.sequence
    });
    let turn = turn_of(launch, asked).or_else(|| {
        let in_flight = |at: u64| launch.prompts.iter().find(move |prompt| prompt.in_flight_at(at));
        in_flight(asked.request.event.at)
    });
    let turn_ended = turn
        .and_then(|turn| turn.exchange.answers.first())
        .filter(|ended| {
            ended.event.sequence > answer.event.sequence && free_after(launch, ended.event.at) >= CROSSING
        });
    line.or(report.map(|post| post.started))
        .or(turn_ended.map(|ended| ended.event))
}
