//! The reading, row by row.

use super::*;
use crate::record::Unusable;

pub(super) const SECOND: u64 = NANOSECONDS;

pub(super) fn facts(resume_ref: Option<&str>) -> LaunchFacts {
    LaunchFacts {
        resume_ref: resume_ref.map(str::to_owned),
        generation: "g2".to_owned(),
        session_name: "pod-member@rig".to_owned(),
        node_id: "n1".to_owned(),
        preset_name: "dsh".to_owned(),
    }
}

pub(super) fn post(event: &str, subtype: &str, sequence: u64) -> Post {
    Post {
        hook_event: Some(event.to_owned()),
        subtype: Some(subtype.to_owned()),
        session_name: Some("pod-member@rig".to_owned()),
        node_id: Some("n1".to_owned()),
        runtime: Some("dsh".to_owned()),
        generation: Some("g2".to_owned()),
        sequence: Some(sequence),
        ..Post::default()
    }
}

fn idle(sequence: u64, liveness_seconds: Option<u64>) -> Post {
    Post {
        liveness_seconds,
        ..post("Stop", "idle", sequence)
    }
}

fn usable(native_ref: &str) -> RecordReading {
    RecordReading::Usable {
        native_ref: native_ref.to_owned(),
    }
}

fn unusable() -> RecordReading {
    RecordReading::Unusable {
        why: Unusable::Attempt,
    }
}

/// The activity after these posts, each a second after the one before, and whether each counted.
fn after(posts: &[Post]) -> (ActivityReading, Vec<Counted>) {
    let mut seat = SeatReading::new(facts(None));
    let counted = posts
        .iter()
        .zip(1..)
        .map(|(post, second)| seat.post(post, second * SECOND))
        .collect();
    (seat.at(posts.len() as u64 * SECOND).activity, counted)
}

#[test]
fn a_launched_seat_is_pending_and_unknown() {
    let reading = SeatReading::new(facts(None)).at(0);
    assert_eq!(
        reading,
        Reading {
            launch: LaunchReading::Pending,
            activity: ActivityReading::Unknown
        }
    );
}

#[test]
fn every_way_a_launch_can_go() {
    use LaunchReading::*;
    enum Step {
        Record(RecordReading),
        WaitOver,
        Cleared,
    }
    use Step::*;
    let rows: Vec<(Option<&str>, Vec<Step>, LaunchReading)> = vec![
        (None, vec![Record(usable("c1"))], Ready),
        (None, vec![Record(usable("c1")), WaitOver], Ready),
        (None, vec![Record(unusable())], Pending),
        (None, vec![Record(unusable()), Record(usable("c1"))], Ready),
        (None, vec![Record(RecordReading::Missing)], Pending),
        (None, vec![Record(RecordReading::Missing), WaitOver], Attention),
        (
            None,
            vec![Record(RecordReading::Missing), Record(usable("c1"))],
            Ready,
        ),
        (None, vec![WaitOver], Attention),
        (None, vec![WaitOver, Record(usable("c1"))], Attention),
        (None, vec![WaitOver, Record(usable("c1")), Cleared], Ready),
        (None, vec![WaitOver, Cleared], Attention),
        (None, vec![Cleared], Pending),
        (Some("c1"), vec![Record(usable("c1"))], Resumed),
        (
            Some("c1"),
            vec![Record(usable("c1")), Record(RecordReading::Missing)],
            Resumed,
        ),
        (Some("c1"), vec![Record(usable("c2"))], Unconfirmed),
        (
            Some("c1"),
            vec![Record(usable("c2")), Record(usable("c1")), Cleared],
            Unconfirmed,
        ),
        (Some("c1"), vec![Record(RecordReading::Missing)], Missing),
        (
            Some("c1"),
            vec![Record(RecordReading::Missing), WaitOver],
            Missing,
        ),
        (Some("c1"), vec![Record(unusable()), WaitOver], Unconfirmed),
        (Some("c1"), vec![WaitOver, Record(usable("c1"))], Unconfirmed),
        (Some("c1"), vec![WaitOver, Record(usable("c1")), Cleared], Resumed),
        (
            Some("c1"),
            vec![WaitOver, Record(RecordReading::Missing), Cleared],
            Missing,
        ),
    ];
    for (row, (resume_ref, steps, expected)) in rows.into_iter().enumerate() {
        let mut seat = SeatReading::new(facts(resume_ref));
        for step in steps {
            match step {
                Record(record) => seat.record(&record),
                WaitOver => seat.wait_over(),
                Cleared => seat.cleared(),
            }
        }
        assert_eq!(seat.at(0).launch, expected, "row {row}");
    }
}

#[test]
fn every_event_moves_the_activity() {
    use ActivityReading::*;
    let rows = [
        ("UserPromptSubmit", "accepted", Working),
        ("PreToolUse", "bash", Working),
        ("active", "compaction", Working),
        ("Notification", "permission_prompt", NeedsInput),
        ("Notification", "elicitation_dialog", NeedsInput),
        ("PermissionRequest", "bash", NeedsInput),
        ("Stop", "end_turn", Idle),
        ("Stop", "cancelled", Idle),
        ("Stop", "other_exited", Idle),
        ("Stop", "dsh_exited", Exited),
    ];
    for (event, subtype, expected) in rows {
        assert_eq!(
            after(&[post(event, subtype, 1)]),
            (expected, vec![Counted::Yes]),
            "{event}/{subtype}"
        );
        let working = post("UserPromptSubmit", "accepted", 1);
        assert_eq!(
            after(&[working, post(event, subtype, 2)]).0,
            expected,
            "{event}/{subtype} after working"
        );
    }
}

#[test]
fn an_event_that_says_nothing_changes_nothing() {
    let nothing = post("SessionStart", "startup", 1);
    assert_eq!(
        after(std::slice::from_ref(&nothing)),
        (ActivityReading::Unknown, vec![Counted::Yes])
    );
    let posts = [idle(1, None), post("Notification", "runtime_error", 2)];
    assert_eq!(after(&posts).0, ActivityReading::Idle);
    // Its sequence is taken all the same.
    let posts = [nothing, post("UserPromptSubmit", "accepted", 1)];
    assert_eq!(
        after(&posts),
        (
            ActivityReading::Unknown,
            vec![Counted::Yes, Counted::StaleSequence]
        )
    );
}

#[test]
fn what_counts_for_nothing() {
    let working = post("UserPromptSubmit", "accepted", 5);
    let stop = post("Stop", "end_turn", 6);
    let rows = [
        (
            Post {
                generation: Some("g1".to_owned()),
                ..stop.clone()
            },
            Counted::OtherGeneration,
        ),
        (
            Post {
                generation: None,
                ..stop.clone()
            },
            Counted::OtherGeneration,
        ),
        (
            Post {
                session_name: Some("other@rig".to_owned()),
                ..stop.clone()
            },
            Counted::OtherSeat,
        ),
        (
            Post {
                node_id: Some("n2".to_owned()),
                ..stop.clone()
            },
            Counted::OtherSeat,
        ),
        (
            Post {
                session_name: None,
                node_id: None,
                ..stop.clone()
            },
            Counted::OtherSeat,
        ),
        (
            Post {
                sequence: Some(5),
                ..stop.clone()
            },
            Counted::StaleSequence,
        ),
        (
            Post {
                sequence: Some(4),
                ..stop.clone()
            },
            Counted::StaleSequence,
        ),
        (
            Post {
                event_family: Some("session_identity".to_owned()),
                ..stop.clone()
            },
            Counted::OtherFamily,
        ),
    ];
    for (late, why) in rows {
        let (activity, counted) = after(&[working.clone(), late]);
        assert_eq!((activity, counted[1]), (ActivityReading::Working, why));
    }
}

#[test]
fn one_name_of_the_seat_is_enough() {
    let stop = post("Stop", "end_turn", 1);
    for stop in [
        Post {
            session_name: None,
            ..stop.clone()
        },
        Post {
            node_id: None,
            ..stop
        },
    ] {
        assert_eq!(after(&[stop]), (ActivityReading::Idle, vec![Counted::Yes]));
    }
}

#[test]
fn a_post_without_a_sequence_counts_as_it_arrives() {
    let unnumbered = Post {
        sequence: None,
        ..post("Stop", "end_turn", 0)
    };
    let (activity, counted) = after(&[
        post("UserPromptSubmit", "accepted", 5),
        unnumbered,
        post("UserPromptSubmit", "accepted", 5),
    ]);
    assert_eq!(activity, ActivityReading::Idle);
    assert_eq!(counted, [Counted::Yes, Counted::Yes, Counted::StaleSequence]);
}

#[test]
fn exited_is_the_last_word() {
    let (activity, counted) = after(&[
        post("Stop", "dsh_exited", 1),
        idle(2, Some(1)),
        post("UserPromptSubmit", "accepted", 3),
    ]);
    assert_eq!(activity, ActivityReading::Exited);
    assert_eq!(counted, [Counted::Yes, Counted::AfterExit, Counted::AfterExit]);
}

#[test]
fn idle_lapses_after_twice_its_liveness() {
    let mut seat = SeatReading::new(facts(None));
    seat.post(&idle(1, Some(3)), 10 * SECOND);
    let until = 16 * SECOND;
    assert_eq!(seat.next_change(10 * SECOND), Some(until));
    assert_eq!(seat.at(until - 1).activity, ActivityReading::Idle);
    assert_eq!(seat.at(until).activity, ActivityReading::Unknown);
    assert_eq!(seat.next_change(until), None);

    seat.post(&idle(2, Some(3)), 15 * SECOND);
    assert_eq!(seat.at(until).activity, ActivityReading::Idle);
    seat.post(&idle(3, None), 16 * SECOND);
    assert_eq!(seat.at(u64::MAX).activity, ActivityReading::Idle);
    assert_eq!(seat.next_change(0), None);
}

#[test]
fn only_an_idle_report_lapses() {
    let mut seat = SeatReading::new(facts(None));
    seat.post(&idle(1, Some(1)), SECOND);
    seat.post(
        &Post {
            liveness_seconds: Some(1),
            ..post("UserPromptSubmit", "accepted", 2)
        },
        SECOND,
    );
    assert_eq!(seat.next_change(0), None);
    assert_eq!(seat.at(u64::MAX).activity, ActivityReading::Working);
}

#[test]
fn an_operator_clears_attention() {
    let mut seat = SeatReading::new(facts(None));
    seat.post(&post("Notification", "permission_prompt", 1), 0);
    seat.cleared();
    assert_eq!(seat.at(0).activity, ActivityReading::Unknown);
    seat.post(&post("UserPromptSubmit", "accepted", 2), 0);
    seat.cleared();
    assert_eq!(seat.at(0).activity, ActivityReading::Working);
}
