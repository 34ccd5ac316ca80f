//! How much time a judge allows, and why. All in nanoseconds.
//!
//! The limits are generous on purpose: a runner in a slow language on a busy machine must not fail for being slow,
//! and where the machine itself was late the finding is inconclusive rather than broken.

use crate::history::views::Views;

/// One millisecond.
pub(crate) const MILLISECOND: u64 = 1_000_000;
/// One second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// Two observers of one runner may see its acts in the other order: its write to the agent ends before the agent has
/// read (reading 31), its last bytes reach the terminal's other end a little later.
pub(crate) const CROSSING: u64 = 250 * MILLISECOND;

/// An absence is a finding only when the seat was watched this long after what should have caused the act: no
/// conformant runner takes that long for a local post or line.
pub(crate) const DUE: u64 = 4 * SECOND;

/// "At once", "promptly": what the contract asks without a number.
pub(crate) const PROMPT: u64 = SECOND;

/// Whether lateness of the machine between two times could explain a good part of `limit`.
pub(crate) fn machine_was_late(views: &Views<'_>, from: u64, to: u64, limit: u64) -> bool {
    views.lag_between(from, to).saturating_mul(4) >= limit
}
