//! livenessSeconds on idle Stops: `activity.liveness-range` and `activity.liveness-every-idle`.

use serde_json::Value;

use crate::contract::finding::{Finding, Tally};
use crate::contract::quote::quoted;
use crate::history::Event;
use crate::history::views::{Post, PostKind, Views};

/// Idle Stops cited as proof that a runner states no liveness.
const CITED: usize = 3;

pub(super) fn range(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let idle: Vec<&Post<'_>> = launch.posts_of(PostKind::Idle).collect();
        for post in &idle {
            match post.liveness() {
                Some(stated) if is_in_range(stated) => tally.held(
                    format!("{} states livenessSeconds {stated}", post.name()),
                    &[post.started],
                ),
                Some(stated) => tally.broken(
                    format!(
                        "{} states livenessSeconds {}",
                        post.name(),
                        quoted(&stated.to_string())
                    ),
                    &[post.started],
                ),
                None => {}
            }
        }
        none_states_it(&idle, &mut tally);
    }
    tally.finding()
}

fn is_in_range(stated: &Value) -> bool {
    in_range(stated).is_some()
}

/// The seconds stated, if they are a whole number in range; OpenRig ignores any other. 60.0 is a whole number too, as
/// JSON goes.
pub(super) fn in_range(stated: &Value) -> Option<u64> {
    let whole = stated.as_u64().or_else(|| {
        let number = stated.as_f64()?;
        (number.fract() == 0.0 && (1.0..=3600.0).contains(&number)).then_some(number as u64)
    })?;
    (1..=3600).contains(&whole).then_some(whole)
}

pub(super) fn none_states_it(idle: &[&Post<'_>], tally: &mut Tally) {
    if idle.is_empty() || idle.iter().any(|post| post.liveness().is_some()) {
        return;
    }
    let events: Vec<&Event> = idle.iter().take(CITED).map(|post| post.started).collect();
    tally.not_applicable(
        format!(
            "{} idle Stops were posted, and none states livenessSeconds",
            idle.len()
        ),
        &events,
    );
}

pub(super) fn every_idle(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let idle: Vec<&Post<'_>> = launch.posts_of(PostKind::Idle).collect();
        let stating = idle.iter().find(|post| post.liveness().is_some());
        let silent = idle.iter().find(|post| post.liveness().is_none());
        match (stating, silent) {
            (Some(stating), Some(silent)) => tally.broken(
                format!(
                    "{} states livenessSeconds, {} does not",
                    stating.name(),
                    silent.name()
                ),
                &[stating.started, silent.started],
            ),
            (Some(_), None) if idle.len() > 1 => {
                let events: Vec<&Event> = idle.iter().take(CITED).map(|post| post.started).collect();
                tally.held(
                    format!("all {} idle Stops state livenessSeconds", idle.len()),
                    &events,
                );
            }
            _ => none_states_it(&idle, &mut tally),
        }
    }
    tally.finding()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };

    fn stating(history: HistoryBuilder, liveness: Value) -> HistoryBuilder {
        history.post_with("Stop", "idle", |body| body["livenessSeconds"] = liveness)
    }

    fn assert_not_applicable(clause: &str, history: &HistoryBuilder) {
        let finding = judge(clause, history);
        let Finding::NotApplicable(decided) = &finding else {
            panic!("{clause} should not apply: {finding:?}")
        };
        assert!(!decided.events.is_empty());
    }

    #[test]
    fn range() {
        const CLAUSE: &str = "activity.liveness-range";
        for liveness in [json!(1), json!(60), json!(3600), json!(60.0)] {
            assert_held(CLAUSE, &stating(HistoryBuilder::ready(), liveness));
        }
        for liveness in [
            json!(0),
            json!(3601),
            json!(-5),
            json!(1.5),
            json!("60"),
            json!(true),
        ] {
            assert_broken(CLAUSE, &stating(HistoryBuilder::ready(), liveness));
        }
        assert_not_applicable(CLAUSE, &HistoryBuilder::ready().post("Stop", "idle"));
        assert_not_applicable(CLAUSE, &stating(HistoryBuilder::ready(), json!(null)));
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().post("Stop", "cancelled"));
    }

    #[test]
    fn every_idle() {
        const CLAUSE: &str = "activity.liveness-every-idle";
        let one = stating(HistoryBuilder::ready(), json!(60));
        assert_not_exercised(CLAUSE, &one);
        assert_held(CLAUSE, &stating(one.clone(), json!(60)));
        assert_held(CLAUSE, &stating(one.clone().post("Stop", "cancelled"), json!(60)));
        assert_held(
            CLAUSE,
            &stating(one.clone(), json!(60)).post("Stop", "dsh_exited"),
        );
        assert_broken(CLAUSE, &one.clone().post("Stop", "idle"));
        assert_broken(
            CLAUSE,
            &stating(HistoryBuilder::ready().post("Stop", "ready"), json!(60)),
        );
        assert_not_applicable(CLAUSE, &HistoryBuilder::ready().post("Stop", "idle"));
    }
}
