//! What a permission request is about, in words for the pane.
//!
//! Many agents ask with nothing but a tool call's id, and gave the title in an earlier update. So titles are
//! remembered, as many as fit; and a title like `write` says little, so the call's input is shown with it.

use std::collections::VecDeque;

use serde_json::Value;

/// The most tool calls that are remembered.
const REMEMBERED: usize = 256;

/// The most of a title or an input that is kept, in characters.
const LONGEST: usize = 300;

/// What is known of the tool calls so far.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    known: VecDeque<ToolCall>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ToolCall {
    id: String,
    title: Option<String>,
    input: Option<String>,
}

impl ToolCalls {
    /// Remembers what an update or a request says about a tool call.
    pub(super) fn note(&mut self, call: &Value) {
        let Some(id) = call["toolCallId"].as_str() else {
            return;
        };
        let (title, input) = (title_of(call), input_of(call));
        if let Some(known) = self.known.iter_mut().find(|known| known.id == id) {
            known.title = title.or(known.title.take());
            known.input = input.or(known.input.take());
            return;
        }
        if self.known.len() == REMEMBERED {
            self.known.pop_front();
        }
        self.known.push_back(ToolCall {
            id: id.to_owned(),
            title,
            input,
        });
    }

    /// What this permission request is about: its own title, else the one an earlier update gave, with the
    /// call's input; else the input; else the id.
    pub(super) fn describe(&self, request: &Value) -> String {
        let call = &request["toolCall"];
        let id = call["toolCallId"].as_str();
        let known = id.and_then(|id| self.known.iter().find(|known| known.id == id));
        let title = title_of(call).or_else(|| known?.title.clone());
        let input = input_of(call).or_else(|| known?.input.clone());
        match (title, input) {
            (Some(title), Some(input)) if !title.contains(&input) => format!("{title} {input}"),
            (Some(title), _) => title,
            (None, Some(input)) => input,
            (None, None) => id.unwrap_or("something it does not name").to_owned(),
        }
    }
}

fn title_of(call: &Value) -> Option<String> {
    call["title"]
        .as_str()
        .filter(|title| !title.trim().is_empty())
        .map(cut)
}

/// The input's command, if it has one, else all of it.
fn input_of(call: &Value) -> Option<String> {
    let input = &call["rawInput"];
    match &input["command"] {
        Value::String(command) => Some(cut(command)),
        _ if input.is_null() => None,
        _ => Some(input.as_str().map_or_else(|| cut(&input.to_string()), cut)),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn describe(updates: &[Value], call: Value) -> String {
        let mut calls = ToolCalls::default();
        updates.iter().for_each(|update| calls.note(update));
        calls.describe(&json!({ "toolCall": call }))
    }

    #[test]
    fn the_requests_own_title_goes_first() {
        let earlier = json!({"toolCallId": "1", "title": "old"});
        assert_eq!(
            describe(&[earlier], json!({"toolCallId": "1", "title": "touch x"})),
            "touch x"
        );
    }

    #[test]
    fn else_an_earlier_title_with_the_input() {
        let updates = [
            json!({"toolCallId": "1", "title": "write"}),
            json!({"toolCallId": "1", "rawInput": {"file_path": "/x"}}),
            json!({"toolCallId": "2", "title": "other"}),
        ];
        assert_eq!(
            describe(&updates, json!({"toolCallId": "1"})),
            r#"write {"file_path":"/x"}"#
        );
    }

    #[test]
    fn else_the_input_else_the_id_else_nothing_it_names() {
        assert_eq!(
            describe(&[], json!({"toolCallId": "1", "rawInput": {"command": "rm x"}})),
            "rm x"
        );
        assert_eq!(
            describe(&[], json!({"toolCallId": "call-1", "title": " "})),
            "call-1"
        );
        assert_eq!(describe(&[], json!(null)), "something it does not name");
        assert_eq!(
            ToolCalls::default().describe(&Value::Null),
            "something it does not name"
        );
    }

    #[test]
    fn memory_is_bounded() {
        let mut calls = ToolCalls::default();
        for number in 0..=REMEMBERED {
            calls.note(&json!({"toolCallId": number.to_string(), "title": "x".repeat(LONGEST + 1)}));
        }
        assert_eq!(calls.known.len(), REMEMBERED);
        assert_eq!(calls.describe(&json!({"toolCall": {"toolCallId": "0"}})), "0");
    }
}
