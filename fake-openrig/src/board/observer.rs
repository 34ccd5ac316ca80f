//! Makes events for a board out of what comes in from a seat, and keeps how the seat reads.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use super::event::{BoardEvent, LineShown, PostShown, ReadingShown, RecordShown, Way};
use super::shown;
use crate::endpoint::{Authorization, Ending, Exchange};
use crate::post::Post;
use crate::reading::{Counted, Reading, SeatReading};
use crate::record::{Expected, LaunchRecord, RecordReading};
use crate::record_watch::RecordFile;

/// How much of a name or an id is shown, in characters.
const NAME: usize = 200;

/// How much of a body or a record is shown, in characters.
const BODY: usize = 4000;

/// How many requests may be under way; one more is shown when it ends, and without its beginning.
const OPEN: usize = 1024;

/// The launch that is watched, and how it reads.
#[derive(Debug)]
pub struct Watched {
    /// Its reading, from its beginning.
    pub seat: SeatReading,
    /// What its record has to be.
    pub expected: Expected,
}

/// Watches a seat. The times that it takes are nanoseconds of CLOCK_MONOTONIC.
#[derive(Debug)]
pub struct Observer {
    watched: Watched,
    told: Reading,
    /// The requests that have not ended.
    open: HashMap<u64, Request>,
    /// A moment on both clocks: nanoseconds, and milliseconds since 1970.
    moment: (u64, u64),
}

#[derive(Debug)]
struct Request {
    shown: PostShown,
    post: Option<Post>,
}

impl Observer {
    /// Watches a launch that begins now.
    pub fn new(watched: Watched, now: u64) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            told: watched.seat.at(now),
            watched,
            open: HashMap::new(),
            moment: (now, u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
        }
    }

    /// Another launch of the same seat begins.
    pub fn launched(&mut self, watched: Watched, now: u64) {
        self.told = watched.seat.at(now);
        self.watched = watched;
    }

    /// The time in milliseconds since 1970.
    pub fn wall(&self, at: u64) -> u64 {
        let (nanoseconds, milliseconds) = self.moment;
        milliseconds.saturating_add(at.saturating_sub(nanoseconds) / 1_000_000)
    }

    /// How the seat reads, whether or not that is news.
    pub fn reading(&self, now: u64) -> BoardEvent {
        let reading = self.watched.seat.at(now);
        BoardEvent::Reading(ReadingShown {
            launch: reading.launch.as_str(),
            activity: reading.activity.as_str(),
            at: self.wall(now),
        })
    }

    /// When the reading changes by itself.
    pub fn next_change(&self, now: u64) -> Option<u64> {
        self.watched.seat.next_change(now)
    }

    /// The endpoint saw something.
    pub fn exchange(&mut self, exchange: &Exchange, now: u64) -> Vec<BoardEvent> {
        let event = match exchange {
            Exchange::Started {
                id,
                at,
                method,
                path,
                authorization,
                body,
                body_cut,
                ..
            } => {
                let post = Post::parse(body).filter(|_| !body_cut);
                let shown = PostShown {
                    at: self.wall(*at),
                    id: *id,
                    ..shown_post(method, path, *authorization, post.as_ref(), body)
                };
                if self.open.len() < OPEN {
                    let shown = shown.clone();
                    self.open.insert(*id, Request { shown, post });
                }
                BoardEvent::Post(shown)
            }
            Exchange::Ended {
                id,
                at,
                how,
                recorded,
            } => {
                let Some(Request { mut shown, post }) = self.open.remove(id) else {
                    return Vec::new();
                };
                shown.outcome = Some(ending(*how));
                let counted = post
                    .filter(|_| *recorded)
                    .map(|post| self.watched.seat.post(&post, *at));
                shown.counts = Some(counted == Some(Counted::Yes));
                shown.why = counted.and_then(why_not).map(str::to_owned);
                BoardEvent::Post(shown)
            }
            Exchange::ConnectionReset { at } => self.note(*at, "a connection was reset".to_owned()),
            Exchange::NoRequest { at } => self.note(*at, "a connection brought no HTTP request".to_owned()),
            Exchange::Flooded { at, count } => self.note(
                *at,
                format!("too many posts: the last {count} were only counted, and so are all that follow"),
            ),
        };
        self.with_changes(event, now)
    }

    /// The record's file is otherwise.
    pub fn record(&mut self, file: &RecordFile, now: u64) -> Vec<BoardEvent> {
        let (says, content) = match file {
            RecordFile::Absent => ("gone".to_owned(), None),
            RecordFile::Unreadable(why) => (format!("can't be read: {why}"), None),
            RecordFile::Bytes(bytes) => {
                let reading = LaunchRecord::read(bytes, &self.watched.expected);
                self.watched.seat.record(&reading);
                let says = match reading {
                    RecordReading::Usable { native_ref } => {
                        format!("conversation {}", shown(&native_ref, NAME))
                    }
                    RecordReading::Missing => "the conversation is missing".to_owned(),
                    RecordReading::Unusable { why } => {
                        format!("of no use, {}", shown(&why.to_string(), NAME))
                    }
                };
                (says, Some(shown(&String::from_utf8_lossy(bytes), BODY)))
            }
        };
        let at = self.wall(now);
        self.with_changes(BoardEvent::Record(RecordShown { at, says, content }), now)
    }

    /// The wait for a launch record is over.
    pub fn wait_over(&mut self, now: u64) -> Vec<BoardEvent> {
        self.watched.seat.wait_over();
        self.changes(now)
    }

    /// An operator cleared the seat's attention.
    pub fn cleared(&mut self, now: u64) -> Vec<BoardEvent> {
        self.watched.seat.cleared();
        let note = self.note(now, "attention cleared".to_owned());
        self.with_changes(note, now)
    }

    /// The reading, if it has changed.
    pub fn changes(&mut self, now: u64) -> Vec<BoardEvent> {
        let reading = self.watched.seat.at(now);
        if reading == self.told {
            return Vec::new();
        }
        self.told = reading;
        vec![self.reading(now)]
    }

    fn with_changes(&mut self, event: BoardEvent, now: u64) -> Vec<BoardEvent> {
        let mut events = vec![event];
        events.extend(self.changes(now));
        events
    }

    fn note(&self, at: u64, text: String) -> BoardEvent {
        BoardEvent::Line(LineShown {
            at: self.wall(at),
            way: Way::Note,
            text,
        })
    }
}

fn shown_post(
    method: &str,
    path: &str,
    authorization: Authorization,
    post: Option<&Post>,
    body: &[u8],
) -> PostShown {
    let name = |text: &String| shown(text, NAME);
    let event = match post {
        None => format!("{} {}", shown(method, NAME), shown(path, NAME)),
        Some(post) => {
            let event = post.hook_event.as_ref().map_or("no event".to_owned(), name);
            let subtype = post.subtype.as_ref();
            event + &subtype.map_or(String::new(), |subtype| format!("/{}", name(subtype)))
        }
    };
    PostShown {
        id: 0,
        at: 0,
        event,
        sequence: post.and_then(|post| post.sequence),
        turn: post
            .and_then(|post| post.turn_id.as_ref())
            .map(|turn| shown(&turn.to_string(), NAME)),
        liveness: post.and_then(|post| post.liveness_seconds),
        token: match authorization {
            Authorization::Right | Authorization::OtherHeader => None,
            Authorization::Wrong => Some("wrong token"),
            Authorization::Absent => Some("no token"),
        },
        outcome: None,
        counts: None,
        why: None,
        body: shown(&String::from_utf8_lossy(body), BODY),
    }
}

fn ending(how: Ending) -> String {
    match how {
        Ending::Answered { status } => status.to_string(),
        Ending::AnswerCut => "answer cut".to_owned(),
        Ending::GivenUp => "given up by the runner".to_owned(),
        Ending::Hung => "never answered".to_owned(),
        Ending::Reset => "reset".to_owned(),
    }
}

fn why_not(counted: Counted) -> Option<&'static str> {
    match counted {
        Counted::Yes => None,
        Counted::OtherFamily => Some("it is not about activity"),
        Counted::OtherSeat => Some("another seat's"),
        Counted::OtherGeneration => Some("another generation's"),
        Counted::StaleSequence => Some("its sequence is not above the last"),
        Counted::AfterExit => Some("the agent has exited"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::LaunchFacts;

    fn observer() -> Observer {
        let facts = LaunchFacts {
            resume_ref: None,
            generation: "g1".to_owned(),
            session_name: "seat@local".to_owned(),
            node_id: "n1".to_owned(),
            preset_name: "dsh".to_owned(),
        };
        let expected = Expected {
            attempt: "a1".to_owned(),
            harness: "dsh".to_owned(),
        };
        let seat = SeatReading::new(facts);
        Observer::new(Watched { seat, expected }, 0)
    }

    fn post(
        observer: &mut Observer,
        body: &str,
        how: Ending,
        recorded: bool,
    ) -> (PostShown, Vec<BoardEvent>) {
        let started = Exchange::Started {
            id: 1,
            at: 0,
            body_at: Some(0),
            method: "POST".to_owned(),
            path: "/api/activity/hooks".to_owned(),
            authorization: Authorization::Right,
            content_type: None,
            body: body.as_bytes().to_vec(),
            body_cut: false,
            token_removed: false,
        };
        let begun = observer.exchange(&started, 0);
        assert!(
            matches!(&begun[..], [BoardEvent::Post(post)] if post.outcome.is_none()),
            "{begun:?}"
        );
        let ended = Exchange::Ended {
            id: 1,
            at: 0,
            how,
            recorded,
        };
        let mut events = observer.exchange(&ended, 0);
        let BoardEvent::Post(post) = events.remove(0) else {
            panic!("{events:?}")
        };
        (post, events)
    }

    fn readings(events: &[BoardEvent]) -> Vec<(&'static str, &'static str)> {
        events
            .iter()
            .filter_map(|event| match event {
                BoardEvent::Reading(reading) => Some((reading.launch, reading.activity)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_post_and_the_change_it_makes() {
        let body = r#"{"nodeId": "n1", "generation": "g1", "sequence": 4, "hookEvent": "Stop", "subtype": "idle",
                       "turnId": 7, "livenessSeconds": 30}"#;
        let mut observer = observer();
        let (shown, events) = post(&mut observer, body, Ending::Answered { status: 200 }, true);
        assert_eq!(shown.event, "Stop/idle");
        assert_eq!(
            (shown.sequence, shown.turn, shown.liveness),
            (Some(4), Some("7".into()), Some(30))
        );
        assert_eq!(
            (shown.outcome.as_deref(), shown.counts),
            (Some("200"), Some(true))
        );
        assert_eq!(readings(&events), [("pending", "idle")]);

        let (again, events) = post(&mut observer, body, Ending::Answered { status: 200 }, true);
        assert_eq!(
            (again.counts, again.why.as_deref()),
            (Some(false), Some("its sequence is not above the last"))
        );
        assert!(events.is_empty());
        assert_eq!(observer.next_change(0), Some(60_000_000_000));
        assert_eq!(
            readings(&observer.changes(60_000_000_000)),
            [("pending", "unknown")]
        );
    }

    #[test]
    fn a_post_that_was_not_recorded_counts_for_nothing() {
        let body = r#"{"nodeId": "n1", "generation": "g1", "hookEvent": "Stop"}"#;
        let (shown, events) = post(&mut observer(), body, Ending::GivenUp, false);
        assert_eq!(
            (shown.event.as_str(), shown.outcome.as_deref(), shown.counts),
            ("Stop", Some("given up by the runner"), Some(false))
        );
        assert!(events.is_empty());
        let (shown, _) = post(
            &mut observer(),
            "not json",
            Ending::Answered { status: 400 },
            false,
        );
        assert_eq!(shown.event, "POST /api/activity/hooks");
    }

    #[test]
    fn a_record_and_the_change_it_makes() {
        let mut observer = observer();
        let events = observer.record(&RecordFile::Bytes(b"{}".to_vec()), 0);
        assert!(
            matches!(&events[..], [BoardEvent::Record(record)] if record.says == "of no use, its format is not the number 1"),
            "{events:?}"
        );
        let record =
            r#"{"format": 1, "attempt": "a1", "harness": "dsh", "nativeRef": "c1", "producer": "p"}"#;
        let events = observer.record(&RecordFile::Bytes(record.as_bytes().to_vec()), 0);
        assert_eq!(readings(&events), [("ready", "unknown")]);
        assert!(observer.wait_over(0).is_empty());
    }

    #[test]
    fn a_wait_without_a_record_is_attention_until_it_is_cleared() {
        let mut observer = observer();
        assert_eq!(readings(&observer.wait_over(0)), [("attention", "unknown")]);
        let held = r#"{"nodeId": "n1", "generation": "g1", "hookEvent": "Notification", "subtype": "permission_prompt"}"#;
        let (_, events) = post(&mut observer, held, Ending::Answered { status: 200 }, true);
        assert_eq!(readings(&events), [("attention", "needs input")]);
        assert_eq!(readings(&observer.cleared(0)), [("attention", "unknown")]);
    }

    #[test]
    fn a_strangers_body_is_cut_and_harmless() {
        let text = format!("<script>alert(1)</script>\u{1b}[2J{}", "x".repeat(1 << 20));
        let body = serde_json::json!({"nodeId": "n1", "hookEvent": text}).to_string();
        let (shown, _) = post(&mut observer(), &body, Ending::Answered { status: 200 }, true);
        assert!(
            shown.event.starts_with("<script>alert(1)</script>␛[2J"),
            "{}",
            shown.event
        );
        assert!(shown.event.len() < 1000 && shown.body.len() < 20_000);
    }
}
