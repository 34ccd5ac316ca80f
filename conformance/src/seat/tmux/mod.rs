//! A seat in a pane of a private tmux server, as OpenRig has it: an interactive shell in the pane, and the runner typed
//! into it.
//!
//! Each launch has a server of its own, started by the launch's supervisor: a server turns itself into a daemon, and
//! whatever happens then, the supervisor is the subreaper above the server, the shell and all that the runner starts.
//! What is typed is what OpenRig types, `/bin/sh` and a script that removes itself and sets the seat's environment. The
//! script's last word is not yet the runner but the *launcher*: a job of the shell, it starts the runner in its own
//! process group, and tells the supervisor when the runner started and how it ended, which only a parent learns.

mod client;
pub(crate) mod launcher;
mod output;
mod pane;
mod session;

pub(crate) use client::Client;
pub(crate) use output::PaneOutput;
pub(crate) use pane::Pane;
pub(crate) use session::{Host, Places};
