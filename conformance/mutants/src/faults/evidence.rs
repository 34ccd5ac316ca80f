//! Faults of what the pane gives as evidence.

use reference_runner::Crossing;

use crate::Mutant;
use crate::altered::{on_crossing, on_launch, on_shown};
use crate::shown::{MIRRORED_PROMPT, show};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "prompt-not-mirrored",
        clause: "evidence.prompt-mirrored",
        fault: "does not show accepted prompts",
        edge: || on_shown(|_, text| text.contains(MIRRORED_PROMPT).then(Vec::new)),
    },
    Mutant {
        name: "prompt-announced-only",
        clause: "evidence.prompt-mirrored",
        fault: "shows that a prompt was accepted, and not which",
        edge: || {
            on_shown(|_, text| {
                text.contains(MIRRORED_PROMPT)
                    .then(|| vec![show(format!("{MIRRORED_PROMPT}(a message)\r\n"))])
            })
        },
    },
    Mutant {
        name: "prompt-mirrored-spaced",
        clause: "evidence.verify",
        fault: "mirrors prompts in words that `rig send --verify` does not find",
        edge: || {
            on_shown(|_, text| {
                let text = text.contains(MIRRORED_PROMPT).then(|| text.to_uppercase())?;
                Some(vec![show(text)])
            })
        },
    },
    Mutant {
        name: "token-shown",
        clause: "evidence.no-secrets",
        fault: "shows the token in the pane",
        edge: || {
            on_crossing(|seen, crossing| {
                let token = seen.token.as_deref()?;
                let says = matches!(crossing, Crossing::Record(_));
                says.then(|| {
                    vec![
                        crossing.clone(),
                        show(format!("· posting with token {token}\r\n")),
                    ]
                })
            })
        },
    },
    Mutant {
        name: "token-in-arguments",
        clause: "evidence.no-secrets",
        fault: "puts the token among the agent's arguments",
        edge: || {
            on_launch(|facts| {
                let token = facts.endpoint.as_ref().map(|endpoint| endpoint.token.clone());
                facts.agent.extend(token);
            })
        },
    },
];
