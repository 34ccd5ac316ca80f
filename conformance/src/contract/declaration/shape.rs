//! What the preset's fields must be, each and together.

use super::preset::{Declaration, DeclarationFinding, Place};

pub(super) fn shape(declaration: &Declaration<'_>) -> DeclarationFinding {
    match &declaration.parsed {
        Ok(preset) if preset.notes.is_empty() => DeclarationFinding::held("format 1, a name, a command"),
        Ok(preset) => DeclarationFinding::held(format!(
            "format 1, a name, a command; beside them, {}",
            preset.notes.join(", ")
        ))
        .at(preset
            .unknown_fields
            .first()
            .and_then(|field| declaration.place(field))),
        Err(fake_openrig::Error::Preset {
            line,
            column,
            problem,
            ..
        }) => DeclarationFinding::broken(problem.clone()).at(Some(Place {
            line: *line,
            column: *column,
        })),
        Err(other) => DeclarationFinding::broken(other.to_string()),
    }
}

pub(super) fn maintainer(declaration: &Declaration<'_>) -> DeclarationFinding {
    let Ok(preset) = &declaration.parsed else {
        return DeclarationFinding::unread();
    };
    match preset.maintainer.as_deref().map(str::trim) {
        Some(name) if !name.is_empty() => DeclarationFinding::held(format!("maintainer: {name}")),
        Some(_) => DeclarationFinding::broken("the maintainer is blank"),
        None => DeclarationFinding::broken("no maintainer is named"),
    }
    .at(declaration
        .place("maintainer")
        .or_else(|| declaration.place("name")))
}

pub(super) fn launch_result_required(declaration: &Declaration<'_>) -> DeclarationFinding {
    let preset = match declaration.runner() {
        Ok(preset) => preset,
        Err(instead) => return instead,
    };
    if preset.launch_result {
        return DeclarationFinding::held("runner: true and launch_result: true")
            .at(declaration.place("launch_result"));
    }
    let said = declaration.place("launch_result");
    let words = if said.is_some() {
        "runner: true with launch_result: false"
    } else {
        "runner: true without launch_result: true"
    };
    DeclarationFinding::broken(words).at(said.or_else(|| declaration.place("runner")))
}

pub(super) fn not_names_conversation(declaration: &Declaration<'_>) -> DeclarationFinding {
    let preset = match declaration.runner() {
        Ok(preset) => preset,
        Err(instead) => return instead,
    };
    let place = declaration.place("names_conversation");
    if preset.names_conversation {
        DeclarationFinding::broken("runner: true together with names_conversation: true").at(place)
    } else {
        DeclarationFinding::held("names_conversation is not declared").at(place)
    }
}
