//! A badge, in the words of the shields endpoint (`schemaVersion` 1): the page that shows it draws it.

use serde::Serialize;

use crate::{Outcome, Report};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge<'a> {
    schema_version: u32,
    label: String,
    message: String,
    color: &'a str,
}

/// The badge's JSON document, ending with a newline.
///
/// # Errors
/// When it can't be written as JSON, which no badge of ours is.
pub fn badge(report: &Report) -> Result<String, serde_json::Error> {
    let part = if report.part.is_some() { " in part" } else { "" };
    let colour = match report.outcome {
        Outcome::Conformant if report.part.is_none() => "brightgreen",
        Outcome::Conformant | Outcome::Inconclusive => "yellow",
        Outcome::NotConformant => "red",
    };
    let badge = Badge {
        schema_version: 1,
        label: format!("OpenRig runner {}", report.contract),
        message: format!("{}{part}", report.outcome.as_str()),
        color: colour,
    };
    Ok(serde_json::to_string_pretty(&badge)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::sample;

    #[test]
    fn a_badge() {
        insta::assert_snapshot!(badge(&sample()).unwrap());
    }

    #[test]
    fn a_part_is_never_green() {
        let part = Report {
            outcome: Outcome::Conformant,
            part: Some("--suite promotion".into()),
            ..sample()
        };
        let badge = badge(&part).unwrap();
        assert!(badge.contains("yellow") && badge.contains("conformant in part"));
    }
}
