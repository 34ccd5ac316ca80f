//! The time of day, as reports and the pane state it: UTC, and never going backwards within one seat.

use std::time::{SystemTime, UNIX_EPOCH};

const MILLISECONDS_PER_DAY: u64 = 86_400_000;

/// The system's clock, held back from going backwards.
#[derive(Debug)]
pub(crate) struct WallClock {
    /// Milliseconds since 1970.
    latest: u64,
}

impl WallClock {
    pub(crate) fn new() -> Self {
        Self { latest: 0 }
    }

    /// Now, as RFC 3339 with milliseconds.
    pub(crate) fn now_rfc3339(&mut self) -> String {
        self.latest = self.latest.max(milliseconds_now());
        rfc3339(self.latest)
    }
}

/// Now, as hours, minutes and seconds of the UTC day.
pub(crate) fn time_of_day() -> String {
    let moment = rfc3339(milliseconds_now());
    moment[11..19].to_owned()
}

fn milliseconds_now() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}

fn rfc3339(milliseconds: u64) -> String {
    let (year, month, day) = civil_date(milliseconds / MILLISECONDS_PER_DAY);
    let in_day = milliseconds % MILLISECONDS_PER_DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        in_day / 3_600_000,
        in_day / 60_000 % 60,
        in_day / 1000 % 60,
        in_day % 1000
    )
}

/// Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar.
fn civil_date(days: u64) -> (u64, u64, u64) {
    // Counted from 1 March of year 0, so that a leap day is a year's last day, in eras of 400 years.
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(1_793_188_805_042), "2026-10-28T12:00:05.042Z");
    }

    #[test]
    fn time_never_goes_backwards() {
        let mut clock = WallClock {
            latest: 4_102_444_800_000,
        };
        assert_eq!(clock.now_rfc3339(), "2100-01-01T00:00:00.000Z");
    }

    #[test]
    fn the_time_of_day_is_hours_minutes_seconds() {
        let time = time_of_day();
        assert_eq!((time.len(), &time[2..3], &time[5..6]), (8, ":", ":"));
    }
}
