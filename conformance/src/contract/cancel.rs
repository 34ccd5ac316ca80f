//! §6: requested isn't the same as done.

use super::clause::{Clause, Group, Level::*};
use super::finding::{Finding, Tally};
use super::grace::{CROSSING, DUE};
use crate::history::views::{Ending, LaunchView, PostKind, Prompt, Views, milliseconds};
use crate::history::{Event, Fact, Step};

pub(crate) const CLAUSES: Group = &[
    Clause {
        id: "cancel.abort-sends",
        level: Must,
        basis: "§6",
        text: "/abort mid-turn sends session/cancel for that session, and no prompt",
        judge: abort_sends,
    },
    Clause {
        id: "cancel.ctrl-c-sends",
        level: Must,
        basis: "§6",
        text: "so does Ctrl-C outside a paste; neither the agent nor the runner dies of it",
        judge: ctrl_c_sends,
    },
    Clause {
        id: "cancel.notification",
        level: Must,
        basis: "§6",
        text: "session/cancel is a notification: it has no id",
        judge: notification,
    },
    Clause {
        id: "cancel.requested-shown",
        level: Must,
        basis: "§6",
        text: "that a cancel was requested, and when, is on record (pane or post) before the agent's answer",
        judge: requested_shown,
    },
    Clause {
        id: "cancel.only-agents-word",
        level: Must,
        basis: "§6",
        text: "no Stop/cancelled before, or without, a prompt answered with stopReason cancelled (end_turn, an error, \
               -32800 or silence are not it)",
        judge: only_agents_word,
    },
    Clause {
        id: "cancel.posted",
        level: Must,
        basis: "§6",
        text: "such an answer gets exactly one Stop/cancelled, unless attention is held",
        judge: posted,
    },
    Clause {
        id: "cancel.ignored-stays-working",
        level: Must,
        basis: "§6",
        text: "an agent that ignores the cancel leaves the seat working",
        judge: ignored_stays_working,
    },
    Clause {
        id: "cancel.one-end",
        level: Should,
        basis: "read",
        text: "a second answer to the same prompt changes nothing",
        judge: one_end,
    },
    Clause {
        id: "cancel.none-when-idle",
        level: Should,
        basis: "read",
        text: "no session/cancel with no prompt in flight",
        judge: none_when_idle,
    },
    Clause {
        id: "cancel.next-turn-safe",
        level: Should,
        basis: "read",
        text: "the next prompt goes out only after the cancelled one was answered, and is not cancelled by it",
        judge: next_turn_safe,
    },
    Clause {
        id: "cancel.no-spend-claim",
        level: Info,
        basis: "§6",
        text: "the pane does not claim that the provider stopped work or spend",
        judge: no_spend_claim,
    },
];

fn abort_sends(views: &Views<'_>) -> Finding {
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

fn in_flight<'v, 'h>(launch: &'v LaunchView<'h>, at: u64) -> Option<&'v Prompt<'h>> {
    launch.prompts.iter().find(|prompt| prompt.in_flight_at(at))
}

/// The events, and the one that ended the watch: an absence is decided by it.
fn cited<'h>(launch: &LaunchView<'h>, events: &[&'h Event]) -> Vec<&'h Event> {
    events.iter().copied().chain(launch.closing_event()).collect()
}

fn interrupts<'h>(launch: &LaunchView<'h>) -> Vec<&'h Event> {
    launch
        .events
        .iter()
        .copied()
        .filter(|event| matches!(event.fact, Fact::Step(Step::Interrupted)))
        .collect()
}

fn ctrl_c_sends(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for interrupt in interrupts(launch) {
            let Some(prompt) = in_flight(launch, interrupt.at) else {
                continue;
            };
            // An end that the script asked for, or that comes much later, is not Ctrl-C's doing.
            let died = launch
                .events
                .iter()
                .copied()
                .filter(|event| event.at > interrupt.at && event.at < interrupt.at + DUE)
                .filter(|event| event.at <= launch.end_of_free_run())
                .find(|event| {
                    matches!(
                        event.fact,
                        Fact::Process(crate::history::Process::RunnerExited { .. })
                            | Fact::Wire(crate::history::Wire::AgentEnded { .. })
                    )
                });
            let scripted = launch.events.iter().any(|event| {
                matches!(event.fact, Fact::Wire(crate::history::Wire::Ending { .. }))
                    && event.at >= interrupt.at
            });
            if let Some(died) = died
                && !scripted
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

fn notification(views: &Views<'_>) -> Finding {
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

fn requested_shown(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for cancel in launch.cancels() {
            let Some(prompt) = in_flight(launch, cancel.event.at) else {
                continue;
            };
            let Some(order) = launch
                .abort_orders()
                .into_iter()
                .rev()
                .find(|order| order.at <= cancel.event.at)
            else {
                continue;
            };
            if order.at < prompt.at() {
                continue;
            }
            let answered = prompt.answered_at().unwrap_or(u64::MAX);
            let until = answered.saturating_add(CROSSING).min(launch.end_of_free_run());
            // The agent must have been silent long enough for the runner to say it before the answer.
            let by_post = launch.all_posts.iter().find(|post| {
                post.at() >= order.at
                    && post.at() <= until
                    && !post.kind.is_non_exit_stop()
                    && speaks_of_cancel(&post.name())
            });
            let in_pane = shown_cancel(launch, order.at, until);
            match (in_pane, by_post) {
                (Some(shown), _) => tally.held(
                    format!(
                        "the pane said so {} after the order",
                        milliseconds(shown.at - order.at)
                    ),
                    &[order, shown],
                ),
                (None, Some(post)) => {
                    tally.held(format!("{} was posted", post.name()), &[order, post.started])
                }
                (None, None) if until.saturating_sub(order.at) >= CROSSING => tally.broken(
                    "neither the pane nor a post said that a cancel was requested, before the agent answered",
                    &prompt.answer().map_or_else(
                        || cited(launch, &[order, cancel.event]),
                        |answer| vec![order, cancel.event, answer.event],
                    ),
                ),
                (None, None) => {}
            }
        }
    }
    tally.finding()
}

/// New pane output after the order with a word for cancelling in it, not counting the echo of `/abort` itself.
fn shown_cancel<'h>(launch: &LaunchView<'h>, from: u64, until: u64) -> Option<&'h Event> {
    let mut seen = String::new();
    for event in launch.output_between(from, until) {
        if let Fact::Pane(crate::history::Pane::Output { bytes }) = &event.fact {
            seen.push_str(&bytes.text());
            if speaks_of_cancel(&seen.replace("/abort", "")) {
                return Some(event);
            }
        }
    }
    None
}

/// Any common word for asking an agent to stop, whatever the rest of the sentence is.
fn speaks_of_cancel(text: &str) -> bool {
    const WORDS: [&str; 7] = [
        "cancel",
        "abort",
        "interrupt",
        "stop",
        "halt",
        "annul",
        "terminat",
    ];
    let text = text.to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

fn only_agents_word(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let mut claims = launch.posts_of(PostKind::Cancelled).collect::<Vec<_>>();
        claims.sort_by_key(|post| post.at());
        let mut agreed: Vec<&Prompt<'_>> = Vec::new();
        for post in claims {
            let word = launch.prompts.iter().find(|prompt| {
                prompt.was_cancelled()
                    && prompt.answered_at().is_some_and(|at| at <= post.at())
                    && !agreed.iter().any(|known| known.number == prompt.number)
            });
            // A second Stop/cancelled for one answer is cancel.posted's to judge, not this clause's.
            let again = word.is_none()
                && agreed.last().is_some_and(|last| {
                    !launch
                        .prompts
                        .iter()
                        .any(|prompt| prompt.number > last.number && prompt.at() <= post.at())
                });
            match word {
                Some(prompt) => {
                    if let Some(answer) = prompt.answer() {
                        tally.held(
                            format!(
                                "Stop/cancelled {} after the agent said so",
                                milliseconds(post.at() - answer.event.at)
                            ),
                            &[answer.event, post.started],
                        );
                    }
                    agreed.push(prompt);
                }
                None if again => {}
                None => {
                    let last = launch
                        .prompts
                        .iter()
                        .rev()
                        .find(|prompt| prompt.at() <= post.at());
                    let mut events = vec![post.started];
                    events.extend(last.map(|prompt| prompt.exchange.request.event));
                    events.extend(last.and_then(Prompt::answer).map(|answer| answer.event));
                    let seen = match last.and_then(Prompt::ending) {
                        Some(Ending::StopReason(reason)) => format!("the prompt was answered {reason}"),
                        Some(Ending::Error) => "the prompt was answered with an error".to_owned(),
                        Some(Ending::Other) => "the prompt was answered without a stop reason".to_owned(),
                        None => "no prompt had been answered".to_owned(),
                    };
                    tally.broken(
                        format!("Stop/cancelled without the agent's word: {seen}"),
                        &events,
                    );
                }
            }
        }
        // A cancel that the agent did not confirm, and no claim: kept too.
        for prompt in unconfirmed_cancels(launch) {
            let watched_from = prompt.answered_at().unwrap_or_else(|| prompt.at());
            if launch.watched_after(watched_from) >= CROSSING
                && launch.posts_of(PostKind::Cancelled).next().is_none()
            {
                tally.held(
                    "a cancel was asked for, the agent did not say cancelled, and nothing was claimed",
                    &cited(launch, &[prompt.exchange.request.event]),
                );
            }
        }
    }
    tally.finding()
}

/// Prompts that were asked to be cancelled and were not answered with the stop reason cancelled.
fn unconfirmed_cancels<'v, 'h>(launch: &'v LaunchView<'h>) -> impl Iterator<Item = &'v Prompt<'h>> {
    launch.prompts.iter().filter(|prompt| {
        !prompt.was_cancelled()
            && launch
                .cancels()
                .any(|cancel| prompt.in_flight_at(cancel.event.at))
    })
}

/// Whether attention was held when this prompt was answered: permission had been asked for in its turn, or a
/// Notification posted before had not been cleared by a prompt since.
pub(super) fn attention_held(launch: &LaunchView<'_>, prompt: &Prompt<'_>) -> bool {
    let until = prompt.answered_at().unwrap_or(u64::MAX);
    let asked = launch
        .permissions()
        .any(|asked| asked.request.event.at >= prompt.at() && asked.request.event.at < until);
    let posted = launch
        .posts_of(PostKind::PermissionPrompt)
        .any(|post| post.at() >= prompt.at() && post.at() < until.saturating_add(CROSSING));
    asked || posted
}

fn posted(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for prompt in launch.prompts.iter().filter(|prompt| prompt.was_cancelled()) {
            let Some(answer) = prompt.answer() else { continue };
            if attention_held(launch, prompt) {
                continue;
            }
            let until = launch
                .prompts
                .iter()
                .find(|later| later.number > prompt.number && later.was_cancelled())
                .and_then(Prompt::answered_at)
                .unwrap_or(u64::MAX);
            let claims: Vec<_> = launch
                .posts_of(PostKind::Cancelled)
                .filter(|post| post.at() >= answer.event.at && post.at() < until)
                .collect();
            match claims.as_slice() {
                [one] => tally.held(
                    format!(
                        "one Stop/cancelled, {} after the answer",
                        milliseconds(one.at() - answer.event.at)
                    ),
                    &[answer.event, one.started],
                ),
                [one, two, ..] => tally.broken(
                    format!("{} Stop/cancelled for one cancelled prompt", claims.len()),
                    &[answer.event, one.started, two.started],
                ),
                [] if launch.watched_after(answer.event.at) >= DUE && !launch.posts_may_be_lost() => tally
                    .broken(
                        format!(
                            "the agent answered cancelled, and no Stop/cancelled came in {}",
                            milliseconds(launch.watched_after(answer.event.at))
                        ),
                        &cited(launch, &[answer.event]),
                    ),
                [] => {}
            }
        }
    }
    tally.finding()
}

fn ignored_stays_working(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for prompt in &launch.prompts {
            let Some(cancel) = launch
                .cancels()
                .find(|cancel| prompt.in_flight_at(cancel.event.at))
            else {
                continue;
            };
            let until = prompt.answered_at().unwrap_or_else(|| launch.end_of_free_run());
            // Quiet must have followed the cancel for "stays" to mean anything.
            if until.saturating_sub(cancel.event.at) < CROSSING {
                continue;
            }
            let early = launch.posts.iter().find(|post| {
                (post.kind.is_non_exit_stop() || post.kind == PostKind::Exited)
                    && post.at() > cancel.event.at
                    && post.at() < until
                    && !agent_ended(launch, prompt, post.at())
            });
            match early {
                Some(post) => tally.broken(
                    format!("{} was posted while the agent went on", post.name()),
                    &[cancel.event, post.started],
                ),
                None => tally.held(
                    format!(
                        "nothing ended the turn in the {} the agent went on",
                        milliseconds(until - cancel.event.at)
                    ),
                    &prompt.answer().map_or_else(
                        || cited(launch, &[cancel.event]),
                        |answer| vec![cancel.event, answer.event],
                    ),
                ),
            }
        }
    }
    tally.finding()
}

fn agent_ended(launch: &LaunchView<'_>, prompt: &Prompt<'_>, at: u64) -> bool {
    launch.agents.iter().any(|agent| {
        agent.number == prompt.exchange.request.agent
            && agent.ended.is_some_and(|ended| ended.at <= at + CROSSING)
    })
}

fn one_end(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for prompt in launch
            .prompts
            .iter()
            .filter(|prompt| prompt.exchange.answers.len() > 1)
        {
            let second = prompt.exchange.answers[1].event;
            if launch.watched_after(second.at) < CROSSING {
                continue;
            }
            let next = launch.prompts.iter().find(|later| later.number > prompt.number);
            let until = next.map_or(u64::MAX, Prompt::at);
            // With livenessSeconds stated, further idle Stops are beats (reading 2).
            let extra = launch.posts.iter().find(|post| {
                post.at() > second.at
                    && post.at() < until
                    && (post.kind == PostKind::Cancelled
                        || (post.kind == PostKind::Idle && post.liveness().is_none())
                        || post.kind == PostKind::Accepted)
                    && stops_between(launch, prompt, post.at()) > 0
            });
            // While the next prompt is in flight, no answer to the former one may end it.
            let ended_next = next.and_then(|next| {
                let until = next.answered_at().unwrap_or_else(|| launch.end_of_free_run());
                launch
                    .posts
                    .iter()
                    .filter(|_| second.at > next.at())
                    .find(|post| post.kind.is_non_exit_stop() && post.at() > second.at && post.at() < until)
            });
            match extra.or(ended_next) {
                Some(post) => tally.broken(
                    format!("the second answer to one prompt brought {}", post.name()),
                    &[second, post.started],
                ),
                None => tally.held(
                    "a second answer to one prompt changed nothing",
                    &cited(launch, &[second]),
                ),
            }
        }
    }
    tally.finding()
}

/// How many Stops had come for this prompt before `at`.
fn stops_between(launch: &LaunchView<'_>, prompt: &Prompt<'_>, at: u64) -> usize {
    let Some(answered) = prompt.answered_at() else {
        return 0;
    };
    launch
        .posts
        .iter()
        .filter(|post| post.kind.is_non_exit_stop() && post.at() >= answered && post.at() < at)
        .count()
}

fn none_when_idle(views: &Views<'_>) -> Finding {
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

fn next_turn_safe(views: &Views<'_>) -> Finding {
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

fn no_spend_claim(views: &Views<'_>) -> Finding {
    const CLAIMS: [&str; 6] = [
        "no tokens",
        "not billed",
        "billing stopped",
        "spend stopped",
        "provider stopped",
        "no further cost",
    ];
    let mut tally = Tally::default();
    for launch in &views.launches {
        let Some(cancel) = launch.cancels().next() else {
            continue;
        };
        let mut shown = String::new();
        for event in launch.output_between(cancel.event.at, launch.end_of_free_run()) {
            if let Fact::Pane(crate::history::Pane::Output { bytes }) = &event.fact {
                shown.push_str(&bytes.text().to_lowercase());
                if let Some(claim) = CLAIMS.iter().find(|claim| shown.contains(*claim)) {
                    tally.broken(
                        format!("after a cancel the pane says {claim:?}"),
                        &[cancel.event, event],
                    );
                    break;
                }
            }
        }
        tally.held(
            "nothing in the pane claims that the provider stopped",
            &cited(launch, &[cancel.event]),
        );
    }
    tally.finding()
}

#[cfg(test)]
mod tests {
    use super::super::history_builder::{HistoryBuilder, assert_broken, assert_held, assert_not_exercised};

    /// A turn that was cancelled as it should be.
    fn cancelled_turn() -> HistoryBuilder {
        HistoryBuilder::ready()
            .prompt("work")
            .at_ms(1_000)
            .abort()
            .cancel()
            .shows("cancel requested 12:00:00")
            .at_ms(1_500)
            .end_turn("cancelled")
            .post("Stop", "cancelled")
    }

    #[test]
    fn abort_sends() {
        assert_held("cancel.abort-sends", &cancelled_turn());
        assert_broken(
            "cancel.abort-sends",
            &HistoryBuilder::ready().prompt("work").abort().watch_seconds(5),
        );
        assert_broken(
            "cancel.abort-sends",
            &HistoryBuilder::ready()
                .prompt("work")
                .abort()
                .prompt_text_only("/abort"),
        );
        assert_not_exercised(
            "cancel.abort-sends",
            &HistoryBuilder::ready().prompt("work").end_turn("end_turn"),
        );
    }

    #[test]
    fn ctrl_c_sends() {
        assert_held(
            "cancel.ctrl-c-sends",
            &HistoryBuilder::ready()
                .prompt("work")
                .interrupt()
                .cancel()
                .end_turn("cancelled"),
        );
        assert_broken(
            "cancel.ctrl-c-sends",
            &HistoryBuilder::ready()
                .prompt("work")
                .interrupt()
                .watch_seconds(5),
        );
        assert_broken(
            "cancel.ctrl-c-sends",
            &HistoryBuilder::ready()
                .prompt("work")
                .interrupt()
                .cancel()
                .agent_ended(),
        );
    }

    #[test]
    fn notification() {
        assert_held("cancel.notification", &cancelled_turn());
        let with_id = HistoryBuilder::ready().prompt("work").abort().to_agent(
            r#"{"jsonrpc":"2.0","id":9,"method":"session/cancel","params":{"sessionId":"conv-1"}}"#,
        );
        assert_broken("cancel.notification", &with_id);
    }

    #[test]
    fn requested_shown() {
        assert_held("cancel.requested-shown", &cancelled_turn());
        let silent = HistoryBuilder::ready()
            .prompt("work")
            .abort()
            .cancel()
            .after_ms(600)
            .end_turn("cancelled")
            .after_ms(400)
            .shows("cancelled");
        assert_broken("cancel.requested-shown", &silent);
    }

    #[test]
    fn only_agents_word() {
        assert_held("cancel.only-agents-word", &cancelled_turn());
        let early = HistoryBuilder::ready()
            .prompt("work")
            .abort()
            .cancel()
            .post("Stop", "cancelled")
            .after_ms(500)
            .end_turn("cancelled");
        assert_broken("cancel.only-agents-word", &early);
        let end_turn = HistoryBuilder::ready()
            .prompt("work")
            .abort()
            .cancel()
            .end_turn("end_turn")
            .post("Stop", "cancelled");
        assert_broken("cancel.only-agents-word", &end_turn);
        let error = HistoryBuilder::ready()
            .prompt("work")
            .abort()
            .cancel()
            .fail_turn(-32800)
            .post("Stop", "cancelled");
        assert_broken("cancel.only-agents-word", &error);
    }

    #[test]
    fn posted() {
        assert_held("cancel.posted", &cancelled_turn());
        assert_broken("cancel.posted", &cancelled_turn().post("Stop", "cancelled"));
        let none = HistoryBuilder::ready()
            .prompt("work")
            .abort()
            .cancel()
            .end_turn("cancelled")
            .watch_seconds(5);
        assert_broken("cancel.posted", &none);
        let held = HistoryBuilder::ready()
            .prompt("work")
            .permission("call")
            .end_turn("cancelled")
            .watch_seconds(5);
        assert_not_exercised("cancel.posted", &held);
    }

    #[test]
    fn ignored_stays_working() {
        let ignored = HistoryBuilder::ready()
            .prompt("work")
            .abort()
            .cancel()
            .after_ms(1_000)
            .end_turn("end_turn")
            .post("Stop", "idle");
        assert_held("cancel.ignored-stays-working", &ignored);
        let claimed = HistoryBuilder::ready()
            .prompt("work")
            .abort()
            .cancel()
            .post("Stop", "idle")
            .after_ms(1_000)
            .end_turn("end_turn");
        assert_broken("cancel.ignored-stays-working", &claimed);
    }

    #[test]
    fn one_end() {
        assert_held(
            "cancel.one-end",
            &cancelled_turn().end_turn("end_turn").watch_seconds(1),
        );
        assert_broken(
            "cancel.one-end",
            &cancelled_turn()
                .end_turn("end_turn")
                .post("Stop", "idle")
                .watch_seconds(1),
        );
    }

    #[test]
    fn none_when_idle() {
        assert_held(
            "cancel.none-when-idle",
            &HistoryBuilder::ready().abort().watch_seconds(1),
        );
        assert_broken("cancel.none-when-idle", &HistoryBuilder::ready().abort().cancel());
    }

    #[test]
    fn next_turn_safe() {
        assert_held(
            "cancel.next-turn-safe",
            &cancelled_turn().prompt("next").end_turn("end_turn"),
        );
        let early = HistoryBuilder::ready()
            .prompt("work")
            .abort()
            .cancel()
            .prompt("next");
        assert_broken("cancel.next-turn-safe", &early);
        assert_broken("cancel.next-turn-safe", &cancelled_turn().prompt("next").cancel());
    }

    #[test]
    fn no_spend_claim() {
        assert_held("cancel.no-spend-claim", &cancelled_turn());
        assert_broken(
            "cancel.no-spend-claim",
            &cancelled_turn().shows("the provider stopped: no tokens are spent"),
        );
    }
}
