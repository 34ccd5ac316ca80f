//! What has come in so far that a script may wait for: methods, answers and open gates.
//!
//! Only what the script can wait for is kept, so a runner can't fill the memory with made-up names.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, value::RawValue};
use tokio::sync::watch;

use crate::script::{Action, Script};

pub(crate) struct Arrivals {
    /// How many messages came so far.
    messages: AtomicU64,
    /// The methods that the script awaits.
    awaited: HashSet<String>,
    board: watch::Sender<Board>,
}

#[derive(Default)]
struct Board {
    /// The number of the last message with each method that the script awaits.
    methods: HashMap<String, u64>,
    /// Whether each of the agent's own requests is answered.
    answers: HashMap<String, bool>,
    open_gates: HashSet<String>,
    all_gates_open: bool,
}

impl Arrivals {
    pub(crate) fn new(script: &Script, all_gates_open: bool) -> Self {
        let mut board = Board {
            all_gates_open,
            ..Board::default()
        };
        for action in script.actions() {
            match action {
                Action::Await(method) => {
                    board.methods.insert(method.clone(), 0);
                }
                Action::AwaitAnswer(id) => {
                    board.answers.insert(id.to_string(), false);
                }
                _ => {}
            }
        }
        let awaited = board.methods.keys().cloned().collect();
        Self {
            messages: AtomicU64::new(0),
            awaited,
            board: watch::Sender::new(board),
        }
    }

    /// A message came; its number, counted from 1.
    pub(crate) fn message(&self, method: &str) -> u64 {
        let number = self.messages.fetch_add(1, Ordering::Relaxed) + 1;
        if self.awaited.contains(method) {
            self.board.send_modify(|board| {
                board.methods.insert(method.to_owned(), number);
            });
        }
        number
    }

    /// A request of the agent's own is about to be sent.
    pub(crate) fn asked(&self, id: &Value) {
        self.board.send_modify(|board| {
            board.answers.insert(id.to_string(), false);
        });
    }

    /// An answer came. It counts if there was such a request, or the script awaits it.
    pub(crate) fn answered(&self, id: &RawValue) {
        // Spelled anew, so that `"a"` and `"\u0061"` are the same id.
        let Ok(id) = serde_json::from_str::<Value>(id.get()) else {
            return;
        };
        self.board.send_if_modified(|board| {
            board
                .answers
                .get_mut(&id.to_string())
                .map(|answered| *answered = true)
                .is_some()
        });
    }

    pub(crate) fn open_gate(&self, name: String) {
        self.board.send_modify(|board| {
            board.open_gates.insert(name);
        });
    }

    /// Waits for a message with this method and a number above `since`.
    pub(crate) async fn method_after(&self, method: &str, since: u64) {
        self.wait_for(|board| board.methods.get(method).is_some_and(|last| *last > since))
            .await;
    }

    pub(crate) async fn answer(&self, id: &Value) {
        let id = id.to_string();
        self.wait_for(|board| board.answers.get(&id) == Some(&true)).await;
    }

    pub(crate) async fn gate(&self, name: &str) {
        self.wait_for(|board| board.all_gates_open || board.open_gates.contains(name))
            .await;
    }

    async fn wait_for(&self, condition: impl FnMut(&Board) -> bool) {
        // It fails only once the sender is dropped, and that is borrowed here.
        let _ = self.board.subscribe().wait_for(condition).await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use serde_json::json;

    use super::*;

    fn is_ready(future: impl Future<Output = ()>) -> bool {
        pin!(future).poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    }

    fn arrivals(turn: Value) -> Arrivals {
        let script = serde_json::from_value(json!({"turns": [turn]})).unwrap();
        Arrivals::new(&script, false)
    }

    #[test]
    fn a_method_counts_from_the_given_message_on() {
        let arrivals = arrivals(json!([{"repeat": {"times": 1, "actions": [{"await": "session/cancel"}]}}]));
        assert_eq!(arrivals.message("session/cancel"), 1);
        let prompt = arrivals.message("session/prompt");
        assert!(!is_ready(arrivals.method_after("session/cancel", prompt)));
        arrivals.message("session/cancel");
        assert!(is_ready(arrivals.method_after("session/cancel", prompt)));
    }

    #[test]
    fn an_answer_counts_for_the_last_request_of_its_id() {
        let arrivals = arrivals(json!([]));
        let answer: Box<RawValue> = serde_json::from_str(r#""\u0061""#).unwrap();
        arrivals.answered(&answer);
        arrivals.asked(&json!("a"));
        assert!(!is_ready(arrivals.answer(&json!("a"))));
        arrivals.answered(&answer);
        assert!(is_ready(arrivals.answer(&json!("a"))));
        arrivals.asked(&json!("a"));
        assert!(!is_ready(arrivals.answer(&json!("a"))));
    }

    #[test]
    fn ids_of_different_types_are_different() {
        let arrivals = arrivals(json!([]));
        arrivals.asked(&json!(1));
        arrivals.answered(&serde_json::from_str::<Box<RawValue>>(r#""1""#).unwrap());
        assert!(!is_ready(arrivals.answer(&json!(1))));
    }

    #[test]
    fn an_open_gate_stays_open() {
        let arrivals = arrivals(json!([]));
        assert!(!is_ready(arrivals.gate("a")));
        arrivals.open_gate("a".into());
        assert!(is_ready(arrivals.gate("a")) && is_ready(arrivals.gate("a")));
        assert!(!is_ready(arrivals.gate("b")));
    }

    #[test]
    fn made_up_names_are_not_kept() {
        let arrivals = arrivals(json!([{"await": "a"}]));
        arrivals.message("b");
        arrivals.answered(&serde_json::from_str::<Box<RawValue>>("7").unwrap());
        let board = arrivals.board.borrow();
        assert_eq!((board.methods.len(), board.answers.len()), (1, 0));
    }
}
