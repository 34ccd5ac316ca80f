//! Between the agent's pipes and the ACP SDK: lines on one side, JSON-RPC frames on the other.
//!
//! The SDK answers malformed lines with errors of its own, drops malformed answers, and takes the end of the
//! stream for the end of every request. A runner has to live with agents that log to stdout, answer sloppily,
//! or close stdout and live on. So this filter lets nothing through that isn't a JSON-RPC message, mends what
//! is clearly an answer, and never tells the SDK that the stream has ended: an agent's end is its process's
//! end.

use std::sync::Arc;

use agent_client_protocol::{Channel, RawJsonRpcMessage, TransportFrame};
use serde_json::{Map, Value, json};

use super::incoming::{EXIT_MARK, Heard};
use crate::adapter::process::{Inbound, Output};
use crate::adapter::{Event, EventSender};
use crate::edge::Crossing;
use crate::seat::lanes::Lanes;

/// Error code for an answer that has none of its own.
const INTERNAL_ERROR: i64 = -32603;

/// What a line from the agent is.
#[derive(Debug, PartialEq, Eq)]
enum Received {
    /// A JSON-RPC message, mended where that was safe.
    Message(RawJsonRpcMessage),
    /// Something else.
    Noise,
    Blank,
}

/// Makes a transport: what takes the agent's output, and the end of the channel that the SDK drives. Spawns
/// the lane of lines to the agent.
pub(super) fn start(lanes: Arc<Lanes>, heard: Arc<Heard>, events: EventSender) -> (Inbound, Channel) {
    let (ours, sdks) = Channel::duplex();
    let (mut outgoing, incoming) = ours.into_parts();
    let inbound_events = events.clone();
    let inbound = move |output: Output| match output {
        Output::Line(line) => match read(&line) {
            // The SDK is gone only when the seat is ending.
            Received::Message(message) => drop(incoming.unbounded_send(TransportFrame::Single(message))),
            Received::Noise => inbound_events.send(Event::Status(format!("agent's stdout: {line}"))),
            Received::Blank => {}
        },
        Output::Exit(exit) => {
            // The exit goes through the SDK, too: what the agent said before it must be heard before it.
            heard.set_exit(exit);
            let mark = RawJsonRpcMessage::notification(EXIT_MARK.into(), Value::Null);
            let is_sent =
                mark.is_ok_and(|mark| incoming.unbounded_send(TransportFrame::Single(mark)).is_ok());
            if !is_sent {
                heard.tell_exit(&inbound_events);
            }
        }
    };
    tokio::spawn(async move {
        while let Ok(frame) = outgoing.recv().await {
            carry_out(&lanes, &events, frame).await;
        }
    });
    (Arc::new(inbound), sdks)
}

/// One step of the lane of lines to the agent.
async fn carry_out(lanes: &Lanes, events: &EventSender, frame: TransportFrame) {
    let (is_prompt, is_answer) = match &frame {
        TransportFrame::Single(RawJsonRpcMessage::Request(request)) => {
            (&*request.method == "session/prompt", false)
        }
        TransportFrame::Single(RawJsonRpcMessage::Response(_)) => (false, true),
        _ => (false, false),
    };
    // Only what was just built from messages comes this way, and all of it can be written.
    if let Ok(line) = frame.to_json() {
        lanes.pass(Crossing::ToAgent(line)).await;
    }
    if is_prompt {
        events.send(Event::Turn);
    }
    if is_answer {
        events.release();
    }
}

fn read(line: &str) -> Received {
    if line.trim().is_empty() {
        return Received::Blank;
    }
    let Ok(Value::Object(mut object)) = serde_json::from_str(line) else {
        return Received::Noise;
    };
    if object.contains_key("method") {
        mend_call(&mut object);
    } else if object.contains_key("id") && (object.contains_key("result") || object.contains_key("error")) {
        mend_answer(&mut object);
    } else {
        return Received::Noise;
    }
    serde_json::from_value(Value::Object(object)).map_or(Received::Noise, Received::Message)
}

/// A call needs its version, and parameters that are none are none.
fn mend_call(object: &mut Map<String, Value>) {
    object.insert("jsonrpc".into(), "2.0".into());
    object.retain(|key, _| matches!(key.as_str(), "jsonrpc" | "id" | "method" | "params"));
    if object
        .get("params")
        .is_some_and(|params| !params.is_object() && !params.is_array())
    {
        object.remove("params");
    }
}

/// An answer has either a result or an error with a whole-number code and a text. A dropped answer would
/// leave a turn open for ever, so whatever the agent gave is made one.
fn mend_answer(object: &mut Map<String, Value>) {
    object.insert("jsonrpc".into(), "2.0".into());
    object.retain(|key, _| matches!(key.as_str(), "jsonrpc" | "id" | "result" | "error"));
    match object.remove("error") {
        None | Some(Value::Null) => {
            object.entry("result").or_insert(Value::Null);
        }
        Some(error) => {
            object.remove("result");
            object.insert("error".into(), mended_error(error));
        }
    }
}

fn mended_error(error: Value) -> Value {
    let code = error.get("code").and_then(Value::as_i64);
    // The SDK keeps codes in 32 bits.
    let code = code
        .filter(|code| i32::try_from(*code).is_ok())
        .unwrap_or(INTERNAL_ERROR);
    let message = match error.get("message") {
        Some(Value::String(message)) => message.clone(),
        _ => error.as_str().unwrap_or("the agent gave no reason").to_owned(),
    };
    let mut mended = json!({ "code": code, "message": message });
    if let Some(data) = error.get("data") {
        mended["data"] = data.clone();
    }
    mended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(line: &str) -> Value {
        match read(line) {
            Received::Message(message) => serde_json::to_value(message).unwrap(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn logs_scalars_arrays_and_other_objects_are_noise() {
        for line in [
            "starting…",
            "17",
            "null",
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"result":null}]"#,
            r#"{"level":"info"}"#,
            r#"{"result":1}"#,
            "{",
        ] {
            assert_eq!(read(line), Received::Noise, "{line}");
        }
        assert_eq!(read(" \t\r"), Received::Blank);
    }

    #[test]
    fn ids_of_every_kind_pass_unchanged() {
        for id in ["0", "-7", r#""""#, r#""text""#, "null", "9007199254740993"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"_x/y","params":{{}}}}"#);
            assert_eq!(message(&line)["id"].to_string(), id);
        }
    }

    #[test]
    fn calls_with_odd_members_are_still_calls() {
        for line in [
            r#"{"id":1,"method":"session/request_permission"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":"text","result":null,"extra":1}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"x","params":null}"#,
        ] {
            let message = message(line);
            assert!(message["method"].is_string() && message["id"] == 1, "{message}");
        }
    }

    #[test]
    fn sloppy_answers_are_answers() {
        let no_result = message(r#"{"id":"a","result":null,"error":null}"#);
        assert_eq!(no_result, json!({"jsonrpc": "2.0", "id": "a", "result": null}));
        let text = message(r#"{"jsonrpc":"2.0","id":"a","result":null,"error":"no"}"#);
        assert_eq!(text["error"], json!({"code": INTERNAL_ERROR, "message": "no"}));
        let fraction = message(r#"{"jsonrpc":"2.0","id":"a","error":{"code":1.5,"data":{"x":1}}}"#);
        let expected =
            json!({"code": INTERNAL_ERROR, "message": "the agent gave no reason", "data": {"x": 1}});
        assert_eq!(fraction["error"], expected);
        for line in [
            r#"{"id":"a","error":{"code":99999999999,"message":"m"}}"#,
            r#"{"id":"a","error":{}}"#,
        ] {
            assert_eq!(message(line)["error"]["code"], INTERNAL_ERROR);
        }
    }
}
