//! An agent that never answers: `robust.silent-handshake`.

use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{SECOND, machine_was_late};
use crate::contract::shutdown::{Kind, Stop};
use crate::contract::watch::{agent_lost, cited, free_until};
use crate::history::views::{Exchange, LaunchView, Screen, Views, milliseconds, squeezed};
use crate::history::{Event, Fact, Pane, Step};

/// Whoever looks at a pane for so long and sees nothing can't tell what is waited for.
const SEEN: u64 = 10 * SECOND;

/// What comes later than this is not what any launch shows.
const BANNER: u64 = SECOND / 2;

/// Words by which a pane may have said at once what it waits for.
const WORDS: [&str; 12] = [
    "wait",
    "connect",
    "handshak",
    "initializ",
    "initialis",
    "opening",
    "starting",
    "not ready",
    "no answer",
    "not answer",
    "respon",
    "silent",
];

pub(super) fn silent_handshake(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let silent = launch.requests.iter().find(|request| {
            matches!(
                request.method(),
                "initialize" | "session/new" | "session/load" | "session/resume"
            ) && request.answers.is_empty()
        });
        if let Some(request) = silent {
            judge(views, launch, request, &mut tally);
        }
    }
    tally.finding()
}

fn judge<'h>(views: &Views<'h>, launch: &LaunchView<'h>, request: &Exchange<'h>, tally: &mut Tally) {
    let asked = request.request.event;
    let lost = agent_lost(launch, request.request.agent).map_or(u64::MAX, |lost| lost.at);
    let until = free_until(launch).min(lost).min(first_input(launch, asked));
    let watched = until.saturating_sub(asked.at);
    let method = request.method();
    let recorded = launch.records.iter().find(|record| {
        record.is_of(&launch.facts.attempt)
            && record.field("nativeRef").is_some()
            && record.event.at >= asked.at
            && record.event.at <= until
    });
    if let Some(record) = recorded {
        tally.broken(
            format!("{method} was not answered, and the record names a conversation"),
            &[asked, record.event],
        );
        return;
    }
    let stop = Stop::of(launch);
    if let Some(stop) = &stop
        && let Some(left) = stop
            .left()
            .iter()
            .find(|left| left.kind == Kind::Runner && stop.had_its_time(left))
    {
        tally.broken(
            format!("{method} was not answered, and the seat could not be stopped"),
            &[asked, stop.began, left.event],
        );
        return;
    }
    match said(launch, asked, until) {
        Some(said) => {
            if let Some(over) = stop.and_then(|stop| stop.over) {
                tally.held(
                    format!("{method} was not answered; the pane said so, and the seat could be stopped"),
                    &[asked, said, over],
                );
            }
        }
        None if watched >= SEEN => {
            let what = format!(
                "{method} was not answered, and in {} the pane said nothing of it",
                milliseconds(watched)
            );
            let events = cited(launch, &[asked]);
            if machine_was_late(views, asked.at, until, SEEN) {
                tally.inconclusive(what, &events);
            } else {
                tally.broken(what, &events);
            }
        }
        None => {}
    }
}

/// What is typed may be echoed: from there on, what is shown says nothing.
fn first_input(launch: &LaunchView<'_>, after: &Event) -> u64 {
    launch
        .events
        .iter()
        .find(|event| {
            event.sequence > after.sequence
                && matches!(
                    event.fact,
                    Fact::Pane(Pane::Input { .. }) | Fact::Step(Step::Resized { .. })
                )
        })
        .map_or(u64::MAX, |event| event.at)
}

/// The output by which the pane said that something is waited for: words for it, or anything new long after the
/// beginning, for nothing else happens there.
fn said<'h>(launch: &LaunchView<'h>, asked: &Event, until: u64) -> Option<&'h Event> {
    let mut screen = Screen::new(launch.facts.size);
    let mut before = String::new();
    for event in launch.output_between(0, until) {
        let Fact::Pane(Pane::Output { bytes }) = &event.fact else {
            continue;
        };
        screen.feed(&bytes.0);
        let lines = screen.all_lines();
        let shown: String = lines.iter().map(|line| squeezed(line)).collect();
        let text = lines.join(" ").to_lowercase();
        let is_late = event.at >= asked.at.saturating_add(BANNER);
        if (is_late && shown != before) || WORDS.iter().any(|word| text.contains(word)) {
            return Some(event);
        }
        before = shown;
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Fact, Process, Step};

    const CLAUSE: &str = "robust.silent-handshake";

    fn silent() -> HistoryBuilder {
        HistoryBuilder::launched()
            .shows("runner 1.0, type a message")
            .asks_agent("initialize", json!({"protocolVersion": 1}))
    }

    fn stopped(history: HistoryBuilder) -> HistoryBuilder {
        history
            .stopping()
            .fact(Fact::Process(Process::RunnerExited {
                code: Some(0),
                signal: None,
            }))
            .fact(Fact::Step(Step::Stopped { took_ms: 1 }))
    }

    #[test]
    fn the_pane_says_what_is_waited_for() {
        assert_held(
            CLAUSE,
            &stopped(silent().after_ms(5_000).shows("no word from dsh").after_ms(500)),
        );
        let at_once = silent().shows("waiting for the agent");
        assert_held(CLAUSE, &stopped(at_once.after_ms(2_000)));
        assert_broken(CLAUSE, &stopped(silent().after_ms(12_000)));
        assert_not_exercised(CLAUSE, &stopped(silent().after_ms(2_000)));
        assert_not_exercised(CLAUSE, &stopped(silent().agent_ended().after_ms(12_000)));
        // What is typed may be echoed.
        let typed = silent()
            .after_ms(2_000)
            .fact(Fact::Pane(crate::history::Pane::Input { bytes: "x".into() }));
        assert_not_exercised(CLAUSE, &stopped(typed.shows("x").after_ms(12_000)));
        assert_not_exercised(CLAUSE, &stopped(HistoryBuilder::ready().after_ms(12_000)));
    }

    #[test]
    fn no_record_and_no_seat_that_stays() {
        let opening = HistoryBuilder::launched()
            .initialized(json!({}))
            .asks_agent("session/new", json!({"cwd": "/", "mcpServers": []}))
            .shows("waiting");
        assert_held(CLAUSE, &stopped(opening.clone().after_ms(1_000)));
        assert_broken(
            CLAUSE,
            &stopped(opening.clone().record("made-up").after_ms(1_000)),
        );
        let stays = opening
            .stopping()
            .after_ms(10_000)
            .fact(Fact::Process(Process::Survivor {
                pid: 100,
                process_group: 100,
                session: 100,
                command: "runner".into(),
            }));
        assert_broken(CLAUSE, &stays.fact(Fact::Step(Step::Stopped { took_ms: 10_000 })));
    }
}
