//! A turn that ends with an error has ended: `robust.prompt-error`.

use crate::contract::activity::{Turn, turns};
use crate::contract::endpoint_faults::posts_are_due;
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::DUE;
use crate::contract::watch::{agent_lost, free_after};
use crate::history::Event;
use crate::history::views::{Ending, LaunchView, PostKind, Prompt, Views};

use super::aftermath::{judge_aftermath, tell_silence};

const WHAT: &str = "a prompt was answered with an error";

pub(super) fn prompt_error(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let turns = turns(views, launch).unwrap_or_default();
        for prompt in &launch.prompts {
            let [answer] = prompt.exchange.answers.as_slice() else {
                continue;
            };
            let lost = agent_lost(launch, answer.agent)
                .is_some_and(|lost| lost.at <= answer.event.at.saturating_add(DUE));
            if prompt.ending() != Some(Ending::Error) || lost {
                continue;
            }
            let turn = turns.iter().find(|turn| turn.prompt.number == prompt.number);
            if let Some(turn) = turn {
                judge_report(views, launch, turn, answer.event, &mut tally);
            }
            judge_next(views, launch, prompt, answer.event, &mut tally);
        }
    }
    tally.finding()
}

/// The turn is over in any words but cancelled (reading 5).
fn judge_report<'h>(
    views: &Views<'_>,
    launch: &LaunchView<'h>,
    turn: &Turn<'_, 'h>,
    answer: &'h Event,
    tally: &mut Tally,
) {
    if turn.overlaps(launch) {
        return;
    }
    if let Some(cancelled) = turn
        .posts
        .iter()
        .find(|post| post.kind == PostKind::Cancelled && post.at() >= answer.at)
    {
        tally.broken(
            format!("{WHAT}, and {} was posted for it", cancelled.name()),
            &[answer, cancelled.started],
        );
        return;
    }
    let told = turn.stops().next().is_some() || turn.may_hold_attention(launch);
    if !told
        && turn.next_accepted.is_none()
        && posts_are_due(views, launch)
        && free_after(launch, answer.at) >= DUE
    {
        tell_silence(
            views,
            launch,
            turn.prompt.exchange.request.event,
            answer,
            &format!("{WHAT}, and nothing that says so was posted"),
            tally,
        );
    }
}

fn judge_next<'h>(
    views: &Views<'_>,
    launch: &LaunchView<'h>,
    prompt: &Prompt<'h>,
    answer: &'h Event,
    tally: &mut Tally,
) {
    let next = launch
        .prompts
        .iter()
        .map(|next| next.exchange.request.event)
        .find(|next| next.sequence > answer.sequence);
    match next {
        Some(next) => tally.held(format!("{WHAT}, and the next one went out"), &[answer, next]),
        None => {
            judge_aftermath(views, launch, prompt.exchange.request.agent, answer, WHAT, tally);
        }
    }
}
