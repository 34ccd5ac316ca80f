//! Prompts: each `session/prompt`, how it ended, and which posts speak of it.

use serde_json::Value;

use super::wire::{Exchange, Message};

/// One `session/prompt` and its answers.
#[derive(Debug, Clone)]
pub struct Prompt<'h> {
    /// The nth prompt of the launch, from 1.
    pub number: usize,
    /// The request and its answers.
    pub exchange: Exchange<'h>,
}

/// How a prompt's first answer ended the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// With a stop reason.
    StopReason(String),
    /// With a JSON-RPC error.
    Error,
    /// With something else.
    Other,
}

impl<'h> Prompt<'h> {
    /// The session it was sent to.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.exchange.request.text_at("/params/sessionId")
    }

    /// The text blocks of the prompt, joined; `None` if there is none.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let blocks = self.exchange.request.at("/params/prompt")?.as_array()?;
        let texts: Vec<&str> = blocks
            .iter()
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect();
        (!texts.is_empty()).then(|| texts.concat())
    }

    /// When the agent read it, in nanoseconds. The runner's write ended a little earlier (reading 31).
    #[must_use]
    pub fn at(&self) -> u64 {
        self.exchange.request.event.at
    }

    /// The first answer.
    #[must_use]
    pub fn answer(&self) -> Option<&Message<'h>> {
        self.exchange.answers.first()
    }

    /// When the first answer was about to be written.
    #[must_use]
    pub fn answered_at(&self) -> Option<u64> {
        self.answer().map(|answer| answer.event.at)
    }

    /// How the first answer ended it.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        let answer = self.answer()?;
        Some(match answer.text_at("/result/stopReason") {
            Some(reason) => Ending::StopReason(reason.to_owned()),
            None if answer.at("/error").is_some() => Ending::Error,
            None => Ending::Other,
        })
    }

    /// Whether the agent said that it was cancelled: the stop reason, nothing else (§6).
    #[must_use]
    pub fn was_cancelled(&self) -> bool {
        self.ending() == Some(Ending::StopReason("cancelled".into()))
    }

    /// Whether the prompt was in flight at `at`: read by the agent and not yet answered.
    #[must_use]
    pub fn in_flight_at(&self, at: u64) -> bool {
        self.at() <= at && self.answered_at().is_none_or(|answered| at < answered)
    }
}

pub(crate) fn prompts<'h>(requests: &[Exchange<'h>]) -> Vec<Prompt<'h>> {
    requests
        .iter()
        .filter(|exchange| exchange.method() == "session/prompt")
        .enumerate()
        .map(|(index, exchange)| Prompt {
            number: index + 1,
            exchange: exchange.clone(),
        })
        .collect()
}
