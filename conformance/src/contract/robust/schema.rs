//! What ACP v1 says of a message's parameters or result: the schema that the protocol's own types derive.
//!
//! Judged are the methods that a client may call, and its answers to permission requests. Methods of which that version
//! knows nothing are free, and so are members that it does not know.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use agent_client_protocol_schema::v1;
use jsonschema::Validator;
use schemars::{JsonSchema, schema_for};
use serde_json::Value;

type Validators = BTreeMap<&'static str, Validator>;

/// Parameters, by method.
static PARAMETERS: LazyLock<Validators> = LazyLock::new(|| {
    [
        validator::<v1::InitializeRequest>("initialize"),
        validator::<v1::AuthenticateRequest>("authenticate"),
        validator::<v1::LogoutRequest>("logout"),
        validator::<v1::NewSessionRequest>("session/new"),
        validator::<v1::LoadSessionRequest>("session/load"),
        validator::<v1::ResumeSessionRequest>("session/resume"),
        validator::<v1::CloseSessionRequest>("session/close"),
        validator::<v1::ListSessionsRequest>("session/list"),
        validator::<v1::DeleteSessionRequest>("session/delete"),
        validator::<v1::SetSessionModeRequest>("session/set_mode"),
        validator::<v1::SetSessionConfigOptionRequest>("session/set_config_option"),
        validator::<v1::PromptRequest>("session/prompt"),
        validator::<v1::CancelNotification>("session/cancel"),
    ]
    .into_iter()
    .flatten()
    .collect()
});

/// Results, by the method that was asked.
static RESULTS: LazyLock<Validators> = LazyLock::new(|| {
    validator::<v1::RequestPermissionResponse>("session/request_permission")
        .into_iter()
        .collect()
});

fn validator<T: JsonSchema>(method: &'static str) -> Option<(&'static str, Validator)> {
    let schema = schema_for!(T);
    // A test sees to it that each of them can be made.
    Some((method, jsonschema::validator_for(schema.as_value()).ok()?))
}

/// Why these parameters don't fit, if they don't.
pub(super) fn misfit_of_parameters(method: &str, parameters: &Value) -> Option<String> {
    misfit(&PARAMETERS, method, parameters)
}

/// Why this result of the runner's does not fit the request, if it doesn't.
pub(super) fn misfit_of_result(method: &str, result: &Value) -> Option<String> {
    misfit(&RESULTS, method, result)
}

/// Whether anything is known of this method's parameters.
pub(super) fn knows(method: &str) -> bool {
    PARAMETERS.contains_key(method)
}

fn misfit(validators: &Validators, method: &str, value: &Value) -> Option<String> {
    let error = validators.get(method)?.validate(value).err()?;
    let place = error.instance_path().to_string();
    let place = if place.is_empty() {
        String::new()
    } else {
        format!(" at {place}")
    };
    Some(format!("{error}{place}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_schema_can_be_made() {
        assert_eq!(PARAMETERS.len(), 13);
        assert_eq!(RESULTS.len(), 1);
    }

    #[test]
    fn parameters_are_held_against_their_method() {
        let good = [
            ("initialize", json!({"protocolVersion": 1})),
            (
                "initialize",
                json!({"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": false}}, "clientInfo": null,
                       "extra": 1, "_meta": {"x": 1}}),
            ),
            ("session/new", json!({"cwd": "/seat", "mcpServers": []})),
            (
                "session/load",
                json!({"sessionId": "a/b ü", "cwd": "/seat", "mcpServers": []}),
            ),
            (
                "session/resume",
                json!({"sessionId": "a", "cwd": "/seat", "mcpServers": []}),
            ),
            ("session/list", json!({})),
            ("session/cancel", json!({"sessionId": "a"})),
            ("session/set_mode", json!({"sessionId": "a", "modeId": "b"})),
            (
                "session/set_config_option",
                json!({"sessionId": "a", "configId": "model", "value": "b"}),
            ),
            (
                "session/prompt",
                json!({"sessionId": "a", "prompt": [{"type": "text", "text": "x"}]}),
            ),
            ("session/set_model", json!("anything")),
            ("_vendor/x", json!(17)),
        ];
        for (method, parameters) in good {
            assert_eq!(
                misfit_of_parameters(method, &parameters),
                None,
                "{method} {parameters}"
            );
        }
        let bad = [
            ("initialize", json!({})),
            ("initialize", json!({"protocolVersion": "1"})),
            ("session/new", json!({"mcpServers": []})),
            ("session/prompt", json!({"sessionId": "a", "prompt": "x"})),
            ("session/prompt", json!({"prompt": []})),
            ("session/cancel", json!({})),
        ];
        for (method, parameters) in bad {
            assert!(
                misfit_of_parameters(method, &parameters).is_some(),
                "{method} {parameters}"
            );
        }
    }

    #[test]
    fn answers_to_permission_requests_too() {
        let method = "session/request_permission";
        let cancelled = json!({"outcome": {"outcome": "cancelled"}});
        assert_eq!(misfit_of_result(method, &cancelled), None);
        let selected = json!({"outcome": {"outcome": "selected", "optionId": "a"}});
        assert_eq!(misfit_of_result(method, &selected), None);
        assert!(misfit_of_result(method, &json!({"outcome": "cancelled"})).is_some());
    }
}
