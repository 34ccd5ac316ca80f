//! Activity posts: telling them apart, and making one.

use reference_runner::Crossing;
use serde_json::Value;

use crate::seen::Seen;

/// The subtypes of the reference runner's own idle reports.
pub(crate) const TURN_ENDED: &str = "turn_ended";
pub(crate) const STILL_IDLE: &str = "idle";

pub(crate) fn is(body: &Value, event: &str, subtype: &str) -> bool {
    body["hookEvent"] == event && body["subtype"] == subtype
}

pub(crate) fn is_exit(body: &Value) -> bool {
    body["hookEvent"] == "Stop"
        && body["subtype"]
            .as_str()
            .is_some_and(|subtype| subtype.ends_with("_exited"))
}

/// A Stop of a turn: it names the turn.
pub(crate) fn is_turn_end(body: &Value) -> bool {
    body["hookEvent"] == "Stop" && body.get("turnId").is_some()
}

/// A post of this launch. The runner gives it its time and its number.
pub(crate) fn post(seen: &Seen, event: &str, subtype: &str) -> Crossing {
    Crossing::Post(compose(seen, event, subtype))
}

/// A post of this launch beside another one, of the same time: what waits behind that one is not older.
pub(crate) fn beside(other: &Value, seen: &Seen, event: &str, subtype: &str) -> Crossing {
    let mut body = compose(seen, event, subtype);
    body["occurredAt"] = other["occurredAt"].clone();
    Crossing::Post(body)
}

fn compose(seen: &Seen, event: &str, subtype: &str) -> Value {
    let mut body = seen.names.clone();
    body.insert("hookEvent".into(), event.into());
    body.insert("subtype".into(), subtype.into());
    if event == "Stop" && !subtype.ends_with("_exited") {
        body.insert("livenessSeconds".into(), seen.liveness_seconds.into());
    }
    Value::Object(body)
}

/// The post once more, as a new one: with a number of its own.
pub(crate) fn again(body: &Value) -> Crossing {
    without(body, "sequence")
}

/// The post with one field set.
pub(crate) fn with(body: &Value, field: &str, value: impl Into<Value>) -> Crossing {
    let mut body = body.clone();
    body[field] = value.into();
    Crossing::Post(body)
}

/// The post without one field. Time and number would be given again; they can't be taken out like this.
pub(crate) fn without(body: &Value, field: &str) -> Crossing {
    let mut body = body.clone();
    if let Some(fields) = body.as_object_mut() {
        fields.remove(field);
    }
    Crossing::Post(body)
}
