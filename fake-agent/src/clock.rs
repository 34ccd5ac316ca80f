//! The one clock all stamps are taken from.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of CLOCK_MONOTONIC.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // The monotonic clock counts up from boot, so neither part is ever negative.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    #[test]
    fn never_goes_back() {
        let first = super::now();
        assert!(first > 0);
        assert!(super::now() >= first);
    }
}
