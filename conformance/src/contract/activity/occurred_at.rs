//! When a post says its fact occurred: `activity.occurred-at`.

use super::timestamp::{NotUtc, Timestamp, parse};
use super::turns::{in_order_sent, turns};
use crate::contract::endpoint_faults::posts_are_all_seen;
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, SECOND, machine_was_late};
use crate::contract::quote::quoted;
use crate::history::Event;
use crate::history::views::{LaunchView, Post, PostKind, Views};

/// How far a stamp may be from its fact.
const NEAR: u64 = 5 * SECOND;
/// How far ahead of its arrival a stamp may be.
const AHEAD: u64 = SECOND;

pub(super) fn occurred_at(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let clock = Clock {
            wall_start: i128::from(views.history.header.wall_start_ns),
        };
        let ends = turn_ends(views, launch);
        let mut latest: Option<(&Post<'_>, Timestamp)> = None;
        for post in in_order_sent(launch) {
            let Some(text) = post.field("occurredAt") else {
                // One that is missing is for activity.fields to judge.
                let stated = post.body.as_ref().and_then(|body| body.get("occurredAt"));
                if let Some(stated) = stated.filter(|stated| !stated.is_null()) {
                    tally.broken(
                        format!("{}: occurredAt {stated} is no RFC 3339 time", post.name()),
                        &[post.started],
                    );
                }
                continue;
            };
            let stamp = match parse(text) {
                Ok(stamp) => stamp,
                Err(why) => {
                    let why = match why {
                        NotUtc::Malformed => "no RFC 3339 time",
                        NotUtc::Offset => "not UTC",
                    };
                    tally.broken(
                        format!("{}: occurredAt {} is {why}", post.name(), quoted(text)),
                        &[post.started],
                    );
                    continue;
                }
            };
            if let Some((before, earlier)) = latest
                && stamp.nanoseconds < earlier.nanoseconds
            {
                tally.broken(
                    format!(
                        "{}: occurredAt {} lies before that of the post before, {}",
                        post.name(),
                        quoted(text),
                        quoted(before.field("occurredAt").unwrap_or_default())
                    ),
                    &[before.started, post.started],
                );
            }
            judge_stamp(views, launch, &clock, &ends, post, stamp, &mut tally);
            if latest.is_none_or(|(_, earlier)| earlier.nanoseconds <= stamp.nanoseconds) {
                latest = Some((post, stamp));
            }
        }
    }
    tally.finding()
}

fn judge_stamp<'h>(
    views: &Views<'h>,
    launch: &LaunchView<'h>,
    clock: &Clock,
    ends: &[(u64, &'h Event)],
    post: &Post<'h>,
    stamp: Timestamp,
    tally: &mut Tally,
) {
    let text = quoted(post.field("occurredAt").unwrap_or_default());
    let ahead = stamp.nanoseconds - clock.wall(post.at());
    if ahead > i128::from(AHEAD) {
        tally.broken(
            format!(
                "{}: occurredAt {text} lies {} after the post's arrival",
                post.name(),
                seconds(ahead)
            ),
            &[post.started],
        );
        return;
    }
    let facts = facts_of(launch, ends, post);
    let Some((fact, distance)) = facts
        .into_iter()
        .map(|fact| (fact, clock.distance(stamp, fact.at)))
        .min_by_key(|(_, distance)| *distance)
    else {
        return;
    };
    let events = [fact, post.started];
    if distance <= i128::from(NEAR) {
        tally.held(
            format!("{}: occurredAt {text} is within 5 s of the fact", post.name()),
            &events,
        );
        return;
    }
    let said = format!(
        "{}: occurredAt {text} is {} away from the fact",
        post.name(),
        seconds(distance)
    );
    if machine_was_late(views, fact.at.min(post.at()), post.at(), NEAR) {
        tally.inconclusive(said, &events);
    } else {
        tally.broken(said, &events);
    }
}

/// The facts that this post may speak of; none where that can't be told.
fn facts_of<'h>(launch: &LaunchView<'h>, ends: &[(u64, &'h Event)], post: &Post<'h>) -> Vec<&'h Event> {
    let known = post.at().saturating_add(CROSSING);
    match post.kind {
        PostKind::Accepted => launch
            .prompts
            .iter()
            .map(|prompt| prompt.exchange.request.event)
            .filter(|request| request.at <= known)
            .collect(),
        PostKind::PermissionPrompt => launch
            .permissions()
            .map(|asked| asked.request.event)
            .filter(|request| request.at <= known)
            .collect(),
        PostKind::Idle | PostKind::Cancelled => ends
            .iter()
            .filter(|(id, _)| *id == post.id)
            .map(|(_, answer)| *answer)
            .collect(),
        PostKind::Exited | PostKind::Working | PostKind::Other => Vec::new(),
    }
}

/// The Stops that end a turn, each by its post's id, with the answer that ended it.
fn turn_ends<'h>(views: &Views<'h>, launch: &LaunchView<'h>) -> Vec<(u64, &'h Event)> {
    if !posts_are_all_seen(views, launch) {
        return Vec::new();
    }
    turns(views, launch)
        .unwrap_or_default()
        .iter()
        .filter(|turn| !turn.overlaps(launch) && !turn.may_hold_attention(launch))
        .filter_map(|turn| {
            let answer = turn.prompt.answer()?;
            let stop = turn.stops().find(|stop| stop.at() >= answer.event.at)?;
            Some((stop.id, answer.event))
        })
        .collect()
}

/// Turns the history's clock into the wall's.
struct Clock {
    wall_start: i128,
}

impl Clock {
    fn wall(&self, at: u64) -> i128 {
        self.wall_start + i128::from(at)
    }

    /// How far the stamp is from that time; one without a fraction stands for a whole second.
    fn distance(&self, stamp: Timestamp, at: u64) -> i128 {
        let behind = self.wall(at) - stamp.nanoseconds;
        if behind < 0 {
            -behind
        } else if stamp.whole_second {
            (behind - i128::from(SECOND)).max(0)
        } else {
            behind
        }
    }
}

/// Seconds for people, from nanoseconds.
fn seconds(nanoseconds: i128) -> String {
    let tenths = nanoseconds / i128::from(SECOND / 10);
    format!("{}.{} s", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::history_builder::{HistoryBuilder, assert_broken, assert_held};

    const CLAUSE: &str = "activity.occurred-at";

    fn accepted_at(stamp: &str) -> HistoryBuilder {
        HistoryBuilder::ready()
            .at_ms(10_000)
            .block("work")
            .prompt_text_only("work")
            .post_with("UserPromptSubmit", "accepted", |body| {
                body["occurredAt"] = json!(stamp)
            })
    }

    #[test]
    fn near_its_fact() {
        for stamp in [
            "2026-01-01T00:00:10.003Z",
            "2026-01-01T00:00:10Z",
            "2026-01-01T00:00:10+00:00",
            "2026-01-01T00:00:10.003004005006Z",
            "2026-01-01T00:00:05.500Z",
            "2026-01-01T00:00:05Z",
        ] {
            assert_held(CLAUSE, &accepted_at(stamp));
        }
        for stamp in [
            "2026-01-01T00:00:04.900Z",
            "2026-01-01T00:00:03Z",
            "2025-12-31T23:00:10.003Z",
            "2026-01-01T00:00:12Z",
            "2027-01-01T00:00:10Z",
        ] {
            assert_broken(CLAUSE, &accepted_at(stamp));
        }
    }

    #[test]
    fn rfc_3339_in_utc() {
        for stamp in [
            "2026-01-01T00:00:10.003",
            "2026-01-01T02:00:10.003+02:00",
            "1767225610",
            "now",
        ] {
            assert_broken(CLAUSE, &accepted_at(stamp));
        }
        let not_a_text =
            HistoryBuilder::ready().post_with("Stop", "idle", |body| body["occurredAt"] = json!(1));
        assert_broken(CLAUSE, &not_a_text);
    }

    #[test]
    fn the_facts_of_stops_and_permissions() {
        let answered = HistoryBuilder::ready()
            .prompt("work")
            .at_ms(20_000)
            .end_turn("end_turn");
        assert_held(CLAUSE, &answered.clone().post("Stop", "idle"));
        let of_the_prompt = answered.post_with("Stop", "idle", |body| {
            body["occurredAt"] = json!("2026-01-01T00:00:02Z");
        });
        assert_broken(CLAUSE, &of_the_prompt);
        let asked = HistoryBuilder::ready()
            .prompt("work")
            .at_ms(20_000)
            .asks_permission(json!({"toolCallId": "call"}))
            .refuses();
        assert_held(CLAUSE, &asked.clone().post("Notification", "permission_prompt"));
        let long_before = asked.post_with("Notification", "permission_prompt", |body| {
            body["occurredAt"] = json!("2026-01-01T00:00:02Z");
        });
        assert_broken(CLAUSE, &long_before);
    }

    #[test]
    fn a_late_delivery_keeps_the_time_of_the_fact() {
        let late = HistoryBuilder::ready()
            .endpoint("refuse")
            .block("work")
            .prompt_text_only("work")
            .at_ms(30_000)
            .endpoint("healthy");
        let at = |stamp: &str| {
            let stamp = stamp.to_owned();
            late.clone().post_with("UserPromptSubmit", "accepted", |body| {
                body["occurredAt"] = json!(stamp)
            })
        };
        assert_held(CLAUSE, &at("2026-01-01T00:00:00.020Z"));
        assert_broken(CLAUSE, &at("2026-01-01T00:00:30.000Z"));
    }

    #[test]
    fn the_order_of_posts_is_their_sequence() {
        let overtaken = accepted_at("2026-01-01T00:00:10Z")
            .at_ms(12_000)
            .end_turn("end_turn")
            .post_with("Stop", "beat", |body| {
                body["sequence"] = json!(3);
                body["occurredAt"] = json!("2026-01-01T00:00:12.002Z");
            })
            .post_with("Stop", "idle", |body| {
                body["sequence"] = json!(2);
                body["occurredAt"] = json!("2026-01-01T00:00:12.001Z");
            });
        assert_held(CLAUSE, &overtaken);
    }

    #[test]
    fn never_backwards() {
        let stops = |first: &str, second: &str| {
            let (first, second) = (first.to_owned(), second.to_owned());
            accepted_at("2026-01-01T00:00:10Z")
                .at_ms(12_000)
                .end_turn("end_turn")
                .post_with("Stop", "idle", |body| body["occurredAt"] = json!(first))
                .post_with("Stop", "beat", |body| body["occurredAt"] = json!(second))
        };
        assert_held(CLAUSE, &stops("2026-01-01T00:00:12Z", "2026-01-01T00:00:12Z"));
        assert_broken(
            CLAUSE,
            &stops("2026-01-01T00:00:12.010Z", "2026-01-01T00:00:12.009Z"),
        );
    }
}
