//! What the runner itself writes: `robust.frames-valid`.

use serde_json::Value;

use super::schema;
use crate::contract::finding::{Finding, Tally};
use crate::contract::quote::quoted;
use crate::contract::watch::free_until;
use crate::history::views::{LaunchView, Message, Shape, Views};
use crate::history::{Fact, Wire};

pub(super) fn frames_valid(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let until = free_until(launch);
        let mut lines = 0;
        let mut first = None;
        let mut last = None;
        for message in launch
            .messages
            .iter()
            // A line that the runner's end cut off is no line of its own making.
            .take_while(|message| message.event.at <= until)
            .filter(|message| message.to_agent() && !is_cut_off(launch, message))
        {
            if let Some(fault) = fault(launch, message) {
                tally.broken(
                    format!("the runner sent {}: {fault}", quoted(&text(message))),
                    &[message.event],
                );
            }
            lines += 1;
            first = first.or(Some(message.event));
            last = Some(message.event);
        }
        if let (Some(first), Some(last)) = (first, last) {
            tally.held(
                format!("{lines} lines to the agent, each a message that fits"),
                &[first, last],
            );
        }
    }
    tally.finding()
}

fn text(message: &Message<'_>) -> String {
    match &message.event.fact {
        Fact::Wire(Wire::ToAgent { line, .. }) => line.text().into_owned(),
        _ => String::new(),
    }
}

/// Whether the line is the last one before the end of the agent's input and no JSON: it may have lost its end.
fn is_cut_off(launch: &LaunchView<'_>, message: &Message<'_>) -> bool {
    message.body.is_none()
        && launch
            .events
            .iter()
            .filter(|event| event.sequence > message.event.sequence)
            .find_map(|event| match event.fact {
                Fact::Wire(Wire::ToAgent { agent, .. }) if agent == message.agent => Some(false),
                Fact::Wire(Wire::EndOfInput { agent } | Wire::AgentEnded { agent })
                    if agent == message.agent =>
                {
                    Some(true)
                }
                _ => None,
            })
            .unwrap_or(true)
}

/// What is wrong with the line.
fn fault(launch: &LaunchView<'_>, message: &Message<'_>) -> Option<String> {
    if message.body.is_none() {
        return Some("a line has to hold one JSON object".into());
    }
    if message.at("/jsonrpc") != Some(&Value::from("2.0")) {
        return Some("jsonrpc has to be \"2.0\"".into());
    }
    match &message.shape {
        Shape::Request { method } => message
            .id()
            .and_then(fault_of_id)
            .or_else(|| fault_of_call(method, message)),
        Shape::Notification { method } => fault_of_call(method, message),
        Shape::Response => message
            .id()
            .and_then(fault_of_id)
            .or_else(|| fault_of_answer(launch, message)),
        Shape::Other => Some("it is no request, no notification and no response".into()),
    }
}

/// Null is discouraged, but what an answer to something unreadable carries.
fn fault_of_id(id: &Value) -> Option<String> {
    let fits = match id {
        Value::Null | Value::String(_) => true,
        Value::Number(number) => number.as_f64().is_none_or(|number| number.fract() == 0.0),
        _ => false,
    };
    (!fits).then(|| format!("{id} can't be an id"))
}

fn fault_of_call(method: &str, message: &Message<'_>) -> Option<String> {
    match message.at("/params") {
        Some(params) => schema::misfit_of_parameters(method, params),
        None => schema::knows(method)
            .then(|| schema::misfit_of_parameters(method, &Value::Object(serde_json::Map::new())))
            .flatten(),
    }
}

fn fault_of_answer(launch: &LaunchView<'_>, message: &Message<'_>) -> Option<String> {
    let error = message.at("/error").filter(|error| !error.is_null());
    match (message.at("/result"), error) {
        (Some(result), None) => {
            let asked = launch.asked.iter().find(|asked| {
                asked
                    .answers
                    .iter()
                    .any(|answer| answer.event.sequence == message.event.sequence)
            });
            schema::misfit_of_result(asked?.method(), result)
        }
        (None, Some(error)) => {
            let code = error.get("code").and_then(Value::as_f64);
            let is_whole = code.is_some_and(|code| code.fract() == 0.0);
            let has_words = error.get("message").is_some_and(Value::is_string);
            (!is_whole || !has_words).then(|| "an error has to have a whole code and a message".into())
        }
        (Some(Value::Null), Some(_)) => None,
        (Some(_), Some(_)) => Some("it has both a result and an error".into()),
        (None, None) => Some("it has neither a result nor an error".into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Fact, Wire};

    const CLAUSE: &str = "robust.frames-valid";

    #[test]
    fn what_a_runner_sends_fits() {
        let whole = HistoryBuilder::ready()
            .prompt("work")
            .permission("call")
            .abort()
            .cancel()
            .end_turn("cancelled");
        assert_held(CLAUSE, &whole.clone().watch_seconds(1));
        for line in [
            json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"id": 1}}),
            json!({"jsonrpc": "2.0", "method": "_vendor/x"}),
            json!({"jsonrpc": "2.0", "id": "a", "method": "session/set_model", "params": {"modelId": "x"}}),
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "no"}}),
            json!({"jsonrpc": "2.0", "id": 0, "result": null, "error": {"code": -32601, "message": "no"}}),
            json!({"jsonrpc": "2.0", "id": 7, "method": "session/list"}),
        ] {
            assert_held(
                CLAUSE,
                &whole.clone().runner_writes(&line.to_string()).watch_seconds(1),
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        for line in [
            "",
            "[]",
            "working…",
            r#"{"method":"session/cancel","params":{"sessionId":"conv-1"}}"#,
            r#"{"jsonrpc":"1.0","method":"_x"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"_x"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"_x"}"#,
            r#"{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"conv-1","prompt":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":9,"method":"session/prompt"}"#,
            r#"{"jsonrpc":"2.0","id":9}"#,
            r#"{"jsonrpc":"2.0","id":9,"result":{},"error":{"code":1,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":9,"error":{"code":"x"}}"#,
        ] {
            let sent = HistoryBuilder::ready().runner_writes(line);
            let more = sent.prompt("next");
            assert_broken(CLAUSE, &more.watch_seconds(1));
        }
        let sloppy = HistoryBuilder::ready()
            .asks_permission(json!({"toolCallId": "call"}))
            .runner_writes(r#"{"jsonrpc":"2.0","id":0,"result":{"outcome":"cancelled"}}"#);
        assert_broken(CLAUSE, &sloppy.watch_seconds(1));
    }

    #[test]
    fn a_line_that_lost_its_end_is_nobody_s_fault() {
        let cut = HistoryBuilder::ready().runner_writes(r#"{"jsonrpc":"2.0","id":9,"meth"#);
        assert_held(CLAUSE, &cut.clone().agent_ended().watch_seconds(1));
        assert_held(
            CLAUSE,
            &cut.fact(Fact::Wire(Wire::EndOfInput { agent: 1 }))
                .watch_seconds(1),
        );
        let while_stopping = HistoryBuilder::ready().stopping().runner_writes("x").cancel();
        assert_held(CLAUSE, &while_stopping);
        assert_not_exercised(CLAUSE, &HistoryBuilder::launched().watch_seconds(1));
    }
}
