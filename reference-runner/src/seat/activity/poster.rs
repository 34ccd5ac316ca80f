//! The lane of activity posts: one at a time, in order, each with the next number, and nobody ever waits for
//! it.
//!
//! Reports wait in a bounded queue; when an endpoint is down for long the oldest are lost, since a newer fact
//! says more about the seat than an old one. A lost post is not repeated.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::{Notify, watch};

use super::endpoint::Endpoint;
use super::http;
use crate::edge::Crossing;
use crate::seat::clock::WallClock;
use crate::seat::lanes::Lanes;
use crate::seat::pane::Pane;

/// The most reports that wait.
const LONGEST_QUEUE: usize = 256;

/// A report in the queue.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// It still has to cross the edge.
    Made(Value),
    /// The edge itself put it here.
    Crossed(Value),
    /// The same, to be sent once more if it does not arrive.
    CrossedTwiceIfLost(Value),
}

/// The waiting reports.
#[derive(Debug)]
pub(crate) struct PostQueue {
    waiting: Mutex<VecDeque<Waiting>>,
    arrived: Notify,
    /// Reports not yet answered or given up.
    open: watch::Sender<usize>,
}

impl PostQueue {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::default(),
            arrived: Notify::new(),
            open: watch::Sender::new(0),
        }
    }

    /// Puts a report at the queue's end.
    pub(crate) fn push(&self, report: Waiting) {
        let report = match report {
            Waiting::Made(body) => Waiting::Made(body),
            Waiting::Crossed(body) => Waiting::Crossed(timed(body)),
            Waiting::CrossedTwiceIfLost(body) => Waiting::CrossedTwiceIfLost(timed(body)),
        };
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push_back(report);
        if waiting.len() > LONGEST_QUEUE {
            waiting.pop_front();
        } else {
            self.open.send_modify(|open| *open += 1);
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Whether every report so far was answered or given up.
    pub(crate) fn is_settled(&self) -> bool {
        *self.open.borrow() == 0
    }

    /// Waits until every report so far was answered or given up.
    pub(crate) async fn settled(&self) {
        // `self` holds the watch's sender, so waiting can't fail.
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }

    async fn next(&self) -> Waiting {
        loop {
            let arrived = self.arrived.notified();
            if let Some(report) = self
                .waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop_front()
            {
                return report;
            }
            arrived.await;
        }
    }

    fn close_one(&self) {
        self.open.send_modify(|open| *open = open.saturating_sub(1));
    }
}

/// Sends what comes into the queue, numbered from `first_sequence` on, until the task is dropped.
pub(crate) async fn run(lanes: Arc<Lanes>, endpoint: Option<Endpoint>, first_sequence: u64, pane: Arc<Pane>) {
    let mut numbers = Numbers { next: first_sequence };
    let mut outage = Outage { pane, is_on: false };
    loop {
        let crossings = match lanes.posts().next().await {
            Waiting::Made(body) => lanes.cross(Crossing::Post(numbers.give(body))),
            Waiting::Crossed(body) => vec![Crossing::Post(body)],
            Waiting::CrossedTwiceIfLost(body) => vec![Crossing::PostTwiceIfLost(body)],
        };
        for crossing in crossings {
            match crossing {
                Crossing::Post(body) => {
                    let body = numbers.give(timed(body));
                    if let Some(endpoint) = &endpoint {
                        outage.note(http::post(endpoint, &body.to_string()).await);
                    }
                }
                Crossing::PostTwiceIfLost(body) => {
                    let body = numbers.give(timed(body)).to_string();
                    if let Some(endpoint) = &endpoint {
                        let first = http::post(endpoint, &body).await;
                        outage.note(match first {
                            Ok(()) => Ok(()),
                            Err(_) => http::post(endpoint, &body).await,
                        });
                    }
                }
                // Nothing is ahead of this lane's own list but what it has sent already.
                Crossing::AwaitPosts => {}
                other => lanes.carry_out(other).await,
            }
        }
        lanes.posts().close_one();
    }
}

/// Numbers reports in the order in which they are sent.
#[derive(Debug)]
struct Numbers {
    next: u64,
}

impl Numbers {
    /// The body with the next number, unless it has one.
    fn give(&mut self, mut body: Value) -> Value {
        if let Some(fields) = body.as_object_mut() {
            fields.entry("sequence").or_insert_with(|| {
                let sequence = self.next;
                self.next += 1;
                sequence.into()
            });
        }
        body
    }
}

/// The body with the present time, unless it says when its fact happened.
fn timed(mut body: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields
            .entry("occurredAt")
            .or_insert_with(|| WallClock::new().now_rfc3339().into());
    }
    body
}

/// Tells the pane when posting stops and starts to work, and not at every post.
struct Outage {
    pane: Arc<Pane>,
    is_on: bool,
}

impl Outage {
    fn note(&mut self, result: Result<(), http::PostError>) {
        match result {
            Ok(()) if self.is_on => {
                self.is_on = false;
                self.pane.notice("activity reports arrive again");
            }
            Err(fault) if !self.is_on => {
                self.is_on = true;
                self.pane.error(
                    &format!("an activity report did not arrive: {fault}"),
                    "until reports arrive again this seat may read wrong; its agent is not affected",
                );
            }
            Ok(()) | Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body_of(report: &Waiting) -> u64 {
        match report {
            Waiting::Made(body) | Waiting::Crossed(body) | Waiting::CrossedTwiceIfLost(body) => {
                body.as_u64().unwrap()
            }
        }
    }

    #[test]
    fn a_body_gets_the_next_number_and_a_time_and_keeps_what_it_has() {
        let mut numbers = Numbers { next: 40 };
        let first = numbers.give(timed(json!({})));
        assert_eq!(first["sequence"], 40);
        assert!(first["occurredAt"].as_str().unwrap().ends_with('Z'));
        assert_eq!(numbers.give(timed(first.clone())), first);
        let second = numbers.give(timed(json!({"occurredAt": "earlier"})));
        assert_eq!(second, json!({"occurredAt": "earlier", "sequence": 41}));
    }

    #[tokio::test]
    async fn a_full_queue_loses_its_oldest_reports_and_keeps_the_order() {
        let queue = PostQueue::new();
        let count = LONGEST_QUEUE as u64 + 10;
        for number in 0..count {
            queue.push(Waiting::Made(number.into()));
        }
        for number in 10..count {
            assert!(!queue.is_settled());
            assert_eq!(body_of(&queue.next().await), number);
            queue.close_one();
        }
        assert!(queue.is_settled());
        queue.settled().await;
    }
}
