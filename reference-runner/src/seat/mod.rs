//! The seat: it joins input, turns, adapter, pane, activity and launch record, and knows no harness.
//!
//! One loop takes one thing after another and never waits for any of them: the agent's words, what a person
//! put in, signals, time. What has to wait (a terminal, an endpoint, the agent's pipe) does so in a lane of
//! its own.

pub(crate) mod activity;
mod clock;
mod first_input;
mod input;
pub(crate) mod lanes;
pub(crate) mod pane;
mod queue;
mod record;
mod run;
mod shutdown;
mod terminal;
mod turns;

pub(crate) use run::run;

use std::sync::Arc;

use crate::adapter::{Adapter, Conversation, End, Event, Exit, NotOpened, Work};
use crate::edge::Crossing;
use crate::launch::LaunchFacts;
use activity::poster::Waiting;
use activity::{Fact, Reporter};
use input::Input;
use lanes::Lanes;
use pane::Pane;
use record::Outcome;
use turns::{Action, Notice, Turns};

/// One seat with its agent.
struct Seat<A> {
    adapter: A,
    facts: LaunchFacts,
    lanes: Arc<Lanes>,
    pane: Arc<Pane>,
    reporter: Reporter,
    turns: Turns,
    /// The work under way, to be reaped at the end.
    work: Work,
    /// Whether any of the turn's answer was shown as it came.
    has_streamed: bool,
    /// Pieces of text from before the conversation was open: a replay, which is history and not activity.
    replayed: usize,
    /// How the agent's process ended, once that was seen.
    exit: Option<Exit>,
}

impl<A: Adapter> Seat<A> {
    fn new(adapter: A, work: Work, facts: LaunchFacts, lanes: Arc<Lanes>, pane: Arc<Pane>) -> Self {
        Self {
            adapter,
            reporter: Reporter::new(&facts),
            facts,
            lanes,
            pane,
            turns: Turns::new(),
            work,
            has_streamed: false,
            replayed: 0,
            exit: None,
        }
    }

    /// Opens the conversation, or reopens the one that OpenRig asks for. A new one begins with the first
    /// input.
    fn open(&mut self) {
        if self.facts.endpoint.is_none() {
            self.pane
                .notice("no activity endpoint is known: nothing is reported to OpenRig");
        }
        match self.facts.resume_reference.clone() {
            Some(reference) => self.adapter.reopen(&reference),
            None => {
                if let Some(path) = self.facts.first_input.clone() {
                    match first_input::read(&path) {
                        Ok(Some(text)) => self.take_input(Input::Block(text)),
                        Ok(None) => {}
                        Err(error) => self.pane.error(&error.to_string(), error.hint()),
                    }
                }
                self.adapter.open();
            }
        }
    }

    /// Says that the seat still waits for its agent, if it does.
    fn remind(&self) {
        if self.turns.is_opening() {
            self.pane
                .notice("still waiting for the agent: no conversation is open yet");
        }
    }

    /// Takes what a person or OpenRig put in.
    fn take_input(&mut self, input: Input) {
        let actions = match input {
            Input::Block(text) => self.turns.message(text),
            Input::Abort { discarded } => {
                if discarded {
                    self.pane.notice("input cleared");
                }
                self.turns.abort()
            }
            Input::TooLarge { bytes } => {
                let most = input::LARGEST_BLOCK;
                self.pane.error(
                    &format!("a message of {bytes} bytes was refused whole; the most is {most}"),
                    "put it in a file and send its path",
                );
                return;
            }
        };
        self.act(actions);
    }

    /// Takes what the harness says.
    async fn take_event(&mut self, event: Event) {
        let actions = match event {
            Event::Opened(conversation) => {
                self.write_record(&conversation).await;
                return;
            }
            Event::NotOpened(not_opened) => {
                self.take_not_opened(not_opened).await;
                return;
            }
            Event::Ready => self.turns.ready(),
            Event::Turn => self.turns.accepted(),
            Event::End(end) => self.turns.ended(end),
            Event::PermissionAsked(what) => {
                self.pane
                    .notice(&format!("permission asked, and refused: {what}"));
                self.turns.permission_asked()
            }
            Event::Unreachable(reason) => {
                if self.exit.is_none() {
                    self.pane.error(
                        &reason,
                        "nothing more can be submitted; stop this seat and start it again",
                    );
                }
                self.turns.closed(&reason)
            }
            Event::Exited(exit) => {
                self.tell_exit(&exit);
                self.exit = Some(exit);
                self.turns.exited()
            }
            shown => return self.show(shown),
        };
        self.act(actions);
    }

    /// Takes an event that changes nothing but the pane.
    fn show(&mut self, event: Event) {
        match event {
            Event::Text(_) if self.turns.is_opening() => self.replayed += 1,
            Event::Text(text) if self.turns.is_working() => {
                self.has_streamed = true;
                self.pane.text(&text);
            }
            // Some agents replay, or chat, outside any turn: it must not look like an answer.
            Event::Text(text) => self.pane.notice(&format!("outside a turn: {text}")),
            Event::Tool(title) if !self.turns.is_opening() => self.pane.notice(&format!("tool: {title}")),
            Event::Final { answer } => {
                if let Some(answer) = answer.filter(|_| !self.has_streamed) {
                    self.pane.text(&answer);
                }
                self.pane.end_text();
            }
            Event::Usage { used, size } if self.turns.is_working() => {
                self.pane.notice(&format!("context: {used} of {size} tokens"));
            }
            Event::Status(text) | Event::Message(text) => self.pane.notice(&text),
            _ => {}
        }
    }

    fn act(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Submit(prompt) => {
                    self.has_streamed = false;
                    self.work = self.adapter.prepare(prompt);
                    self.adapter.run();
                }
                Action::Cancel => self.adapter.interrupt(),
                Action::Mirror(prompt) => self.pane.prompt(&prompt),
                Action::Tell(notice) => self.tell(notice),
                Action::Report(fact) => self.report(&fact),
            }
        }
    }

    fn report(&mut self, fact: &Fact) {
        self.lanes.posts().push(Waiting::Made(self.reporter.body(fact)));
    }

    /// Reports that the seat is still idle, if it is. Behind waiting reports a beat would say nothing: it
    /// waits.
    fn beat(&mut self) {
        if let Some(fact) = self.turns.idle_fact().filter(|_| self.lanes.posts().is_settled()) {
            self.report(&fact);
        }
    }

    async fn write_record(&mut self, conversation: &Conversation) {
        if self.replayed > 0 {
            self.pane.notice(&format!(
                "the agent replayed {} pieces of this conversation",
                self.replayed
            ));
        }
        let verb = if self.facts.resume_reference.is_some() {
            "reopened"
        } else {
            "opened"
        };
        self.pane
            .notice(&format!("conversation {verb}: {}", conversation.reference));
        self.put_record(
            Outcome::Conversation(&conversation.reference),
            &conversation.producer,
        )
        .await;
    }

    async fn take_not_opened(&mut self, not_opened: NotOpened) {
        let NotOpened {
            missing,
            reason,
            producer,
        } = not_opened;
        let (what, hint) = match (missing, &self.facts.resume_reference) {
            (true, Some(reference)) => (
                format!("the conversation {reference} does not exist: {reason}"),
                "OpenRig is told that it is missing; no other conversation was started",
            ),
            (_, Some(reference)) => (
                format!("the conversation {reference} could not be confirmed: {reason}"),
                "it may well exist; no other conversation was started; stop this seat and try again",
            ),
            (_, None) => (
                format!("no conversation was opened: {reason}"),
                "mend the agent, stop this seat and start it again",
            ),
        };
        self.pane.error(&what, hint);
        if missing {
            self.put_record(Outcome::Missing, &producer).await;
        }
        let actions = self.turns.closed("there is no conversation");
        self.act(actions);
    }

    async fn put_record(&self, outcome: Outcome<'_>, producer: &str) {
        if self.facts.record_path.is_none() {
            return self
                .pane
                .notice("there is no OPENRIG_LAUNCH_RESULT: OpenRig can't identify this conversation");
        }
        let Some(attempt) = &self.facts.attempt else {
            return self
                .pane
                .notice("there is no OPENRIG_LAUNCH_ATTEMPT: no launch record can be written");
        };
        let bytes = record::compose(attempt, &self.facts.harness, outcome, producer);
        self.lanes.pass(Crossing::Record(bytes)).await;
    }

    fn tell(&self, notice: Notice) {
        let pane = &self.pane;
        match notice {
            Notice::Queued {
                before: 0,
                opening: true,
            } => pane.notice("queued: waits until the agent is ready"),
            Notice::Queued {
                before: 0,
                opening: false,
            } => pane.notice("queued: waits for the end of this turn"),
            Notice::Queued { before, .. } => pane.notice(&format!("queued: {before} more before it")),
            Notice::BacklogFull => {
                pane.error(
                    "the message was refused: too much waits already",
                    "send it again when the seat is idle",
                );
            }
            Notice::NotSubmitted { reason } => {
                pane.error(
                    &format!("a message was not submitted: {reason}"),
                    "start the seat again and send it then",
                );
            }
            Notice::CancelRequested => {
                pane.notice(&format!(
                    "cancel requested {} UTC; the agent has not answered yet",
                    clock::time_of_day()
                ));
            }
            Notice::CancelAlreadyRequested => {
                pane.notice("cancel was requested already; the agent has not answered yet")
            }
            Notice::NothingToCancel => pane.notice("nothing to cancel: no turn is under way"),
            Notice::StillWaiting(count) => pane.notice(&format!("{count} queued and kept: they follow")),
            Notice::WaitingLost(count) => pane.notice(&format!("{count} queued, and will not be submitted")),
            Notice::TurnEnded(End::Completed { reason }) => {
                if reason != "end_turn" {
                    pane.notice(&format!("the agent ended the turn: {reason}"));
                }
            }
            Notice::TurnEnded(End::Interrupted) => pane.notice("the agent says that the turn was cancelled"),
            Notice::TurnEnded(End::Failed { reason }) => {
                pane.error(
                    &format!("the agent answered with an error: {reason}"),
                    "the turn is over; the next message is submitted",
                );
            }
            Notice::NeedsInput => pane.notice("a refused permission holds attention until the next message"),
        }
    }

    fn tell_exit(&self, exit: &Exit) {
        for line in &exit.last_words {
            self.pane.notice(&format!("agent's stderr: {line}"));
        }
        let how = match (exit.code, exit.signal) {
            (Some(code), _) => format!("with code {code}"),
            (None, Some(signal)) => format!("by signal {signal}"),
            (None, None) => "in an unknown way".to_owned(),
        };
        self.pane.notice(&format!("the agent's process ended {how}"));
    }
}
