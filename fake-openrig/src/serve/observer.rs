//! Puts what comes in from a seat into words, and says when its reading changes.

use std::collections::HashMap;

use crate::endpoint::{Authorization, Ending, Exchange};
use crate::post::Post;
use crate::reading::{ActivityReading, Counted, LaunchReading, Reading, SeatReading};
use crate::record::{Expected, LaunchRecord, RecordReading};
use crate::record_watch::RecordFile;

/// How much of a text from the runner a line shows, in characters.
const SHOWN_CHARACTERS: usize = 200;

pub(super) struct Observer {
    seat: SeatReading,
    expected: Expected,
    shown: Reading,
    /// The requests that have not ended.
    open: HashMap<u64, Request>,
}

struct Request {
    label: String,
    post: Option<Post>,
}

impl Observer {
    pub(super) fn new(seat: SeatReading, expected: Expected, now: u64) -> Self {
        Self {
            shown: seat.at(now),
            seat,
            expected,
            open: HashMap::new(),
        }
    }

    /// When the reading changes by itself.
    pub(super) fn next_change(&self, now: u64) -> Option<u64> {
        self.seat.next_change(now)
    }

    pub(super) fn exchange(&mut self, exchange: Exchange, now: u64) -> Vec<String> {
        let line = match exchange {
            Exchange::Started {
                id,
                method,
                path,
                authorization,
                body,
                body_cut,
                ..
            } => {
                let post = Post::parse(&body).filter(|_| !body_cut);
                let label = label(&method, &path, authorization, post.as_ref());
                self.open.insert(id, Request { label, post });
                return self.changes(now);
            }
            Exchange::Ended {
                id,
                at,
                how,
                recorded,
            } => {
                let Some(request) = self.open.remove(&id) else {
                    return Vec::new();
                };
                let outcome = ending(how);
                let counted = request
                    .post
                    .filter(|_| recorded)
                    .map(|post| counted(self.seat.post(&post, at)));
                format!(
                    "post {id}: {} -> {outcome}{}",
                    request.label,
                    counted.unwrap_or_default()
                )
            }
            Exchange::ConnectionReset { .. } => "a connection was reset".to_owned(),
            Exchange::NoRequest { .. } => "a connection brought no HTTP request".to_owned(),
            Exchange::Flooded { count, .. } => {
                format!("too many posts: the last {count} were only counted, and so are all that follow")
            }
        };
        self.with_changes(line, now)
    }

    pub(super) fn record(&mut self, file: &RecordFile, now: u64) -> Vec<String> {
        let line = match file {
            RecordFile::Absent => "record: gone".to_owned(),
            RecordFile::Unreadable(why) => format!("record: can't be read: {why}"),
            RecordFile::Bytes(bytes) => {
                let reading = LaunchRecord::read(bytes, &self.expected);
                self.seat.record(&reading);
                match reading {
                    RecordReading::Usable { native_ref } => {
                        format!("record: conversation {}", shown(&native_ref))
                    }
                    RecordReading::Missing => "record: the conversation is missing".to_owned(),
                    RecordReading::Unusable { why } => {
                        format!("record: of no use, {}", shown(&why.to_string()))
                    }
                }
            }
        };
        self.with_changes(line, now)
    }

    pub(super) fn wait_over(&mut self, now: u64) -> Vec<String> {
        self.seat.wait_over();
        self.changes(now)
    }

    /// The lines about what has changed by itself.
    pub(super) fn changes(&mut self, now: u64) -> Vec<String> {
        let reading = self.seat.at(now);
        if reading == self.shown {
            return Vec::new();
        }
        self.shown = reading;
        vec![format!(
            "seat reads: launch {}, activity {}",
            launch(reading.launch),
            activity(reading.activity)
        )]
    }

    fn with_changes(&mut self, line: String, now: u64) -> Vec<String> {
        let mut lines = vec![line];
        lines.extend(self.changes(now));
        lines
    }
}

fn label(method: &str, path: &str, authorization: Authorization, post: Option<&Post>) -> String {
    let mut label = match post {
        None => format!("{method} {}", shown(path)),
        Some(post) => {
            let event = post.hook_event.as_deref().map_or("no event".to_owned(), shown);
            let subtype = post
                .subtype
                .as_deref()
                .map_or(String::new(), |subtype| format!("/{}", shown(subtype)));
            event + &subtype
        }
    };
    if let Some(post) = post {
        let details = [
            ("sequence", post.sequence.map(|sequence| sequence.to_string())),
            ("turn", post.turn_id.as_ref().map(|turn| shown(&turn.to_string()))),
            (
                "liveness",
                post.liveness_seconds.map(|seconds| format!("{seconds} s")),
            ),
        ];
        for (name, value) in details {
            if let Some(value) = value {
                label.push_str(&format!(" {name} {value}"));
            }
        }
    }
    match authorization {
        Authorization::Right | Authorization::OtherHeader => {}
        Authorization::Wrong => label.push_str(" (wrong token)"),
        Authorization::Absent => label.push_str(" (no token)"),
    }
    label
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARACTERS).collect()
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

fn counted(counted: Counted) -> String {
    let why = match counted {
        Counted::Yes => return String::new(),
        Counted::OtherFamily => "it is not about activity",
        Counted::OtherSeat => "another seat's",
        Counted::OtherGeneration => "another generation's",
        Counted::StaleSequence => "its sequence is not above the last",
        Counted::AfterExit => "the agent has exited",
    };
    format!(", counts for nothing: {why}")
}

fn launch(reading: LaunchReading) -> &'static str {
    match reading {
        LaunchReading::Pending => "pending",
        LaunchReading::Ready => "ready",
        LaunchReading::Attention => "attention",
        LaunchReading::Resumed => "resumed",
        LaunchReading::Missing => "missing",
        LaunchReading::Unconfirmed => "unconfirmed",
    }
}

fn activity(reading: ActivityReading) -> &'static str {
    match reading {
        ActivityReading::Unknown => "unknown",
        ActivityReading::Working => "working",
        ActivityReading::Idle => "idle",
        ActivityReading::NeedsInput => "needs input",
        ActivityReading::Exited => "exited",
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
        Observer::new(SeatReading::new(facts), expected, 0)
    }

    fn post(observer: &mut Observer, id: u64, body: &str, how: Ending, recorded: bool) -> Vec<String> {
        let started = Exchange::Started {
            id,
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
        assert!(observer.exchange(started, 0).is_empty());
        observer.exchange(
            Exchange::Ended {
                id,
                at: 0,
                how,
                recorded,
            },
            0,
        )
    }

    #[test]
    fn a_post_and_the_change_it_makes() {
        let body = r#"{"nodeId": "n1", "generation": "g1", "sequence": 4, "hookEvent": "Stop", "subtype": "idle",
                       "turnId": 7, "livenessSeconds": 30}"#;
        let mut observer = observer();
        let lines = post(&mut observer, 1, body, Ending::Answered { status: 200 }, true);
        let expected = [
            "post 1: Stop/idle sequence 4 turn 7 liveness 30 s -> 200",
            "seat reads: launch pending, activity idle",
        ];
        assert_eq!(lines, expected);
        let again = post(&mut observer, 2, body, Ending::Answered { status: 200 }, true);
        let expected = "post 2: Stop/idle sequence 4 turn 7 liveness 30 s -> 200, counts for nothing: its sequence is \
                        not above the last";
        assert_eq!(again, [expected]);
        assert_eq!(observer.next_change(0), Some(60_000_000_000));
        assert_eq!(
            observer.changes(60_000_000_000),
            ["seat reads: launch pending, activity unknown"]
        );
    }

    #[test]
    fn a_post_that_was_not_recorded_changes_nothing() {
        let body = r#"{"nodeId": "n1", "generation": "g1", "hookEvent": "Stop"}"#;
        assert_eq!(
            post(&mut observer(), 1, body, Ending::GivenUp, false),
            ["post 1: Stop -> given up by the runner"]
        );
        let lines = post(
            &mut observer(),
            1,
            "not json",
            Ending::Answered { status: 400 },
            false,
        );
        assert_eq!(lines, ["post 1: POST /api/activity/hooks -> 400"]);
    }

    #[test]
    fn a_record_and_the_change_it_makes() {
        let mut observer = observer();
        let bytes = RecordFile::Bytes(b"{}".to_vec());
        assert_eq!(
            observer.record(&bytes, 0),
            ["record: of no use, its format is not the number 1"]
        );
        let record =
            r#"{"format": 1, "attempt": "a1", "harness": "dsh", "nativeRef": "c1", "producer": "p"}"#;
        let lines = observer.record(&RecordFile::Bytes(record.as_bytes().to_vec()), 0);
        assert_eq!(
            lines,
            [
                "record: conversation c1",
                "seat reads: launch ready, activity unknown"
            ]
        );
        assert!(observer.wait_over(0).is_empty());
    }

    #[test]
    fn a_wait_without_a_record() {
        assert_eq!(
            observer().wait_over(0),
            ["seat reads: launch attention, activity unknown"]
        );
    }
}
