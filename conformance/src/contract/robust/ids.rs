//! Two peers, two spaces of ids: `robust.id-spaces`.

use serde_json::Value;

use crate::contract::finding::{Finding, Tally};
use crate::contract::permission::is_answerable;
use crate::history::views::{Exchange, LaunchView, Prompt, Views};

use super::aftermath::{Aftermath, aftermath, judge_aftermath, tell_silence};

pub(super) fn id_spaces(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for asked in launch
            .asked
            .iter()
            .filter(|asked| asked.request.event.at < launch.end_of_free_run() && is_answerable(launch, asked))
        {
            if let Some(prompt) = prompt_of_that_id(launch, asked) {
                judge_twins(views, launch, asked, prompt, &mut tally);
            }
        }
    }
    tally.finding()
}

/// The runner's prompt in flight that has the same id.
fn prompt_of_that_id<'v, 'h>(launch: &'v LaunchView<'h>, asked: &Exchange<'h>) -> Option<&'v Prompt<'h>> {
    launch.prompts.iter().find(|prompt| {
        let request = &prompt.exchange.request;
        request.agent == asked.request.agent
            && request.id() == asked.request.id()
            && prompt.in_flight_at(asked.request.event.at)
    })
}

fn judge_twins<'h>(
    views: &Views<'_>,
    launch: &LaunchView<'h>,
    asked: &Exchange<'h>,
    prompt: &Prompt<'h>,
    tally: &mut Tally,
) {
    let id = asked.request.id().map(Value::to_string).unwrap_or_default();
    let what = format!("{} with the id of the prompt in flight, {id}", asked.method());
    let request = asked.request.event;
    let Some(answer) = asked.answers.first() else {
        judge_aftermath(views, launch, asked.request.agent, request, &what, tally);
        return;
    };
    let answered = prompt.answered_at().unwrap_or(u64::MAX);
    let early = launch.prompts.iter().find(|other| {
        let at = other.exchange.request.event.at;
        at > request.at && at < answered
    });
    if let Some(early) = early {
        tally.broken(
            format!("after {what}, the next prompt went out before the agent had ended the turn"),
            &[
                prompt.exchange.request.event,
                request,
                early.exchange.request.event,
            ],
        );
        return;
    }
    let Some(end) = prompt.answer() else { return };
    match aftermath(launch, asked.request.agent, end.event) {
        Aftermath::Silent { since, missing } => tell_silence(
            views,
            launch,
            request,
            since,
            &format!("after {what}, and the prompt's own answer, {missing}"),
            tally,
        ),
        Aftermath::WentOn { sign, .. } => tally.held(
            format!("{what} was answered, and the turn ended with its own answer"),
            &[
                prompt.exchange.request.event,
                request,
                answer.event,
                end.event,
                sign,
            ],
        ),
        Aftermath::Ended(_) | Aftermath::Unknown => {}
    }
}
