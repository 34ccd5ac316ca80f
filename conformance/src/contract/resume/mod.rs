//! §8: exactly the same conversation, or an honest word that it could not be reopened.

mod outcome;
mod own_method;
pub(super) mod proof;
mod replay;
#[cfg(test)]
mod tests;
mod word;

use super::clause::{Clause, Group, Level::*};
use super::finding::{Finding, Tally};
use super::grace::{CROSSING, DUE};
use super::identity::absence::{judge_missed, judge_silence, said_in_pane};
use super::identity::opening::{
    How, Opened, advertises_load, advertises_resume, agent_left, failure, initialize, may_be_left, opened,
    openings,
};
use super::quote::quoted;
use super::watch::cited;
use crate::history::Event;
use crate::history::views::{Exchange, LaunchView, Views, milliseconds};

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "resume.advertised-method",
        level: Must,
        basis: "§8",
        text: "session/load only with loadSession, session/resume only with sessionCapabilities.resume; with neither: \
               no call",
        judge: advertised_method,
    },
    Clause {
        id: "resume.exact-ref",
        level: Must,
        basis: "§8",
        text: "it asks for OPENRIG_RESUME_REF, byte for byte",
        judge: exact_ref,
    },
    Clause {
        id: "resume.never-new",
        level: Must,
        basis: "§8",
        text: "no session/new in a resume launch: at once, after a failure, or at a later prompt",
        judge: never_new,
    },
    Clause {
        id: "resume.record-same-ref",
        level: Must,
        basis: "§8",
        text: "reopened: the record's nativeRef is that ref (a null, {} or modes-only answer is success)",
        judge: outcome::record_same_ref,
    },
    Clause {
        id: "resume.missing-on-agents-word",
        level: Must,
        basis: "§3 §8",
        text: "the agent says it does not exist (-32002 whose data names this session as sessionId, session_id or uri, \
               or -32002 without data, or the answer the runner's profile pins for its agent, or a session/list that \
               does not hold it): error \"missing\"",
        judge: outcome::missing_on_agents_word,
    },
    Clause {
        id: "resume.unconfirmed-otherwise",
        level: Must,
        basis: "§8",
        text: "any other failure (-32603, -32000, -32601, -32002 about a file, silence, exit, no method): no record",
        judge: outcome::unconfirmed_otherwise,
    },
    Clause {
        id: "resume.replay-not-activity",
        level: Must,
        basis: "§4 §8",
        text: "replayed history, before the answer or (seen in the wild) after it, makes no accepted, no Stop, no \
               mirrored prompt",
        judge: replay::replay_not_activity,
    },
    Clause {
        id: "resume.continues",
        level: Must,
        basis: "§8",
        text: "the next prompt goes to the reopened session",
        judge: continues,
    },
    Clause {
        id: "resume.no-prompt-after-failure",
        level: Should,
        basis: "read",
        text: "after missing or unconfirmed no prompt is submitted; it says so in the pane",
        judge: no_prompt_after_failure,
    },
];

/// The launches that were asked to reopen a conversation, each with the reference.
fn resumes<'v, 'h>(views: &'v Views<'h>) -> impl Iterator<Item = (&'v LaunchView<'h>, &'h str)> {
    views
        .launches
        .iter()
        .filter_map(|launch| Some((launch, launch.facts.resume_ref.as_deref()?)))
}

fn advertised_method(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for (launch, reference) in resumes(views) {
        for call in openings(launch) {
            judge_call(launch, call, &mut tally);
        }
        own_method::judge(views, launch, reference, &mut tally);
        let no_method = failure(launch).filter(|failure| failure.how == How::NoMethod);
        if let Some(failure) = no_method
            && launch.watched_after(failure.at) >= CROSSING
        {
            tally.held(
                format!("{}, and none was tried", failure.said),
                &cited(launch, &failure.events),
            );
        }
    }
    tally.finding()
}

/// Judges a call of one of the protocol's two methods.
fn judge_call(launch: &LaunchView<'_>, call: &Exchange<'_>, tally: &mut Tally) {
    let asked = call.request.event;
    let answer = launch
        .requests
        .iter()
        .filter(|exchange| exchange.method() == "initialize" && exchange.request.agent == call.request.agent)
        .find_map(|exchange| exchange.answers.first());
    let (capability, offered) = match call.method() {
        "session/load" => ("loadSession", answer.is_some_and(advertises_load)),
        "session/resume" => (
            "sessionCapabilities.resume",
            answer.is_some_and(advertises_resume),
        ),
        _ => return,
    };
    let events: Vec<&Event> = answer
        .map(|answer| answer.event)
        .into_iter()
        .chain([asked])
        .collect();
    if offered {
        tally.held(
            format!(
                "{} was called, and the agent advertises {capability}",
                call.method()
            ),
            &events,
        );
    } else {
        tally.broken(
            format!(
                "{} was called, and the agent does not advertise {capability}",
                call.method()
            ),
            &events,
        );
    }
}

fn exact_ref(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for (launch, reference) in resumes(views) {
        let calls =
            openings(launch).filter(|call| matches!(call.method(), "session/load" | "session/resume"));
        for call in calls {
            let asked = call.request.text_at("/params/sessionId");
            if asked == Some(reference) {
                tally.held(
                    format!("{} asked for {}", call.method(), quoted(reference)),
                    &[launch.event, call.request.event],
                );
            } else {
                tally.broken(
                    format!(
                        "{} asked for {}; OPENRIG_RESUME_REF is {}",
                        call.method(),
                        asked.map_or_else(|| "no sessionId".into(), quoted),
                        quoted(reference)
                    ),
                    &[launch.event, call.request.event],
                );
            }
        }
    }
    tally.finding()
}

fn never_new(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for (launch, _) in resumes(views) {
        let new = launch
            .messages
            .iter()
            .find(|message| message.to_agent() && message.method() == Some("session/new"));
        if let Some(new) = new {
            tally.broken(
                "session/new was called in a resume launch",
                &[launch.event, new.event],
            );
            continue;
        }
        // The last thing that could have tempted it: an answer to a reopen, or to initialize where nothing followed.
        let Some(answer) = openings(launch)
            .filter_map(|call| call.answers.first())
            .last()
            .or_else(|| initialize(launch)?.answers.first())
        else {
            continue;
        };
        let watched = launch.watched_after(answer.event.at);
        if watched >= CROSSING {
            tally.held(
                format!(
                    "no session/new in the {} after the agent's answer",
                    milliseconds(watched)
                ),
                &cited(launch, &[answer.event]),
            );
        }
    }
    tally.finding()
}

fn continues(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for (launch, reference) in resumes(views) {
        let Some(opened) = opened(launch) else { continue };
        for prompt in launch
            .prompts
            .iter()
            .filter(|prompt| prompt.at() >= opened.answer.event.at)
        {
            let events = [opened.answer.event, prompt.exchange.request.event];
            if prompt.session() == Some(reference) {
                tally.held(format!("the prompt went to {}", quoted(reference)), &events);
            } else {
                tally.broken(
                    format!(
                        "the prompt went to {}; reopened was {}",
                        quoted(prompt.session().unwrap_or_default()),
                        quoted(reference)
                    ),
                    &events,
                );
            }
        }
        if launch.prompts.is_empty() && !may_be_left(launch, &opened) {
            judge_no_prompt(views, launch, &opened, &mut tally);
        }
    }
    tally.finding()
}

/// A message was entered, the conversation is open, and no prompt came at all.
fn judge_no_prompt(views: &Views<'_>, launch: &LaunchView<'_>, opened: &Opened<'_, '_>, tally: &mut Tally) {
    let Some(entered) = launch.messages_to_prompt().find_map(|message| message.entered) else {
        return;
    };
    let answer = opened.answer.event;
    let from = entered.at.max(answer.at);
    let aborted = launch.abort_orders().iter().any(|order| order.at >= entered.at);
    let busy = launch.requests.iter().any(|asked| asked.answers.is_empty());
    let left = agent_left(launch, opened.answer.agent, 0, from.saturating_add(DUE)).is_some();
    if !aborted && !busy && !left {
        let said = "the conversation was reopened, and a message became no prompt";
        judge_missed(views, launch, from, said, &[answer, entered], tally);
    }
}

fn no_prompt_after_failure(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for (launch, _) in resumes(views) {
        let Some(failure) = failure(launch) else { continue };
        if let Some(prompt) = launch.prompts.first() {
            let events: Vec<&Event> = failure
                .events
                .iter()
                .copied()
                .chain([prompt.exchange.request.event])
                .collect();
            tally.broken(format!("{}, and a prompt was submitted", failure.said), &events);
            continue;
        }
        // How soon a runner speaks of mere silence is its own choice, and it may see an exit before the engine does.
        let from = match failure.how {
            How::AgentGone => failure.at.saturating_sub(CROSSING),
            _ => failure.at,
        };
        let shown = said_in_pane(launch, from, launch.end_of_free_run());
        if shown.is_none() && failure.how != How::Unanswered {
            judge_silence(
                views,
                launch,
                failure.at,
                &failure.said,
                &failure.events,
                &mut tally,
            );
        }
        let Some(entered) = launch
            .messages_to_prompt()
            .filter_map(|message| message.entered)
            .last()
        else {
            continue;
        };
        let watched = launch.watched_after(entered.at.max(failure.at));
        if let Some(shown) = shown
            && watched >= CROSSING
        {
            let events: Vec<&Event> = failure.events.iter().copied().chain([entered, shown]).collect();
            tally.held(
                format!(
                    "{}: no prompt in {}, and the pane said something",
                    failure.said,
                    milliseconds(watched)
                ),
                &cited(launch, &events),
            );
        }
    }
    tally.finding()
}
