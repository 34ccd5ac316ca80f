//! One launch of the seat: everything that belongs to it.

use super::blocks::{self, Block};
use super::of_launch;
use super::pane::{self};
use super::posts::{self, Post, PostKind};
use super::prompts::{self, Prompt};
use super::records::{self, RecordVersion};
use super::wire::{self, Agent, Exchange, Message, Way};
use crate::history::{Event, Fact, History, Launched, Pane, Process, Step};

/// One launch of the seat.
pub struct LaunchView<'h> {
    /// Which launch, from 1.
    pub number: u32,
    /// The event of the launch.
    pub event: &'h Event,
    /// What OpenRig told the runner.
    pub facts: &'h Launched,
    /// All events of this launch, in order.
    pub events: Vec<&'h Event>,
    /// Its agent processes.
    pub agents: Vec<Agent<'h>>,
    /// Every line on the wire.
    pub messages: Vec<Message<'h>>,
    /// What the runner asked the agent, with the answers.
    pub requests: Vec<Exchange<'h>>,
    /// What the agent asked the runner, with the answers.
    pub asked: Vec<Exchange<'h>>,
    /// The `session/prompt`s.
    pub prompts: Vec<Prompt<'h>>,
    /// Every post in order of arrival.
    pub all_posts: Vec<Post<'h>>,
    /// The posts without free repeats (reading 3).
    pub posts: Vec<Post<'h>>,
    /// The record's versions.
    pub records: Vec<RecordVersion<'h>>,
    /// What was typed, message by message.
    pub blocks: Vec<Block<'h>>,
}

impl<'h> LaunchView<'h> {
    pub(crate) fn new(history: &'h History, number: u32) -> Option<Self> {
        let events: Vec<&Event> = of_launch(history, number).collect();
        let (event, facts) = events.iter().find_map(|event| match &event.fact {
            Fact::Step(Step::Launched(facts)) => Some((*event, facts.as_ref())),
            _ => None,
        })?;
        let messages = wire::messages(&events);
        let requests = wire::exchanges(&messages, Way::ToAgent);
        let all_posts = posts::posts(&events, &facts.runtime);
        Some(Self {
            number,
            event,
            facts,
            agents: wire::agents(&events),
            prompts: prompts::prompts(&requests),
            asked: wire::exchanges(&messages, Way::FromAgent),
            posts: posts::without_repeats(&all_posts),
            records: records::records(&events),
            blocks: blocks::blocks(&events),
            all_posts,
            requests,
            messages,
            events,
        })
    }

    /// Whether OpenRig asked for a conversation to be reopened.
    #[must_use]
    pub fn is_resume(&self) -> bool {
        self.facts.resume_ref.is_some()
    }

    /// Opens and reopens, in order: `session/new`, `session/load`, `session/resume`.
    pub fn opens(&self) -> impl Iterator<Item = &Exchange<'h>> {
        self.requests.iter().filter(|exchange| {
            matches!(
                exchange.method(),
                "session/new" | "session/load" | "session/resume"
            )
        })
    }

    /// The answer to initialize, if it is a result.
    #[must_use]
    pub fn initialized(&self) -> Option<&Message<'h>> {
        self.requests
            .iter()
            .find(|exchange| exchange.method() == "initialize")
            .and_then(|exchange| exchange.answers.first())
            .filter(|answer| answer.at("/result").is_some())
    }

    /// The conversation this launch is on and the answer that opened it: the id the agent gave, or the ref a
    /// successful reopen asked for.
    #[must_use]
    pub fn conversation(&self) -> Option<(String, &'h Event)> {
        self.opens().filter(|open| open.succeeded()).find_map(|open| {
            let answer = open.answers.first()?;
            let id = match open.method() {
                "session/new" => answer.text_at("/result/sessionId")?,
                _ => open.request.text_at("/params/sessionId")?,
            };
            Some((id.to_owned(), answer.event))
        })
    }

    /// Posts of one kind.
    pub fn posts_of(&self, kind: PostKind) -> impl Iterator<Item = &Post<'h>> {
        self.posts.iter().filter(move |post| post.kind == kind)
    }

    /// When the engine began to stop the seat, or the last event: what did not happen until then did not happen on
    /// its own.
    #[must_use]
    pub fn end_of_free_run(&self) -> u64 {
        pane::stopping(&self.events)
            .or(self.events.last().copied())
            .map_or(0, |event| event.at)
    }

    /// How long the seat was left to itself after `at`, in nanoseconds: an absence is worth this much.
    #[must_use]
    pub fn watched_after(&self, at: u64) -> u64 {
        self.end_of_free_run().saturating_sub(at)
    }

    /// The event that ended the free run, to be cited by a finding about an absence.
    #[must_use]
    pub fn closing_event(&self) -> Option<&'h Event> {
        pane::stopping(&self.events).or(self.events.last().copied())
    }

    /// Agent requests for permission, with the runner's answers.
    pub fn permissions(&self) -> impl Iterator<Item = &Exchange<'h>> {
        self.asked
            .iter()
            .filter(|exchange| exchange.method() == "session/request_permission")
    }

    /// `session/cancel` messages, requests as well as notifications.
    pub fn cancels(&self) -> impl Iterator<Item = &Message<'h>> {
        self.messages
            .iter()
            .filter(|message| message.to_agent() && message.method() == Some("session/cancel"))
    }

    /// Orders to cancel: bare /abort blocks (at their Enter) and Ctrl-C outside a paste, in order.
    #[must_use]
    pub fn abort_orders(&self) -> Vec<&'h Event> {
        let mut orders: Vec<&Event> = self
            .blocks
            .iter()
            .filter(|block| block.is_abort())
            .filter_map(|block| block.entered)
            .collect();
        orders.extend(
            self.events
                .iter()
                .copied()
                .filter(|event| matches!(event.fact, Fact::Step(Step::Interrupted))),
        );
        orders.sort_by_key(|event| event.sequence);
        orders
    }

    /// Messages that must become prompts: entered, not control, not blank.
    pub fn messages_to_prompt(&self) -> impl Iterator<Item = &Block<'h>> {
        self.blocks
            .iter()
            .filter(|block| block.entered.is_some() && !block.is_abort() && !block.is_blank())
    }

    /// The first pane output after which `text` was to be seen anew, between two times; blanks and wrapping don't
    /// count.
    #[must_use]
    pub fn first_shown(&self, text: &str, from: u64, until: u64) -> Option<&'h Event> {
        pane::first_shown(&self.events, self.facts.size, text, from, until)
    }

    /// Whether posts could be lost unseen at any time of this launch: nothing listened, or connections were reset.
    #[must_use]
    pub fn posts_may_be_lost(&self) -> bool {
        self.events.iter().any(|event| match &event.fact {
            Fact::Step(Step::Endpoint { fault }) => fault.starts_with("refuse") || fault.starts_with("reset"),
            Fact::Post(crate::history::PostFact::Flooded { .. }) => true,
            _ => false,
        })
    }

    /// The runner's exit within this launch.
    #[must_use]
    pub fn runner_exit(&self) -> Option<&'h Event> {
        self.events
            .iter()
            .copied()
            .find(|event| matches!(event.fact, Fact::Process(Process::RunnerExited { .. })))
    }

    /// Pane output between two times.
    pub fn output_between(&self, from: u64, until: u64) -> impl Iterator<Item = &'h Event> {
        self.events
            .iter()
            .copied()
            .filter(move |event| event.at >= from && event.at <= until)
            .filter(|event| matches!(event.fact, Fact::Pane(Pane::Output { .. })))
    }
}
