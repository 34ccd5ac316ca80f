//! The preset file of a community harness, format 1.
//!
//! Reading one checks types and the three fields every preset has. Whether the fields fit together, as a runner
//! needs it, is not decided here. A field nobody knows becomes a note.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed as _, Deserializer, Unexpected, Visitor};

use crate::{Error, Result};

/// A preset file larger than this is refused unread.
const SIZE_LIMIT: u64 = 1024 * 1024;

/// How much of a line an error shows, in characters.
const SHOWN_CHARACTERS: usize = 160;

/// What a preset declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    /// The harness's name; the runtime of its seats.
    pub name: String,
    /// The command that starts the runner.
    pub command: String,
    /// Who maintains it.
    pub maintainer: Option<String>,
    /// Whether the command is a runner.
    pub runner: bool,
    /// Whether it writes launch records.
    pub launch_result: bool,
    /// Whether it can reopen a conversation.
    pub resume: bool,
    /// Whether OpenRig chooses the conversation's id.
    pub names_conversation: bool,
    /// Whether it takes the first input from a file.
    pub first_input: bool,
    /// Whether it applies the seat's model.
    pub passes_model: bool,
    /// What it says it does not do.
    pub limits: Vec<String>,
    /// One line for each field that format 1 does not know.
    pub notes: Vec<String>,
    /// The names of those fields.
    pub unknown_fields: Vec<String>,
}

impl Preset {
    /// Reads the preset file at `path`.
    ///
    /// # Errors
    /// If the file can't be read, is larger than 1 MiB or is not UTF-8; otherwise as [`Preset::parse`].
    pub fn load(path: &Path) -> Result<Self> {
        Self::parse(&Self::read(path)?, path)
    }

    /// The text of the preset file at `path`, whatever it says.
    ///
    /// # Errors
    /// If the file can't be read, is larger than 1 MiB or is not UTF-8.
    pub fn read(path: &Path) -> Result<String> {
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(SIZE_LIMIT + 1).read_to_string(&mut text));
        let read = read.and_then(|size| match size as u64 > SIZE_LIMIT {
            true => Err(std::io::Error::other("it is larger than 1 MiB")),
            false => Ok(()),
        });
        read.map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        Ok(text)
    }

    /// Reads a preset's text. `file` only names it in errors.
    ///
    /// # Errors
    /// [`Error::Preset`] with the place, if it is not YAML, its format is not 1, it has no name or command, or a
    /// field has the wrong type.
    pub fn parse(text: &str, file: &Path) -> Result<Self> {
        let fields: Fields = serde_yaml::from_str(text).map_err(|error| located(&error, text, file))?;
        let all: serde_yaml::Mapping =
            serde_yaml::from_str(text).map_err(|error| located(&error, text, file))?;
        let Fields {
            format: FormatOne,
            name,
            command,
            ..
        } = fields;
        Ok(Self {
            name: name.0,
            command: command.0,
            maintainer: fields.maintainer,
            runner: fields.runner,
            launch_result: fields.launch_result,
            resume: fields.resume,
            names_conversation: fields.names_conversation,
            first_input: fields.first_input,
            passes_model: fields.passes_model,
            limits: fields.limits,
            notes: all.keys().filter_map(note).collect(),
            unknown_fields: all
                .keys()
                .filter_map(serde_yaml::Value::as_str)
                .filter(|name| !KNOWN_FIELDS.contains(name))
                .map(str::to_owned)
                .collect(),
        })
    }
}

/// Line and column, from 1, of the value of a top-level field in a preset's text; `None` if there is no such field.
#[must_use]
pub fn place_of(text: &str, field: &str) -> Option<(usize, usize)> {
    let error = StopAt(field)
        .deserialize(serde_yaml::Deserializer::from_str(text))
        .err()?;
    let at_the_field = error.to_string().contains(STOPPED);
    let location = error.location().filter(|_| at_the_field)?;
    Some((location.line(), location.column()))
}

/// What the error says that is made on purpose.
const STOPPED: &str = "the field is here";

/// Reads a mapping up to one field, and fails inside that field's value: an error is the only thing that knows places.
struct StopAt<'f>(&'f str);

impl<'de> de::DeserializeSeed<'de> for StopAt<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for StopAt<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a mapping")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key::<serde_yaml::Value>()? {
            if key.as_str() == Some(self.0) {
                map.next_value::<Stop>()?;
            }
            map.next_value::<de::IgnoredAny>()?;
        }
        Ok(())
    }
}

struct Stop;

impl<'de> Deserialize<'de> for Stop {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Stop)
    }
}

macro_rules! stop {
    ($($visit:ident($($value:ty)?)),*) => {
        $(fn $visit<E: de::Error>(self $(, _: $value)?) -> std::result::Result<Stop, E> {
            Err(E::custom(STOPPED))
        })*
    };
}

impl<'de> Visitor<'de> for Stop {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(STOPPED)
    }

    stop!(
        visit_bool(bool),
        visit_i64(i64),
        visit_u64(u64),
        visit_f64(f64),
        visit_str(&str),
        visit_unit()
    );

    fn visit_seq<A: de::SeqAccess<'de>>(self, _: A) -> std::result::Result<Self, A::Error> {
        Err(de::Error::custom(STOPPED))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, _: A) -> std::result::Result<Self, A::Error> {
        Err(de::Error::custom(STOPPED))
    }
}

const KNOWN_FIELDS: [&str; 11] = [
    "format",
    "name",
    "command",
    "maintainer",
    "runner",
    "launch_result",
    "resume",
    "names_conversation",
    "first_input",
    "passes_model",
    "limits",
];

#[derive(Deserialize)]
struct Fields {
    format: FormatOne,
    name: Text,
    command: Text,
    maintainer: Option<String>,
    #[serde(default)]
    runner: bool,
    #[serde(default)]
    launch_result: bool,
    #[serde(default)]
    resume: bool,
    #[serde(default)]
    names_conversation: bool,
    #[serde(default)]
    first_input: bool,
    #[serde(default)]
    passes_model: bool,
    #[serde(default)]
    limits: Vec<String>,
}

// The two types below judge the value inside a visitor: only there does an error get the value's own place.

struct FormatOne;

impl<'de> Deserialize<'de> for FormatOne {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct One;

        impl Visitor<'_> for One {
            type Value = FormatOne;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("format 1, the only one known")
            }

            fn visit_u64<E: de::Error>(self, format: u64) -> std::result::Result<FormatOne, E> {
                if format == 1 {
                    Ok(FormatOne)
                } else {
                    Err(E::invalid_value(Unexpected::Unsigned(format), &self))
                }
            }
        }

        deserializer.deserialize_u64(One)
    }
}

/// A text that says something.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Says;

        impl Visitor<'_> for Says {
            type Value = Text;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text that is not blank")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Text, E> {
                match text.trim() {
                    "" => Err(E::invalid_value(Unexpected::Str(text), &self)),
                    _ => Ok(Text(text.to_owned())),
                }
            }
        }

        deserializer.deserialize_str(Says)
    }
}

fn note(key: &serde_yaml::Value) -> Option<String> {
    match key.as_str() {
        Some(name) if KNOWN_FIELDS.contains(&name) => None,
        Some(name) => Some(format!("unknown field {name:?}")),
        None => Some("a field whose name is not a text".to_owned()),
    }
}

fn located(error: &serde_yaml::Error, text: &str, file: &Path) -> Error {
    let (line, column) = error
        .location()
        .map_or((1, 1), |location| (location.line(), location.column()));
    let message = error.to_string();
    // The place is told apart from the message.
    let place = format!(" at line {line} column {column}");
    let line_text = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    // What steers a terminal is no help in an error, and would move the mark under the place.
    let shown = line_text
        .chars()
        .take(SHOWN_CHARACTERS)
        .map(|char| if char.is_control() { ' ' } else { char });
    Error::Preset {
        file: file.to_owned(),
        line,
        column,
        text: shown.collect(),
        problem: message.strip_suffix(&place).unwrap_or(&message).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Preset> {
        Preset::parse(text, Path::new("dsh.yaml"))
    }

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_drafts_example() {
        let preset = parse(
            "format: 1\nname: dsh\ncommand: dsh-seat   # your runner\nmaintainer: <you>\nrunner: true\n\
             launch_result: true\nresume: true\nlimits:\n  - permission requests are refused (first version)\n  \
             - fork unsupported\n",
        )
        .unwrap();
        let expected = Preset {
            name: "dsh".to_owned(),
            command: "dsh-seat".to_owned(),
            maintainer: Some("<you>".to_owned()),
            runner: true,
            launch_result: true,
            resume: true,
            names_conversation: false,
            first_input: false,
            passes_model: false,
            limits: vec![
                "permission requests are refused (first version)".to_owned(),
                "fork unsupported".to_owned(),
            ],
            notes: vec![],
            unknown_fields: vec![],
        };
        assert_eq!(preset, expected);
    }

    #[test]
    fn an_unknown_field_is_a_note() {
        let preset = parse("format: 1\nname: dsh\ncommand: seat\nicon: x\n7: y\n").unwrap();
        assert_eq!(
            preset.notes,
            ["unknown field \"icon\"", "a field whose name is not a text"]
        );
    }

    #[test]
    fn a_wrong_type_shows_its_line() {
        let text = error("format: 1\nname: dsh\ncommand: seat\nrunner: yes\n");
        let expected = "dsh.yaml:4:9: runner: invalid type: string \"yes\", expected a boolean\n    runner: yes\n            ^";
        assert_eq!(text, expected);
    }

    #[test]
    fn another_format_shows_its_line() {
        let text = error("name: dsh\nformat: 2\ncommand: seat\n");
        let expected = "dsh.yaml:2:9: format: invalid value: integer `2`, expected format 1, the only one known\n    \
                        format: 2\n            ^";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_missing_or_blank_field_is_named() {
        assert!(error("format: 1\nname: dsh\n").contains("missing field `command`"));
        assert!(error("name: dsh\ncommand: seat\n").contains("missing field `format`"));
        let blank = error("format: 1\nname: ' '\ncommand: seat\n");
        assert!(
            blank.starts_with("dsh.yaml:2:7: name: invalid value: string \" \", expected a text"),
            "{blank}"
        );
        assert!(error("").starts_with("dsh.yaml:1:1"));
    }

    #[test]
    fn a_fields_place_is_its_values() {
        let text = "format: 1\nname: dsh\ncommand: seat # runner: no\nrunner: true\nlimits:\n  - runner: x\n  - b\nmaintainer:\n";
        assert_eq!(place_of(text, "format"), Some((1, 9)));
        assert_eq!(place_of(text, "runner"), Some((4, 9)));
        assert_eq!(place_of(text, "command"), Some((3, 10)));
        assert_eq!(place_of(text, "limits").map(|(line, _)| line), Some(6));
        assert_eq!(place_of(text, "maintainer").map(|(line, _)| line), Some(8));
        assert_eq!(place_of(text, "resume"), None);
        assert_eq!(place_of("{format: 1, \"runner\": true}", "runner"), Some((1, 23)));
        assert_eq!(place_of("- a\n- b", "a"), None);
        assert_eq!(place_of("a: [", "b"), None);
    }

    #[test]
    fn text_that_is_not_yaml_shows_its_line() {
        let text = error("format: 1\nname: dsh\n\tcommand: seat\n");
        assert!(text.starts_with("dsh.yaml:3:1: "), "{text}");
        assert!(text.contains("\n     command: seat\n"), "{text}");
    }

    #[test]
    fn a_list_where_a_text_belongs() {
        let text = error("format: 1\nname: dsh\ncommand: seat\nlimits:\n  - one\n  - two: 2\n");
        assert!(
            text.starts_with("dsh.yaml:6:5: limits[1]: invalid type: map"),
            "{text}"
        );
    }

    #[test]
    fn a_long_line_is_cut() {
        let text = error(&format!(
            "format: 1\nname: dsh\ncommand: seat\nrunner: {}\n",
            "x".repeat(10_000)
        ));
        assert!(
            text.lines().nth(1).unwrap().chars().count() <= SHOWN_CHARACTERS + 4,
            "{text}"
        );
    }

    #[test]
    fn a_file_that_is_too_large_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.yaml");
        assert!(matches!(Preset::load(&path), Err(Error::Read { .. })));
        std::fs::write(&path, vec![b' '; SIZE_LIMIT as usize + 1]).unwrap();
        assert!(matches!(Preset::load(&path), Err(Error::Read { .. })));
        std::fs::write(&path, "format: 1\nname: dsh\ncommand: seat\n").unwrap();
        assert_eq!(Preset::load(&path).unwrap().name, "dsh");
    }
}
