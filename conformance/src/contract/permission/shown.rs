//! Whether a person at the pane could read what was asked.

use serde_json::Value;

use super::super::evidence::shown_text::{ShownText, Written};
use super::super::finding::{Finding, Tally};
use super::super::grace::{DUE, machine_was_late};
use super::super::quote::quoted;
use super::super::watch::{cited, free_until};
use super::requests::{ordinary, turn_of};
use crate::history::Event;
use crate::history::views::{Exchange, LaunchView, Message, Views, milliseconds};

/// So much of a title or an input has to be there, in characters that are not blank.
const ENOUGH: usize = 40;

pub(super) fn shown(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for asked in ordinary(launch) {
            let request = asked.request.event;
            let words = Words::of(launch, asked);
            if let Some((text, event)) = words.first_shown(launch, launch.end_of_free_run()) {
                tally.held(format!("the pane showed {}", quoted(text)), &[request, event]);
                continue;
            }
            // Outside a turn it is the runner's choice what to make of it.
            if turn_of(launch, asked).is_none() || words.could_be_others {
                continue;
            }
            let until = free_until(launch);
            let watched = until.saturating_sub(request.at);
            if watched < DUE {
                continue;
            }
            let events = cited(launch, &[request]);
            let said = format!(
                "{} was not in the pane in {}",
                words.told(),
                milliseconds(watched)
            );
            if machine_was_late(views, request.at, until, watched) {
                tally.inconclusive(said, &events);
            } else {
                tally.broken(said, &events);
            }
        }
    }
    tally.finding()
}

/// More texts than that of one input are not looked for.
const MOST_TEXTS: usize = 32;

/// The texts of which one must be shown for a request.
struct Words {
    texts: Vec<String>,
    /// From when on they count: an earlier update of the same tool call may have brought them to the pane already.
    from: u64,
    /// What the input says can't be told from these texts alone: it holds none, or too many.
    could_be_others: bool,
}

impl Words {
    fn of(launch: &LaunchView<'_>, asked: &Exchange<'_>) -> Self {
        let request = &asked.request;
        let id = request.text_at("/params/toolCall/toolCallId").unwrap_or_default();
        let updates: Vec<&Message<'_>> = updates_of(launch, request, id).collect();
        let from = updates.first().map_or(request.event.at, |update| update.event.at);
        let known = |texts| Self {
            texts,
            from,
            could_be_others: false,
        };
        let title = request
            .text_at("/params/toolCall/title")
            .filter(|title| is_text(title));
        if let Some(title) = title {
            return known(vec![title.to_owned()]);
        }
        let earlier: Vec<String> = updates
            .iter()
            .filter_map(|update| update.text_at("/params/update/title"))
            .filter(|title| is_text(title))
            .map(str::to_owned)
            .collect();
        if !earlier.is_empty() {
            return known(earlier);
        }
        let inputs = updates
            .iter()
            .filter_map(|update| update.at("/params/update/rawInput"))
            .chain(request.at("/params/toolCall/rawInput"))
            .filter(|input| !input.is_null());
        let mut texts = Vec::new();
        let mut any_input = false;
        for input in inputs {
            any_input = true;
            texts_within(input, &mut texts);
        }
        let could_be_others = any_input && (texts.is_empty() || texts.len() > MOST_TEXTS);
        texts.truncate(MOST_TEXTS);
        texts.push(id.to_owned());
        Self {
            texts,
            from,
            could_be_others,
        }
    }

    /// The first of the texts that was shown, as it is or as JSON writes it.
    fn first_shown<'w, 'h>(&'w self, launch: &LaunchView<'h>, until: u64) -> Option<(&'w str, &'h Event)> {
        let written = Written::between(launch, self.from, until);
        self.first(|text| text.first_written(&written))
            .or_else(|| self.first(|text| text.first_on_screen(launch, self.from, until)))
    }

    fn first<'h>(&self, find: impl Fn(&ShownText) -> Option<&'h Event>) -> Option<(&str, &'h Event)> {
        let find = |text: &str| find(&ShownText::first_of(text, ENOUGH).first_line());
        self.texts.iter().find_map(|text| {
            let escaped = Value::from(text.as_str()).to_string();
            let escaped = escaped.trim_matches('"');
            let in_json = || (escaped != text).then(|| find(escaped)).flatten();
            find(text).or_else(in_json).map(|event| (text.as_str(), event))
        })
    }

    fn told(&self) -> String {
        let texts: Vec<String> = self.texts.iter().take(3).map(|text| quoted(text)).collect();
        texts.join(" or ")
    }
}

fn is_text(text: &str) -> bool {
    !ShownText::first_of(text, ENOUGH).is_empty()
}

/// What the agent said of that tool call before the request, in order.
fn updates_of<'v, 'h>(
    launch: &'v LaunchView<'h>,
    request: &Message<'h>,
    tool_call: &str,
) -> impl Iterator<Item = &'v Message<'h>> {
    let (agent, before) = (request.agent, request.event.sequence);
    launch.messages.iter().filter(move |message| {
        let kind = message.text_at("/params/update/sessionUpdate");
        message.agent == agent
            && !message.to_agent()
            && message.event.sequence < before
            && message.method() == Some("session/update")
            && matches!(kind, Some("tool_call" | "tool_call_update"))
            && message.text_at("/params/update/toolCallId") == Some(tool_call)
    })
}

/// Every text inside a JSON value.
fn texts_within(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if is_text(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| texts_within(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| texts_within(value, texts)),
        _ => {}
    }
}
