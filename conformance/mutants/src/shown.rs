//! The reference runner's own words in the pane, by which faults know what it shows.
//!
//! If the runner's wording changes, the faults that go by it no longer show, and the self-test says so.

use reference_runner::Crossing;

pub(crate) const MIRRORED_PROMPT: &str = "you ▸ ";
pub(crate) const QUEUED: &str = "queued: ";
pub(crate) const CANCEL_REQUESTED: &str = "cancel requested";
pub(crate) const NOTHING_TO_CANCEL: &str = "nothing to cancel";
pub(crate) const PERMISSION_ASKED: &str = "permission asked";
pub(crate) const POST_LOST: &str = "an activity report did not arrive";
pub(crate) const OUTPUT_CLOSED: &str = "the agent closed its output";
pub(crate) const MODEL_NOT_APPLIED: &str = "is not applied";
pub(crate) const STILL_WAITING_FOR_AGENT: &str = "still waiting for the agent";

/// Text for the terminal.
pub(crate) fn show(text: impl Into<String>) -> Crossing {
    Crossing::Shown(text.into().into_bytes())
}
