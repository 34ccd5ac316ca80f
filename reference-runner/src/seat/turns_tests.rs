//! Tests of the turn rules: what is submitted when, what is reported when, and what never is.

use super::*;
use proptest::prelude::*;

fn submit(text: &str) -> Action {
    Action::Submit(text.to_owned())
}

fn completed() -> End {
    End::Completed {
        reason: "end_turn".to_owned(),
    }
}

fn failed() -> End {
    End::Failed {
        reason: "no".to_owned(),
    }
}

fn reports(actions: &[Action]) -> Vec<Fact> {
    let fact = |action: &Action| match action {
        Action::Report(fact) => Some(fact.clone()),
        _ => None,
    };
    actions.iter().filter_map(fact).collect()
}

fn idle() -> Turns {
    let mut turns = Turns::new();
    turns.ready();
    turns
}

/// A seat in its first turn, accepted.
fn working() -> Turns {
    let mut turns = idle();
    turns.message("one".to_owned());
    turns.accepted();
    turns
}

#[test]
fn a_turn_is_submitted_accepted_and_reported_once() {
    let mut turns = idle();
    assert_eq!(turns.message("one".to_owned()), [submit("one")]);
    assert_eq!(turns.idle_fact(), None);
    assert_eq!(
        turns.accepted(),
        [
            Action::Report(Fact::Accepted { turn: 1 }),
            Action::Mirror("one".to_owned())
        ]
    );
    assert_eq!(turns.accepted(), []);
    assert_eq!(reports(&turns.ended(completed())), [Fact::TurnEnded { turn: 1 }]);
    assert_eq!(
        turns.ended(End::Interrupted),
        [],
        "a second answer changes nothing"
    );
    assert_eq!(turns.idle_fact(), Some(Fact::Idle));
}

#[test]
fn a_message_before_the_handshake_is_submitted_once_after_it() {
    let mut turns = Turns::new();
    assert_eq!(
        turns.message("early".to_owned()),
        [Action::Tell(Notice::Queued {
            before: 0,
            opening: true
        })]
    );
    assert!(!turns.is_drained());
    assert_eq!(turns.ready(), [Action::Report(Fact::Idle), submit("early")]);
    assert_eq!(turns.ready(), []);
}

#[test]
fn mid_turn_messages_wait_in_order_one_prompt_a_turn() {
    let mut turns = working();
    for (before, text) in ["two", "three"].into_iter().enumerate() {
        let queued = Notice::Queued {
            before,
            opening: false,
        };
        assert_eq!(turns.message(text.to_owned()), [Action::Tell(queued)]);
    }
    let actions = turns.ended(completed());
    assert_eq!(actions.last(), Some(&submit("two")));
    assert_eq!(reports(&actions), [Fact::TurnEnded { turn: 1 }]);
    assert_eq!(turns.ended(completed()).last(), Some(&submit("three")));
    assert!(
        !turns
            .ended(completed())
            .iter()
            .any(|action| matches!(action, Action::Submit(_)))
    );
    assert!(turns.is_drained());
}

#[test]
fn an_unaccepted_prompt_that_is_answered_was_accepted() {
    let mut turns = idle();
    turns.message("one".to_owned());
    let actions = turns.ended(failed());
    assert_eq!(
        reports(&actions),
        [Fact::Accepted { turn: 1 }, Fact::TurnFailed { turn: 1 }]
    );
}

#[test]
fn a_cancel_is_asked_once_and_reported_on_the_agents_word() {
    let mut turns = working();
    assert_eq!(
        turns.abort(),
        [Action::Cancel, Action::Tell(Notice::CancelRequested)]
    );
    assert_eq!(turns.abort(), [Action::Tell(Notice::CancelAlreadyRequested)]);
    assert_eq!(turns.idle_fact(), None);
    assert_eq!(
        reports(&turns.ended(End::Interrupted)),
        [Fact::Cancelled { turn: 1 }]
    );
}

#[test]
fn a_cancel_answered_otherwise_is_not_reported_as_one() {
    for (end, fact) in [
        (completed(), Fact::TurnEnded { turn: 1 }),
        (failed(), Fact::TurnFailed { turn: 1 }),
    ] {
        let mut turns = working();
        turns.abort();
        assert_eq!(reports(&turns.ended(end)), [fact]);
    }
}

#[test]
fn a_cancel_keeps_what_waits_and_does_not_reach_the_next_turn() {
    let mut turns = working();
    turns.message("two".to_owned());
    assert_eq!(turns.abort().last(), Some(&Action::Tell(Notice::StillWaiting(1))));
    assert_eq!(turns.ended(End::Interrupted).last(), Some(&submit("two")));
    turns.accepted();
    assert_eq!(reports(&turns.ended(completed())), [Fact::TurnEnded { turn: 2 }]);
}

#[test]
fn without_a_turn_there_is_nothing_to_cancel() {
    for mut turns in [Turns::new(), idle()] {
        assert_eq!(turns.abort(), [Action::Tell(Notice::NothingToCancel)]);
    }
}

#[test]
fn attention_is_held_until_the_next_accepted_prompt() {
    for end in [completed(), End::Interrupted, failed()] {
        let mut turns = working();
        assert_eq!(
            reports(&turns.permission_asked()),
            [Fact::PermissionAsked { turn: Some(1) }]
        );
        assert_eq!(reports(&turns.ended(end)), []);
        assert_eq!(turns.idle_fact(), None);
        turns.abort();
        assert_eq!(turns.message("two".to_owned()), [submit("two")]);
        assert_eq!(reports(&turns.accepted()), [Fact::Accepted { turn: 2 }]);
        assert_eq!(reports(&turns.ended(completed())), [Fact::TurnEnded { turn: 2 }]);
        assert_eq!(turns.idle_fact(), Some(Fact::Idle));
    }
}

#[test]
fn a_permission_asked_before_the_seat_is_ready_holds_attention_too() {
    let mut turns = Turns::new();
    assert_eq!(
        reports(&turns.permission_asked()),
        [Fact::PermissionAsked { turn: None }]
    );
    assert_eq!(turns.ready(), []);
    assert_eq!(turns.idle_fact(), None);
}

#[test]
fn the_exit_is_the_last_thing_reported_even_while_attention_is_held() {
    let mut turns = working();
    turns.message("two".to_owned());
    turns.permission_asked();
    assert_eq!(
        turns.exited(),
        [
            Action::Report(Fact::AgentExited),
            Action::Tell(Notice::WaitingLost(1))
        ]
    );
    for actions in [
        turns.exited(),
        turns.ended(completed()),
        turns.accepted(),
        turns.permission_asked(),
        turns.ready(),
        turns.message("three".to_owned()),
        turns.closed("gone"),
    ] {
        assert_eq!(actions, []);
    }
    assert_eq!(turns.idle_fact(), None);
}

#[test]
fn a_closed_seat_submits_nothing_and_says_so() {
    let mut turns = Turns::new();
    turns.message("early".to_owned());
    assert_eq!(
        turns.closed("no conversation"),
        [Action::Tell(Notice::WaitingLost(1))]
    );
    let refusal = Notice::NotSubmitted {
        reason: "no conversation".to_owned(),
    };
    assert_eq!(turns.message("late".to_owned()), [Action::Tell(refusal)]);
    assert_eq!(turns.ready(), []);
    assert_eq!(turns.idle_fact(), None);
    assert!(turns.is_drained());
}

#[test]
fn a_turn_under_way_may_still_end_after_the_way_to_the_agent_closed() {
    let mut turns = working();
    assert_eq!(turns.closed("it reads nothing"), []);
    assert!(turns.is_working());
    assert_eq!(reports(&turns.ended(completed())), [Fact::TurnEnded { turn: 1 }]);
    assert_eq!(turns.idle_fact(), None);
}

#[test]
fn a_prompt_that_could_not_be_submitted_was_never_accepted() {
    let mut turns = idle();
    turns.message("one".to_owned());
    let refusal = Notice::NotSubmitted {
        reason: "it reads nothing".to_owned(),
    };
    assert_eq!(turns.closed("it reads nothing"), [Action::Tell(refusal)]);
    assert_eq!(turns.accepted(), []);
}

#[derive(Debug, Clone)]
enum Step {
    Ready,
    Message,
    Abort,
    Accepted,
    Permission,
    End(End),
    Closed,
    Exited,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Ready),
        8 => Just(Step::Message),
        4 => Just(Step::Abort),
        8 => Just(Step::Accepted),
        3 => Just(Step::Permission),
        4 => Just(Step::End(completed())),
        2 => Just(Step::End(End::Interrupted)),
        2 => Just(Step::End(failed())),
        1 => Just(Step::Closed),
        1 => Just(Step::Exited),
    ]
}

proptest! {
    /// Whatever happens in whatever order: prompts never overlap and keep their order, every accepted turn is
    /// reported once and ends at most once, nothing but the next acceptance or an exit follows held
    /// attention, and nothing at all follows an exit.
    #[test]
    fn the_rules_hold_in_any_order_of_events(steps in proptest::collection::vec(step(), 0..60)) {
        let mut turns = Turns::new();
        let mut messages = 0;
        let mut submitted = Vec::new();
        let mut is_open = false;
        let mut accepted = 0;
        let mut ended = 0;
        let mut is_held = false;
        let mut has_exited = false;
        for step in steps {
            let was_working = turns.is_working();
            let actions = match step {
                Step::Ready => turns.ready(),
                Step::Message => {
                    messages += 1;
                    turns.message(messages.to_string())
                }
                Step::Abort => turns.abort(),
                Step::Accepted => turns.accepted(),
                Step::Permission => turns.permission_asked(),
                Step::End(end) => {
                    is_open = false;
                    turns.ended(end)
                }
                Step::Closed => turns.closed("closed"),
                Step::Exited => turns.exited(),
            };
            for action in actions {
                match action {
                    Action::Submit(text) => {
                        prop_assert!(!is_open, "prompts overlap");
                        is_open = true;
                        submitted.push(text.parse::<u32>().unwrap());
                    }
                    Action::Cancel => prop_assert!(was_working),
                    Action::Report(fact) => {
                        prop_assert!(!has_exited, "{fact:?} after the exit");
                        match fact {
                            Fact::Accepted { turn } => {
                                accepted += 1;
                                prop_assert_eq!(turn, accepted);
                                is_held = false;
                            }
                            Fact::TurnEnded { turn }
                            | Fact::Cancelled { turn }
                            | Fact::TurnFailed { turn } => {
                                prop_assert!(!is_held && turn == accepted && turn > ended);
                                ended = turn;
                            }
                            Fact::Idle => prop_assert!(!is_held && !is_open),
                            Fact::PermissionAsked { .. } => is_held = true,
                            Fact::AgentExited => has_exited = true,
                        }
                    }
                    Action::Mirror(_) | Action::Tell(_) => {}
                }
            }
            if let Some(fact) = turns.idle_fact() {
                prop_assert!(fact == Fact::Idle && !is_held && !is_open && !has_exited);
            }
        }
        prop_assert!(submitted.is_sorted());
    }
}
