//! The agent itself: reads messages, finds what the script has for them, and runs it.
//!
//! One thread reads. It begins a list of actions right where the message is read; a list that has to wait
//! goes on elsewhere (see [`Waiting`]). So a plain turn costs no detour, the reader never waits for
//! anything but input, and input that ends right after a request does not cut off an answer that needs no
//! waiting.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use serde_json::{Value, value::RawValue};
use tokio::signal::unix::{SignalKind, signal};

use crate::actions;
use crate::arrivals::Arrivals;
use crate::children::Program;
use crate::control::{Fact, Unfinished};
use crate::ending;
use crate::questions::Questions;
use crate::reporter::Reporter;
use crate::script::{Action, Exit, Reaction, Script, SignalName};
use crate::waiting::Waiting;
use crate::wire::input::Input;
use crate::wire::lines::{LONGEST_LINE, LineEnd, LineReader};
use crate::wire::message::Message;
use crate::wire::output::Output;

pub(crate) struct Agent {
    pub(crate) script: Script,
    pub(crate) arrivals: Arrivals,
    pub(crate) output: Output,
    pub(crate) reporter: Arc<Reporter>,
    pub(crate) program: Program,
    pub(crate) questions: Questions,
    waiting: Waiting,
    sessions: Mutex<Sessions>,
    prompts: AtomicUsize,
    next_request: AtomicI64,
}

#[derive(Default)]
struct Sessions {
    handed_out: usize,
    newest: Option<String>,
}

/// What a list of actions is run for.
pub(crate) struct Context {
    /// The id of the request to answer, if there is one.
    pub(crate) request: Option<Box<RawValue>>,
    /// The method of the message; empty at the start of the process.
    pub(crate) method: String,
    /// The session that the message names, or the new one that it is about to get.
    pub(crate) session: Option<String>,
    /// The number of the message: what came later has a higher one.
    pub(crate) since: u64,
    /// Whether the request opened a session.
    opened: AtomicBool,
}

/// Where a list of actions stands.
#[derive(Clone, Copy)]
enum List {
    AtStart,
    AfterOpen,
    /// The turn of this number, counted from 0.
    Turn(usize),
    /// What the script has for the context's method, or the built-in answer.
    Method,
}

/// A list of actions being run.
type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// So much of a line that is too long is reported.
const TOO_LONG_REPORTED: usize = 64 << 10;

impl Agent {
    /// Takes over standard output. An error is one of the system's.
    pub(crate) fn new(
        script: Script,
        arrivals: Arrivals,
        reporter: Arc<Reporter>,
        program: Program,
    ) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            output: Output::open(script.framing, Arc::clone(&reporter))?,
            script,
            arrivals,
            reporter,
            program,
            questions: Questions::default(),
            waiting: Waiting::new(),
            sessions: Mutex::default(),
            prompts: AtomicUsize::new(0),
            next_request: AtomicI64::new(0),
        }))
    }

    /// Plays the script. Never returns: the process ends as the script says. An error is one of the
    /// system's, at the start.
    pub(crate) fn play(self: Arc<Self>) -> anyhow::Result<Infallible> {
        self.follow_terminate()?;
        self.start(List::AtStart, Context::new(None, String::new(), None, 0));
        let mut lines = LineReader::new(Input::open()?, LONGEST_LINE);
        let mut line = Vec::new();
        loop {
            self.reporter.wait_for_room();
            // An error means that there is no more to come, as the end does.
            let Ok(Some(end)) = lines.next(&mut line) else {
                break;
            };
            let unfinished = match end {
                LineEnd::Newline => None,
                LineEnd::TooLong => Some(Unfinished::TooLong),
                LineEnd::EndOfInput => Some(Unfinished::EndOfInput),
            };
            if unfinished == Some(Unfinished::TooLong) {
                line.truncate(TOO_LONG_REPORTED);
            }
            self.reporter.enqueue(lines.read_at(), || Fact::Received {
                line: line.as_slice().into(),
                unfinished,
            });
            if unfinished.is_none() {
                self.take(&line);
            }
            self.reporter.hand_over();
        }
        self.reporter.report(|| Fact::EndOfInput);
        match self.script.end_of_input {
            Reaction::Exit => self.end(Exit::Code(0)),
            Reaction::Ignore => loop {
                std::thread::park();
            },
        }
    }

    /// The next number for a request of the agent's own.
    pub(crate) fn next_request_id(&self) -> Value {
        self.next_request.fetch_add(1, Ordering::Relaxed).into()
    }

    /// The conversations there are: those that the script names, and all that were made.
    pub(crate) fn conversations(&self) -> Vec<String> {
        let count = self.sessions().handed_out.max(self.script.conversations.len());
        (0..count).map(|index| self.conversation(index)).collect()
    }

    /// The session of a list of actions: its own, or else the one opened last.
    pub(crate) fn session(&self, context: &Context) -> Option<String> {
        context.session.clone().or_else(|| self.sessions().newest.clone())
    }

    /// A request was answered with this result. If that opened a session, what has to follow is begun.
    pub(crate) fn after_result(self: &Arc<Self>, context: &Context, result: &Value) {
        if !matches!(
            context.method.as_str(),
            "session/new" | "session/load" | "session/resume"
        ) {
            return;
        }
        let named = result["sessionId"]
            .as_str()
            .filter(|_| context.method == "session/new");
        let session = named.map(str::to_owned).or_else(|| context.session.clone());
        self.sessions().newest.clone_from(&session);
        if !context.opened.swap(true, Ordering::Relaxed) {
            let next = Context::new(None, context.method.clone(), session, context.since);
            self.start(List::AfterOpen, next);
        }
    }

    /// Ends the process.
    pub(crate) fn end(&self, exit: Exit) -> ! {
        let handled = self.script.terminate.map(|_| SignalName::Term);
        ending::end(&self.reporter, &self.program, exit, handled)
    }

    fn take(self: &Arc<Self>, line: &[u8]) {
        match Message::parse(line) {
            Some(Message::Request { id, method, session }) => {
                let since = self.arrivals.message(&method);
                let (list, session) = match method.as_str() {
                    "session/prompt" => (List::Turn(self.prompts.fetch_add(1, Ordering::Relaxed)), session),
                    "session/new" => (List::Method, Some(self.new_conversation())),
                    _ => (List::Method, session),
                };
                self.start(list, Context::new(Some(id.to_owned()), method, session, since));
            }
            Some(Message::Notification { method, session }) => {
                let since = self.arrivals.message(&method);
                if self.script.on.contains_key(&method) {
                    self.start(List::Method, Context::new(None, method, session, since));
                }
            }
            Some(Message::Answer { id }) => self.arrivals.answered(id),
            None => {}
        }
    }

    /// Runs a list of actions until it first has to wait, and the rest of it in a task of its own.
    fn start(self: &Arc<Self>, list: List, context: Context) {
        let agent = Arc::clone(self);
        let mut running: Running = Box::pin(async move {
            let actions = agent.list(list, &context);
            actions::run(&agent, &context, actions).await;
        });
        // Nobody has to be woken: a task is polled again when it is spawned.
        let first = running
            .as_mut()
            .poll(&mut std::task::Context::from_waker(Waker::noop()));
        if first.is_ready() {
            return;
        }
        if let Err(error) = self.waiting.list(running) {
            self.reporter.trouble(error.to_string());
        }
    }

    fn list(&self, list: List, context: &Context) -> &[Action] {
        static BUILT_IN: [Action; 1] = [Action::Answer];
        let script = &self.script;
        match list {
            List::AtStart => &script.at_start,
            List::AfterOpen => &script.after_open,
            List::Turn(number) => script.turns.get(number).unwrap_or(&script.otherwise),
            List::Method => script.on.get(&context.method).map_or(&BUILT_IN, Vec::as_slice),
        }
    }

    fn new_conversation(&self) -> String {
        let mut sessions = self.sessions();
        let id = self.conversation(sessions.handed_out);
        sessions.handed_out += 1;
        id
    }

    fn conversation(&self, index: usize) -> String {
        let named = self.script.conversations.get(index).cloned();
        named.unwrap_or_else(|| format!("conversation-{}", index + 1))
    }

    fn follow_terminate(self: &Arc<Self>) -> io::Result<()> {
        let Some(reaction) = self.script.terminate else {
            return Ok(());
        };
        let runtime = self.waiting.runtime()?;
        // To listen is enough to keep the signal from killing.
        let mut signals = {
            let _inside = runtime.enter();
            signal(SignalKind::terminate())?
        };
        let agent = Arc::clone(self);
        runtime.spawn(async move {
            while signals.recv().await.is_some() {
                if reaction == Reaction::Exit {
                    agent.end(Exit::Code(0));
                }
            }
        });
        Ok(())
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Context {
    fn new(request: Option<Box<RawValue>>, method: String, session: Option<String>, since: u64) -> Self {
        Self {
            request,
            method,
            session,
            since,
            opened: AtomicBool::new(false),
        }
    }
}
