//! What comes after a turn's answer belongs to no turn: `robust.late-update`.

use crate::contract::activity::{quiet_until, told_after_stop, turns, updates_outside_turns};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::CROSSING;
use crate::contract::watch::cited;
use crate::history::views::{PostKind, Views, milliseconds};

pub(super) fn late_update(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        // Without its posts nothing shows whether a turn was reopened.
        let Some(turns) = turns(views, launch) else {
            continue;
        };
        let mut judged_until = 0;
        for update in updates_outside_turns(launch) {
            let from = update.event.at;
            let until = quiet_until(launch, from);
            let Some(turn) = turns.iter().rev().find(|turn| turn.prompt.at() <= from) else {
                continue;
            };
            // A Stop that is still on its way could not be told from one that the update brought about.
            if from < judged_until || !turn.stops().any(|stop| stop.at() < from) {
                continue;
            }
            judged_until = until;
            let reopened = told_after_stop(launch, &turns, from).into_iter().find(|post| {
                post.at() > from
                    && post.at() <= until
                    && matches!(post.kind, PostKind::Working | PostKind::Accepted)
            });
            match reopened {
                Some(post) => tally.broken(
                    format!(
                        "{} was posted {} after an update that came when the turn was over",
                        post.name(),
                        milliseconds(post.at() - from)
                    ),
                    &[update.event, post.started],
                ),
                None if until.saturating_sub(from) >= CROSSING => tally.held(
                    format!(
                        "an update after the turn's end brought no report of work in {}",
                        milliseconds(until - from)
                    ),
                    &cited(launch, &[update.event]),
                ),
                None => {}
            }
        }
    }
    tally.finding()
}
