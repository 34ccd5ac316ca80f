//! A history as it is drawn.

use std::borrow::Cow;

use reports::{Still, Timeline, TimelineEvent};

use crate::history::views::{Screen, in_words};
use crate::history::{Event, Fact, History, Lane, Pane, PostFact, Step, Wire};

/// Bytes of one event's text that are drawn; the history itself holds it whole.
const SHOWN: usize = 4 << 10;

/// Stills of one scenario, at most.
const STILLS: usize = 200;

/// The timeline of the scenario `id`.
#[must_use]
pub fn timeline(id: &str, history: &History) -> Timeline {
    Timeline {
        scenario: id.to_owned(),
        events: history.events.iter().map(drawn).collect(),
        stills: stills(history),
    }
}

fn drawn(event: &Event) -> TimelineEvent {
    TimelineEvent {
        sequence: event.sequence,
        at: event.at,
        launch: event.launch,
        lane: lane(event.lane()).into(),
        said: in_words(event),
        raw: raw(&event.fact).map(|text| shortened(&text)),
    }
}

fn lane(lane: Lane) -> &'static str {
    match lane {
        Lane::Step => "step",
        Lane::Pane => "pane",
        Lane::Wire => "wire",
        Lane::Post => "post",
        Lane::Record => "record",
        Lane::Process => "process",
        Lane::Reading => "reading",
        Lane::Lag => "lag",
    }
}

/// What the event holds word for word.
fn raw(fact: &Fact) -> Option<Cow<'_, str>> {
    let bytes = match fact {
        Fact::Pane(Pane::Output { bytes } | Pane::Input { bytes }) => bytes,
        Fact::Wire(Wire::ToAgent { line, .. } | Wire::FromAgent { line, .. }) => line,
        Fact::Wire(Wire::FromAgentRaw { bytes, .. }) => bytes,
        Fact::Post(PostFact::Started { body, .. }) => body,
        Fact::Record(record) => record.content.as_ref()?,
        Fact::Step(Step::Sent { text, .. }) => text,
        _ => return None,
    };
    Some(bytes.text())
}

fn shortened(text: &str) -> String {
    if text.len() <= SHOWN {
        return text.to_owned();
    }
    let end = (0..=SHOWN)
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    format!(
        "{}… ({} bytes in all; the history holds them)",
        &text[..end],
        text.len()
    )
}

/// The pane after each step that left it different, and at the end.
fn stills(history: &History) -> Vec<Still> {
    let mut stills: Vec<Still> = Vec::new();
    let mut screen: Option<Screen> = None;
    for event in &history.events {
        match &event.fact {
            Fact::Step(Step::Launched(facts)) => screen = Some(Screen::new(facts.size)),
            Fact::Pane(Pane::Output { bytes }) => {
                if let Some(screen) = &mut screen {
                    screen.feed(&bytes.0);
                }
            }
            Fact::Step(_) => keep(&mut stills, event.sequence, screen.as_ref()),
            _ => {}
        }
    }
    if let Some(last) = history.events.last() {
        keep(&mut stills, last.sequence, screen.as_ref());
    }
    stills
}

fn keep(stills: &mut Vec<Still>, sequence: u64, screen: Option<&Screen>) {
    let Some(screen) = screen.filter(|_| stills.len() < STILLS) else {
        return;
    };
    let mut lines = screen.lines();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    if stills.last().is_none_or(|still| still.lines != lines) && !(stills.is_empty() && lines.is_empty()) {
        stills.push(Still { sequence, lines });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Bytes, FORMAT, Header};

    #[test]
    fn long_texts_are_cut_at_a_character() {
        let text = "é".repeat(SHOWN);
        let short = shortened(&text);
        assert!(
            short.len() < SHOWN + 80 && short.contains("8192 bytes in all"),
            "{short}"
        );
    }

    #[test]
    fn a_still_is_kept_where_a_step_found_the_pane_changed() {
        let launched = crate::history::Launched {
            attempt: String::new(),
            generation: String::new(),
            session_name: String::new(),
            node_id: String::new(),
            runtime: String::new(),
            record_path_given: true,
            stale_record: false,
            resume_ref: None,
            endpoint_told: String::new(),
            first_input: None,
            model: None,
            command: Vec::new(),
            agent_names: Vec::new(),
            transport: "pty".into(),
            size: (5, 20),
        };
        let shows = |text: &str| {
            Fact::Pane(Pane::Output {
                bytes: Bytes::from(text),
            })
        };
        let quiet = || Fact::Step(Step::Quiet { lasted_ms: 1 });
        let facts = [
            Fact::Step(Step::Launched(Box::new(launched))),
            shows("one\r\n"),
            quiet(),
            quiet(),
            shows("two"),
            quiet(),
        ];
        let header = Header {
            format: FORMAT.into(),
            contract: String::new(),
            scenario: "x".into(),
            exercises: Vec::new(),
            declared: crate::history::Declared::default(),
            wall_start_ns: 0,
        };
        let event = |(at, fact)| Event {
            sequence: 0,
            at,
            launch: 1,
            fact,
        };
        let history = History::new(header, (0..).zip(facts).map(event).collect());
        let timeline = timeline("x", &history);
        let shown: Vec<(u64, &[String])> = timeline
            .stills
            .iter()
            .map(|still| (still.sequence, still.lines.as_slice()))
            .collect();
        assert_eq!(
            shown,
            [
                (3, &["one".to_owned()][..]),
                (6, &["one".to_owned(), "two".to_owned()][..])
            ]
        );
    }
}
