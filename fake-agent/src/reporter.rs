//! Reports on their way to the engine's socket or a log file.
//!
//! A report is written at once as far as the sink has room; the rest follows, in order, from a thread of
//! its own. Nobody waits for the engine, but for two cases: before the process ends of its own accord,
//! and when an unreasonable amount has piled up. If the sink fails, the process ends.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::process::exit;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{SendFlags, send};
use serde::Serialize;

use crate::clock;
use crate::control::Fact;

/// With more than this waiting for the engine, nothing more is read or done.
const MOST_WAITING: usize = 16 << 20;

/// Takes reports. Without a sink it drops them at no cost.
pub(crate) struct Reporter {
    sink: Option<Sink>,
    queue: Mutex<Queue>,
    /// Something changed about the queue that others wait for.
    changed: Condvar,
}

enum Sink {
    Engine(UnixStream),
    Log(File),
}

#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    /// How many of the bytes are written already.
    written: usize,
    /// The sink had no room for what is left.
    stuck: bool,
    /// The last report is in it.
    closed: bool,
}

impl Reporter {
    /// One that drops all reports.
    pub(crate) fn none() -> Arc<Self> {
        Arc::new(Self::with(None))
    }

    /// One that writes to the engine.
    pub(crate) fn engine(socket: UnixStream) -> io::Result<Arc<Self>> {
        let reporter = Arc::new(Self::with(Some(Sink::Engine(socket))));
        let delivery = Arc::clone(&reporter);
        std::thread::Builder::new()
            .name("reports".into())
            .spawn(move || delivery.deliver())?;
        Ok(reporter)
    }

    /// One that writes to a file.
    pub(crate) fn log(file: File) -> Arc<Self> {
        Arc::new(Self::with(Some(Sink::Log(file))))
    }

    fn with(sink: Option<Sink>) -> Self {
        Self {
            sink,
            queue: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Whether there is no engine.
    pub(crate) fn is_alone(&self) -> bool {
        !matches!(self.sink, Some(Sink::Engine(_)))
    }

    /// Reports what happened just now. `fact` is called only if somebody listens.
    pub(crate) fn report(&self, fact: impl FnOnce() -> Fact) {
        if self.sink.is_some() {
            // The stamp comes before the work of writing it down.
            let (at, fact) = (clock::now(), fact());
            let mut queue = self.open_queue();
            queue.push(at, &fact);
            self.write(&mut queue);
        }
    }

    /// Queues a report of what happened at `at`. It goes out with the next one, or by
    /// [`hand_over`](Self::hand_over).
    pub(crate) fn enqueue(&self, at: u64, fact: impl FnOnce() -> Fact) {
        if self.sink.is_some() {
            let fact = fact();
            self.open_queue().push(at, &fact);
        }
    }

    /// Reports what the script asked for and can't be done.
    pub(crate) fn trouble(&self, text: impl Into<String>) {
        self.report(|| Fact::Trouble { text: text.into() });
    }

    /// Writes as much of the queue as the sink takes without waiting.
    pub(crate) fn hand_over(&self) {
        if self.sink.is_some() {
            self.write(&mut self.queue());
        }
    }

    /// Reports the last fact, and waits until all reports are out. Any other thread that wants to report
    /// from now on stops for good; since what is done is reported first, nothing is done any more.
    pub(crate) fn close(&self, fact: Fact) {
        let mut queue = self.open_queue();
        queue.closed = true;
        queue.push(clock::now(), &fact);
        self.flush(queue);
    }

    /// Adds to the last fact, for the thread that reported it.
    pub(crate) fn close_again(&self, fact: Fact) {
        let mut queue = self.queue();
        queue.push(clock::now(), &fact);
        self.flush(queue);
    }

    /// Waits while an unreasonable amount is queued.
    pub(crate) fn wait_for_room(&self) {
        if self.sink.is_some() {
            self.wait_while(self.queue(), |queue| queue.waiting() > MOST_WAITING);
        }
    }

    fn flush(&self, mut queue: MutexGuard<'_, Queue>) {
        self.write(&mut queue);
        self.wait_while(queue, |queue| queue.waiting() > 0);
    }

    /// The thread that writes what the sink had no room for.
    fn deliver(&self) {
        let Some(Sink::Engine(socket)) = &self.sink else {
            return;
        };
        loop {
            self.wait_while(self.queue(), |queue| !queue.stuck);
            // If this failed, so would the write, and that is where it is seen.
            let _ = retry_on_intr(|| poll(&mut [PollFd::new(socket, PollFlags::OUT)], None));
            let mut queue = self.queue();
            queue.stuck = false;
            self.write(&mut queue);
            self.changed.notify_all();
        }
    }

    fn write(&self, queue: &mut Queue) {
        while queue.waiting() > 0 {
            let rest = &queue.bytes[queue.written..];
            let written = match &self.sink {
                None => Ok(rest.len()),
                // The other end of the socket is read by a thread that blocks, so the socket does too.
                Some(Sink::Engine(socket)) => send(socket, rest, SendFlags::DONTWAIT),
                Some(Sink::Log(file)) => rustix::io::write(file, rest),
            };
            match written {
                Ok(written) => queue.written += written,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    queue.stuck = true;
                    self.changed.notify_all();
                    break;
                }
                Err(error) => self.give_up(error),
            }
        }
        queue.forget_written();
    }

    fn give_up(&self, error: Errno) -> ! {
        // With the engine gone nobody reads a message, and a full pipe would hold up the end.
        if let Some(Sink::Log(_)) = self.sink {
            eprintln!(
                "error: the log can't be written: {error}\nhint: make room for it, or do without --log"
            );
        }
        exit(1)
    }

    fn wait_while(&self, queue: MutexGuard<'_, Queue>, mut condition: impl FnMut(&Queue) -> bool) {
        let queue = self.changed.wait_while(queue, |queue| condition(queue));
        drop(queue.unwrap_or_else(PoisonError::into_inner));
    }

    /// The queue, for a thread that may still report.
    fn open_queue(&self) -> MutexGuard<'_, Queue> {
        let queue = self.queue();
        if !queue.closed {
            return queue;
        }
        drop(queue);
        loop {
            std::thread::park();
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn push(&mut self, at: u64, fact: &Fact) {
        /// A [`Report`](crate::control::Report) that borrows.
        #[derive(Serialize)]
        struct Borrowed<'a> {
            at: u64,
            fact: &'a Fact,
        }
        serde_json::to_writer(&mut self.bytes, &Borrowed { at, fact }).expect("a report has a JSON form");
        self.bytes.push(b'\n');
    }

    fn waiting(&self) -> usize {
        self.bytes.len() - self.written
    }

    /// Gives memory back, but moves bytes only where that is cheaper than keeping them.
    fn forget_written(&mut self) {
        if self.written >= self.bytes.len() / 2 {
            self.bytes.drain(..self.written);
            self.written = 0;
            self.bytes.shrink_to(64 << 10);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;
    use crate::control::Report;

    fn reports(socket: UnixStream) -> Vec<Report> {
        BufReader::new(socket)
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect()
    }

    #[test]
    fn all_reports_arrive_in_order_though_the_engine_reads_late() {
        const COUNT: u64 = 20_000;
        let (ours, theirs) = UnixStream::pair().unwrap();
        let hang_up = ours.try_clone().unwrap();
        let reporter = Reporter::engine(ours).unwrap();
        // More than a socket holds, and nobody reads yet.
        for number in 0..COUNT {
            reporter.enqueue(number, || Fact::Stderr { bytes: number });
            reporter.hand_over();
        }
        assert!(reporter.queue().waiting() > 0);
        let reader = std::thread::spawn(move || reports(theirs));
        reporter.close(Fact::EndOfInput);
        hang_up.shutdown(std::net::Shutdown::Both).unwrap();
        let mut reports = reader.join().unwrap();
        assert_eq!(reports.pop().unwrap().fact, Fact::EndOfInput);
        assert!(reports.into_iter().map(|report| report.at).eq(0..COUNT));
    }

    #[test]
    fn a_report_that_is_only_enqueued_goes_out_before_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let reporter = Reporter::log(File::create(&path).unwrap());
        reporter.enqueue(5, || Fact::EndOfInput);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
        reporter.trouble("x");
        let log = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Report> = log
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            lines[0],
            Report {
                at: 5,
                fact: Fact::EndOfInput
            }
        );
        assert_eq!(lines[1].fact, Fact::Trouble { text: "x".into() });
    }

    #[test]
    fn without_a_sink_no_fact_is_made() {
        let reporter = Reporter::none();
        reporter.report(|| panic!("nobody listens"));
        reporter.hand_over();
        reporter.close(Fact::EndOfInput);
    }
}
