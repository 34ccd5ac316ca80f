//! Values on the command line that clap does not know by itself.

use std::time::Duration;

use crate::contract::ClauseSet;

/// The version of the contract that has this name.
pub(super) fn contract(name: &str) -> Result<&'static ClauseSet, String> {
    ClauseSet::named(name).ok_or_else(|| {
        let known: Vec<&str> = ClauseSet::names().collect();
        format!("known are: {}", known.join(", "))
    })
}

/// A duration as `20s` or `500ms`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let parse = |number: &str| number.parse::<u64>().ok();
    let duration = match text.strip_suffix("ms") {
        Some(number) => parse(number).map(Duration::from_millis),
        None => text.strip_suffix('s').and_then(parse).map(Duration::from_secs),
    };
    match duration {
        Some(duration) if duration >= Duration::from_millis(100) && duration <= Duration::from_secs(3600) => {
            Ok(duration)
        }
        Some(_) => Err("it must lie between 100ms and 3600s".into()),
        None => Err("write a whole number and a unit, as 20s or 500ms".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("20s"), Ok(Duration::from_secs(20)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        for bad in ["", "20", "s", "-1s", "1h", "0s", "99999999s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
