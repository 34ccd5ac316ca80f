//! Exit codes, and errors that carry one.

use std::process::ExitCode;

use reports::Outcome;

/// What the exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// 0: conformant, or done.
    Done,
    /// 1: not conformant.
    NotConformant,
    /// 2: bad usage or input files.
    Usage,
    /// 3: inconclusive, or the kit itself failed.
    Inconclusive,
    /// 5: nothing was selected.
    NothingSelected,
}

impl Exit {
    pub(super) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::NotConformant => 1,
            Self::Usage => 2,
            Self::Inconclusive => 3,
            Self::NothingSelected => 5,
        })
    }

    pub(super) fn of_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Conformant => Self::Done,
            Outcome::NotConformant => Self::NotConformant,
            Outcome::Inconclusive => Self::Inconclusive,
        }
    }
}

/// A refusal that the user can act on.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(super) struct Refusal {
    what: String,
    hint: String,
    exit: Exit,
}

impl Refusal {
    /// Bad usage or a bad input file.
    pub(super) fn usage(what: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self {
            what: what.into(),
            hint: hint.into(),
            exit: Exit::Usage,
        }
        .into()
    }

    /// A selection that selects nothing.
    pub(super) fn nothing_selected(what: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self {
            what: what.into(),
            hint: hint.into(),
            exit: Exit::NothingSelected,
        }
        .into()
    }
}

/// The exit code of an error: that of a refusal, or 3 for what went wrong in the kit.
pub(super) fn of(error: &anyhow::Error) -> Exit {
    error
        .downcast_ref::<Refusal>()
        .map_or(Exit::Inconclusive, |refusal| refusal.exit)
}

/// What to do about an error.
pub(super) fn hint(error: &anyhow::Error) -> Option<&str> {
    error
        .downcast_ref::<Refusal>()
        .map(|refusal| refusal.hint.as_str())
}
