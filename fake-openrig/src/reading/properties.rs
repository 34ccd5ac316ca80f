//! What must hold for any posts.

use proptest::prelude::*;

use super::tests::{SECOND, facts, post};
use super::*;
use crate::post::TurnId;

fn any_post(sequence: impl Strategy<Value = Option<u64>>) -> impl Strategy<Value = Post> {
    let event = prop::sample::select(vec![
        ("UserPromptSubmit", "accepted"),
        ("PreToolUse", "bash"),
        ("Notification", "permission_prompt"),
        ("Notification", "other"),
        ("Stop", "end_turn"),
        ("Stop", "cancelled"),
        ("Stop", "dsh_exited"),
        ("SessionStart", "startup"),
    ]);
    (event, sequence, prop::option::of(1_u64..=3600)).prop_map(
        |((event, subtype), sequence, liveness_seconds)| Post {
            sequence,
            liveness_seconds,
            turn_id: sequence.map(|sequence| TurnId::Number(sequence.into())),
            ..post(event, subtype, 0)
        },
    )
}

/// Posts with sequences that grow, of this generation and seat.
fn newer_posts() -> impl Strategy<Value = Vec<Post>> {
    prop::collection::vec((any_post(Just(None)), 1_u64..5), 1..20).prop_map(|posts| {
        let mut last = 0;
        let number = |(post, step)| {
            last += step;
            Post {
                sequence: Some(last),
                ..post
            }
        };
        posts.into_iter().map(number).collect()
    })
}

/// A post that may not count, whenever it arrives after the first of `newer_posts`.
fn stale_post() -> impl Strategy<Value = Post> {
    (any_post((0_u64..=1).prop_map(Some)), 0..5).prop_map(|(post, kind)| {
        let high = Some(1_000_000);
        match kind {
            0 => Post {
                generation: Some("g1".to_owned()),
                sequence: high,
                ..post
            },
            1 => Post {
                generation: None,
                sequence: high,
                ..post
            },
            2 => Post {
                session_name: Some("other@rig".to_owned()),
                sequence: high,
                ..post
            },
            3 => Post {
                node_id: Some("n2".to_owned()),
                sequence: high,
                ..post
            },
            _ => post,
        }
    })
}

proptest! {
    #[test]
    fn stale_posts_never_move_the_reading(newer in newer_posts(), stale in prop::collection::vec(stale_post(), 1..20)) {
        let mut seat = SeatReading::new(facts(None));
        for (post, second) in newer.iter().zip(1..) {
            seat.post(post, second * SECOND);
        }
        let at = newer.len() as u64 * SECOND;
        let (reading, change) = (seat.at(at), seat.next_change(at));
        for post in &stale {
            prop_assert_ne!(seat.post(post, at), Counted::Yes);
            prop_assert_eq!(seat.at(at), reading);
            prop_assert_eq!(seat.next_change(at), change);
        }
    }

    #[test]
    fn stale_posts_shuffled_in_change_nothing(
        newer in newer_posts(),
        stale in prop::collection::vec((stale_post(), any::<prop::sample::Index>()), 0..20),
    ) {
        let mut alone = SeatReading::new(facts(None));
        let mut among = alone.clone();
        for (place, (post, second)) in newer.iter().zip(1..).enumerate() {
            let at = second * SECOND;
            prop_assert_eq!(alone.post(post, at), among.post(post, at));
            for (stale, index) in &stale {
                if index.index(newer.len()) == place {
                    among.post(stale, at);
                }
            }
            prop_assert_eq!(alone.at(at), among.at(at));
            prop_assert_eq!(alone.next_change(at), among.next_change(at));
        }
    }
}
