//! Wall-clock time in UTC as text, for the few places where OpenRig shows it.

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment in UTC, split into calendar fields. Times before 1970 count as 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Utc {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
    pub(crate) hour: u64,
    pub(crate) minute: u64,
    pub(crate) second: u64,
    pub(crate) millisecond: u32,
}

impl Utc {
    pub(crate) fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (year, month, day) = date_of(since.as_secs() / 86_400);
        let second = since.as_secs() % 86_400;
        Self {
            year,
            month,
            day,
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
            millisecond: since.subsec_millis(),
        }
    }

    /// RFC 3339 with milliseconds, as `2026-10-29T12:00:00.000Z`.
    pub(crate) fn rfc3339(&self) -> String {
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            self.year, self.month, self.day, self.hour, self.minute, self.second, self.millisecond
        )
    }
}

/// The date that lies `days` after 1970-01-01, in the Gregorian calendar.
///
/// Years are counted from March, so that the leap day is the last of its year and the lengths of the months repeat
/// every five months (153 days).
fn date_of(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // from 0000-03-01
    let era = days / 146_097; // 400 years
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn text(seconds: u64) -> String {
        Utc::from(UNIX_EPOCH + Duration::from_secs(seconds)).rfc3339()
    }

    #[test]
    fn known_moments() {
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(951_782_399), "2000-02-28T23:59:59.000Z");
        assert_eq!(text(951_782_400), "2000-02-29T00:00:00.000Z");
        assert_eq!(text(1_793_275_200), "2026-10-29T12:00:00.000Z");
        assert_eq!(text(4_107_542_400), "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn before_the_epoch_is_the_epoch() {
        assert_eq!(
            Utc::from(UNIX_EPOCH - Duration::from_secs(1)).rfc3339(),
            "1970-01-01T00:00:00.000Z"
        );
    }
}
