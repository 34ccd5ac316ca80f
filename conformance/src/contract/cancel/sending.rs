//! What an order to cancel sends to the agent, and when.

use super::super::finding::{Finding, Tally};
use super::super::grace::{CROSSING, DUE, SECOND, machine_was_late};
use super::cited;
use crate::history::views::{LaunchView, Prompt, Views, milliseconds};
use crate::history::{Event, Fact, Process, Step, Wire};

pub(super) fn abort_sends(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for block in launch.blocks.iter().filter(|block| block.is_abort()) {
            let Some(entered) = block.entered else { continue };
            judge_order(launch, entered, "/abort", &mut tally);
            if let Some(prompt) = launch.prompts.iter().find(|prompt| {
                prompt.at() >= block.sent.at && prompt.text().is_some_and(|text| text.trim() == "/abort")
            }) {
                tally.broken(
                    "/abort was sent to the agent as a prompt",
                    &[entered, prompt.exchange.request.event],
                );
            }
        }
    }
    tally.finding()
}

/// An order to cancel while a prompt is in flight must bring a session/cancel for that prompt's session.
fn judge_order(launch: &LaunchView<'_>, order: &Event, name: &str, tally: &mut Tally) {
    let Some(prompt) = in_flight(launch, order.at) else {
        return;
    };
    // A second order in the same turn may send one more, or none (reading 10).
    if launch
        .cancels()
        .any(|cancel| cancel.event.at > prompt.at() && cancel.event.at < order.at)
    {
        return;
    }
    // The runner may have seen the answer before it came to the order: then there was nothing left to cancel.
    let until = prompt.answered_at().unwrap_or(u64::MAX);
    let cancel = launch.cancels().find(|cancel| cancel.event.at >= order.at);
    match cancel {
        Some(cancel) if cancel.text_at("/params/sessionId") == prompt.session() => tally.held(
            format!(
                "{name} mid-turn sent session/cancel {} later",
                milliseconds(cancel.event.at - order.at)
            ),
            &[order, cancel.event],
        ),
        Some(cancel) => tally.broken(
            format!(
                "{name} sent session/cancel for session {:?}; the prompt in flight is of session {:?}",
                cancel.text_at("/params/sessionId").unwrap_or_default(),
                prompt.session().unwrap_or_default()
            ),
            &[prompt.exchange.request.event, order, cancel.event],
        ),
        None if until.min(launch.end_of_free_run()).saturating_sub(order.at) >= DUE => tally.broken(
            format!(
                "{name} mid-turn sent no session/cancel in {}",
                milliseconds(launch.watched_after(order.at))
            ),
            &cited(launch, &[prompt.exchange.request.event, order]),
        ),
        None => {}
    }
}

pub(super) fn in_flight<'v, 'h>(launch: &'v LaunchView<'h>, at: u64) -> Option<&'v Prompt<'h>> {
    launch.prompts.iter().find(|prompt| prompt.in_flight_at(at))
}

fn interrupts<'h>(launch: &LaunchView<'h>) -> Vec<&'h Event> {
    launch
        .events
        .iter()
        .copied()
        .filter(|event| matches!(event.fact, Fact::Step(Step::Interrupted)))
        .collect()
}

pub(super) fn ctrl_c_sends(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for interrupt in interrupts(launch) {
            let Some(prompt) = in_flight(launch, interrupt.at) else {
                continue;
            };
            // An agent that leaves by its script, and the runner after it, don't do so for Ctrl-C.
            let died = launch.events.iter().copied().find(|event| {
                event.at > interrupt.at
                    && event.at < interrupt.at.saturating_add(DUE)
                    && event.at <= launch.end_of_free_run()
                    && matches!(
                        event.fact,
                        Fact::Process(Process::RunnerExited { .. })
                            | Fact::Wire(
                                Wire::AgentEnded { .. } | Wire::EndOfInput { .. } | Wire::Ending { .. }
                            )
                    )
            });
            if let Some(died) = died
                && !matches!(died.fact, Fact::Wire(Wire::Ending { .. }))
            {
                tally.broken(
                    "the agent or the runner ended after a Ctrl-C",
                    &[prompt.exchange.request.event, interrupt, died],
                );
            }
            judge_order(launch, interrupt, "Ctrl-C", &mut tally);
        }
    }
    tally.finding()
}

pub(super) fn notification(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for cancel in views.launches.iter().flat_map(LaunchView::cancels) {
        if cancel.id().is_some() {
            tally.broken(
                "session/cancel carries an id: it is a notification",
                &[cancel.event],
            );
        } else {
            tally.held("session/cancel has no id", &[cancel.event]);
        }
    }
    tally.finding()
}

pub(super) fn none_when_idle(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for cancel in launch.cancels() {
            // The answer may have crossed the cancel on its way.
            let in_flight = launch.prompts.iter().any(|prompt| {
                prompt.at() <= cancel.event.at
                    && prompt
                        .answered_at()
                        .is_none_or(|answered| cancel.event.at < answered.saturating_add(CROSSING))
            });
            if in_flight {
                tally.held("session/cancel with a prompt in flight", &[cancel.event]);
            } else if just_answered(launch, cancel.event.at)
                && machine_was_late(
                    views,
                    cancel.event.at.saturating_sub(SECOND),
                    cancel.event.at,
                    CROSSING,
                )
            {
                tally.inconclusive("session/cancel with no prompt in flight", &[cancel.event]);
            } else {
                tally.broken("session/cancel with no prompt in flight", &[cancel.event]);
            }
        }
        for order in launch.abort_orders() {
            let idle = in_flight(launch, order.at).is_none() && launch.conversation().is_some();
            let none = !launch
                .cancels()
                .any(|cancel| cancel.event.at >= order.at && cancel.event.at < order.at + CROSSING);
            if idle && none && launch.watched_after(order.at) >= CROSSING {
                tally.held(
                    "an order to cancel while idle sent nothing",
                    &cited(launch, &[order]),
                );
            }
        }
    }
    tally.finding()
}

/// Whether a prompt was answered so shortly before that a late machine may not have seen it yet.
fn just_answered(launch: &LaunchView<'_>, at: u64) -> bool {
    launch
        .prompts
        .iter()
        .filter_map(Prompt::answered_at)
        .any(|answered| answered <= at && at - answered < SECOND)
}

pub(super) fn next_turn_safe(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for (prompt, next) in launch.prompts.iter().zip(launch.prompts.iter().skip(1)) {
            let Some(cancel) = launch
                .cancels()
                .find(|cancel| prompt.in_flight_at(cancel.event.at))
            else {
                continue;
            };
            match prompt.answered_at() {
                Some(answered) if answered <= next.at() => {
                    let late = launch.cancels().find(|late| {
                        next.in_flight_at(late.event.at)
                            && !launch
                                .abort_orders()
                                .iter()
                                .any(|order| order.at >= next.at() && order.at <= late.event.at)
                    });
                    match late {
                        Some(late) => tally.broken(
                            "a session/cancel that nobody asked for reached the next prompt",
                            &[cancel.event, next.exchange.request.event, late.event],
                        ),
                        None => tally.held(
                            "the next prompt went out after the cancelled one was answered",
                            &[cancel.event, next.exchange.request.event],
                        ),
                    }
                }
                _ => tally.broken(
                    "the next prompt went out before the cancelled one was answered",
                    &[
                        prompt.exchange.request.event,
                        cancel.event,
                        next.exchange.request.event,
                    ],
                ),
            }
        }
    }
    tally.finding()
}
