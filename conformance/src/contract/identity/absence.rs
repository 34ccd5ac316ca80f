//! What did not come: judged only once it had its time, and decided by the event that ended the watch.

use super::super::finding::Tally;
use super::super::grace::{DUE, machine_was_late};
use super::super::watch::cited;
use crate::history::views::{LaunchView, Screen, Views, milliseconds};
use crate::history::{Event, Fact, Pane};

/// Judges that what was due since `from` never came, if it had its time.
pub(in crate::contract) fn judge_missed(
    views: &Views<'_>,
    launch: &LaunchView<'_>,
    from: u64,
    said: &str,
    events: &[&Event],
    tally: &mut Tally,
) {
    let watched = launch.watched_after(from);
    if watched < DUE {
        return;
    }
    let said = format!("{said} in {}", milliseconds(watched));
    let events = cited(launch, events);
    if machine_was_late(views, from, launch.end_of_free_run(), watched) {
        tally.inconclusive(said, &events);
    } else {
        tally.broken(said, &events);
    }
}

/// The first pane output between two times that shows something: not only blanks and escape codes.
pub(in crate::contract) fn said_in_pane<'h>(
    launch: &LaunchView<'h>,
    from: u64,
    until: u64,
) -> Option<&'h Event> {
    let mut screen = Screen::new(launch.facts.size);
    launch.output_between(from, until).find(|event| {
        if let Fact::Pane(Pane::Output { bytes }) = &event.fact {
            screen.feed(&bytes.0);
        }
        screen.lines().iter().any(|line| !line.trim().is_empty())
    })
}

/// Judges that the pane said nothing after `at`, if it had its time for it or was closed by the runner's end.
pub(in crate::contract) fn judge_silence(
    views: &Views<'_>,
    launch: &LaunchView<'_>,
    at: u64,
    why: &str,
    events: &[&Event],
    tally: &mut Tally,
) {
    let until = launch.end_of_free_run();
    let ended = launch
        .runner_exit()
        .is_some_and(|exit| exit.at >= at && exit.at < until);
    let closed = launch
        .events
        .iter()
        .find(|event| event.at >= at && event.at < until && matches!(event.fact, Fact::Pane(Pane::Closed)));
    match closed.filter(|_| ended) {
        Some(closed) => {
            let events: Vec<&Event> = events.iter().copied().chain([*closed]).collect();
            tally.broken(
                format!("{why}, and the runner ended without a word in the pane"),
                &events,
            );
        }
        None => judge_missed(
            views,
            launch,
            at,
            &format!("{why}, and the pane said nothing"),
            events,
            tally,
        ),
    }
}
