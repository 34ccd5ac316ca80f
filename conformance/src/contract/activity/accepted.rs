//! UserPromptSubmit/accepted: `activity.accepted` and `activity.accepted-not-early`.

use crate::contract::endpoint_faults::{fault_at, faults, posts_are_all_seen, posts_are_due};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE, machine_was_late};
use crate::contract::watch::{agent_lost, cited, free_after, free_until};
use crate::history::views::{LaunchView, Post, PostKind, Prompt, Views, milliseconds};
use crate::history::{Event, Fact, PostEnd, Wire};

pub(super) fn accepted(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let posts = counted(views, launch);
        for (index, post) in posts.iter().enumerate() {
            judge_surplus(views, launch, index + 1, post, &mut tally);
        }
        if !posts_are_due(views, launch) {
            continue;
        }
        for (index, prompt) in launch.prompts.iter().enumerate() {
            let request = prompt.exchange.request.event;
            match posts.get(index) {
                Some(post) => tally.held(
                    format!("prompt {} has its accepted", prompt.number),
                    &[request, post.started],
                ),
                None if free_after(launch, request.at) >= DUE && !is_cut_short(launch, prompt) => {
                    tally.broken(
                        format!(
                            "{} prompts were submitted and {} accepted posted, {} after the last of those prompts",
                            launch.prompts.len(),
                            posts.len(),
                            milliseconds(free_after(launch, request.at))
                        ),
                        &cited(launch, &[request]),
                    );
                }
                None => {}
            }
        }
    }
    tally.finding()
}

/// The accepted posts that count one each. Where the endpoint misbehaved, a failed one may come again under another
/// number, so only those that a healthy endpoint took are counted.
fn counted<'v, 'h>(views: &Views<'h>, launch: &'v LaunchView<'h>) -> Vec<&'v Post<'h>> {
    let all_seen = posts_are_all_seen(views, launch);
    let faults = faults(views);
    launch
        .posts_of(PostKind::Accepted)
        .filter(|post| post.at_the_hook)
        .filter(|post| {
            all_seen
                || (post.end == Some(PostEnd::Answered { status: 200 })
                    && fault_at(&faults, post.at()).is_none())
        })
        .collect()
}

/// The nth accepted needs n prompts, read by then or within the time that a write takes to be read (reading 31).
fn judge_surplus(
    views: &Views<'_>,
    launch: &LaunchView<'_>,
    count: usize,
    post: &Post<'_>,
    tally: &mut Tally,
) {
    let until = post.at().saturating_add(CROSSING);
    let read = launch
        .prompts
        .iter()
        .filter(|prompt| prompt.at() <= until)
        .count();
    if count <= read || may_be_unread(launch, post.at()) {
        return;
    }
    let mut events: Vec<&Event> = vec![post.started];
    events.extend(
        launch
            .prompts
            .iter()
            .rev()
            .find(|prompt| prompt.at() <= until)
            .map(|prompt| prompt.exchange.request.event),
    );
    let said = format!("accepted number {count} was posted when {read} prompts had been submitted");
    let late = machine_was_late(views, post.at(), until, CROSSING);
    if late && !stays_surplus(launch, count, post) {
        tally.inconclusive(said, &events);
    } else {
        tally.broken(said, &events);
    }
}

/// However late the machine was: no prompt came for that accepted in all the time one would have had.
fn stays_surplus(launch: &LaunchView<'_>, count: usize, post: &Post<'_>) -> bool {
    let until = post.at().saturating_add(DUE);
    let read = launch
        .prompts
        .iter()
        .filter(|prompt| prompt.at() <= until)
        .count();
    count > read && free_until(launch) >= until
}

/// Whether a prompt may have been submitted around `at` without the agent reading it: the agent was going, or the
/// seat was.
fn may_be_unread(launch: &LaunchView<'_>, at: u64) -> bool {
    let until = at.saturating_add(CROSSING);
    let agent_going = launch
        .agents
        .iter()
        .any(|agent| agent_lost(launch, agent.number).is_some_and(|lost| lost.at <= until));
    let input_ended = launch
        .events
        .iter()
        .any(|event| event.at <= until && matches!(event.fact, Fact::Wire(Wire::EndOfInput { .. })));
    agent_going || input_ended || free_until(launch) < until
}

/// Whether the agent was lost so soon after the prompt that the runner may have seen that first.
fn is_cut_short(launch: &LaunchView<'_>, prompt: &Prompt<'_>) -> bool {
    agent_lost(launch, prompt.exchange.request.agent)
        .is_some_and(|lost| lost.at <= prompt.at().saturating_add(DUE))
}

pub(super) fn accepted_not_early(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for (index, post) in counted(views, launch).into_iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| launch.prompts.get(before));
            judge_time(launch, before, launch.prompts.get(index), post, &mut tally);
        }
    }
    tally.finding()
}

fn judge_time<'h>(
    launch: &LaunchView<'h>,
    before: Option<&Prompt<'h>>,
    prompt: Option<&Prompt<'h>>,
    post: &Post<'h>,
    tally: &mut Tally,
) {
    let early_by = prompt.map_or(u64::MAX, |prompt| prompt.at().saturating_sub(post.at()));
    if early_by > CROSSING {
        let Some(reason) = cannot_be_submitted(launch, before, post.at()) else {
            return;
        };
        let never_comes = prompt.is_none();
        if never_comes && (free_after(launch, post.at()) < CROSSING || may_be_unread(launch, post.at())) {
            return;
        }
        let mut events = vec![post.started];
        events.extend(before.map(|before| before.exchange.request.event));
        let said = match prompt {
            Some(prompt) => {
                events.push(prompt.exchange.request.event);
                format!(
                    "accepted was posted {} before its prompt was submitted, while {reason}",
                    milliseconds(early_by)
                )
            }
            None => {
                events.extend(launch.closing_event());
                format!("accepted was posted while {reason}, and no prompt followed")
            }
        };
        tally.broken(said, &events);
    } else if let Some(prompt) = prompt
        && let Some(waiting) = waited_for(launch, before, prompt)
    {
        tally.held(
            "a message that had to wait was accepted when its prompt was submitted",
            &[waiting, prompt.exchange.request.event, post.started],
        );
    }
}

/// Why no prompt can have been submitted at `at`: the turn before is in flight, or no conversation is open.
fn cannot_be_submitted(
    launch: &LaunchView<'_>,
    before: Option<&Prompt<'_>>,
    at: u64,
) -> Option<&'static str> {
    let not_open = launch.conversation().is_none_or(|(_, opened)| at < opened.at);
    match before {
        Some(before) if before.in_flight_at(at) => Some("the turn before was in flight"),
        None if not_open => Some("no conversation was open"),
        _ => None,
    }
}

/// A message that was entered a good while before this prompt could be submitted.
fn waited_for<'h>(
    launch: &LaunchView<'h>,
    before: Option<&Prompt<'h>>,
    prompt: &Prompt<'h>,
) -> Option<&'h Event> {
    let (held_from, held_until) = match before {
        Some(before) => (before.at(), before.answered_at()?),
        None => (launch.event.at, launch.conversation()?.1.at),
    };
    launch
        .messages_to_prompt()
        .filter_map(|block| block.entered)
        .find(|entered| {
            entered.at >= held_from
                && entered.at.saturating_add(CROSSING) <= held_until
                && held_until <= prompt.at()
        })
}

#[cfg(test)]
mod tests {
    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };
    use crate::history::{Fact, PostEnd, Wire};

    /// Two messages, the second entered in the middle of the first one's turn and accepted when it is submitted.
    fn queued() -> HistoryBuilder {
        HistoryBuilder::ready()
            .prompt("first")
            .block("second")
            .after_ms(500)
            .end_turn("end_turn")
            .post("Stop", "idle")
            .prompt_text_only("second")
            .accepted()
    }

    #[test]
    fn accepted() {
        const CLAUSE: &str = "activity.accepted";
        assert_held(CLAUSE, &HistoryBuilder::ready().prompt("work"));
        assert_held(CLAUSE, &queued());
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().watch_seconds(9));
        let twice = HistoryBuilder::ready().prompt("work").accepted();
        assert_broken(CLAUSE, &twice.watch_seconds(1));
        let without_prompt = HistoryBuilder::ready().accepted();
        assert_broken(CLAUSE, &without_prompt.watch_seconds(1));
        let none = HistoryBuilder::ready().block("work").prompt_text_only("work");
        assert_broken(CLAUSE, &none.clone().watch_seconds(5));
        assert_not_exercised(CLAUSE, &none.watch_seconds(2));
    }

    #[test]
    fn an_accepted_may_arrive_before_the_agents_read() {
        let crossing = HistoryBuilder::ready()
            .block("work")
            .accepted()
            .after_ms(100)
            .prompt_text_only("work");
        assert_held("activity.accepted", &crossing.watch_seconds(1));
    }

    #[test]
    fn nothing_is_missing_where_posts_can_be_lost() {
        let outage = |fault| {
            HistoryBuilder::ready()
                .endpoint(fault)
                .block("work")
                .prompt_text_only("work")
                .endpoint("healthy")
                .watch_seconds(9)
        };
        assert_not_exercised("activity.accepted", &outage("refuse"));
        assert_not_exercised("activity.accepted", &outage("hang"));
        let told_nothing = HistoryBuilder::empty()
            .launch(|facts| facts.endpoint_told = "nothing".into())
            .agent_started()
            .opened()
            .block("work")
            .prompt_text_only("work")
            .watch_seconds(9);
        assert_not_exercised("activity.accepted", &told_nothing);
    }

    #[test]
    fn a_failed_accepted_may_come_again() {
        let repeated = HistoryBuilder::ready()
            .endpoint("status 500")
            .block("work")
            .prompt_text_only("work")
            .post_started("UserPromptSubmit", "accepted", |_| {})
            .post_ended(PostEnd::Answered { status: 500 })
            .endpoint("healthy")
            .accepted()
            .watch_seconds(1);
        assert_not_exercised("activity.accepted", &repeated);
    }

    #[test]
    fn on_a_late_machine_a_prompt_gets_more_time_to_be_read() {
        let surplus = HistoryBuilder::ready()
            .accepted()
            .fact(Fact::Lag { late_ms: 200 });
        assert_broken("activity.accepted", &surplus.clone().watch_seconds(5));
        let finding = judge("activity.accepted", &surplus.watch_seconds(1));
        assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
    }

    #[test]
    fn a_prompt_may_be_submitted_to_an_agent_that_is_going() {
        let going = HistoryBuilder::ready()
            .fact(Fact::Wire(Wire::Ending {
                agent: 1,
                code: Some(0),
                signal: None,
            }))
            .block("work")
            .accepted()
            .watch_seconds(9);
        assert_not_exercised("activity.accepted", &going);
        assert_not_exercised("activity.accepted-not-early", &going);
        let died_at_once = HistoryBuilder::ready()
            .block("work")
            .prompt_text_only("work")
            .agent_ended()
            .post("Stop", "dsh_exited")
            .watch_seconds(9);
        assert_not_exercised("activity.accepted", &died_at_once);
    }

    #[test]
    fn accepted_not_early() {
        const CLAUSE: &str = "activity.accepted-not-early";
        assert_held(CLAUSE, &queued());
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().prompt("work"));
        let when_queued = HistoryBuilder::ready()
            .prompt("first")
            .block("second")
            .accepted()
            .after_ms(500)
            .end_turn("end_turn")
            .post("Stop", "idle")
            .prompt_text_only("second");
        assert_broken(CLAUSE, &when_queued);
        let never_submitted = HistoryBuilder::ready().prompt("first").block("second").accepted();
        assert_broken(CLAUSE, &never_submitted.watch_seconds(1));
    }

    #[test]
    fn a_message_before_the_handshake_is_not_accepted_yet() {
        const CLAUSE: &str = "activity.accepted-not-early";
        let waiting = HistoryBuilder::launched().block("early").after_ms(500);
        let early = waiting.clone().accepted().after_ms(500).opened();
        assert_broken(CLAUSE, &early.prompt_text_only("early"));
        let in_time = waiting.opened().record("conv-1").prompt_text_only("early");
        assert_held(CLAUSE, &in_time.accepted());
    }

    #[test]
    fn prompts_that_cross_the_answer_before_are_not_early() {
        let crossing = HistoryBuilder::ready()
            .prompt("first")
            .block("second")
            .after_ms(500)
            .end_turn("end_turn")
            .accepted()
            .after_ms(200)
            .prompt_text_only("second");
        assert_held("activity.accepted-not-early", &crossing);
    }
}
