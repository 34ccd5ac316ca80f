//! The end of the agent's process: observed, told apart from the end of its output, and told after all it
//! said.
//!
//! An exit is one only when the process itself was waited for. An agent that closes its output may well live
//! on.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::{Child, ChildStderr};
use tokio::task::JoinHandle;

use super::lines::{Line, LineReader};
use super::process::{Inbound, Output};
use super::{Event, EventSender, Exit};

/// How long an exit waits for what the agent said before it. A child of its own may hold the pipe open for
/// ever.
const LAST_OUTPUT: Duration = Duration::from_millis(250);

/// The longest line of stderr that is kept.
const LONGEST_WORDS: usize = 1024;

/// The most lines of stderr that are kept.
const MOST_WORDS: usize = 10;

/// What the agent said last on stderr, which is read to its end, whatever comes: the agent must never wait
/// for it.
pub(crate) struct LastWords {
    kept: Arc<Mutex<VecDeque<String>>>,
    draining: JoinHandle<()>,
}

impl LastWords {
    /// Starts reading.
    pub(crate) fn of(stderr: ChildStderr) -> Self {
        let kept = Arc::default();
        let draining = tokio::spawn(drain(stderr, Arc::clone(&kept)));
        Self { kept, draining }
    }

    fn so_far(&self) -> Vec<String> {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .cloned()
            .collect()
    }
}

async fn drain(stderr: ChildStderr, kept: Arc<Mutex<VecDeque<String>>>) {
    let mut lines = LineReader::new(stderr, LONGEST_WORDS, |bytes| bytes);
    while let Some(Line::Whole(line) | Line::Cut(line)) = lines.next().await {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MOST_WORDS {
            kept.pop_front();
        }
        kept.push_back(String::from_utf8_lossy(&line).into_owned());
    }
}

/// Waits for the process itself and tells its exit through `inbound`, after the lines that `reading` hands
/// there.
pub(crate) async fn watch(
    mut child: Child,
    mut reading: JoinHandle<()>,
    mut last_words: LastWords,
    inbound: Inbound,
    events: EventSender,
) {
    // An agent that ends closes its output a moment before it can be waited for.
    let output_ended = async {
        let _ = (&mut reading).await;
        tokio::time::sleep(LAST_OUTPUT).await;
    };
    let status = tokio::select! {
        biased;
        status = child.wait() => status,
        () = output_ended => {
            events.send(Event::Unreachable("the agent closed its output".into()));
            child.wait().await
        }
    };
    let last_output = async {
        for task in [&mut reading, &mut last_words.draining] {
            if !task.is_finished() {
                let _ = task.await;
            }
        }
    };
    let _ = tokio::time::timeout(LAST_OUTPUT, last_output).await;
    reading.abort();
    // Waiting fails only if somebody else has waited for the child; then nothing was observed.
    let Ok(status) = status else { return };
    inbound(Output::Exit(Exit {
        code: status.code(),
        signal: status.signal(),
        last_words: last_words.so_far(),
    }));
}
