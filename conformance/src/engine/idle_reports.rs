//! The reports that keep a seat idle, as far as a step waits for them.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

/// Up to here it is worth the time to watch a seat through twice its livenessSeconds; beyond, one more report has to do.
const WATCHED_THROUGH: Duration = Duration::from_secs(5);

/// A report that comes this late is late in every sense.
const GRACE: Duration = Duration::from_secs(1);

/// What the reports say by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    /// Nothing more is to be waited for.
    Over,
    /// Not before then, unless another report comes.
    Until(Instant),
}

/// The idle reports since the seat was last anything else.
#[derive(Debug, Default)]
pub(crate) struct IdleReports {
    first: Option<Instant>,
    last: Option<Instant>,
    count: usize,
    liveness: Option<Duration>,
}

impl IdleReports {
    /// Takes a post in.
    pub(crate) fn take(&mut self, body: &Value, runtime: &str) {
        self.take_at(Instant::now(), body, runtime);
    }

    fn take_at(&mut self, now: Instant, body: &Value, runtime: &str) {
        let field = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
        let exited = field("subtype").strip_suffix("_exited") == Some(runtime);
        if field("hookEvent") != "Stop" || exited {
            *self = Self::default();
            return;
        }
        self.first.get_or_insert(now);
        self.last = Some(now);
        self.count += 1;
        self.liveness = body
            .get("livenessSeconds")
            .and_then(Value::as_f64)
            .filter(|seconds| (1.0..=3600.0).contains(seconds))
            .map(Duration::from_secs_f64);
    }

    /// Whether the seat was watched enough, where a liveness of up to `longest` is waited for.
    pub(crate) fn watch(&self, now: Instant, longest: Duration) -> Watch {
        let (Some(first), Some(last), Some(liveness)) = (self.first, self.last, self.liveness) else {
            return Watch::Over;
        };
        let through = 2 * liveness;
        let lapsed = last + through + GRACE;
        let enough = if through <= WATCHED_THROUGH {
            now >= first + through && self.count > 1
        } else {
            self.count > 1
        };
        if liveness > longest || enough || now >= lapsed {
            return Watch::Over;
        }
        let sooner = if now < first + through && self.count > 1 {
            first + through
        } else {
            lapsed
        };
        Watch::Until(sooner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LONGEST: Duration = Duration::from_secs(20);

    fn idle(reports: &mut IdleReports, at: Instant, liveness: Value) {
        let body = json!({"hookEvent": "Stop", "subtype": "idle", "livenessSeconds": liveness});
        reports.take_at(at, &body, "dsh");
    }

    #[test]
    fn a_short_liveness_is_watched_through_and_a_long_one_to_its_next_report() {
        let start = Instant::now();
        let after = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let mut short = IdleReports::default();
        idle(&mut short, start, json!(1));
        assert_eq!(short.watch(start, LONGEST), Watch::Until(after(3.0)));
        idle(&mut short, after(0.7), json!(1));
        assert_eq!(short.watch(after(0.7), LONGEST), Watch::Until(after(2.0)));
        assert_eq!(short.watch(after(2.0), LONGEST), Watch::Over);
        let mut long = IdleReports::default();
        idle(&mut long, start, json!(10));
        assert_eq!(long.watch(start, LONGEST), Watch::Until(after(21.0)));
        idle(&mut long, after(7.5), json!(10));
        assert_eq!(long.watch(after(7.5), LONGEST), Watch::Over);
    }

    #[test]
    fn what_can_not_lapse_in_time_is_not_waited_for() {
        let start = Instant::now();
        let mut reports = IdleReports::default();
        assert_eq!(reports.watch(start, LONGEST), Watch::Over);
        idle(&mut reports, start, json!(null));
        assert_eq!(reports.watch(start, LONGEST), Watch::Over);
        idle(&mut reports, start, json!(3600));
        assert_eq!(reports.watch(start, LONGEST), Watch::Over);
        idle(&mut reports, start, json!(1));
        let lapsed = start + Duration::from_secs(3);
        assert_eq!(reports.watch(lapsed, LONGEST), Watch::Over);
    }

    #[test]
    fn work_begins_it_anew() {
        let start = Instant::now();
        let mut reports = IdleReports::default();
        idle(&mut reports, start, json!(1));
        reports.take_at(
            start,
            &json!({"hookEvent": "UserPromptSubmit", "subtype": "accepted"}),
            "dsh",
        );
        assert_eq!(reports.watch(start, LONGEST), Watch::Over);
        let later = start + Duration::from_secs(9);
        idle(&mut reports, later, json!(1));
        assert_eq!(
            reports.watch(later, LONGEST),
            Watch::Until(later + Duration::from_secs(3))
        );
    }
}
