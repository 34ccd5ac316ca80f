//! Whether a declared resume was proved by the run itself.

use super::preset::{Declaration, DeclarationFinding};
use crate::contract::finding::Decided;

/// What one seat's history shows of reopening conversations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reopened {
    /// A conversation that had a turn was reopened twice over.
    pub(crate) twice: Option<Decided>,
    /// A missing one was refused: nothing was opened in its place and no record names a conversation.
    pub(crate) missing_refused: Option<Decided>,
    /// Something that no runner does which can reopen.
    pub(crate) disproved: Option<Decided>,
}

pub(super) fn resume_proven(declaration: &Declaration<'_>) -> DeclarationFinding {
    let Ok(preset) = &declaration.parsed else {
        return DeclarationFinding::unread();
    };
    let place = declaration.place("resume");
    if !preset.resume {
        return DeclarationFinding::not_applicable("the preset does not declare resume").at(place);
    }
    let Some(reopened) = &declaration.reopened else {
        return DeclarationFinding::unread().at(place);
    };
    let find = |part: fn(&Reopened) -> Option<&Decided>| {
        reopened
            .iter()
            .find_map(|(scenario, reopened)| Some((*scenario, part(reopened)?)))
    };
    if let Some((scenario, against)) = find(|reopened| reopened.disproved.as_ref()) {
        return DeclarationFinding::broken(format!(
            "resume: true is declared, and the run disproves it: {}",
            against.said
        ))
        .seen_in(scenario, &against.events)
        .at(place);
    }
    let twice = find(|reopened| reopened.twice.as_ref());
    let refused = find(|reopened| reopened.missing_refused.as_ref());
    match (twice, refused) {
        (Some((scenario, twice)), Some((other, refused))) => {
            DeclarationFinding::held(format!("{}; {} ({other})", twice.said, refused.said))
                .seen_in(scenario, &twice.events)
        }
        _ => DeclarationFinding::unread(),
    }
    .at(place)
}
