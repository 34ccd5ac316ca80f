//! What a preset's `limits` speak of. They are free text: a topic counts as named when any of the words stands there
//! by which people name it.

use super::preset::{Declaration, DeclarationFinding};

/// Something that `limits` is to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    /// A prompt whose whole text is /abort can't be sent.
    AbortPrompt,
    /// A Ctrl-C byte inside a paste also aborts.
    CtrlCInPaste,
    /// Without a TTY, input is read line by line.
    NoTerminal,
    /// The channel is not binary-safe.
    NotBinarySafe,
    /// Permission requests are refused.
    PermissionsRefused,
    /// What keeps running after a stop.
    Survivors,
    /// What is not supported.
    Unsupported,
}

/// Word stems in lower case, of which one is enough.
type AnyOf = &'static [&'static str];

const REFUSED: AnyOf = &[
    "refus",
    "den",
    "reject",
    "declin",
    "cancel",
    "answer",
    "unsupported",
    "n't",
    "cannot",
    "not ",
    "never",
    "no ",
];

impl Topic {
    const ALL: [Self; 7] = [
        Self::AbortPrompt,
        Self::CtrlCInPaste,
        Self::NoTerminal,
        Self::NotBinarySafe,
        Self::PermissionsRefused,
        Self::Survivors,
        Self::Unsupported,
    ];

    /// For people.
    fn in_words(self) -> &'static str {
        match self {
            Self::AbortPrompt => "the /abort prompt",
            Self::CtrlCInPaste => "Ctrl-C in a paste",
            Self::NoTerminal => "input without a TTY",
            Self::NotBinarySafe => "not binary-safe",
            Self::PermissionsRefused => "permission requests refused",
            Self::Survivors => "what survives a stop",
            Self::Unsupported => "what is unsupported",
        }
    }

    /// One line speaks of the topic if each of these lists has a word in it; one such row is enough.
    fn words(self) -> &'static [&'static [AnyOf]] {
        match self {
            Self::AbortPrompt => &[&[&["/abort"]]],
            Self::CtrlCInPaste => &[&[
                &[
                    "ctrl-c",
                    "ctrl+c",
                    "ctrl c",
                    "control-c",
                    "control+c",
                    "control c",
                    "^c",
                    "0x03",
                    "etx",
                    "interrupt",
                ],
                &["past", "block", "text", "message", "input", "byte"],
            ]],
            Self::NoTerminal => &[
                &[&[
                    "tty",
                    "pty",
                    "line by line",
                    "line-by-line",
                    "each line",
                    "every line",
                    "pipe",
                    "stdin",
                ]],
                &[&["terminal"], &["without", "no ", "not ", "n't"]],
            ],
            Self::NotBinarySafe => &[&[&[
                "binary",
                "utf-8",
                "utf8",
                "utf 8",
                "raw bytes",
                "arbitrary bytes",
                "non-text",
                "not text",
                "text only",
                "only text",
                "8-bit",
                "control character",
            ]]],
            Self::PermissionsRefused => &[&[&["permission", "approv"], REFUSED]],
            Self::Survivors => &[
                &[&[
                    "surviv",
                    "outliv",
                    "orphan",
                    "own session",
                    "session of its own",
                    "sessions of their own",
                    "setsid",
                    "detach",
                    "daemon",
                    "background",
                    "left behind",
                    "left running",
                    "keep running",
                    "keeps running",
                    "keep on running",
                    "still running",
                    "still run",
                    "go on running",
                    "goes on running",
                    "continue running",
                    "continues running",
                    "lives on",
                    "live on",
                    "leftover",
                ]],
                &[
                    &[
                        "stop",
                        "shutdown",
                        "shut down",
                        "exit",
                        "hang",
                        "kill",
                        "ends",
                        "ended",
                    ],
                    &["process", "tool", "child", "running", "grandchild", "command"],
                ],
            ],
            Self::Unsupported => &[&[&[
                "unsupported",
                "not supported",
                "no support",
                "not support",
                "n't support",
                "supports no",
                "supports only",
                "not implement",
                "n't implement",
                "not available",
                "unavailable",
                "fork",
                "image",
                "steer",
            ]]],
        }
    }

    fn is_named_in(self, limit: &str) -> bool {
        let limit = limit.to_lowercase();
        self.words().iter().any(|row| {
            row.iter()
                .all(|list| list.iter().any(|stem| limit.contains(stem)))
        })
    }

    /// The first of these limits that speaks of it.
    pub(crate) fn named_in(self, limits: &[String]) -> Option<&str> {
        limits
            .iter()
            .find(|limit| self.is_named_in(limit))
            .map(String::as_str)
    }
}

pub(super) fn limits_named(declaration: &Declaration<'_>) -> DeclarationFinding {
    let preset = match declaration.runner() {
        Ok(preset) => preset,
        Err(instead) => return instead,
    };
    let absent: Vec<&str> = Topic::ALL
        .into_iter()
        .filter(|topic| topic.named_in(&preset.limits).is_none())
        .map(Topic::in_words)
        .collect();
    let place = declaration.place("limits");
    let finding = if absent.is_empty() {
        DeclarationFinding::held(format!("limits names all {} topics", Topic::ALL.len()))
    } else if preset.limits.is_empty() {
        DeclarationFinding::broken(format!(
            "there are no limits; to be named are {}",
            absent.join(", ")
        ))
    } else {
        DeclarationFinding::broken(format!("limits does not speak of {}", absent.join(", ")))
    };
    finding.at(place.or_else(|| declaration.place("runner")))
}
