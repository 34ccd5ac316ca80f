//! Reading a script from a YAML file, with messages that show the place.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_yaml::with::singleton_map_recursive;

use crate::script::Script;

/// A script file that can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScriptFileError {
    #[error("{}: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{0}")]
    Invalid(String),
}

impl ScriptFileError {
    /// What to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "give the path of a script in YAML, or none for the default behaviour",
            Self::Invalid(_) => "correct the script at the place shown",
        }
    }
}

/// Reads a script file. A file with the key `agent`, such as a scenario, holds the script under it; what
/// else it has is not looked at.
pub(crate) fn read(path: &Path) -> Result<Script, ScriptFileError> {
    let text = std::fs::read_to_string(path).map_err(|source| ScriptFileError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    parse(&text).map_err(|error| ScriptFileError::Invalid(describe(path, &text, &error)))
}

fn parse(text: &str) -> Result<Script, serde_yaml::Error> {
    #[derive(Deserialize)]
    struct Scenario {
        #[serde(default)]
        agent: Script,
    }
    let whole: serde_yaml::Value = serde_yaml::from_str(text)?;
    let reader = serde_yaml::Deserializer::from_str(text);
    if whole.is_null() {
        Ok(Script::default())
    } else if whole.get("agent").is_some() {
        singleton_map_recursive::deserialize::<Scenario, _>(reader).map(|scenario| scenario.agent)
    } else {
        singleton_map_recursive::deserialize(reader)
    }
}

/// `FILE:LINE:COLUMN: what`, and the line with a mark under the place.
fn describe(path: &Path, text: &str, error: &serde_yaml::Error) -> String {
    let path = path.display();
    let Some(place) = error.location() else {
        return format!("{path}: {error}");
    };
    let (line, column) = (place.line(), place.column());
    // The place is said once, in front, in the form that editors follow.
    let what = error.to_string();
    let what = what
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&what);
    let mut message = format!("{path}:{line}:{column}: {what}");
    if let Some(source) = text.lines().nth(line.saturating_sub(1)) {
        let margin = line.to_string();
        let indent = " ".repeat(column.saturating_sub(1));
        // Writing to a string can't fail.
        let _ = write!(
            message,
            "\n{margin} | {source}\n{} | {indent}^",
            " ".repeat(margin.len())
        );
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Action;

    #[test]
    fn a_script_stands_alone_or_in_a_scenario() {
        let alone = parse("turns:\n- - say: hi\n").unwrap();
        let scenario = parse("title: A\nagent:\n  turns:\n  - - say: hi\nsteps: [launch]\n").unwrap();
        assert_eq!(alone, scenario);
        assert_eq!(alone.turns, [[Action::Say("hi".into())]]);
        assert_eq!(parse("# nothing\n").unwrap(), Script::default());
    }

    #[test]
    fn a_mistake_is_shown_with_its_line() {
        let text = "agent:\n  turns:\n    - - sya: hi\n";
        let message = describe(Path::new("a.yaml"), text, &parse(text).unwrap_err());
        let mut lines = message.lines();
        let first = lines.next().unwrap();
        assert!(first.starts_with("a.yaml:3:"), "{first}");
        assert!(first.contains("unknown variant `sya`"), "{first}");
        assert!(!first.contains("at line"), "{first}");
        assert_eq!(lines.next(), Some("3 |     - - sya: hi"));
    }
}
