//! Faults of handing over the first input and the model.

use std::fs;

use reference_runner::Crossing;
use serde_json::{Value, json};

use crate::Mutant;
use crate::altered::{
    on_launch, on_launch_and_crossing, on_message_from_agent, on_message_to_agent, on_record, on_shown,
};
use crate::messages::{from_agent, is, prompt_text, result, to_agent};
use crate::pastes::typed_message;
use crate::records::put;
use crate::shown::MODEL_NOT_APPLIED;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "first-input-ignored",
        clause: "handoff.first-input",
        fault: "does not read OPENRIG_FIRST_INPUT",
        edge: || on_launch(|facts| facts.first_input = None),
    },
    Mutant {
        name: "first-input-twice",
        clause: "handoff.first-input",
        fault: "submits the first input twice",
        edge: first_input_twice,
    },
    Mutant {
        name: "first-input-path-submitted",
        clause: "handoff.first-input",
        fault: "submits the path of the first input instead of its text",
        edge: first_input_path_submitted,
    },
    Mutant {
        name: "first-input-after-typed",
        clause: "handoff.first-input",
        fault: "submits what was typed before the first input",
        edge: first_input_after_typed,
    },
    Mutant {
        name: "first-input-first-line",
        clause: "handoff.first-input",
        fault: "submits the first line of the first input alone",
        edge: first_line_alone,
    },
    Mutant {
        name: "first-input-after-reopen",
        clause: "handoff.first-input-not-on-resume",
        fault: "submits the first input again in a reopened conversation",
        edge: || {
            on_record(|seen, record| {
                seen.to_reopen.as_deref()?;
                let text = fs::read_to_string(seen.first_input.as_ref()?).ok()?;
                Some(vec![put(&record), typed_message(text.trim_end())])
            })
        },
    },
    Mutant {
        name: "model-ignored",
        clause: "handoff.model",
        fault: "does not pass OPENRIG_MODEL on",
        edge: || on_launch(|facts| facts.model = None),
    },
    Mutant {
        name: "model-ignored-on-reopen",
        clause: "handoff.model",
        fault: "does not pass OPENRIG_MODEL on when it reopens a conversation",
        edge: || {
            on_launch(|facts| {
                if facts.resume_reference.is_some() {
                    facts.model = None;
                }
            })
        },
    },
    Mutant {
        name: "model-after-first-prompt",
        clause: "handoff.model",
        fault: "asks for the model only once the first prompt is out",
        edge: model_after_first_prompt,
    },
    Mutant {
        name: "model-refusal-hidden",
        clause: "handoff.model-unapplied",
        fault: "does not say that the agent refused the model",
        edge: || on_shown(|_, text| text.contains(MODEL_NOT_APPLIED).then(Vec::new)),
    },
];

fn first_input_twice() -> Box<dyn reference_runner::Edge> {
    let mut is_submitted = false;
    let mut is_first = true;
    on_message_from_agent(move |seen, message| {
        let is_due = seen.ends_turn(&message) && std::mem::take(&mut is_first) && !is_submitted;
        let path = seen
            .first_input
            .as_ref()
            .filter(|_| is_due && seen.to_reopen.is_none())?;
        is_submitted = true;
        let text = fs::read_to_string(path).ok()?;
        Some(vec![from_agent(&message), typed_message(text.trim_end())])
    })
}

fn first_input_after_typed() -> Box<dyn reference_runner::Edge> {
    let mut is_due = true;
    on_launch_and_crossing(
        |facts| facts.first_input = None,
        move |seen, crossing| {
            let Crossing::FromAgent(line) = crossing else {
                return None;
            };
            let message: Value = serde_json::from_str(line).ok()?;
            let path = seen.first_input.as_ref().filter(|_| seen.to_reopen.is_none())?;
            if !seen.ends_turn(&message) || !std::mem::take(&mut is_due) {
                return None;
            }
            let text = fs::read_to_string(path).ok()?;
            Some(vec![from_agent(&message), typed_message(text.trim_end())])
        },
    )
}

fn first_line_alone() -> Box<dyn reference_runner::Edge> {
    let mut is_first = true;
    on_message_to_agent(move |seen, mut message| {
        seen.first_input.as_ref().filter(|_| seen.to_reopen.is_none())?;
        if !is(&message, "session/prompt") || !std::mem::take(&mut is_first) {
            return None;
        }
        let line = prompt_text(&message)?.lines().next()?.to_owned();
        message["params"]["prompt"][0]["text"] = line.into();
        Some(vec![to_agent(&message)])
    })
}

fn model_after_first_prompt() -> Box<dyn reference_runner::Edge> {
    let mut held_back = None;
    on_message_to_agent(move |_, mut message| {
        if is(&message, "session/set_config_option") || is(&message, "session/set_model") {
            let done = result(message["id"].clone(), json!({"configOptions": []}));
            message["id"] = "late-model".into();
            held_back = Some(message);
            return Some(vec![from_agent(&done)]);
        }
        let late = held_back.take_if(|_| is(&message, "session/prompt"))?;
        Some(vec![to_agent(&message), to_agent(&late)])
    })
}

fn first_input_path_submitted() -> Box<dyn reference_runner::Edge> {
    let mut is_first = true;
    on_message_to_agent(move |seen, mut message| {
        let path = seen.first_input.as_ref().filter(|_| seen.to_reopen.is_none())?;
        if !is(&message, "session/prompt") || !std::mem::take(&mut is_first) {
            return None;
        }
        prompt_text(&message)?;
        message["params"]["prompt"][0]["text"] = path.to_string_lossy().into();
        Some(vec![to_agent(&message)])
    })
}
