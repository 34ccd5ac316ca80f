//! Nobody waits on a post: `activity.never-blocks-agent`.
//!
//! Judged only on what was caused while the endpoint misbehaved. An act that the agent itself holds up, by leaving some
//! other request open, says nothing about the endpoint.

use crate::contract::endpoint_faults::{Fault, fault_at, faults};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE, PROMPT, machine_was_late};
use crate::contract::watch::{agent_lost, cited, free_until, possible_orders};
use crate::history::views::{Block, Ending, LaunchView, Prompt, Views, milliseconds};
use crate::history::{Event, RecordChange};

/// Larger messages take their own time.
const SMALL: usize = 16 << 10;

/// What a runner has to do at once, and what it did.
struct Act<'h> {
    /// `prompt`, `permission answer`, …
    name: &'static str,
    cause: &'h Event,
    effect: Option<&'h Event>,
    /// Whether its absence can be held against the runner.
    owed: bool,
}

pub(super) fn never_blocks_agent(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    let faults = faults(views);
    if faults.is_empty() {
        return tally.finding();
    }
    for launch in &views.launches {
        let acts = records(launch)
            .chain(prompts(launch))
            .chain(waiting_prompts(launch))
            .chain(permission_answers(launch))
            .chain(cancels(launch));
        for act in acts {
            if let Some(fault) = fault_at(&faults, act.cause.at) {
                judge_act(views, launch, fault, &act, &mut tally);
            }
        }
    }
    tally.finding()
}

fn judge_act<'h>(
    views: &Views<'h>,
    launch: &LaunchView<'h>,
    fault: &Fault<'h>,
    act: &Act<'h>,
    tally: &mut Tally,
) {
    let until = act.effect.map_or_else(|| free_until(launch), |effect| effect.at);
    let took = until.saturating_sub(act.cause.at);
    let limit = if act.effect.is_some() { PROMPT } else { DUE };
    if took > limit && is_held_up_by_agent(launch, act.cause.at, until) {
        return;
    }
    let said = format!(
        "with an endpoint that was told {:?}, the {} went out {} after its cause",
        fault.name,
        act.name,
        milliseconds(took)
    );
    match act.effect {
        Some(effect) if took <= limit => tally.held(said, &[fault.set, act.cause, effect]),
        Some(effect) if machine_was_late(views, act.cause.at, effect.at, limit) => {
            tally.inconclusive(said, &[fault.set, act.cause, effect]);
        }
        Some(effect) => tally.broken(said, &[fault.set, act.cause, effect]),
        None if act.owed && took >= limit && !any_agent_lost(launch, until) => tally.broken(
            format!(
                "with an endpoint that was told {:?}, no {} went out in {}",
                fault.name,
                act.name,
                milliseconds(took)
            ),
            &cited(launch, &[fault.set, act.cause]),
        ),
        None => {}
    }
}

fn any_agent_lost(launch: &LaunchView<'_>, until: u64) -> bool {
    launch
        .agents
        .iter()
        .any(|agent| agent_lost(launch, agent.number).is_some_and(|lost| lost.at <= until))
}

/// Whether the agent left a request of the runner's open for a while between the two times, prompts aside.
fn is_held_up_by_agent(launch: &LaunchView<'_>, from: u64, until: u64) -> bool {
    launch
        .requests
        .iter()
        .filter(|request| !matches!(request.method(), "session/prompt" | "session/cancel"))
        .any(|request| {
            let begun = request.request.event.at.max(from);
            let over = request
                .answer()
                .map_or(u64::MAX, |answer| answer.event.at)
                .min(until);
            over.saturating_sub(begun) >= CROSSING
        })
}

/// Open answer → record.
fn records<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = Act<'h>> + use<'v, 'h> {
    let opened = launch.conversation().filter(|_| launch.facts.record_path_given);
    let record = launch
        .records
        .iter()
        .filter(|record| !matches!(record.change, RecordChange::Stood | RecordChange::Removed))
        .find(|record| record.is_of(&launch.facts.attempt) && record.field("nativeRef").is_some())
        .map(|record| record.event);
    opened
        .into_iter()
        // A record before the answer is for identity.after-open to judge.
        .filter(move |(_, cause)| record.is_none_or(|record| record.at >= cause.at))
        .map(move |(_, cause)| Act {
            name: "launch record",
            cause,
            effect: record,
            // A reopened conversation may rightly stay unconfirmed (reading 14).
            owed: !launch.is_resume(),
        })
}

/// Enter → prompt, with nothing in flight and nothing waiting.
fn prompts<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = Act<'h>> + use<'v, 'h> {
    let messages = launch.messages_to_prompt().enumerate();
    messages.filter_map(move |(index, block)| {
        let entered = block.entered?;
        let opened = launch
            .conversation()
            .is_some_and(|(_, opened)| opened.at <= block.sent.at);
        let alone = launch
            .prompts
            .iter()
            .all(|prompt| !prompt.in_flight_at(block.sent.at));
        // As many prompts as messages before it: none of those waits.
        let before = launch
            .prompts
            .iter()
            .filter(|prompt| prompt.at() < block.sent.at)
            .count();
        let next = launch.prompts.get(before);
        if !opened
            || !alone
            || before != index + first_inputs(launch)
            || block.text.len() > SMALL
            || next.is_some_and(|next| !is_of(next, block))
        {
            return None;
        }
        let effect = next.map(|next| next.exchange.request.event);
        Some(Act {
            name: "prompt",
            cause: entered,
            effect,
            owed: true,
        })
    })
}

fn first_inputs(launch: &LaunchView<'_>) -> usize {
    usize::from(launch.facts.first_input.is_some())
}

fn is_of(prompt: &Prompt<'_>, block: &Block<'_>) -> bool {
    prompt.text().is_some_and(|text| text.as_bytes() == block.text)
}

/// Answer → next waiting prompt.
fn waiting_prompts<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = Act<'h>> + use<'v, 'h> {
    let orders = possible_orders(launch);
    launch.prompts.iter().filter_map(move |prompt| {
        let answer = prompt.answer()?.event;
        let place = prompt.number.checked_sub(first_inputs(launch))?;
        let waiting = launch.messages_to_prompt().nth(place)?;
        let entered = waiting.entered?;
        let next = launch.prompts.get(prompt.number);
        let overlaps = next.is_some_and(|next| next.at() < answer.at);
        if entered.at.saturating_add(CROSSING) > answer.at
            || overlaps
            || waiting.text.len() > SMALL
            || next.is_some_and(|next| !is_of(next, waiting))
        {
            return None;
        }
        // An order to cancel may drop what waits (reading 9); what a failed turn does to it is open.
        let ordered = orders.iter().any(|order| order.at >= prompt.at());
        Some(Act {
            name: "waiting prompt",
            cause: answer,
            effect: next.map(|next| next.exchange.request.event),
            owed: !ordered && prompt.ending() == Some(Ending::StopReason("end_turn".into())),
        })
    })
}

/// Permission request → answer.
fn permission_answers<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = Act<'h>> + use<'v, 'h> {
    launch.permissions().map(|asked| Act {
        name: "permission answer",
        cause: asked.request.event,
        effect: asked.answers.first().map(|answer| answer.event),
        owed: true,
    })
}

/// Order to cancel → session/cancel.
fn cancels<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = Act<'h>> + use<'v, 'h> {
    launch.abort_orders().into_iter().filter_map(move |order| {
        let prompt: &Prompt<'_> = launch
            .prompts
            .iter()
            .find(|prompt| prompt.in_flight_at(order.at))?;
        // A second order in one turn may send one more cancel, or none (reading 10).
        let ordered_before = launch
            .abort_orders()
            .iter()
            .any(|before| before.at >= prompt.at() && before.sequence < order.sequence);
        if ordered_before {
            return None;
        }
        let in_time = |at: u64| {
            prompt
                .answered_at()
                .is_none_or(|answered| at <= answered.saturating_add(CROSSING))
        };
        let effect = launch.cancels().map(|cancel| cancel.event).find(|cancel| {
            cancel.at >= order.at.saturating_sub(CROSSING) && cancel.at >= prompt.at() && in_time(cancel.at)
        });
        Some(Act {
            name: "session/cancel",
            cause: order,
            effect,
            owed: prompt.answered_at().is_none(),
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::Finding;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised, judge,
    };
    use crate::history::Fact;

    const CLAUSE: &str = "activity.never-blocks-agent";

    fn hung() -> HistoryBuilder {
        HistoryBuilder::ready().endpoint("hang")
    }

    fn working() -> HistoryBuilder {
        HistoryBuilder::ready().prompt("work").endpoint("hang")
    }

    #[test]
    fn a_healthy_endpoint_proves_nothing() {
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().prompt("work"));
        let late = HistoryBuilder::ready().block("work").after_ms(3_000);
        assert_not_exercised(CLAUSE, &late.prompt_text_only("work"));
    }

    #[test]
    fn prompts() {
        assert_held(CLAUSE, &hung().block("work").prompt_text_only("work"));
        let late = hung().block("work").after_ms(3_000);
        assert_broken(CLAUSE, &late.prompt_text_only("work"));
        assert_broken(CLAUSE, &hung().block("work").watch_seconds(5));
        assert_not_exercised(CLAUSE, &hung().block("work").watch_seconds(2));
    }

    #[test]
    fn waiting_prompts() {
        let waiting = working().block("next").after_ms(500).end_turn("end_turn");
        assert_held(CLAUSE, &waiting.clone().prompt_text_only("next"));
        assert_broken(CLAUSE, &waiting.clone().after_ms(3_000).prompt_text_only("next"));
        assert_broken(CLAUSE, &waiting.watch_seconds(5));
        let dropped = working()
            .block("next")
            .abort()
            .cancel()
            .after_ms(500)
            .end_turn("cancelled")
            .watch_seconds(9);
        assert_held(CLAUSE, &dropped);
    }

    #[test]
    fn permission_answers() {
        let asked = working().asks_permission(json!({"toolCallId": "call"}));
        assert_held(CLAUSE, &asked.clone().refuses());
        assert_broken(CLAUSE, &asked.clone().after_ms(3_000).refuses());
        assert_broken(CLAUSE, &asked.clone().watch_seconds(5));
        assert_not_exercised(CLAUSE, &asked.agent_ended().watch_seconds(5));
    }

    #[test]
    fn cancels() {
        assert_held(CLAUSE, &working().abort().cancel());
        assert_broken(CLAUSE, &working().interrupt().after_ms(3_000).cancel());
        assert_broken(CLAUSE, &working().abort().watch_seconds(5));
        let answered_first = working().abort().end_turn("end_turn").watch_seconds(5);
        assert_not_exercised(CLAUSE, &answered_first);
    }

    #[test]
    fn records() {
        let opened = HistoryBuilder::launched().endpoint("refuse").opened();
        assert_held(CLAUSE, &opened.clone().record("conv-1"));
        assert_broken(CLAUSE, &opened.clone().after_ms(3_000).record("conv-1"));
        assert_broken(CLAUSE, &opened.watch_seconds(5));
    }

    #[test]
    fn what_the_agent_holds_up_is_not_the_endpoints_doing() {
        let model = hung()
            .block("work")
            .asks_agent("session/set_model", json!({}))
            .after_ms(3_000);
        assert_not_exercised(CLAUSE, &model.prompt_text_only("work"));
    }

    #[test]
    fn a_late_machine_leaves_it_open() {
        let late = hung()
            .block("work")
            .after_ms(1_200)
            .fact(Fact::Lag { late_ms: 900 })
            .prompt_text_only("work");
        let finding = judge(CLAUSE, &late);
        assert!(matches!(finding, Finding::Inconclusive(_)), "{finding:?}");
    }
}
