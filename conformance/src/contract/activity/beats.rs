//! A seat that says how long it is to be taken for idle stays idle: `activity.beats`.
//!
//! Judged from the first idle report on (reading 17), and only while nothing else is on: a message, a turn, held
//! attention, an agent that is lost, an endpoint that fails.

use super::liveness::{in_range, none_states_it};
use crate::contract::endpoint_faults::posts_are_all_seen;
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{PROMPT, SECOND, machine_was_late};
use crate::history::views::{LaunchView, Post, PostKind, Views, milliseconds};
use crate::history::{Event, Fact, PostEnd, Process, Step, Wire};

/// No scenario watches a seat for longer: of what a runner states beyond, nothing can be seen (reading 42).
const LONGEST: u64 = 20;

pub(super) fn beats(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        if !posts_are_all_seen(views, launch) {
            continue;
        }
        let idle: Vec<&Post<'_>> = launch.posts_of(PostKind::Idle).collect();
        none_states_it(&idle, &mut tally);
        states_too_long(&idle, &mut tally);
        for stretch in stretches(launch) {
            judge(views, &stretch, &mut tally);
        }
    }
    tally.finding()
}

/// Nothing could lapse in the time that a seat is watched.
fn states_too_long(idle: &[&Post<'_>], tally: &mut Tally) {
    let stated: Vec<u64> = idle.iter().filter_map(|post| liveness(post)).collect();
    let Some(shortest) = stated.iter().min().filter(|seconds| **seconds > LONGEST) else {
        return;
    };
    let events: Vec<&Event> = idle.iter().take(1).map(|post| post.started).collect();
    tally.not_applicable(
        format!("it states livenessSeconds {shortest}: nothing could lapse within {LONGEST} s"),
        &events,
    );
}

fn liveness(post: &Post<'_>) -> Option<u64> {
    in_range(post.liveness()?)
}

/// A time in which the seat was idle by its own reports and nothing happened to it.
struct Stretch<'v, 'h> {
    /// The reports, each stating its liveness.
    reports: Vec<&'v Post<'h>>,
    /// What ended it.
    end: &'h Event,
}

fn stretches<'v, 'h>(launch: &'v LaunchView<'h>) -> Vec<Stretch<'v, 'h>> {
    let mut found = Vec::new();
    let mut reports: Vec<&Post<'h>> = Vec::new();
    let mut posts = launch.posts.iter().peekable();
    for event in launch.events.iter().copied() {
        let post = posts.next_if(|post| post.started.sequence == event.sequence);
        let stating =
            post.filter(|post| post.kind.is_non_exit_stop() && post.at_the_hook && liveness(post).is_some());
        // One that is never answered may not have counted.
        let counts = stating.is_some_and(|post| post.end == Some(PostEnd::Answered { status: 200 }));
        match stating {
            Some(stating) if counts => reports.push(stating),
            Some(_) => {}
            None if !reports.is_empty() && (post.is_some() || disturbs(event)) => found.push(Stretch {
                reports: std::mem::take(&mut reports),
                end: event,
            }),
            None => {}
        }
        if ends_all(event) {
            return found;
        }
    }
    if let Some(end) = launch.events.last().filter(|_| !reports.is_empty()) {
        found.push(Stretch { reports, end });
    }
    found
}

/// Whether the seat may have more to do now than to be idle.
fn disturbs(event: &Event) -> bool {
    match &event.fact {
        Fact::Step(
            Step::Sent { .. }
            | Step::Entered { .. }
            | Step::Typed { .. }
            | Step::Interrupted
            | Step::ClearedAttention
            | Step::Endpoint { .. },
        ) => true,
        // A prompt goes to the agent, or it asks for something.
        Fact::Wire(Wire::ToAgent { .. } | Wire::FromAgent { .. } | Wire::FromAgentRaw { .. }) => true,
        _ => ends_all(event),
    }
}

/// Whether nothing can be asked of the seat any more.
fn ends_all(event: &Event) -> bool {
    matches!(
        event.fact,
        Fact::Step(Step::Stopping { .. })
            | Fact::Process(Process::RunnerExited { .. })
            | Fact::Wire(
                Wire::Ending { .. }
                    | Wire::AgentEnded { .. }
                    | Wire::StdoutClosed { .. }
                    | Wire::EndOfInput { .. }
            )
    )
}

fn judge<'h>(views: &Views<'h>, stretch: &Stretch<'_, 'h>, tally: &mut Tally) {
    let Some(first) = stretch.reports.first() else {
        return;
    };
    let nexts = stretch
        .reports
        .iter()
        .skip(1)
        .map(|report| report.started)
        .chain([stretch.end]);
    for (report, next) in stretch.reports.iter().zip(nexts) {
        let holds = liveness(report).unwrap_or(0) * 2 * SECOND;
        let gap = next.at.saturating_sub(report.at());
        // A report that is late by less than that is the machine's lateness as likely as the runner's.
        if gap <= holds + PROMPT {
            continue;
        }
        let said = format!(
            "{} states livenessSeconds {}, and no idle report followed it in {}: the seat reads unknown",
            report.name(),
            holds / 2 / SECOND,
            milliseconds(gap)
        );
        let events = [report.started, next];
        if machine_was_late(views, report.at(), next.at, PROMPT) {
            tally.inconclusive(said, &events);
        } else {
            tally.broken(said, &events);
        }
        return;
    }
    if let [.., last] = stretch.reports.as_slice()
        && stretch.reports.len() > 1
    {
        tally.held(
            format!(
                "idle for {} with {} reports",
                milliseconds(stretch.end.at.saturating_sub(first.at())),
                stretch.reports.len()
            ),
            &[first.started, last.started, stretch.end],
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };
    use crate::history::{Fact, Wire};

    const CLAUSE: &str = "activity.beats";

    fn stating(history: HistoryBuilder, seconds: u64) -> HistoryBuilder {
        history.post_with("Stop", "idle", |body| body["livenessSeconds"] = json!(seconds))
    }

    /// A turn that ended with a stated liveness.
    fn idle(seconds: u64) -> HistoryBuilder {
        stating(
            HistoryBuilder::ready().prompt("work").end_turn("end_turn"),
            seconds,
        )
    }

    fn assert_not_applicable(history: &HistoryBuilder) {
        let finding = judge(CLAUSE, history);
        assert!(matches!(finding, Finding::NotApplicable(_)), "{finding:?}");
    }

    #[test]
    fn a_seat_that_beats_stays_idle() {
        let beating = stating(stating(idle(1).after_ms(900), 1).after_ms(1_900), 1);
        assert_held(CLAUSE, &beating.clone().watch_seconds(1));
        assert_broken(CLAUSE, &beating.watch_seconds(4));
        assert_broken(CLAUSE, &idle(1).watch_seconds(4));
        assert_broken(CLAUSE, &stating(idle(1).after_ms(3_500), 1).watch_seconds(1));
        assert_held(CLAUSE, &stating(idle(10).after_ms(9_000), 10).watch_seconds(2));
        // Late by less than a second says nothing.
        assert_held(CLAUSE, &stating(idle(1).after_ms(2_500), 1).watch_seconds(1));
        assert_not_exercised(CLAUSE, &idle(1).watch_seconds(1));
    }

    #[test]
    fn what_can_not_be_seen_does_not_apply() {
        assert_not_applicable(&HistoryBuilder::ready().post("Stop", "idle").watch_seconds(9));
        assert_not_applicable(&idle(3_600).watch_seconds(9));
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().watch_seconds(9));
        assert_not_exercised(CLAUSE, &idle(20).watch_seconds(9));
    }

    #[test]
    fn only_an_undisturbed_idle_seat_beats() {
        let disturbed = [
            idle(1).block("next").prompt_text_only("next"),
            idle(1).block("/abort"),
            idle(1).asks_permission(json!({"toolCallId": "call"})),
            idle(1).post("Notification", "permission_prompt"),
            idle(1).post("Stop", "dsh_exited"),
            idle(1).agent_ended(),
            idle(1).fact(Fact::Wire(Wire::StdoutClosed { agent: 1 })),
            idle(1).post("Stop", "idle"),
            idle(1).stopping(),
        ];
        for history in disturbed {
            assert_not_exercised(CLAUSE, &history.watch_seconds(9));
        }
        assert_not_exercised(CLAUSE, &idle(1).endpoint("hang").watch_seconds(9));
    }

    #[test]
    fn a_late_machine_decides_nothing() {
        let late = idle(1).after_ms(2_000).fact(Fact::Lag { late_ms: 1_500 });
        let finding = judge(CLAUSE, &late.watch_seconds(3));
        assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
    }
}
