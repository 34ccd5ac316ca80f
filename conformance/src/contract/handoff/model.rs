//! The seat's declared model: on its way to the agent, and what is said where it is not taken.

use serde_json::Value;

use super::super::finding::{Finding, Tally};
use super::super::grace::{DUE, machine_was_late};
use super::super::identity::opening::{agent_left, holds_text, opened};
use super::super::quote::quoted;
use super::super::watch::{cited, free_after};
use super::offer::Offer;
use crate::history::views::{Exchange, LaunchView, Views, milliseconds};
use crate::history::{Event, Fact, Pane, Wire};

/// OpenRig's own variable: what a runner leaves there reaches an agent only by chance.
const VARIABLE: &str = "OPENRIG_MODEL";

/// A launch with a model on an open conversation.
struct Handed<'v, 'h> {
    launch: &'v LaunchView<'h>,
    model: &'h str,
    offer: Offer<'v>,
    /// The answer that opened the conversation.
    answer: &'h Event,
    agent: u32,
}

fn handed<'v, 'h>(launch: &'v LaunchView<'h>) -> Option<Handed<'v, 'h>> {
    let model = launch
        .facts
        .model
        .as_deref()
        .filter(|model| !model.trim().is_empty())?;
    let opened = opened(launch)?;
    Some(Handed {
        launch,
        model,
        offer: Offer::of(opened.answer.at("/result").unwrap_or(&Value::Null)),
        answer: opened.answer.event,
        agent: opened.answer.agent,
    })
}

/// The ways by which a model can reach its agent.
enum Way<'v, 'h> {
    /// In a call on the wire.
    Call(&'v Exchange<'h>),
    /// In an argument, or a variable of the agent's own.
    Start(&'h Event),
}

impl<'h> Way<'_, 'h> {
    fn event(&self) -> &'h Event {
        match self {
            Self::Call(call) => call.request.event,
            Self::Start(started) => started,
        }
    }
}

impl<'v, 'h> Handed<'v, 'h> {
    fn start(&self) -> Option<&'h Event> {
        let agent = self
            .launch
            .agents
            .iter()
            .find(|agent| agent.number == self.agent)?;
        Some(agent.started)
    }

    /// The first way by which the model reached the agent before `until`.
    fn way(&self, until: u64) -> Option<Way<'v, 'h>> {
        let call = self.calls().find(|call| call.request.event.at < until);
        let by_start = || self.start().filter(|started| self.is_in_start(started));
        call.map(Way::Call).or_else(|| by_start().map(Way::Start))
    }

    /// Calls that name the model: the two that are for it, one of the agent's own, or the opening itself.
    fn calls(&self) -> impl Iterator<Item = &'v Exchange<'h>> {
        let launch: &'v LaunchView<'h> = self.launch;
        launch
            .requests
            .iter()
            .filter(|call| call.request.agent == self.agent && call.method() != "session/prompt")
            .filter(|call| {
                call.method() != "session/set_config_option"
                    || self
                        .offer
                        .may_be_chosen_by(call.request.text_at("/params/configId"))
            })
            .filter(|call| {
                let parameters = call.request.at("/params").unwrap_or(&Value::Null);
                holds_text(parameters, &|text| self.offer.means(text, self.model))
            })
    }

    fn is_in_start(&self, started: &Event) -> bool {
        let Fact::Wire(Wire::AgentStarted {
            arguments,
            environment,
            ..
        }) = &started.fact
        else {
            return false;
        };
        arguments
            .iter()
            .skip(1)
            .any(|argument| argument.contains(self.model))
            || environment
                .iter()
                .any(|(name, value)| name != VARIABLE && value.contains(self.model))
    }

    fn is_left_in_environment(&self, started: &Event) -> bool {
        matches!(&started.fact, Fact::Wire(Wire::AgentStarted { environment, .. })
            if environment.get(VARIABLE).is_some_and(|value| value == self.model))
    }

    /// The output in which the pane spoke of the model after `from`, in whatever words.
    fn said_after(&self, from: u64) -> Option<&'h Event> {
        let until = self.launch.end_of_free_run();
        let spoken = [self.model, "model", "Model", "MODEL"];
        let anew = spoken
            .iter()
            .find_map(|word| self.launch.first_shown(word, from, until));
        // One that paints its whole screen anew shows no more than it did.
        anew.or_else(|| {
            self.launch.output_between(from, until).find(|event| {
                matches!(&event.fact, Fact::Pane(Pane::Output { bytes }) if {
                    let text = String::from_utf8_lossy(&bytes.0);
                    text.contains(self.model) || text.to_ascii_lowercase().contains("model")
                })
            })
        })
    }
}

pub(super) fn model(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for handed in views.launches.iter().filter_map(handed) {
        judge_model(&handed, &mut tally);
    }
    tally.finding()
}

fn judge_model(handed: &Handed<'_, '_>, tally: &mut Tally) {
    let first = handed
        .launch
        .prompts
        .iter()
        .find(|prompt| prompt.at() >= handed.answer.at);
    let until = first.map_or(u64::MAX, |prompt| prompt.at());
    let model = quoted(handed.model);
    if let Some(way) = handed.way(until) {
        let said = match &way {
            Way::Call(call) => format!("{model} was asked for by {}", call.method()),
            Way::Start(_) => format!("{model} was given to the agent at its start"),
        };
        tally.held(said, &[handed.launch.event, way.event()]);
        return;
    }
    let Some(start) = handed.start() else { return };
    if handed.offer.is_empty() && handed.is_left_in_environment(start) {
        let said = format!("the agent offers no choice of model and has {model} in its environment");
        tally.held(said, &[handed.launch.event, start, handed.answer]);
        return;
    }
    // Until the first prompt it may still come.
    let Some(first) = first else { return };
    let events = [handed.launch.event, handed.answer, first.exchange.request.event];
    if handed.offer.has(handed.model) {
        tally.broken(
            format!("the agent offers {model}, and it was not asked for before the first prompt"),
            &events,
        );
    } else if handed.offer.is_empty() && handed.said_after(start.at).is_none() {
        tally.broken(
            format!(
                "{model} is in no call, no argument and no variable of the agent's, and the pane does not speak of it"
            ),
            &events,
        );
    }
}

pub(super) fn model_unapplied(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for handed in views.launches.iter().filter_map(handed) {
        let Some((refusal, why)) = refusal(&handed) else {
            if let Some(started) = handed.start().filter(|started| handed.is_in_start(started)) {
                let said = "the model is given to the agent at its start, which answers nothing to that";
                tally.not_applicable(said, &[handed.launch.event, started]);
            }
            continue;
        };
        if let Some(shown) = handed.said_after(refusal.at) {
            tally.held(format!("{why}, and the pane says so"), &[refusal, shown]);
            continue;
        }
        let watched = free_after(handed.launch, refusal.at);
        let due = refusal.at.saturating_add(DUE);
        if watched < DUE || agent_left(handed.launch, handed.agent, 0, due).is_some() {
            continue;
        }
        let said = format!(
            "{why}, and the pane did not speak of it in {}",
            milliseconds(watched)
        );
        let events = cited(handed.launch, &[handed.launch.event, refusal]);
        if machine_was_late(views, refusal.at, handed.launch.end_of_free_run(), watched) {
            tally.inconclusive(said, &events);
        } else {
            tally.broken(said, &events);
        }
    }
    tally.finding()
}

/// The event by which the agent would not have the model: it answered the call with an error, or offers others only.
fn refusal<'h>(handed: &Handed<'_, 'h>) -> Option<(&'h Event, String)> {
    let model = quoted(handed.model);
    let opening = |call: &Exchange<'_>| {
        matches!(
            call.method(),
            "initialize" | "session/new" | "session/load" | "session/resume"
        )
    };
    let mut calls = handed.calls().filter(|call| !opening(call)).peekable();
    if calls.peek().is_none() {
        let given = handed.start().is_some_and(|started| handed.is_in_start(started));
        let others_only = !handed.offer.is_empty() && !handed.offer.has(handed.model) && !given;
        return others_only.then(|| {
            (
                handed.answer,
                format!("the agent offers other models than {model}"),
            )
        });
    }
    // Refused one way, it may have been taken another.
    let mut refused = None;
    for call in calls {
        let answer = call.answers.first()?;
        call.error()?;
        refused = Some((answer.event, format!("the agent refused {model}")));
    }
    refused
}
