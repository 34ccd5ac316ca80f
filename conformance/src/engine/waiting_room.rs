//! Where observations wait for the driver: bounded in number and in bytes, so that a seat that floods waits for the
//! engine and not the engine's memory for it.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::lanes::{Observation, Seen};

/// How many observations may wait.
pub(crate) const WAITING: usize = 256;

/// How many bytes they may hold together. A larger one waits alone.
const BYTES: u32 = 1 << 20;

/// Where observations go.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    to: mpsc::Sender<(Observation, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
}

/// Where they come out.
#[derive(Debug)]
pub(crate) struct Receiver(mpsc::Receiver<(Observation, OwnedSemaphorePermit)>);

/// The driver is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

pub(crate) fn channel() -> (Sender, Receiver) {
    let (to, from) = mpsc::channel(WAITING);
    let room = Arc::new(Semaphore::new(BYTES as usize));
    (Sender { to, room }, Receiver(from))
}

impl Sender {
    /// Sends it as soon as there is room.
    pub(crate) async fn send(&self, observation: Observation) -> Result<(), Gone> {
        let size = u32::try_from(size(&observation.what))
            .unwrap_or(BYTES)
            .clamp(1, BYTES);
        let room = self.room.clone().acquire_many_owned(size).await;
        let room = room.map_err(|_| Gone)?;
        self.to.send((observation, room)).await.map_err(|_| Gone)
    }
}

impl Receiver {
    /// The next observation; `None` when nobody is left to send one.
    pub(crate) async fn recv(&mut self) -> Option<Observation> {
        self.0.recv().await.map(|(observation, _)| observation)
    }

    /// One that has come already.
    pub(crate) fn try_recv(&mut self) -> Option<Observation> {
        self.0.try_recv().ok().map(|(observation, _)| observation)
    }
}

fn size(seen: &Seen) -> usize {
    use fake_agent::control::Fact;
    use fake_openrig::endpoint::Exchange;

    match seen {
        Seen::Output(bytes) => bytes.len(),
        Seen::Agent { fact, .. } => match fact {
            Fact::Received { line, .. } | Fact::Sent { line } => line.as_slice().len(),
            Fact::RawSent { bytes } => bytes.as_slice().len(),
            _ => 0,
        },
        Seen::Exchange(Exchange::Started { body, .. }) => body.len(),
        Seen::Record(record) => record.content.as_ref().map_or(0, |content| content.0.len()),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(size: usize) -> Observation {
        Observation {
            at: 0,
            launch: Some(1),
            what: Seen::Output(vec![0; size]),
        }
    }

    #[tokio::test]
    async fn bytes_are_bounded_and_the_largest_still_goes_through() {
        let (to, mut from) = channel();
        let sending = tokio::spawn(async move {
            for size in [600 << 10, 600 << 10, 10 << 20] {
                to.send(output(size)).await.unwrap();
            }
        });
        while from.0.is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(from.0.len(), 1, "the second has no room yet");
        let mut came = 0;
        while let Some(observation) = from.recv().await {
            came += size(&observation.what);
        }
        assert_eq!(came, (1200 << 10) + (10 << 20));
        sending.await.unwrap();
    }
}
