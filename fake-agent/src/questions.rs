//! Questions of the agent's to its engine, and the orders that answer them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::control::Told;

/// The questions that are open.
#[derive(Default)]
pub(crate) struct Questions {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: u64,
    orders: HashMap<u64, mpsc::UnboundedSender<Told>>,
}

/// There is no such question, or it has its last order.
#[derive(Debug, thiserror::Error)]
#[error("an order answers the question {0}, which is not open")]
pub(crate) struct NotOpen(u64);

impl Questions {
    /// A new question: its number, and the orders to come.
    pub(crate) fn open(&self) -> (u64, mpsc::UnboundedReceiver<Told>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut open = self.lock();
        open.last += 1;
        let number = open.last;
        open.orders.insert(number, sender);
        (number, receiver)
    }

    /// Passes an order on to whoever asked.
    pub(crate) fn told(&self, told: Told) -> Result<(), NotOpen> {
        let mut open = self.lock();
        let ask = told.ask;
        let last = !told.more;
        let sent = open
            .orders
            .get(&ask)
            .is_some_and(|orders| orders.send(told).is_ok());
        if last {
            open.orders.remove(&ask);
        }
        if sent { Ok(()) } else { Err(NotOpen(ask)) }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(ask: u64, more: bool) -> Told {
        Told {
            ask,
            actions: Vec::new(),
            more,
        }
    }

    #[test]
    fn orders_reach_their_question_until_the_last() {
        let questions = Questions::default();
        let (first, mut orders) = questions.open();
        let (second, _others) = questions.open();
        assert_ne!(first, second);
        questions.told(told(first, true)).unwrap();
        questions.told(told(first, false)).unwrap();
        assert!(questions.told(told(first, false)).is_err());
        assert!(orders.try_recv().unwrap().more && !orders.try_recv().unwrap().more);
        assert!(orders.try_recv().is_err());
        assert!(questions.told(told(99, false)).is_err());
    }
}
