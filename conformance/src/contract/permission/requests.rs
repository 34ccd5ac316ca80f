//! What the agent asked, how well it asked, and until when the runner could have answered.

use serde_json::Value;

use super::super::finding::Tally;
use super::super::grace::{DUE, machine_was_late};
use super::super::watch::{cited, ended_on_its_own, free_until, input_may_have_ended, was_put_in};
use crate::history::views::{Exchange, LaunchView, Message, Prompt, Shape, Views, milliseconds};
use crate::history::{Event, Fact, Step, Wire};

/// Permission requests that every runner must refuse: well-formed, for a session it knows. One without options is
/// well-formed too, but a runner may call it an error (permission.odd-requests).
pub(super) fn ordinary<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = &'v Exchange<'h>> {
    permissions(launch).filter(|asked| {
        oddity(launch, asked).is_none() && !(offers_nothing(asked) && is_error(asked.answer()))
    })
}

/// Permission requests that came before the stop: nothing may be demanded after it.
pub(super) fn permissions<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = &'v Exchange<'h>> {
    let end = launch.end_of_free_run();
    launch
        .permissions()
        .filter(move |asked| asked.request.event.at < end)
}

/// What is wrong with a permission request, if anything is.
pub(super) fn oddity(launch: &LaunchView<'_>, asked: &Exchange<'_>) -> Option<&'static str> {
    let request = &asked.request;
    let tool_call = request.at("/params/toolCall");
    let options = request.at("/params/options").and_then(Value::as_array);
    if !is_answerable(launch, asked) {
        return Some("no id of its own");
    }
    match request.text_at("/params/sessionId") {
        None => return Some("no session"),
        Some(session) if !knows(launch, request, session) => return Some("another session's id"),
        Some(_) => {}
    }
    if !tool_call.is_some_and(Value::is_object) {
        return Some("no tool call");
    }
    if request.text_at("/params/toolCall/toolCallId").is_none() {
        return Some("no toolCallId");
    }
    let title = request.at("/params/toolCall/title");
    if title.is_some_and(|title| !title.is_string() && !title.is_null()) {
        return Some("a title that is no text");
    }
    match options {
        None => Some("no list of options"),
        Some(options) if !options.iter().all(is_option) => Some("an option that is none"),
        Some(_) => None,
    }
}

/// Whether a permission request offers no option at all.
pub(super) fn offers_nothing(asked: &Exchange<'_>) -> bool {
    asked
        .request
        .at("/params/options")
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty)
}

fn is_option(option: &Value) -> bool {
    let text = |name: &str| option.get(name).and_then(Value::as_str);
    let kind = text("kind").is_some_and(|kind| {
        matches!(
            kind,
            "allow_once" | "allow_always" | "reject_once" | "reject_always"
        )
    });
    kind && text("optionId").is_some() && text("name").is_some()
}

/// Whether the runner knew that session when the request was written: opened, being reopened, or prompted already.
fn knows(launch: &LaunchView<'_>, request: &Message<'_>, session: &str) -> bool {
    let before = |event: &Event| event.sequence < request.event.sequence;
    let opened = launch.opens().any(|open| {
        let answer = open.answer().filter(|answer| before(answer.event));
        match open.method() {
            "session/new" => {
                answer.is_some_and(|answer| answer.text_at("/result/sessionId") == Some(session))
            }
            _ => {
                before(open.request.event)
                    && open.request.text_at("/params/sessionId") == Some(session)
                    && (answer.is_none() || open.succeeded())
            }
        }
    });
    let prompted =
        |prompt: &Prompt<'_>| prompt.session() == Some(session) && before(prompt.exchange.request.event);
    opened || launch.prompts.iter().any(prompted)
}

/// Whether an answer could be told from all others: the id is a whole number or text, and the agent used it once.
pub(in crate::contract) fn is_answerable(launch: &LaunchView<'_>, asked: &Exchange<'_>) -> bool {
    let request = &asked.request;
    let proper = request
        .id()
        .is_some_and(|id| id.is_string() || id.is_i64() || id.is_u64());
    let uses = launch
        .asked
        .iter()
        .filter(|other| other.request.agent == request.agent && other.request.id() == request.id())
        .count();
    proper && uses == 1 && request.text_at("/jsonrpc") == Some("2.0")
}

/// The runner's first answer, if it came before the stop.
pub(super) fn answer<'v, 'h>(launch: &LaunchView<'h>, asked: &'v Exchange<'h>) -> Option<&'v Message<'h>> {
    let end = launch.end_of_free_run();
    asked.answers.first().filter(|answer| answer.event.at <= end)
}

/// Whether an answer is a JSON-RPC error.
pub(super) fn is_error(answer: Option<&Message<'_>>) -> bool {
    answer.is_some_and(|answer| answer.at("/error").is_some())
}

/// Whether an answer refuses as §7 says.
pub(super) fn is_refusal(answer: &Message<'_>) -> bool {
    answer.text_at("/result/outcome/outcome") == Some("cancelled") && answer.at("/error").is_none()
}

/// Result or error of an answer, for people.
pub(super) fn told(answer: &Message<'_>) -> String {
    let body = answer.at("/result").or_else(|| answer.at("/error"));
    let text = body.map(Value::to_string).unwrap_or_default();
    let shown: String = text.chars().take(80).collect();
    if shown.len() < text.len() {
        format!("{shown}…")
    } else {
        shown
    }
}

/// The prompt of the request's own session that was in flight when the request was written.
pub(super) fn turn_of<'v, 'h>(launch: &'v LaunchView<'h>, asked: &Exchange<'_>) -> Option<&'v Prompt<'h>> {
    let session = asked.request.text_at("/params/sessionId");
    launch
        .prompts
        .iter()
        .find(|prompt| prompt.session() == session && prompt.in_flight_at(asked.request.event.at))
}

/// Whether every open had failed when the request was written: a runner that gave up need not listen any more.
fn opening_had_failed(launch: &LaunchView<'_>, request: &Event) -> bool {
    let failed = |answers: &[Message<'_>]| {
        answers
            .first()
            .is_some_and(|answer| answer.at("/error").is_some() && answer.event.sequence < request.sequence)
    };
    launch.opens().next().is_some() && launch.opens().all(|open| failed(&open.answers))
}

/// An unanswered request breaks the clause once the runner had its time, or ended instead.
pub(super) fn judge_silence(
    views: &Views<'_>,
    launch: &LaunchView<'_>,
    asked: &Exchange<'_>,
    tally: &mut Tally,
) {
    let request = asked.request.event;
    if opening_had_failed(launch, request) {
        return;
    }
    if let Some(quit) = quit_unasked(launch, request.at) {
        tally.broken(
            format!("the runner ended without answering {}", asked.method()),
            &[request, quit],
        );
        return;
    }
    let until = answerable_until(launch, asked);
    let waited = until.saturating_sub(request.at);
    if waited < DUE {
        return;
    }
    let events = cited(launch, &[request]);
    let said = format!("{} got no answer in {}", asked.method(), milliseconds(waited));
    if machine_was_late(views, request.at, until, waited) {
        tally.inconclusive(said, &events);
    } else {
        tally.broken(said, &events);
    }
}

/// Until when an answer could be given and would have been seen: the stop, or the end of either direction.
fn answerable_until(launch: &LaunchView<'_>, asked: &Exchange<'_>) -> u64 {
    let cut = launch.events.iter().find(|event| {
        event.sequence > asked.request.event.sequence
            && match &event.fact {
                Fact::Wire(
                    Wire::EndOfInput { agent }
                    | Wire::StdoutClosed { agent }
                    | Wire::Ending { agent, .. }
                    | Wire::AgentEnded { agent },
                ) => *agent == asked.request.agent,
                _ => false,
            }
    });
    cut.map_or(u64::MAX, |event| event.at).min(free_until(launch))
}

/// The runner's exit after `after`, if nothing in the history gives it a reason: no stop, no end of its input, no
/// Ctrl-C, and its agent was there and listening.
pub(in crate::contract) fn quit_unasked<'h>(launch: &LaunchView<'h>, after: u64) -> Option<&'h Event> {
    let exit = launch
        .runner_exit()
        .filter(|exit| exit.at >= after && exit.at <= launch.end_of_free_run())?;
    let agent_gone = launch
        .agents
        .iter()
        .any(|agent| ended_on_its_own(launch, agent.number).is_some());
    let interrupted = was_put_in(launch, 0x03, exit.at)
        || launch.events.iter().any(|event| {
            event.at <= exit.at
                && matches!(
                    event.fact,
                    Fact::Step(Step::Interrupted) | Fact::Wire(Wire::StdoutClosed { .. })
                )
        });
    (!agent_gone && !interrupted && !input_may_have_ended(launch)).then_some(exit)
}

/// Whether a message is a response of the runner.
pub(super) fn is_response(message: &Message<'_>) -> bool {
    message.to_agent() && message.shape == Shape::Response
}

/// Whether the agent had written bytes that are no frame of its own making before that response: they may hold a
/// request that it answers, or noise that a runner answers with a parse error.
pub(super) fn wrote_raw_before(launch: &LaunchView<'_>, response: &Message<'_>) -> bool {
    launch.events.iter().any(|event| {
        event.sequence < response.event.sequence
            && matches!(event.fact, Fact::Wire(Wire::FromAgentRaw { agent, .. }) if agent == response.agent)
    })
}
