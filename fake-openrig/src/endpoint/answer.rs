//! What OpenRig answers to a request: pure, and in the order of OpenRig's own checks.

use axum::http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};

use super::{Authorization, EndpointOptions};
use crate::Token;
use crate::hook_event::EventState;
use crate::post::Post;

/// Where activity is posted.
pub(super) const PATH: &str = "/api/activity/hooks";

/// The header that may carry the token instead of `Authorization`.
const TOKEN_HEADER: &str = "x-openrig-activity-token";

/// The one seat an endpoint knows.
pub(super) struct Seat {
    token: Token,
    session_name: String,
    node_id: String,
    preset_name: String,
}

impl From<EndpointOptions> for Seat {
    fn from(options: EndpointOptions) -> Self {
        let EndpointOptions {
            token,
            session_name,
            node_id,
            preset_name,
            limits: _,
        } = options;
        Self {
            token,
            session_name,
            node_id,
            preset_name,
        }
    }
}

/// A request as far as the answer depends on it.
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    /// Without the query.
    pub(super) path: &'a str,
    pub(super) authorization: Authorization,
    pub(super) body: &'a [u8],
    pub(super) body_cut: bool,
    /// When it was received, as RFC 3339.
    pub(super) received_at: &'a str,
}

/// A status and a JSON body.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Value,
    /// Whether the post was taken into the store.
    pub(super) recorded: bool,
}

impl Answer {
    /// The answer of a given status, with OpenRig's words where it has some for that status.
    pub(super) fn refusal(status: StatusCode) -> Self {
        let (code, error) = match status {
            StatusCode::BAD_REQUEST => ("invalid_json", "the body is not JSON"),
            StatusCode::UNAUTHORIZED => ("activity_hook_unauthorized", "a valid activity token is required"),
            StatusCode::NOT_FOUND => ("session_not_found", "no managed session matches"),
            StatusCode::PAYLOAD_TOO_LARGE => {
                ("body_too_large", "the body is longer than this endpoint reads")
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                ("activity_hook_unconfigured", "activity hooks are not configured")
            }
            _ => ("internal_error", "the request failed"),
        };
        Self::error(status, code, error)
    }

    /// The answer to a client that has reached a limit. OpenRig has no such limit.
    pub(super) fn flooded() -> Self {
        Self::error(
            StatusCode::SERVICE_UNAVAILABLE,
            "flooded",
            "this endpoint counts further requests only",
        )
    }

    fn error(status: StatusCode, code: &str, error: &str) -> Self {
        Self {
            status,
            body: json!({ "ok": false, "code": code, "error": error }),
            recorded: false,
        }
    }
}

impl Seat {
    /// Looks for the token in a request's headers.
    pub(super) fn authorize(&self, headers: &HeaderMap) -> Authorization {
        let bearer = headers.get(header::AUTHORIZATION);
        let other = headers.get(TOKEN_HEADER);
        let is_token = |value: &[u8]| value.trim_ascii() == self.token.reveal().as_bytes();
        if bearer
            .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "))
            .is_some_and(is_token)
        {
            Authorization::Right
        } else if other.is_some_and(|value| is_token(value.as_bytes())) {
            Authorization::OtherHeader
        } else if bearer.is_some() || other.is_some() {
            Authorization::Wrong
        } else {
            Authorization::Absent
        }
    }

    /// What a healthy OpenRig answers. The checks are in its order.
    pub(super) fn answer(&self, request: &Request<'_>) -> Answer {
        if request.path != PATH || request.method != "POST" {
            return Answer::error(StatusCode::NOT_FOUND, "not_found", "there is no such route");
        }
        if matches!(
            request.authorization,
            Authorization::Wrong | Authorization::Absent
        ) {
            return Answer::refusal(StatusCode::UNAUTHORIZED);
        }
        if request.body_cut {
            // Not OpenRig's: it reads any length. This is the price of a bounded memory.
            return Answer::refusal(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let Some(post) = Post::parse(request.body) else {
            return Answer::refusal(StatusCode::BAD_REQUEST);
        };
        // The node's id is looked up first, and the session's name only without one.
        let is_known = match (&post.node_id, &post.session_name) {
            (Some(node_id), _) => *node_id == self.node_id,
            (None, Some(session_name)) => *session_name == self.session_name,
            (None, None) => {
                let error = "sessionName or nodeId is required";
                return Answer::error(StatusCode::BAD_REQUEST, "missing_session_identity", error);
            }
        };
        if !is_known {
            return Answer::refusal(StatusCode::NOT_FOUND);
        }
        Answer {
            status: StatusCode::OK,
            body: self.recorded(&post, request.received_at),
            recorded: true,
        }
    }

    fn recorded(&self, post: &Post, received_at: &str) -> Value {
        let state = EventState::of(
            post.hook_event.as_deref(),
            post.subtype.as_deref(),
            &self.preset_name,
        );
        json!({
            "ok": true,
            "activity": {
                "state": state.wire_name(),
                "reason": reason(post, state),
                "evidence": "runtime_hook",
                "eventAt": post.occurred_at.as_deref().unwrap_or(received_at),
                "rawEvent": post.hook_event.as_deref().unwrap_or_default(),
                "rawSubtype": post.subtype,
                "runtime": post.runtime,
                "generation": post.generation,
            }
        })
    }
}

fn reason(post: &Post, state: EventState) -> String {
    match (post.hook_event.as_deref(), post.subtype.as_deref()) {
        (Some("PermissionRequest"), _) => "permission_request".to_owned(),
        (Some("SessionStart"), _) => "session_start_observed".to_owned(),
        (Some("Notification"), subtype) => snake_case(subtype.unwrap_or("notification")),
        _ if state == EventState::Unknown => "unmapped_runtime_hook".to_owned(),
        (event, subtype) => snake_case(subtype.or(event).unwrap_or_default()),
    }
}

fn snake_case(text: &str) -> String {
    let mut snake = String::with_capacity(text.len());
    for character in text.chars() {
        if !character.is_alphanumeric() {
            snake.push('_');
        } else if character.is_uppercase() {
            if !snake.is_empty() && !snake.ends_with('_') {
                snake.push('_');
            }
            snake.extend(character.to_lowercase());
        } else {
            snake.push(character);
        }
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat() -> Seat {
        Seat {
            token: Token::from("secret".to_owned()),
            session_name: "pod-member@rig".to_owned(),
            node_id: "n1".to_owned(),
            preset_name: "dsh".to_owned(),
        }
    }

    fn authorize(name: &'static str, value: &str) -> Authorization {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        seat().authorize(&headers)
    }

    fn answer(authorization: Authorization, body: &str) -> Answer {
        let request = Request {
            method: "POST",
            path: PATH,
            authorization,
            body: body.as_bytes(),
            body_cut: false,
            received_at: "2026-10-29T12:00:00.000Z",
        };
        seat().answer(&request)
    }

    #[test]
    fn who_may_post() {
        assert_eq!(authorize("authorization", "Bearer secret"), Authorization::Right);
        assert_eq!(
            authorize("authorization", "Bearer   secret "),
            Authorization::Right
        );
        assert_eq!(authorize("authorization", "bearer secret"), Authorization::Wrong);
        assert_eq!(authorize("authorization", "secret"), Authorization::Wrong);
        assert_eq!(authorize("authorization", "Bearer secret2"), Authorization::Wrong);
        assert_eq!(
            authorize("x-openrig-activity-token", "secret"),
            Authorization::OtherHeader
        );
        assert_eq!(
            authorize("x-openrig-activity-token", "other"),
            Authorization::Wrong
        );
        assert_eq!(authorize("x-other", "secret"), Authorization::Absent);
    }

    #[test]
    fn each_check_comes_before_the_next() {
        let rows = [
            (
                Authorization::Wrong,
                "not json",
                401,
                "activity_hook_unauthorized",
            ),
            (
                Authorization::Absent,
                "not json",
                401,
                "activity_hook_unauthorized",
            ),
            (Authorization::Right, "not json", 400, "invalid_json"),
            (Authorization::Right, "{}", 400, "missing_session_identity"),
            (
                Authorization::Right,
                r#"{"sessionName": " "}"#,
                400,
                "missing_session_identity",
            ),
            (
                Authorization::Right,
                r#"{"sessionName": "other@rig"}"#,
                404,
                "session_not_found",
            ),
            (
                Authorization::Right,
                r#"{"nodeId": "n2", "sessionName": "pod-member@rig"}"#,
                404,
                "session_not_found",
            ),
        ];
        for (authorization, body, status, code) in rows {
            let answer = answer(authorization, body);
            assert_eq!(
                (answer.status.as_u16(), &answer.body["code"]),
                (status, &json!(code)),
                "{body}"
            );
            assert_eq!(answer.body["ok"], false);
            assert!(answer.body["error"].is_string());
            assert!(!answer.recorded);
        }
    }

    #[test]
    fn a_recorded_post_is_described() {
        let body = json!({
            "nodeId": "n1", "sessionName": "other@rig", "runtime": "dsh", "generation": "g1",
            "hookEvent": "Stop", "subtype": "endTurn", "occurredAt": "2026-10-29T12:00:01Z"
        });
        let answer = answer(Authorization::OtherHeader, &body.to_string());
        assert_eq!((answer.status, answer.recorded), (StatusCode::OK, true));
        let expected = json!({
            "ok": true,
            "activity": {
                "state": "idle", "reason": "end_turn", "evidence": "runtime_hook",
                "eventAt": "2026-10-29T12:00:01Z", "rawEvent": "Stop", "rawSubtype": "endTurn",
                "runtime": "dsh", "generation": "g1"
            }
        });
        assert_eq!(answer.body, expected);
    }

    #[test]
    fn an_unknown_event_is_recorded() {
        let answer = answer(Authorization::Right, r#"{"sessionName": "pod-member@rig"}"#);
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.body["activity"]["state"], "unknown");
        assert_eq!(answer.body["activity"]["reason"], "unmapped_runtime_hook");
        assert_eq!(answer.body["activity"]["eventAt"], "2026-10-29T12:00:00.000Z");
    }

    #[test]
    fn another_route_is_not_found_whatever_it_brings() {
        let request = |method, path| Request {
            method,
            path,
            authorization: Authorization::Right,
            body: br#"{"nodeId": "n1"}"#,
            body_cut: false,
            received_at: "",
        };
        for (method, path) in [("GET", PATH), ("POST", "//api/activity/hooks"), ("POST", "/")] {
            let answer = seat().answer(&request(method, path));
            assert_eq!(
                (answer.status.as_u16(), answer.recorded),
                (404, false),
                "{method} {path}"
            );
        }
    }
}
