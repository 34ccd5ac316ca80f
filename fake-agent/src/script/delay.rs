//! Durations as people write them.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// A span of time, written as a whole number and a unit: `300ms` or `2s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Delay(Duration);

impl Delay {
    /// As a standard duration.
    #[must_use]
    pub const fn duration(self) -> Duration {
        self.0
    }

    /// A delay of so many milliseconds.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(Duration::from_millis(milliseconds))
    }
}

/// A text is not a [`Delay`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration: write a whole number and ms or s, such as 300ms or 2s")]
pub struct DelayError(String);

impl FromStr for Delay {
    type Err = DelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || DelayError(text.to_owned());
        let (number, milliseconds) = match text.strip_suffix("ms") {
            Some(number) => (number, 1),
            None => (text.strip_suffix('s').ok_or_else(refused)?, 1000),
        };
        // `parse` would take a sign as well.
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(refused());
        }
        let number: u64 = number.parse().map_err(|_| refused())?;
        number
            .checked_mul(milliseconds)
            .map(Self::from_millis)
            .ok_or_else(refused)
    }
}

impl TryFrom<String> for Delay {
    type Error = DelayError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.0.as_millis();
        if milliseconds.is_multiple_of(1000) {
            write!(formatter, "{}s", milliseconds / 1000)
        } else {
            write!(formatter, "{milliseconds}ms")
        }
    }
}

impl From<Delay> for String {
    fn from(delay: Delay) -> Self {
        delay.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Delay;
    use proptest::prelude::*;

    #[test]
    fn reads_milliseconds_and_seconds() {
        assert_eq!("300ms".parse(), Ok(Delay::from_millis(300)));
        assert_eq!("2s".parse(), Ok(Delay::from_millis(2000)));
    }

    #[test]
    fn refuses_everything_else() {
        for bad in [
            "",
            "s",
            "ms",
            "1",
            "-1s",
            "+1s",
            "1.5s",
            "1 s",
            "1m",
            "99999999999999999999ms",
        ] {
            assert!(bad.parse::<Delay>().is_err(), "{bad} was accepted");
        }
    }

    proptest! {
        #[test]
        fn round_trips(milliseconds in 0..u64::MAX) {
            let delay = Delay::from_millis(milliseconds);
            prop_assert_eq!(delay.to_string().parse(), Ok(delay));
        }

        #[test]
        fn never_panics(text: String) {
            let _ = text.parse::<Delay>();
        }
    }
}
