//! One seat: its private folder, its terminal, and the supervisor that finds and ends every process of it.
//!
//! Three processes stand between the engine and the runner's work, each for a reason:
//! the *supervisor* leads the terminal's session, as the shell in a real pane does, and is the subreaper of all that
//! the runner starts, so that nothing can slip away and no other waiter's children are stolen; the *starter* becomes
//! the runner in a process group of its own, so that a runner that kills its group doesn't kill its supervisor;
//! the *fake agent* is started by the runner itself, through a shim on PATH.

pub(crate) mod clock;
pub(crate) mod connection;
pub(crate) mod input;
pub(crate) mod pipes;
pub(crate) mod processes;
pub(crate) mod record_watch;
pub(crate) mod room;
pub(crate) mod starter;
pub(crate) mod supervisor;
pub(crate) mod terminal;
