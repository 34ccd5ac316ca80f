//! What else the agent may send: requests that are no permission requests, and notifications.

use serde_json::Value;

use super::super::finding::{Finding, Tally};
use super::super::grace::{CROSSING, DUE, machine_was_late};
use super::super::watch::{cited, was_put_in};
use super::requests::{
    answer, is_answerable, is_response, judge_silence, quit_unasked, told, wrote_raw_before,
};
use crate::history::views::{Exchange, LaunchView, Message, Prompt, Shape, Views, milliseconds};
use crate::history::{Event, Fact, Wire};

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// Requests other than for permission that came after the runner had said what it can do, and before the stop.
fn others<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = (&'v Exchange<'h>, Option<bool>)> {
    let end = launch.end_of_free_run();
    launch
        .asked
        .iter()
        .filter(move |asked| {
            asked.method() != "session/request_permission"
                && asked.request.event.at < end
                && is_answerable(launch, asked)
        })
        .filter_map(|asked| {
            let offered = offered_before(launch, asked)?;
            Some((asked, advertised(offered, asked.method())))
        })
}

/// The runner's initialize to that agent, if the agent had read it before it asked.
fn offered_before<'v>(launch: &'v LaunchView<'_>, asked: &Exchange<'_>) -> Option<&'v Message<'v>> {
    launch
        .requests
        .iter()
        .map(|exchange| &exchange.request)
        .find(|request| {
            request.method() == Some("initialize")
                && request.agent == asked.request.agent
                && request.event.sequence < asked.request.event.sequence
        })
}

/// Whether initialize offered that method; `None` for a method that has no capability.
fn advertised(initialize: &Message<'_>, method: &str) -> Option<bool> {
    let pointer = match method {
        "fs/read_text_file" => "/params/clientCapabilities/fs/readTextFile",
        "fs/write_text_file" => "/params/clientCapabilities/fs/writeTextFile",
        _ if method.starts_with("terminal/") => "/params/clientCapabilities/terminal",
        _ if method.starts_with("elicitation/") => "/params/clientCapabilities/elicitation",
        _ => return None,
    };
    let offered = initialize.at(pointer);
    Some(offered.is_some_and(|offered| offered.is_object() || *offered == Value::Bool(true)))
}

fn error_code(answer: &Message<'_>) -> Option<i64> {
    answer.at("/error/code").and_then(Value::as_i64)
}

pub(super) fn unknown_refused(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        // What was offered is judged by permission.capabilities-honest.
        for (asked, _) in others(launch).filter(|(_, offered)| *offered != Some(true)) {
            let request = asked.request.event;
            let Some(answer) = answer(launch, asked) else {
                judge_silence(views, launch, asked, &mut tally);
                continue;
            };
            let events = [request, answer.event];
            let took = answer.event.at.saturating_sub(request.at);
            let said = format!(
                "{} was answered with {} after {}",
                asked.method(),
                told(answer),
                milliseconds(took)
            );
            if !is_right_error(asked, answer) {
                tally.broken(said, &events);
            } else if took > DUE && machine_was_late(views, request.at, answer.event.at, DUE) {
                tally.inconclusive(said, &events);
            } else if took > DUE {
                tally.broken(said, &events);
            } else if let Some(stopped) = turn_given_up(launch, asked) {
                tally.broken(
                    format!("the turn did not go on after {}", asked.method()),
                    &[request, answer.event, stopped],
                );
            } else {
                tally.held(said, &events);
            }
        }
    }
    tally.finding()
}

/// -32601; -32602 is as good for elicitation (reading 28), and where the parameters are no parameters.
fn is_right_error(asked: &Exchange<'_>, answer: &Message<'_>) -> bool {
    let parameters = asked.request.at("/params");
    let no_parameters = !parameters.is_some_and(|parameters| parameters.is_object() || parameters.is_array());
    match error_code(answer) {
        Some(METHOD_NOT_FOUND) => true,
        Some(INVALID_PARAMS) => asked.method().starts_with("elicitation/") || no_parameters,
        _ => false,
    }
}

/// What ended the turn in which the agent asked, without anybody having asked for that.
fn turn_given_up<'h>(launch: &LaunchView<'h>, asked: &Exchange<'_>) -> Option<&'h Event> {
    let request = asked.request.event;
    let turn: &Prompt<'_> = launch
        .prompts
        .iter()
        .find(|prompt| prompt.in_flight_at(request.at))?;
    // A Ctrl-C byte inside a paste also aborts (§5).
    let ordered = |until: u64| {
        launch.abort_orders().iter().any(|order| order.at <= until) || was_put_in(launch, 0x03, until)
    };
    let cancel = launch
        .cancels()
        .map(|cancel| cancel.event)
        .find(|cancel| cancel.at >= request.at && turn.in_flight_at(cancel.at) && !ordered(cancel.at));
    cancel.or_else(|| quit_unasked(launch, request.at).filter(|quit| turn.in_flight_at(quit.at)))
}

pub(super) fn capabilities_honest(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for (asked, offered) in others(launch) {
            let Some(offered) = offered else { continue };
            let Some(answer) = answer(launch, asked) else {
                // A person's answer or a command's end may take any time, reading and writing a file does not.
                if offered && asked.method().starts_with("fs/") {
                    judge_silence(views, launch, asked, &mut tally);
                }
                continue;
            };
            let events = [asked.request.event, answer.event];
            let code = error_code(answer);
            if offered && code == Some(METHOD_NOT_FOUND) {
                tally.broken(
                    format!(
                        "{} is advertised and answered with {}",
                        asked.method(),
                        told(answer)
                    ),
                    &events,
                );
            } else if offered {
                tally.held(format!("{} is advertised and served", asked.method()), &events);
            } else if answer.at("/error").is_some() {
                tally.held(
                    format!("{} is neither advertised nor served", asked.method()),
                    &events,
                );
            }
        }
    }
    tally.finding()
}

pub(super) fn notifications_ignored(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for message in launch
            .messages
            .iter()
            .filter(|message| is_unknown_notification(message))
        {
            let method = message.method().unwrap_or_default();
            let stray = launch.messages.iter().find(|later| {
                is_response(later)
                    && later.agent == message.agent
                    && later.event.sequence > message.event.sequence
                    && !has_another_reason(launch, later)
            });
            if let Some(stray) = stray {
                tally.broken(
                    format!(
                        "after the notification {method} the runner sent an answer with the id {}: {}",
                        stray.id().map(Value::to_string).unwrap_or_default(),
                        told(stray)
                    ),
                    &[message.event, stray.event],
                );
            } else if heard_after(launch, message) >= CROSSING {
                let events = cited(launch, &[message.event]);
                tally.held(format!("nothing answered the notification {method}"), &events);
            }
        }
    }
    tally.finding()
}

fn is_unknown_notification(message: &Message<'_>) -> bool {
    let Shape::Notification { method } = &message.shape else {
        return false;
    };
    !message.to_agent() && method != "session/update" && method != "$/cancel_request"
}

/// Whether a response of the runner answers something else than a notification: a request, if perhaps under a wrong
/// id, or what the agent wrote that was no proper message.
fn has_another_reason(launch: &LaunchView<'_>, response: &Message<'_>) -> bool {
    let earlier = |event: &Event| event.sequence < response.event.sequence;
    let requests = || {
        launch
            .asked
            .iter()
            .filter(|asked| asked.request.agent == response.agent && earlier(asked.request.event))
    };
    let of_a_request = || requests().any(|asked| asked.request.id() == response.id());
    let one_waited = || requests().any(|asked| !asked.answers.iter().any(|answer| earlier(answer.event)));
    let improper = || {
        launch.messages.iter().any(|message| {
            !message.to_agent()
                && message.agent == response.agent
                && message.shape == Shape::Other
                && earlier(message.event)
        })
    };
    of_a_request() || one_waited() || improper() || wrote_raw_before(launch, response)
}

/// How long the runner's lines could still be heard after a message.
fn heard_after(launch: &LaunchView<'_>, message: &Message<'_>) -> u64 {
    let deaf = launch.events.iter().find(|event| {
        event.sequence > message.event.sequence
            && matches!(
                event.fact,
                Fact::Wire(
                    Wire::EndOfInput { agent } | Wire::Ending { agent, .. } | Wire::AgentEnded { agent }
                ) if agent == message.agent
            )
    });
    deaf.map_or(u64::MAX, |event| event.at)
        .min(launch.end_of_free_run())
        .saturating_sub(message.event.at)
}
