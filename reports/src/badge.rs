//! A badge, in the words of the shields endpoint (`schemaVersion` 1): the page that shows it draws it.

use serde_json::json;

use crate::{Outcome, Report};

/// The badge's JSON document, ending with a newline.
#[must_use]
pub fn badge(report: &Report) -> String {
    let part = if report.part.is_some() { " in part" } else { "" };
    let colour = match report.outcome {
        Outcome::Conformant if report.part.is_none() => "brightgreen",
        Outcome::Conformant | Outcome::Inconclusive => "yellow",
        Outcome::NotConformant => "red",
    };
    let badge = json!({
        "schemaVersion": 1,
        "label": format!("OpenRig runner {}", report.contract),
        "message": format!("{}{part}", report.outcome.as_str()),
        "color": colour,
    });
    format!("{badge:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::sample;

    #[test]
    fn a_badge() {
        insta::assert_snapshot!(badge(&sample()));
    }

    #[test]
    fn a_part_is_never_green() {
        let part = Report {
            outcome: Outcome::Conformant,
            part: Some("--suite promotion".into()),
            ..sample()
        };
        assert!(badge(&part).contains("yellow") && badge(&part).contains("conformant in part"));
    }
}
