//! Where lists of actions wait: a runtime in a thread of its own, started when a list first has to wait.
//!
//! An agent that never waits stays a process of one thread, which is faster in every system call.

use std::future::{Future, pending};
use std::io;
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Handle};
use tokio::sync::Semaphore;

/// So many lists may wait at once. A runner that floods the agent must not fill its memory.
const MOST_LISTS: usize = 1024;

pub(crate) struct Waiting {
    runtime: OnceLock<Handle>,
    places: Arc<Semaphore>,
}

/// Why a list can't wait.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WaitingError {
    #[error("{MOST_LISTS} lists of actions wait already: one more was given up")]
    TooMany,
    #[error("no thread to wait in: {0}")]
    NoThread(#[from] io::Error),
}

/// Makes sure that a list runs in the runtime from here on. To be awaited before anything that takes a
/// while or needs the runtime: the thread that reads begins every list, and has to get back to reading.
pub(crate) async fn off_the_reader() {
    // The reader polls a list just once, so what comes after this is never its work.
    tokio::task::yield_now().await;
}

impl Waiting {
    pub(crate) fn new() -> Self {
        Self {
            runtime: OnceLock::new(),
            places: Arc::new(Semaphore::new(MOST_LISTS)),
        }
    }

    /// Runs the rest of a list to its end.
    pub(crate) fn list(&self, rest: impl Future<Output = ()> + Send + 'static) -> Result<(), WaitingError> {
        let place = Arc::clone(&self.places)
            .try_acquire_owned()
            .map_err(|_| WaitingError::TooMany)?;
        self.runtime()?.spawn(async move {
            rest.await;
            drop(place);
        });
        Ok(())
    }

    /// The runtime, started if it does not run yet.
    pub(crate) fn runtime(&self) -> io::Result<&Handle> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let run = move || runtime.block_on(pending::<()>());
        std::thread::Builder::new().name("waiting".into()).spawn(run)?;
        Ok(self.runtime.get_or_init(|| handle))
    }
}
