//! The way of events from a harness to the seat, in order and with a bound.
//!
//! Sending never waits, so that an answer the agent needs at once never stands behind the seat. The bound is
//! kept at the source instead: whoever reads from the agent calls [`EventSender::room`] before it reads on.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::Event;

/// More waiting bytes than this, and reading from the agent pauses.
const BACKLOG: usize = 4 * 1024 * 1024;

/// What an event, or anything else that waits, weighs besides its text, in bytes. Generous, so that many
/// small ones are bounded, too.
const WEIGHT: usize = 1024;

/// The harness's end.
#[derive(Debug, Clone)]
pub(crate) struct EventSender {
    events: mpsc::UnboundedSender<Event>,
    waiting: Arc<watch::Sender<usize>>,
}

/// The seat's end.
#[derive(Debug)]
pub(crate) struct EventReceiver {
    events: mpsc::UnboundedReceiver<Event>,
    waiting: Arc<watch::Sender<usize>>,
}

/// Makes the two ends.
pub(crate) fn channel() -> (EventSender, EventReceiver) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::new(watch::Sender::new(0));
    (
        EventSender {
            events: sender,
            waiting: Arc::clone(&waiting),
        },
        EventReceiver {
            events: receiver,
            waiting,
        },
    )
}

impl EventSender {
    /// Sends one event. After the seat's end nobody is there to hear it, which is fine.
    pub(crate) fn send(&self, event: Event) {
        self.waiting.send_modify(|waiting| *waiting += weight(&event));
        let _ = self.events.send(event);
    }

    /// Counts something that still has to be worked off as if it were a waiting event, until it is released.
    pub(crate) fn hold(&self) {
        self.waiting.send_modify(|waiting| *waiting += WEIGHT);
    }

    /// What was held is done.
    pub(crate) fn release(&self) {
        self.waiting
            .send_modify(|waiting| *waiting = waiting.saturating_sub(WEIGHT));
    }

    /// Waits until the seat has caught up.
    pub(crate) async fn room(&self) {
        let mut waiting = self.waiting.subscribe();
        // The sender of this watch lives as long as `self`, so waiting can't fail.
        let _ = waiting.wait_for(|waiting| *waiting < BACKLOG).await;
    }
}

impl EventReceiver {
    /// The next event; None when every sender is gone.
    pub(crate) async fn receive(&mut self) -> Option<Event> {
        let event = self.events.recv().await?;
        self.waiting
            .send_modify(|waiting| *waiting = waiting.saturating_sub(weight(&event)));
        Some(event)
    }
}

fn weight(event: &Event) -> usize {
    let text = match event {
        Event::Text(text) | Event::Tool(text) | Event::Status(text) | Event::Message(text) => text.len(),
        Event::PermissionAsked(text) | Event::Unreachable(text) => text.len(),
        Event::Final { answer } => answer.as_ref().map_or(0, String::len),
        Event::Opened(_) | Event::Ready | Event::NotOpened(_) | Event::Turn => 0,
        Event::Usage { .. } | Event::End(_) | Event::Exited(_) => 0,
    };
    WEIGHT + text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_arrive_in_order_and_a_full_backlog_waits_for_the_seat() {
        let (sender, mut receiver) = channel();
        for number in 0..BACKLOG / WEIGHT {
            sender.send(Event::Text(number.to_string()));
        }
        let mut room = std::pin::pin!(sender.room());
        let is_full = tokio::select! { biased; () = &mut room => false, () = std::future::ready(()) => true };
        assert!(is_full);
        assert_eq!(receiver.receive().await, Some(Event::Text("0".to_owned())));
        assert_eq!(receiver.receive().await, Some(Event::Text("1".to_owned())));
        while receiver.events.len() > 1 {
            receiver.receive().await;
        }
        room.await;
    }
}
