//! An endpoint that fails: `activity.short-timeout` and `activity.survives-outage`.

use crate::contract::endpoint_faults::{Fault, fault_at, faults, knows_where_to_post};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE, SECOND, machine_was_late};
use crate::contract::identity::opening::agent_left;
use crate::contract::watch::{agent_lost, cited, free_after, free_until};
use crate::history::views::{LaunchView, Post, PostKind, Prompt, Views, milliseconds};
use crate::history::{Event, Fact, PostEnd, Step};

/// How long a post may wait for an answer that does not come.
const TIMEOUT: u64 = 10 * SECOND;

/// After an outage the next fact may have to wait for a post that still times out.
const RECOVERY: u64 = TIMEOUT + DUE;

pub(super) fn short_timeout(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    let faults = faults(views);
    for launch in &views.launches {
        for post in &launch.all_posts {
            let fault = fault_at(&faults, post.at()).filter(|fault| fault.hangs());
            if let Some(fault) = fault {
                judge_hung(views, launch, fault, post, &mut tally);
            }
        }
    }
    tally.finding()
}

fn judge_hung<'h>(
    views: &Views<'h>,
    launch: &LaunchView<'h>,
    fault: &Fault<'h>,
    post: &Post<'h>,
    tally: &mut Tally,
) {
    // The stop of the seat and the end of the fault end a post from outside.
    let from_outside = fault
        .ended
        .map_or(u64::MAX, |event| event.at)
        .min(free_until(launch));
    let given_up = post
        .ended
        .filter(|ended| post.end == Some(PostEnd::GivenUp) && ended.at < from_outside);
    let waited = given_up
        .map_or_else(
            || {
                post.ended
                    .map_or(from_outside, |ended| ended.at.min(from_outside))
            },
            |ended| ended.at,
        )
        .saturating_sub(post.at());
    if waited > TIMEOUT + CROSSING {
        let mut events = vec![fault.set, post.started];
        events.extend(post.ended);
        let said = format!(
            "a hung {} was not given up in {}",
            post.name(),
            milliseconds(waited)
        );
        if machine_was_late(views, post.at(), post.at() + waited, TIMEOUT) {
            tally.inconclusive(said, &events);
        } else {
            tally.broken(said, &cited(launch, &events));
        }
    } else if let Some(ended) = given_up
        && let Some(later) = launch.all_posts.iter().find(|later| {
            later.id != post.id && later.at().saturating_add(CROSSING) >= ended.at && later.at() > post.at()
        })
    {
        tally.held(
            format!(
                "a hung {} was given up after {}, and a later post went out",
                post.name(),
                milliseconds(waited)
            ),
            &[fault.set, post.started, ended, later.started],
        );
    }
}

pub(super) fn survives_outage(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    let faults = faults(views);
    for launch in views.launches.iter().filter(|launch| knows_where_to_post(launch)) {
        for fault in &faults {
            let in_this_launch = fault.set.at <= free_until(launch)
                && fault.ended.is_none_or(|ended| ended.at >= launch.event.at);
            if in_this_launch {
                judge_outage(launch, fault, &faults, &mut tally);
            }
        }
    }
    tally.finding()
}

fn judge_outage<'h>(launch: &LaunchView<'h>, fault: &Fault<'h>, faults: &[Fault<'h>], tally: &mut Tally) {
    if let Some(exit) = died_in(launch, fault) {
        tally.broken(
            format!(
                "the runner ended while or after the endpoint was told {:?}",
                fault.name
            ),
            &[fault.set, exit],
        );
        return;
    }
    let Some(healed) = fault.ended.filter(|ended| fault_at(faults, ended.at).is_none()) else {
        return;
    };
    if healed.at < launch.event.at {
        return;
    }
    // What the next fault hides is not judged here.
    let until = faults
        .iter()
        .map(|next| next.set.at)
        .find(|at| *at > healed.at)
        .unwrap_or(u64::MAX)
        .min(free_until(launch));
    let facts: Vec<Expected<'_>> = facts_after(launch, healed.at);
    let posted = facts
        .iter()
        .find_map(|fact| Some((fact, fact.posted(launch, until)?)));
    match posted {
        Some((fact, post)) => tally.held(
            format!(
                "after an outage ({}), {} was posted and answered 200",
                fault.name,
                post.name()
            ),
            &[fault.set, healed, fact.event, post.started],
        ),
        None => {
            let unposted = facts
                .iter()
                .find(|fact| until.saturating_sub(fact.event.at) >= RECOVERY);
            if let Some(fact) = unposted {
                tally.broken(
                    format!(
                        "after an outage ({}), {} was not posted in {}",
                        fault.name,
                        fact.name,
                        milliseconds(until - fact.event.at)
                    ),
                    &cited(launch, &[fault.set, healed, fact.event]),
                );
            }
        }
    }
}

/// The runner's own end during the fault or soon after, with an agent that lived.
fn died_in<'h>(launch: &LaunchView<'h>, fault: &Fault<'h>) -> Option<&'h Event> {
    let exit = launch.runner_exit()?;
    let soon_after = fault
        .ended
        .map_or(u64::MAX, |ended| ended.at.saturating_add(RECOVERY));
    let before_stop = exit.at < launch.end_of_free_run();
    let agent_went = launch
        .agents
        .iter()
        .any(|agent| agent_left(launch, agent.number, 0, exit.at).is_some());
    let never_opened = launch.conversation().is_none();
    // Ctrl-D may end a seat (reading 22).
    let told_to_end = launch
        .events
        .iter()
        .any(|event| matches!(&event.fact, Fact::Step(Step::Typed { bytes }) if bytes.0.contains(&0x04)));
    let excused = agent_went || never_opened || told_to_end;
    (before_stop && exit.at >= fault.set.at && exit.at <= soon_after && !excused).then_some(exit)
}

/// A fact that a runner posts, and what tells it.
struct Expected<'h> {
    event: &'h Event,
    name: &'static str,
    told_by: fn(&Post<'_>) -> bool,
}

impl<'h> Expected<'h> {
    fn posted<'v>(&self, launch: &'v LaunchView<'h>, until: u64) -> Option<&'v Post<'h>> {
        launch.all_posts.iter().find(|post| {
            post.at_the_hook
                && (self.told_by)(post)
                && post.at().saturating_add(CROSSING) >= self.event.at
                && post.at() <= until
                && post.end == Some(PostEnd::Answered { status: 200 })
        })
    }
}

/// Whether permission was asked for around that turn: attention is held then, and no Stop posted.
fn asked_in(launch: &LaunchView<'_>, prompt: &Prompt<'_>) -> bool {
    let from = prompt.at().saturating_sub(CROSSING);
    let until = prompt
        .answered_at()
        .map_or(u64::MAX, |at| at.saturating_add(CROSSING));
    launch
        .permissions()
        .any(|asked| (from..=until).contains(&asked.request.event.at))
}

/// Prompts submitted and turns ended after that time.
fn facts_after<'h>(launch: &LaunchView<'h>, healed: u64) -> Vec<Expected<'h>> {
    let agent_stays = |prompt: &Prompt<'_>| agent_lost(launch, prompt.exchange.request.agent).is_none();
    let mut facts: Vec<Expected<'h>> = Vec::new();
    for prompt in launch.prompts.iter().filter(|prompt| agent_stays(prompt)) {
        if prompt.at() > healed {
            facts.push(Expected {
                event: prompt.exchange.request.event,
                name: "accepted for the next prompt",
                told_by: |post| post.kind == PostKind::Accepted,
            });
        }
        if let Some(answer) = prompt.answer()
            && answer.event.at > healed
            && !asked_in(launch, prompt)
        {
            facts.push(Expected {
                event: answer.event,
                name: "the end of the next turn",
                told_by: |post| {
                    post.kind.is_non_exit_stop() || post.field("hookEvent") == Some("Notification")
                },
            });
        }
    }
    facts.retain(|fact| free_after(launch, fact.event.at) > 0);
    facts.sort_by_key(|fact| fact.event.sequence);
    facts
}

#[cfg(test)]
mod tests {
    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };
    use crate::history::{Fact, PostEnd, Process};

    fn hung() -> HistoryBuilder {
        HistoryBuilder::ready()
            .endpoint("hang")
            .block("work")
            .prompt_text_only("work")
            .post_started("UserPromptSubmit", "accepted", |_| {})
    }

    #[test]
    fn short_timeout() {
        const CLAUSE: &str = "activity.short-timeout";
        let given_up = hung().after_ms(5_000).post_ended(PostEnd::GivenUp);
        let later = given_up.clone().post_started("Stop", "idle", |_| {});
        assert_held(CLAUSE, &later);
        assert_not_exercised(CLAUSE, &given_up.watch_seconds(9));
        let late = hung().after_ms(11_000).post_ended(PostEnd::GivenUp);
        assert_broken(CLAUSE, &late.watch_seconds(1));
        assert_broken(CLAUSE, &hung().watch_seconds(11));
        assert_not_exercised(CLAUSE, &hung().watch_seconds(9));
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().prompt("work"));
    }

    #[test]
    fn a_post_ended_from_outside_was_not_given_up() {
        const CLAUSE: &str = "activity.short-timeout";
        let healed_after = |milliseconds| {
            hung()
                .after_ms(milliseconds)
                .endpoint("healthy")
                .post_ended(PostEnd::GivenUp)
                .post("Stop", "idle")
        };
        assert_not_exercised(CLAUSE, &healed_after(5_000));
        assert_broken(CLAUSE, &healed_after(12_000));
    }

    #[test]
    fn a_late_machine_leaves_the_timeout_open() {
        let late = hung()
            .after_ms(11_000)
            .fact(Fact::Lag { late_ms: 4_000 })
            .post_ended(PostEnd::GivenUp);
        let finding = judge("activity.short-timeout", &late.watch_seconds(1));
        assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
    }

    /// A turn while nothing listened.
    fn outage() -> HistoryBuilder {
        HistoryBuilder::ready()
            .endpoint("refuse")
            .block("work")
            .prompt_text_only("work")
            .end_turn("end_turn")
            .after_ms(1_000)
            .endpoint("healthy")
    }

    #[test]
    fn survives_outage() {
        const CLAUSE: &str = "activity.survives-outage";
        assert_held(CLAUSE, &outage().prompt("next").watch_seconds(1));
        let unposted = outage().block("next").prompt_text_only("next");
        assert_broken(CLAUSE, &unposted.clone().watch_seconds(15));
        assert_not_exercised(CLAUSE, &unposted.clone().watch_seconds(9));
        let refused = unposted
            .post_started("UserPromptSubmit", "accepted", |_| {})
            .post_ended(PostEnd::Answered { status: 401 });
        assert_broken(CLAUSE, &refused.watch_seconds(15));
        assert_not_exercised(CLAUSE, &outage().watch_seconds(60));
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().prompt("work").watch_seconds(60));
    }

    #[test]
    fn what_is_caught_up_counts_as_well_as_what_is_new() {
        let turn_over_it = HistoryBuilder::ready()
            .prompt("work")
            .endpoint("status 503")
            .after_ms(1_000)
            .endpoint("healthy")
            .end_turn("end_turn")
            .post("Stop", "idle");
        assert_held("activity.survives-outage", &turn_over_it.watch_seconds(1));
    }

    #[test]
    fn the_runner_must_live() {
        const CLAUSE: &str = "activity.survives-outage";
        let exit = Fact::Process(Process::RunnerExited {
            code: Some(1),
            signal: None,
        });
        assert_broken(CLAUSE, &outage().fact(exit.clone()).watch_seconds(1));
        let after_the_agent = outage().agent_ended().fact(exit.clone());
        assert_not_exercised(CLAUSE, &after_the_agent.watch_seconds(1));
        assert_not_exercised(CLAUSE, &outage().stopping().fact(exit));
    }

    #[test]
    fn what_the_next_outage_hides_is_not_missed() {
        let again = outage()
            .block("next")
            .prompt_text_only("next")
            .endpoint("refuse")
            .watch_seconds(60);
        assert_not_exercised("activity.survives-outage", &again);
    }
}
