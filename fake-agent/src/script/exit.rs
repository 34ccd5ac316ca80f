//! The ways in which a process ends.

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By an exit with this code.
    Code(u8),
    /// By this signal, which it sends to itself.
    Signal(SignalName),
}

/// The name of a signal that ends a process unless it is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "UPPERCASE")]
#[value(rename_all = "UPPER")]
pub enum SignalName {
    /// SIGABRT.
    Abrt,
    /// SIGHUP.
    Hup,
    /// SIGINT.
    Int,
    /// SIGKILL.
    Kill,
    /// SIGQUIT.
    Quit,
    /// SIGSEGV.
    Segv,
    /// SIGTERM.
    Term,
    /// SIGUSR1.
    Usr1,
}

impl SignalName {
    pub(crate) fn signal(self) -> Signal {
        match self {
            Self::Abrt => Signal::ABORT,
            Self::Hup => Signal::HUP,
            Self::Int => Signal::INT,
            Self::Kill => Signal::KILL,
            Self::Quit => Signal::QUIT,
            Self::Segv => Signal::SEGV,
            Self::Term => Signal::TERM,
            Self::Usr1 => Signal::USR1,
        }
    }

    /// Its name as it is spelled on the command line and in a script.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Abrt => "ABRT",
            Self::Hup => "HUP",
            Self::Int => "INT",
            Self::Kill => "KILL",
            Self::Quit => "QUIT",
            Self::Segv => "SEGV",
            Self::Term => "TERM",
            Self::Usr1 => "USR1",
        }
    }

    /// The number it has on this system, as in an exit status.
    #[must_use]
    pub fn number(self) -> i32 {
        self.signal().as_raw()
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::SignalName;

    #[test]
    fn a_name_is_spelled_alike_everywhere() {
        for name in SignalName::value_variants() {
            assert_eq!(serde_json::to_value(name).unwrap(), name.word());
            assert_eq!(SignalName::from_str(name.word(), false).as_ref(), Ok(name));
        }
    }
}
