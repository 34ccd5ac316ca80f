//! Reading RFC 3339 time stamps, without a calendar's help.

/// A moment that a post states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timestamp {
    /// Nanoseconds since 1970, UTC.
    pub(super) nanoseconds: i128,
    /// It has no fraction: the moment meant lies up to a second later.
    pub(super) whole_second: bool,
}

/// Why a text is no time stamp in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotUtc {
    /// It is not RFC 3339 at all, for want of an offset for instance.
    Malformed,
    /// It is RFC 3339 with another offset than Z or +00:00.
    Offset,
}

/// Reads an RFC 3339 time stamp whose offset is `Z`, `+00:00` or `-00:00`, with any number of fraction digits. As the
/// RFC grants, the letters may be small and a blank may stand for the `T`.
pub(super) fn parse(text: &str) -> Result<Timestamp, NotUtc> {
    let mut rest = text.as_bytes();
    let year = digits(&mut rest, 4)?;
    literal(&mut rest, b"-")?;
    let month = digits(&mut rest, 2)?;
    literal(&mut rest, b"-")?;
    let day = digits(&mut rest, 2)?;
    literal(&mut rest, b"Tt ")?;
    let hour = digits(&mut rest, 2)?;
    literal(&mut rest, b":")?;
    let minute = digits(&mut rest, 2)?;
    literal(&mut rest, b":")?;
    let second = digits(&mut rest, 2)?;
    let fraction = fraction(&mut rest)?;
    offset(rest)?;

    let in_range = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60; // a leap second
    if !in_range {
        return Err(NotUtc::Malformed);
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Ok(Timestamp {
        nanoseconds: i128::from(seconds) * 1_000_000_000 + i128::from(fraction.unwrap_or(0)),
        whole_second: fraction.is_none(),
    })
}

fn digits(rest: &mut &[u8], count: usize) -> Result<i64, NotUtc> {
    let (digits, after) = rest.split_at_checked(count).ok_or(NotUtc::Malformed)?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(NotUtc::Malformed);
    }
    *rest = after;
    Ok(digits
        .iter()
        .fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

fn literal(rest: &mut &[u8], allowed: &[u8]) -> Result<(), NotUtc> {
    match rest.split_first() {
        Some((first, after)) if allowed.contains(first) => {
            *rest = after;
            Ok(())
        }
        _ => Err(NotUtc::Malformed),
    }
}

/// The nanoseconds of a fraction, if there is one; digits beyond the ninth are dropped.
fn fraction(rest: &mut &[u8]) -> Result<Option<u32>, NotUtc> {
    let Some(after) = rest.strip_prefix(b".") else {
        return Ok(None);
    };
    let length = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = after.split_at(length);
    if digits.is_empty() {
        return Err(NotUtc::Malformed);
    }
    *rest = after;
    let nanoseconds = digits
        .iter()
        .chain(std::iter::repeat(&b'0'))
        .take(9)
        .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    Ok(Some(nanoseconds))
}

fn offset(rest: &[u8]) -> Result<(), NotUtc> {
    match rest {
        b"Z" | b"z" | b"+00:00" | b"-00:00" => Ok(()),
        [b'+' | b'-', hour, hours, b':', minute, minutes]
            if [hour, hours, minute, minutes]
                .iter()
                .all(|byte| byte.is_ascii_digit()) =>
        {
            Err(NotUtc::Offset)
        }
        _ => Err(NotUtc::Malformed),
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to that date. Years are counted from March, so that a leap day is the last of its year.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let months_since_march = (month + 9) % 12;
    let day_of_year = (153 * months_since_march + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(text: &str) -> i128 {
        parse(text).unwrap().nanoseconds / 1_000_000_000
    }

    #[test]
    fn known_moments() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), 0);
        assert_eq!(seconds("1969-12-31T23:59:59Z"), -1);
        assert_eq!(seconds("2000-02-29T00:00:00Z"), 951_782_400);
        assert_eq!(seconds("2026-10-29T12:00:00Z"), 1_793_275_200);
        assert_eq!(seconds("2100-03-01T00:00:00Z"), 4_107_542_400);
        assert_eq!(seconds("2016-12-31T23:59:60Z"), seconds("2017-01-01T00:00:00Z"));
    }

    #[test]
    fn any_number_of_fraction_digits() {
        let nanoseconds = |text| parse(text).unwrap().nanoseconds;
        assert_eq!(nanoseconds("1970-01-01T00:00:00.5Z"), 500_000_000);
        assert_eq!(nanoseconds("1970-01-01T00:00:00.000000001Z"), 1);
        assert_eq!(nanoseconds("1970-01-01T00:00:00.1234567899999Z"), 123_456_789);
        assert!(parse("1970-01-01T00:00:00Z").unwrap().whole_second);
        assert!(!parse("1970-01-01T00:00:00.0Z").unwrap().whole_second);
    }

    #[test]
    fn utc_in_all_its_spellings() {
        let z = parse("2026-01-02T03:04:05Z");
        for text in [
            "2026-01-02T03:04:05+00:00",
            "2026-01-02T03:04:05-00:00",
            "2026-01-02t03:04:05z",
            "2026-01-02 03:04:05Z",
        ] {
            assert_eq!(parse(text), z, "{text}");
        }
    }

    #[test]
    fn another_offset_is_told_from_none() {
        assert_eq!(parse("2026-01-02T03:04:05+02:00"), Err(NotUtc::Offset));
        for text in [
            "",
            "2026-01-02T03:04:05",
            "2026-01-02",
            "2026-01-02T03:04Z",
            "2026-01-02T03:04:05.Z",
            "2026-01-02T03:04:05,5Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "20260102T030405Z",
            "1767225600",
            "2026-01-02T03:04:05Z ",
            "２026-01-02T03:04:05Z",
        ] {
            assert_eq!(parse(text), Err(NotUtc::Malformed), "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn each_day_follows_the_one_before(year in 1i64..9999, month in 1i64..=12, day in 1i64..=28) {
            let today = days_from_civil(year, month, day);
            prop_assert_eq!(days_from_civil(year, month, day + 1), today + 1);
            let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            let last = days_from_civil(year, month, days_in(year, month));
            prop_assert_eq!(days_from_civil(next_year, next_month, 1), last + 1);
        }

        #[test]
        fn what_was_written_is_read(
            year in 1970i64..9999, month in 1i64..=12, day in 1i64..=28,
            second in 0i64..86_400, milliseconds in 0i64..1000,
        ) {
            let (hour, minute, second_of_minute) = (second / 3600, second / 60 % 60, second % 60);
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second_of_minute:02}.{milliseconds:03}Z");
            let expected = i128::from(days_from_civil(year, month, day) * 86_400 + second) * 1_000_000_000
                + i128::from(milliseconds) * 1_000_000;
            prop_assert_eq!(parse(&text).unwrap().nanoseconds, expected);
        }
    }
}
