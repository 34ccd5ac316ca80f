//! How a launch came to its conversation, or failed to: what the clauses on identity and on resume both start from.
//!
//! Only the agent's lines and the ends of processes are asked here, never what the runner claims.

use serde_json::Value;

use super::super::finding::Tally;
use super::super::grace::{DUE, SECOND};
use super::absence::judge_missed;
use crate::history::views::{Exchange, LaunchView, Message, RecordVersion, Views};
use crate::history::{Event, Fact, Process, RecordChange, Wire};

/// A request answered later than this may have been given up before: what follows is free (reading 16).
const GIVEN_UP: u64 = 8 * SECOND;

/// ACP's own methods; another one may be an agent's own way to reopen (reading 15).
const KNOWN_METHODS: [&str; 15] = [
    "initialize",
    "authenticate",
    "logout",
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
    "session/list",
    "session/close",
    "session/delete",
    "session/prompt",
    "session/cancel",
    "session/set_mode",
    "session/set_model",
    "session/set_config_option",
];

/// Everything that opens or reopens a conversation, whether this launch asked for it or not.
pub(in crate::contract) fn all_openings<'v, 'h>(
    launch: &'v LaunchView<'h>,
) -> impl Iterator<Item = &'v Exchange<'h>> {
    launch.requests.iter().filter(|exchange| {
        matches!(
            exchange.method(),
            "session/new" | "session/load" | "session/resume"
        ) || is_own_method(launch, exchange)
    })
}

/// What was to bring this launch to its conversation: `session/new`, or on a resume whatever reopens.
pub(in crate::contract) fn openings<'v, 'h>(
    launch: &'v LaunchView<'h>,
) -> impl Iterator<Item = &'v Exchange<'h>> {
    all_openings(launch).filter(|exchange| (exchange.method() == "session/new") != launch.is_resume())
}

fn is_own_method(launch: &LaunchView<'_>, exchange: &Exchange<'_>) -> bool {
    let reference = launch.facts.resume_ref.as_deref();
    let parameters = exchange.request.at("/params");
    reference
        .zip(parameters)
        .is_some_and(|(reference, parameters)| holds_text(parameters, &|text| text == reference))
        && !KNOWN_METHODS.contains(&exchange.method())
}

/// Whether any text in `value`, however deep, satisfies `wanted`.
pub(in crate::contract) fn holds_text(value: &Value, wanted: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => wanted(text),
        Value::Array(items) => items.iter().any(|item| holds_text(item, wanted)),
        Value::Object(members) => members.values().any(|member| holds_text(member, wanted)),
        _ => false,
    }
}

/// A conversation that was opened, or reopened on a resume.
pub(in crate::contract) struct Opened<'v, 'h> {
    pub(in crate::contract) exchange: &'v Exchange<'h>,
    pub(in crate::contract) answer: &'v Message<'h>,
}

/// The first opening that succeeded; a `session/new` only if it gave an id.
pub(in crate::contract) fn opened<'v, 'h>(launch: &'v LaunchView<'h>) -> Option<Opened<'v, 'h>> {
    openings(launch)
        .filter(|exchange| exchange.succeeded())
        .find_map(|exchange| {
            let answer = exchange.answers.first()?;
            (launch.is_resume() || answer.text_at("/result/sessionId").is_some())
                .then_some(Opened { exchange, answer })
        })
}

/// How no conversation came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::contract) enum How {
    /// The agent answered with an error.
    Refused,
    /// The agent never answered.
    Unanswered,
    /// The agent's process ended before it answered.
    AgentGone,
    /// A resume of an agent that advertises no way to reopen, and none was tried.
    NoMethod,
    /// The agent speaks another protocol version, and nothing was opened.
    OtherVersion,
}

/// That no conversation came about in a launch.
pub(in crate::contract) struct Failure<'h> {
    pub(in crate::contract) how: How,
    /// Since when, in nanoseconds.
    pub(in crate::contract) at: u64,
    /// For people.
    pub(in crate::contract) said: String,
    /// The deciding events.
    pub(in crate::contract) events: Vec<&'h Event>,
}

/// Why this launch has no conversation by its end; `None` if it has one, or if the runner just never asked for one.
pub(in crate::contract) fn failure<'h>(launch: &LaunchView<'h>) -> Option<Failure<'h>> {
    if openings(launch).any(Exchange::succeeded) {
        return None;
    }
    let failed = |how, at: u64, said: String, events: Vec<&'h Event>| {
        Some(Failure {
            how,
            at,
            said,
            events,
        })
    };
    let asked = openings(launch).last().or_else(|| initialize(launch));
    let Some(asked) = asked else {
        let gone = launch
            .agents
            .last()
            .and_then(|agent| agent_left(launch, agent.number, 0, u64::MAX))?;
        return failed(
            How::AgentGone,
            gone.at,
            "the agent ended before it was asked anything".into(),
            vec![gone],
        );
    };
    let (method, request) = (asked.method(), asked.request.event);
    let Some(answer) = asked.answers.first() else {
        let left = agent_left(launch, asked.request.agent, request.at, u64::MAX);
        // An agent that only closed its output is as silent as one that does not answer.
        return match left.filter(|event| !matches!(event.fact, Fact::Wire(Wire::StdoutClosed { .. }))) {
            Some(gone) => failed(
                How::AgentGone,
                gone.at,
                format!("the agent ended without an answer to {method}"),
                vec![request, gone],
            ),
            None => failed(
                How::Unanswered,
                request.at,
                format!("the agent left {method} unanswered"),
                vec![request],
            ),
        };
    };
    let events = vec![request, answer.event];
    if let Some(error) = asked.error() {
        let code = error
            .get("code")
            .map_or_else(String::new, |code| format!(" {code}"));
        return failed(
            How::Refused,
            answer.event.at,
            format!("{method} was answered with error{code}"),
            events,
        );
    }
    if let Some(version) = other_version(asked) {
        return failed(
            How::OtherVersion,
            answer.event.at,
            format!("the agent answered protocol version {version}"),
            events,
        );
    }
    if method == "initialize" && launch.is_resume() && !advertises_load(answer) && !advertises_resume(answer)
    {
        return failed(
            How::NoMethod,
            answer.event.at,
            "the agent advertises no way to reopen".into(),
            events,
        );
    }
    None
}

/// The newest `initialize` of the launch.
pub(in crate::contract) fn initialize<'v, 'h>(launch: &'v LaunchView<'h>) -> Option<&'v Exchange<'h>> {
    launch
        .requests
        .iter()
        .rev()
        .find(|exchange| exchange.method() == "initialize")
}

/// The protocol version that the agent answered, if it is neither 1 nor the one the runner asked for.
pub(in crate::contract) fn other_version(initialize: &Exchange<'_>) -> Option<f64> {
    let asked = initialize
        .request
        .at("/params/protocolVersion")
        .and_then(Value::as_f64);
    let answered = initialize
        .answers
        .first()?
        .at("/result/protocolVersion")?
        .as_f64()?;
    (initialize.method() == "initialize" && answered != 1.0 && asked != Some(answered)).then_some(answered)
}

/// Whether an answer to initialize offers `session/load`.
pub(in crate::contract) fn advertises_load(answer: &Message<'_>) -> bool {
    is_offered(answer.at("/result/agentCapabilities/loadSession"))
}

/// Whether an answer to initialize offers `session/resume`.
pub(in crate::contract) fn advertises_resume(answer: &Message<'_>) -> bool {
    is_offered(answer.at("/result/agentCapabilities/sessionCapabilities/resume"))
}

fn is_offered(capability: Option<&Value>) -> bool {
    !matches!(capability, None | Some(Value::Null | Value::Bool(false)))
}

/// The event by which an agent left of its own accord between two times: not because its input ended or the runner did.
pub(in crate::contract) fn agent_left<'h>(
    launch: &LaunchView<'h>,
    agent: u32,
    from: u64,
    until: u64,
) -> Option<&'h Event> {
    for event in launch
        .events
        .iter()
        .copied()
        .take_while(|event| event.at <= until)
    {
        match &event.fact {
            Fact::Wire(Wire::EndOfInput { agent: of }) if *of == agent => return None,
            Fact::Process(Process::RunnerExited { .. }) => return None,
            Fact::Wire(
                Wire::StdoutClosed { agent: of }
                | Wire::Ending { agent: of, .. }
                | Wire::AgentEnded { agent: of },
            ) if *of == agent && event.at >= from => return Some(event),
            _ => {}
        }
    }
    None
}

/// Versions of the record that the runner wrote: not what stood there before, nor that again.
pub(in crate::contract) fn written<'v, 'h>(
    launch: &'v LaunchView<'h>,
) -> impl Iterator<Item = &'v RecordVersion<'h>> {
    let stood = launch
        .records
        .iter()
        .find(|version| version.change == RecordChange::Stood);
    launch.records.iter().filter(move |version| {
        !matches!(version.change, RecordChange::Stood | RecordChange::Removed)
            && stood.is_none_or(|stood| stood.raw.is_none() || stood.raw != version.raw)
    })
}

/// The versions of this launch's own attempt.
pub(in crate::contract) fn of_attempt<'v, 'h>(
    launch: &'v LaunchView<'h>,
) -> impl Iterator<Item = &'v RecordVersion<'h>> {
    written(launch).filter(|version| version.is_of(&launch.facts.attempt))
}

/// Judges that no record followed a successful opening, if one had to.
pub(in crate::contract) fn judge_absence(
    views: &Views<'_>,
    launch: &LaunchView<'_>,
    opened: &Opened<'_, '_>,
    tally: &mut Tally,
) {
    let Some(from) = record_due_from(launch, opened) else {
        return;
    };
    let until = from.saturating_add(DUE);
    if agent_left(launch, opened.answer.agent, opened.answer.event.at, until).is_none() {
        let said = format!("{} succeeded, and no record followed", opened.exchange.method());
        let events = [opened.exchange.request.event, opened.answer.event];
        judge_missed(views, launch, from, &said, &events, tally);
    }
}

/// Whether a runner may leave a conversation alone that the agent said it opened: the answer came late (reading 16),
/// speaks of another session (reading 14) or of one that is not listed (reading 32), or the version is another.
pub(in crate::contract) fn may_be_left(launch: &LaunchView<'_>, opened: &Opened<'_, '_>) -> bool {
    let waited = opened
        .answer
        .event
        .at
        .saturating_sub(opened.exchange.request.event.at);
    let doubtful = launch.facts.resume_ref.as_deref().is_some_and(|reference| {
        names_another_session(opened.answer, reference) || is_not_listed(launch, reference, u64::MAX)
    });
    waited >= GIVEN_UP || doubtful || initialize(launch).and_then(other_version).is_some()
}

/// From when on a record is due after a successful opening; `None` where a runner may leave it out.
fn record_due_from(launch: &LaunchView<'_>, opened: &Opened<'_, '_>) -> Option<u64> {
    let answered = opened.answer.event.at;
    if !launch.facts.record_path_given || may_be_left(launch, opened) {
        return None;
    }
    // A runner may set the mode or the model before it calls the conversation open.
    let mut from = answered;
    for asked in &launch.requests {
        let at = asked.request.event.at;
        if asked.method() != "session/prompt" && at >= answered && at < answered.saturating_add(DUE) {
            from = from.max(asked.answers.first()?.event.at);
        }
    }
    Some(from)
}

/// Whether the answer to a reopening speaks of a session that is not the one asked for.
pub(in crate::contract) fn names_another_session(answer: &Message<'_>, reference: &str) -> bool {
    fn names(value: &Value, reference: &str) -> bool {
        match value {
            Value::Array(items) => items.iter().any(|item| names(item, reference)),
            Value::Object(members) => members.iter().any(|(key, member)| {
                if key.to_lowercase().contains("session") {
                    holds_text(member, &|text| text != reference)
                } else {
                    names(member, reference)
                }
            }),
            _ => false,
        }
    }
    answer
        .at("/result")
        .is_some_and(|result| names(result, reference))
}

/// Whether the agent's `session/list`, read to its end before `until`, does not hold the reference.
pub(in crate::contract) fn is_not_listed(launch: &LaunchView<'_>, reference: &str, until: u64) -> bool {
    let pages: Vec<&Message<'_>> = launch
        .requests
        .iter()
        .filter(|exchange| exchange.method() == "session/list" && exchange.succeeded())
        .filter_map(|exchange| exchange.answers.first())
        .filter(|answer| answer.event.at <= until)
        .collect();
    let lists = |answer: &&Message<'_>| answer.at("/result/sessions").is_some_and(Value::is_array);
    let holds = |answer: &&Message<'_>| {
        let sessions = answer.at("/result/sessions").and_then(Value::as_array);
        sessions
            .into_iter()
            .flatten()
            .any(|session| session.get("sessionId").and_then(Value::as_str) == Some(reference))
    };
    let at_its_end = |answer: &&Message<'_>| answer.at("/result/nextCursor").is_none_or(Value::is_null);
    pages.last().is_some_and(at_its_end) && pages.iter().all(lists) && !pages.iter().any(holds)
}
