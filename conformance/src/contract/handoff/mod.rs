//! §2: what OpenRig hands over at a launch beside the conversation: the first input and the model.

mod first_input;
mod model;
mod offer;
#[cfg(test)]
mod tests;

use super::clause::{Clause, Group, Level::*};

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "handoff.first-input",
        level: Must,
        basis: "§2",
        text: "with first_input: the file's text is the first prompt, once, before any typed one",
        judge: first_input::first_input,
    },
    Clause {
        id: "handoff.first-input-not-on-resume",
        level: Info,
        basis: "read",
        text: "it is not submitted again by a resume",
        judge: first_input::first_input_not_on_resume,
    },
    Clause {
        id: "handoff.model",
        level: Must,
        basis: "§2",
        text: "with passes_model: OPENRIG_MODEL reaches the agent (a config option or model call, an argument or its \
               environment) before the first prompt, on reopen too",
        judge: model::model,
    },
    Clause {
        id: "handoff.model-unapplied",
        level: Should,
        basis: "read",
        text: "a model the agent refuses is said in the pane, never silently replaced",
        judge: model::model_unapplied,
    },
];
