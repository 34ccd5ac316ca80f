//! The order of posts: `activity.sequence` and `activity.one-at-a-time`.

use crate::contract::endpoint_faults::{Fault, fault_at, faults};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, SECOND, machine_was_late};
use crate::history::PostEnd;
use crate::history::views::{LaunchView, Post, Views, milliseconds};

pub(super) fn sequence(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    let faults = faults(views);
    for launch in &views.launches {
        for post in launch.posts.iter().filter(|post| post.at_the_hook) {
            let stated = post.body.as_ref().and_then(|body| body.get("sequence"));
            if let Some(stated) = stated.filter(|_| post.sequence().is_none()) {
                tally.broken(
                    format!("{} has sequence {stated}, which is no whole number", post.name()),
                    &[post.started],
                );
            }
        }
        let numbered: Vec<(&Post<'_>, u64)> = launch
            .posts
            .iter()
            .filter(|post| post.at_the_hook)
            .filter_map(|post| Some((post, post.sequence()?)))
            .collect();
        for ((before, lower), (post, higher)) in numbered.iter().zip(numbered.iter().skip(1)) {
            let events = [before.started, post.started];
            if lower < higher {
                tally.held(format!("sequence {higher} after {lower}"), &events);
            } else if lower == higher && is_repeat_in_a_fault(before, post, &faults) {
                // Free (reading 3): the runner may not have been able to use the answer it got.
            } else if may_have_overtaken(before, post) {
                tally.inconclusive(
                    format!("sequence {higher} arrived after {lower}, which was not answered"),
                    &events,
                );
            } else {
                tally.broken(
                    format!(
                        "{} has sequence {higher}, after {} with {lower}",
                        post.name(),
                        before.name()
                    ),
                    &events,
                );
            }
        }
    }
    tally.finding()
}

fn is_repeat_in_a_fault(before: &Post<'_>, post: &Post<'_>, faults: &[Fault<'_>]) -> bool {
    before.name() == post.name()
        && [before.at(), post.at()]
            .iter()
            .any(|at| fault_at(faults, *at).is_some())
}

/// A post that the runner gave up may still be on its way when the next one arrives.
fn may_have_overtaken(before: &Post<'_>, post: &Post<'_>) -> bool {
    let unanswered = |post: &Post<'_>| !matches!(post.end, Some(PostEnd::Answered { .. }));
    post.at() - before.at() < CROSSING
        && before.sequence() != post.sequence()
        && (unanswered(before) || unanswered(post))
}

pub(super) fn one_at_a_time(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    let faults = faults(views);
    for launch in &views.launches {
        // Of the posts so far, the one that ended last: a later one must not start before.
        let mut open: Option<&Post<'_>> = None;
        for post in &launch.all_posts {
            if let Some(before) = open {
                judge_pair(views, launch, before, post, &faults, &mut tally);
            }
            let end = |post: &Post<'_>| post.ended.map_or(u64::MAX, |event| event.at);
            open = open.filter(|before| end(before) > end(post)).or(Some(post));
        }
    }
    tally.finding()
}

fn judge_pair(
    views: &Views<'_>,
    launch: &LaunchView<'_>,
    before: &Post<'_>,
    post: &Post<'_>,
    faults: &[Fault<'_>],
    tally: &mut Tally,
) {
    let grace = grace_after(before, post, faults);
    let Some(ended) = before.ended else {
        // An end that the endpoint did not come to notice before the launch was over is no finding.
        if launch.watched_after(post.at()) >= CROSSING && fault_at(faults, post.at()).is_none() {
            tally.broken(
                format!("{} started while {} had not ended", post.name(), before.name()),
                &[before.started, post.started],
            );
        }
        return;
    };
    let events = [before.started, ended, post.started];
    if post.at().saturating_add(grace) >= ended.at {
        tally.held(
            format!("{} started after {} had ended", post.name(), before.name()),
            &events,
        );
    } else if machine_was_late(views, before.at(), ended.at, SECOND) {
        tally.inconclusive(
            format!(
                "{} started {} before {} ended, on a machine that was late: the runner may have given that one up",
                post.name(),
                milliseconds(ended.at - post.at()),
                before.name()
            ),
            &events,
        );
    } else {
        tally.broken(
            format!(
                "{} started {} before {} ended",
                post.name(),
                milliseconds(ended.at - post.at()),
                before.name()
            ),
            &events,
        );
    }
}

/// An answer is stamped before it is written, so what follows it stands after it. That a client gave up, the endpoint
/// may notice later than the client's next post.
fn grace_after(before: &Post<'_>, post: &Post<'_>, faults: &[Fault<'_>]) -> u64 {
    let answered = matches!(before.end, Some(PostEnd::Answered { .. }));
    let healthy = [before.at(), post.at()]
        .iter()
        .all(|at| fault_at(faults, *at).is_none());
    if answered && healthy { 0 } else { CROSSING }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };
    use crate::history::{Fact, PostEnd, PostFact};

    const ANSWERED: PostEnd = PostEnd::Answered { status: 200 };

    fn numbered(history: HistoryBuilder, name: &str, number: u64) -> HistoryBuilder {
        history.post_with("Stop", name, |body| body["sequence"] = json!(number))
    }

    #[test]
    fn sequence() {
        const CLAUSE: &str = "activity.sequence";
        let turn = HistoryBuilder::ready()
            .prompt("work")
            .end_turn("end_turn")
            .post("Stop", "idle");
        assert_held(CLAUSE, &turn);
        assert_held(CLAUSE, &numbered(turn.clone(), "idle", 1_000_000));
        assert_broken(CLAUSE, &numbered(turn.clone(), "idle", 1));
        assert_broken(CLAUSE, &numbered(turn, "idle", 2));
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().prompt("work"));
    }

    #[test]
    fn each_launch_counts_anew() {
        let turn = HistoryBuilder::ready().prompt("work").end_turn("end_turn");
        let again = turn.post("Stop", "idle").launch(|_| {}).post("Stop", "idle");
        assert_held("activity.sequence", &again);
    }

    #[test]
    fn a_failed_post_may_be_repeated_with_its_number() {
        const CLAUSE: &str = "activity.sequence";
        let failed = HistoryBuilder::ready()
            .prompt("work")
            .end_turn("end_turn")
            .post_started("Stop", "idle", |_| {})
            .post_ended(PostEnd::Answered { status: 500 });
        assert_held(CLAUSE, &numbered(failed.clone(), "idle", 2));
        assert_broken(CLAUSE, &numbered(failed, "idle", 1));
    }

    #[test]
    fn a_repeat_after_an_answer_that_could_not_be_used_is_free() {
        let cut = HistoryBuilder::ready()
            .prompt("work")
            .endpoint("close_mid_answer")
            .post("Stop", "idle");
        assert_held("activity.sequence", &numbered(cut, "idle", 2));
    }

    #[test]
    fn one_at_a_time() {
        const CLAUSE: &str = "activity.one-at-a-time";
        let one = HistoryBuilder::ready().prompt("work").end_turn("end_turn");
        assert_held(CLAUSE, &one.clone().post("Stop", "idle"));
        assert_not_exercised(CLAUSE, &one);
        let two = HistoryBuilder::ready()
            .post_started("UserPromptSubmit", "accepted", |_| {})
            .post_started("Stop", "idle", |_| {});
        let end = |id| Fact::Post(PostFact::Ended { id, how: ANSWERED });
        assert_broken(CLAUSE, &two.clone().fact(end(1)).fact(end(2)));
        assert_broken(CLAUSE, &two.clone().fact(end(2)).fact(end(1)));
        assert_broken(CLAUSE, &two.watch_seconds(1));
    }

    #[test]
    fn a_post_that_stays_open_is_compared_with_all_that_follow() {
        let end = |id| Fact::Post(PostFact::Ended { id, how: ANSWERED });
        let third_overlaps_first = HistoryBuilder::ready()
            .post_started("UserPromptSubmit", "accepted", |_| {})
            .fact(Fact::Post(PostFact::Ended {
                id: 1,
                how: PostEnd::Answered { status: 200 },
            }))
            .post_started("Stop", "one", |_| {})
            .post_started("Stop", "two", |_| {})
            .fact(end(3))
            .post_started("Stop", "three", |_| {})
            .fact(end(4))
            .fact(end(2));
        assert_broken("activity.one-at-a-time", &third_overlaps_first);
    }

    #[test]
    fn that_a_client_gave_up_may_be_noticed_late() {
        const CLAUSE: &str = "activity.one-at-a-time";
        let overlapping = |late_by| {
            HistoryBuilder::ready()
                .endpoint("hang")
                .post_started("UserPromptSubmit", "accepted", |_| {})
                .after_ms(2_000)
                .post_started("Stop", "idle", |_| {})
                .after_ms(late_by)
                .fact(Fact::Post(PostFact::Ended {
                    id: 1,
                    how: PostEnd::GivenUp,
                }))
        };
        assert_held(CLAUSE, &overlapping(100));
        assert_broken(CLAUSE, &overlapping(600));
    }

    #[test]
    fn a_late_machine_leaves_it_open() {
        let late = HistoryBuilder::ready()
            .post_started("UserPromptSubmit", "accepted", |_| {})
            .post_started("Stop", "idle", |_| {})
            .fact(Fact::Lag { late_ms: 900 })
            .fact(Fact::Post(PostFact::Ended { id: 1, how: ANSWERED }));
        let finding = judge("activity.one-at-a-time", &late);
        assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
    }
}
