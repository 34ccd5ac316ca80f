//! What has crossed the edge so far, as far as faults ask for it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use reference_runner::{Crossing, LaunchFacts};
use serde_json::{Map, Value, json};

use crate::messages::{id_of, is_answer, method_of};
use crate::posts;

/// What has crossed before the crossing at hand. It is what the runner wished, whatever a fault made of it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// `sessionName`, `nodeId`, `runtime` and `generation` of this launch.
    pub(crate) names: Map<String, Value>,
    pub(crate) liveness_seconds: u32,
    pub(crate) attempt: Option<String>,
    pub(crate) record_path: Option<PathBuf>,
    pub(crate) first_input: Option<PathBuf>,
    /// The conversation that is to be reopened.
    pub(crate) to_reopen: Option<String>,
    pub(crate) token: Option<String>,
    /// The terminal was put into raw mode: there is one.
    pub(crate) is_raw: bool,
    /// The agent has opened or reopened its conversation.
    pub(crate) is_open: bool,
    /// The agent's conversation.
    pub(crate) session: Option<String>,
    /// The id of the prompt in flight.
    pub(crate) prompt: Option<Value>,
    /// The id of the prompt that was answered last.
    pub(crate) answered_prompt: Option<Value>,
    /// A cancel was sent since the last prompt went out.
    pub(crate) is_cancel_asked: bool,
    /// A permission was asked for since the last prompt went out.
    pub(crate) is_permission_asked: bool,
    /// A permission was reported, and no accepted prompt since.
    pub(crate) is_attention_held: bool,
    /// Methods of the runner's requests in flight, by their ids as JSON.
    runner_asked: BTreeMap<String, String>,
    /// Methods of the agent's requests in flight, by their ids as JSON.
    agent_asked: BTreeMap<String, String>,
}

impl Seen {
    pub(crate) fn launched(&mut self, facts: &LaunchFacts) {
        for (name, value) in [
            ("sessionName", json!(facts.session_name)),
            ("nodeId", json!(facts.node_id)),
            ("runtime", json!(facts.harness)),
            ("generation", json!(facts.generation)),
        ] {
            self.names.insert(name.to_owned(), value);
        }
        self.liveness_seconds = facts.liveness_seconds;
        self.attempt.clone_from(&facts.attempt);
        self.record_path.clone_from(&facts.record_path);
        self.first_input.clone_from(&facts.first_input);
        self.to_reopen.clone_from(&facts.resume_reference);
        self.token = facts.endpoint.as_ref().map(|endpoint| endpoint.token.clone());
    }

    /// The method of the runner's request that this message from the agent answers.
    pub(crate) fn answered_method(&self, message: &Value) -> Option<&str> {
        asked_with(&self.runner_asked, message)
    }

    /// The method of the agent's request that this message to the agent answers.
    pub(crate) fn replied_method(&self, message: &Value) -> Option<&str> {
        asked_with(&self.agent_asked, message)
    }

    /// Whether this message from the agent answers a prompt.
    pub(crate) fn ends_turn(&self, message: &Value) -> bool {
        self.answered_method(message) == Some("session/prompt")
    }

    pub(crate) fn is_working(&self) -> bool {
        self.prompt.is_some()
    }

    pub(crate) fn note(&mut self, crossing: &Crossing) {
        match crossing {
            Crossing::TerminalRaw(is_raw) => self.is_raw = *is_raw,
            Crossing::ToAgent(line) => {
                if let Ok(message) = serde_json::from_str(line) {
                    self.note_message_to_agent(&message);
                }
            }
            Crossing::FromAgent(line) => {
                if let Ok(message) = serde_json::from_str(line) {
                    self.note_message_from_agent(&message);
                }
            }
            Crossing::Post(body) => {
                if posts::is(body, "Notification", "permission_prompt") {
                    self.is_attention_held = true;
                } else if posts::is(body, "UserPromptSubmit", "accepted") {
                    self.is_attention_held = false;
                }
            }
            _ => {}
        }
    }

    fn note_message_to_agent(&mut self, message: &Value) {
        match method_of(message) {
            Some("session/prompt") => {
                self.prompt = message.get("id").cloned();
                self.is_cancel_asked = false;
                self.is_permission_asked = false;
            }
            Some("session/cancel") => self.is_cancel_asked = true,
            _ => {}
        }
        note_request(&mut self.runner_asked, message);
        if is_answer(message) {
            self.agent_asked.remove(&id_of(message));
        }
    }

    fn note_message_from_agent(&mut self, message: &Value) {
        match method_of(message) {
            Some("session/request_permission") => self.is_permission_asked = true,
            Some(_) => {}
            None => match self.answered_method(message) {
                Some("session/prompt") => self.answered_prompt = self.prompt.take(),
                Some("session/new" | "session/load" | "session/resume") if message.get("error").is_none() => {
                    self.is_open = true;
                    let named = message["result"]["sessionId"].as_str().map(str::to_owned);
                    self.session = self.to_reopen.clone().or(named);
                }
                _ => {}
            },
        }
        note_request(&mut self.agent_asked, message);
        if is_answer(message) {
            self.runner_asked.remove(&id_of(message));
        }
    }
}

fn asked_with<'a>(asked: &'a BTreeMap<String, String>, message: &Value) -> Option<&'a str> {
    is_answer(message)
        .then(|| asked.get(&id_of(message)))
        .flatten()
        .map(String::as_str)
}

fn note_request(asked: &mut BTreeMap<String, String>, message: &Value) {
    if let Some(method) = method_of(message)
        && message.get("id").is_some()
    {
        asked.insert(id_of(message), method.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{notification, request, result};

    fn note(seen: &mut Seen, to_agent: bool, message: &Value) {
        seen.note(&if to_agent {
            Crossing::ToAgent(message.to_string())
        } else {
            Crossing::FromAgent(message.to_string())
        });
    }

    #[test]
    fn a_turn_is_followed_from_its_prompt_to_its_answer() {
        let mut seen = Seen::default();
        let prompt = request(json!(7), "session/prompt", json!({"sessionId": "s"}));
        note(&mut seen, true, &prompt);
        assert!(seen.is_working() && !seen.is_cancel_asked);
        note(
            &mut seen,
            true,
            &notification("session/cancel", json!({"sessionId": "s"})),
        );
        assert!(seen.is_cancel_asked);
        let other = result(json!("7"), json!({}));
        assert!(!seen.ends_turn(&other), "an id's type counts");
        let answer = result(json!(7), json!({"stopReason": "cancelled"}));
        assert!(seen.ends_turn(&answer));
        note(&mut seen, false, &answer);
        assert!(!seen.is_working() && !seen.ends_turn(&answer));
        assert_eq!(seen.answered_prompt, Some(json!(7)));
    }

    #[test]
    fn the_two_sides_ids_are_their_own() {
        let mut seen = Seen::default();
        note(&mut seen, true, &request(json!(0), "session/prompt", json!({})));
        note(
            &mut seen,
            false,
            &request(json!(0), "session/request_permission", json!({})),
        );
        let message = result(json!(0), json!({}));
        assert_eq!(seen.replied_method(&message), Some("session/request_permission"));
        assert_eq!(seen.answered_method(&message), Some("session/prompt"));
        assert!(seen.is_permission_asked);
    }

    #[test]
    fn a_refused_open_is_not_open() {
        let mut seen = Seen::default();
        note(&mut seen, true, &request(json!(1), "session/new", json!({})));
        note(
            &mut seen,
            false,
            &json!({"id": 1, "error": {"code": -32603, "message": "no"}}),
        );
        assert!(!seen.is_open);
    }
}
