//! A profile: what seatcheck must know of one runner beside its preset.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use super::exit::Refusal;
use super::located::marked;
use crate::history::MissingAnswer;

/// A profile larger than this is refused unread.
const SIZE_LIMIT: u64 = 1 << 20;

/// What a profile says. All of it may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Profile {
    /// The preset file; in the file, relative to the profile.
    pub(super) preset: Option<PathBuf>,
    /// Names under which the runner finds its agent on PATH.
    agent_names: Vec<AgentName>,
    /// More words for the runner's command; `{agent}` stands for the agent's path.
    pub(super) arguments: Vec<String>,
    /// Variables of the seat; `{agent}` stands for the agent's path.
    environment: BTreeMap<VariableName, String>,
    /// Answers by which the runner's agent says that a conversation does not exist.
    missing: Vec<Pinned>,
    /// A line for the shell that prints the runner's version.
    pub(super) version_command: Option<String>,
}

impl Profile {
    /// Reads a profile.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let unreadable = |why: String| {
            Refusal::usage(
                format!("{}: {why}", path.display()),
                "--profile takes a YAML file; the README shows one",
            )
        };
        let mut text = String::new();
        let size = File::open(path)
            .and_then(|file| file.take(SIZE_LIMIT + 1).read_to_string(&mut text))
            .map_err(|error| unreadable(error.to_string()))?;
        if size as u64 > SIZE_LIMIT {
            return Err(unreadable("it is larger than 1 MiB".into()));
        }
        let mut profile = Self::parse(&text, &path.display().to_string())?;
        if let (Some(preset), Some(folder)) = (&mut profile.preset, path.parent()) {
            *preset = folder.join(&*preset);
        }
        Ok(profile)
    }

    /// Reads a profile's text; `file` only names it in errors.
    fn parse(text: &str, file: &str) -> anyhow::Result<Self> {
        // An empty file says nothing, which is a profile too.
        let parsed: Result<Option<Self>, _> = serde_yaml::from_str(text);
        parsed.map(Option::unwrap_or_default).map_err(|error| {
            let (line, column) = error
                .location()
                .map_or((1, 1), |place| (place.line(), place.column()));
            let message = error.to_string();
            let problem = message
                .strip_suffix(&format!(" at line {line} column {column}"))
                .unwrap_or(&message);
            Refusal::usage(
                format!(
                    "{file}:{line}:{column}: {problem}\n{}",
                    marked(text, line, column)
                ),
                "a profile may hold preset, agent_names, arguments, environment, missing and version_command",
            )
        })
    }

    pub(super) fn agent_names(&self) -> impl Iterator<Item = String> {
        self.agent_names.iter().map(|name| name.0.clone())
    }

    pub(super) fn environment(&self) -> impl Iterator<Item = (String, String)> {
        self.environment
            .iter()
            .map(|(name, value)| (name.0.clone(), value.clone()))
    }

    pub(super) fn missing(&self) -> Vec<MissingAnswer> {
        self.missing.iter().map(|pinned| pinned.0.clone()).collect()
    }
}

/// Whether an agent can be started under that name from PATH.
pub(super) fn is_agent_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\0']) && !name.starts_with('.')
}

/// Whether a profile may set that variable: OpenRig's own are the kit's, and PATH leads to the scripted agent.
fn is_free_variable(name: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
    !name.is_empty() && name.chars().all(plain) && !name.starts_with("OPENRIG_") && name != "PATH"
}

// The types below judge their text inside a visitor: only there does an error get the text's own place.

macro_rules! checked_text {
    ($type:ident, $check:path, $expected:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Checked;

                impl Visitor<'_> for Checked {
                    type Value = $type;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str($expected)
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        if $check(text) {
                            Ok($type(text.to_owned()))
                        } else {
                            Err(E::invalid_value(de::Unexpected::Str(text), &self))
                        }
                    }
                }

                deserializer.deserialize_str(Checked)
            }
        }
    };
}

#[derive(Debug)]
struct AgentName(String);

checked_text!(
    AgentName,
    is_agent_name,
    "what the runner starts: a plain word without a slash"
);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct VariableName(String);

checked_text!(
    VariableName,
    is_free_variable,
    "a variable's name, but none of OPENRIG_… and not PATH"
);

/// An answer that says enough: a bare code would speak of everything that goes wrong.
#[derive(Debug)]
struct Pinned(MissingAnswer);

impl<'de> Deserialize<'de> for Pinned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let answer = MissingAnswer::deserialize(deserializer)?;
        if answer.message.is_none() && answer.data.is_none() {
            return Err(de::Error::custom(
                "an answer that means missing needs a message or data beside its code",
            ));
        }
        Ok(Self(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Profile::parse(text, "p.yaml").unwrap_err().to_string()
    }

    #[test]
    fn a_whole_profile_is_read() {
        let profile = Profile::parse(
            "preset: mine.yaml\nagent_names: [mine, mine-acp]\narguments: [--agent, '{agent}']\n\
             environment: {MINE_AGENT: '{agent}'}\nmissing:\n  - {code: -32602, message: 'not resumable: {ref}'}\n  \
             - code: -32603\n    data: {service: session}\nversion_command: mine --version\n",
            "p.yaml",
        )
        .unwrap();
        assert_eq!(profile.agent_names().collect::<Vec<_>>(), ["mine", "mine-acp"]);
        assert_eq!(profile.arguments, ["--agent", "{agent}"]);
        assert_eq!(
            profile.environment().collect::<Vec<_>>(),
            [("MINE_AGENT".into(), "{agent}".into())]
        );
        assert_eq!(profile.missing().len(), 2);
        assert_eq!(profile.version_command.as_deref(), Some("mine --version"));
        assert!(Profile::parse("", "p.yaml").unwrap().preset.is_none());
    }

    #[test]
    fn the_preset_is_found_beside_the_profile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.yaml");
        std::fs::write(&path, "preset: presets/mine.yaml\n").unwrap();
        let profile = Profile::read(&path).unwrap();
        assert_eq!(profile.preset, Some(folder.path().join("presets/mine.yaml")));
        assert!(Profile::read(&folder.path().join("none.yaml")).is_err());
    }

    #[test]
    fn mistakes_are_shown_with_their_line() {
        let unknown = error("preset: a.yaml\nagent_name: dsh\n");
        assert!(
            unknown.starts_with("p.yaml:2:1: unknown field `agent_name`"),
            "{unknown}"
        );
        assert!(unknown.contains("\n    agent_name: dsh\n    ^"), "{unknown}");
        let name = error("agent_names:\n  - dsh\n  - bin/dsh\n");
        assert!(name.starts_with("p.yaml:3:5: "), "{name}");
        let variable = error("environment:\n  A: b\n  OPENRIG_URL: x\n");
        assert!(variable.starts_with("p.yaml:3:"), "{variable}");
        let missing = error("missing:\n  - {code: -32602, mesage: x}\n");
        assert!(missing.starts_with("p.yaml:2:"), "{missing}");
        let bare = error("missing:\n  - code: -32603\n");
        assert!(
            bare.starts_with("p.yaml:2:") && bare.contains("message or data"),
            "{bare}"
        );
        let kind = error("arguments: --agent\n");
        assert!(kind.starts_with("p.yaml:1:12: "), "{kind}");
    }
}
