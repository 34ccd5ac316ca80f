//! Activity posts, as the judge reads them: on its own, not with OpenRig's or the runner's code.

use serde_json::Value;

use crate::history::{Authorization, Event, Fact, PostEnd, PostFact};

/// One request to the activity endpoint.
#[derive(Debug, Clone)]
pub struct Post<'h> {
    /// Its number within the launch, in the order the requests arrived.
    pub id: u64,
    /// The event of its arrival.
    pub started: &'h Event,
    /// The event of its end.
    pub ended: Option<&'h Event>,
    /// How it ended.
    pub end: Option<PostEnd>,
    /// Method and path are the activity hook's.
    pub at_the_hook: bool,
    /// Its credentials.
    pub authorization: Authorization,
    /// The body, if it is a JSON object.
    pub body: Option<Value>,
    /// What it reports.
    pub kind: PostKind,
}

/// What a post reports, by the events that the draft fixes to the letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostKind {
    /// UserPromptSubmit/accepted.
    Accepted,
    /// Any Stop that is neither cancelled nor an exit: a turn's end or a beat.
    Idle,
    /// Stop/cancelled.
    Cancelled,
    /// Stop/`<preset name>`_exited.
    Exited,
    /// Notification/permission_prompt.
    PermissionPrompt,
    /// Reads working: PreToolUse, `active`, another UserPromptSubmit.
    Working,
    /// Recorded, reads nothing.
    Other,
}

impl PostKind {
    /// A Stop that is not an exit: what must not be posted while attention is held.
    #[must_use]
    pub fn is_non_exit_stop(self) -> bool {
        matches!(self, Self::Idle | Self::Cancelled)
    }
}

impl Post<'_> {
    /// When its head arrived, in nanoseconds.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.started.at
    }

    /// A text field of the body.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.body
            .as_ref()
            .and_then(|body| body.get(name))
            .and_then(Value::as_str)
    }

    /// The sequence number, if it is a whole number that is not negative; `7.0` is one, as JSON goes.
    #[must_use]
    pub fn sequence(&self) -> Option<u64> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let value = self.body.as_ref()?.get("sequence")?;
        value.as_u64().or_else(|| {
            let number = value.as_f64()?;
            (number.fract() == 0.0 && (0.0..EXACT).contains(&number)).then_some(number as u64)
        })
    }

    /// The turn it says it belongs to, as it stands in JSON.
    #[must_use]
    pub fn turn_id(&self) -> Option<&Value> {
        self.body
            .as_ref()
            .and_then(|body| body.get("turnId"))
            .filter(|value| !value.is_null())
    }

    /// `livenessSeconds` as it stands in JSON, if it is there.
    #[must_use]
    pub fn liveness(&self) -> Option<&Value> {
        self.body
            .as_ref()
            .and_then(|body| body.get("livenessSeconds"))
            .filter(|value| !value.is_null())
    }

    /// Hook event and subtype, for people.
    #[must_use]
    pub fn name(&self) -> String {
        match (self.field("hookEvent"), self.field("subtype")) {
            (Some(event), Some(subtype)) => format!("{event}/{subtype}"),
            (Some(event), None) => event.to_owned(),
            _ => "a post without a hookEvent".to_owned(),
        }
    }
}

/// The posts of a launch in the order they arrived. A repeat with the sequence of the post right before it is free
/// (reading 3): see [`without_repeats`].
pub(crate) fn posts<'h>(events: &[&'h Event], runtime: &str) -> Vec<Post<'h>> {
    let mut posts: Vec<Post<'h>> = Vec::new();
    for event in events {
        match &event.fact {
            Fact::Post(PostFact::Started {
                id,
                method,
                path,
                authorization,
                body,
                ..
            }) => {
                let body = serde_json::from_slice::<Value>(&body.0)
                    .ok()
                    .filter(Value::is_object);
                let kind = body.as_ref().map_or(PostKind::Other, |body| kind(body, runtime));
                posts.push(Post {
                    id: *id,
                    started: event,
                    ended: None,
                    end: None,
                    at_the_hook: method == "POST" && path.split('?').next() == Some("/api/activity/hooks"),
                    authorization: *authorization,
                    body,
                    kind,
                });
            }
            Fact::Post(PostFact::Ended { id, how }) => {
                if let Some(post) = posts.iter_mut().rev().find(|post| post.id == *id) {
                    post.ended = Some(event);
                    post.end = Some(*how);
                }
            }
            _ => {}
        }
    }
    posts
}

/// The same posts without repeats of a post whose first sending was not answered 200.
pub(crate) fn without_repeats<'h>(posts: &[Post<'h>]) -> Vec<Post<'h>> {
    let mut kept: Vec<Post<'h>> = Vec::new();
    for post in posts {
        let repeats = kept.last().is_some_and(|before| {
            post.sequence().is_some()
                && before.sequence() == post.sequence()
                && before.name() == post.name()
                && before.end != Some(PostEnd::Answered { status: 200 })
        });
        if !repeats {
            kept.push(post.clone());
        }
    }
    kept
}

fn kind(body: &Value, runtime: &str) -> PostKind {
    let field = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    match (field("hookEvent"), field("subtype")) {
        ("UserPromptSubmit", "accepted") => PostKind::Accepted,
        ("Notification", "permission_prompt") => PostKind::PermissionPrompt,
        ("Stop", "cancelled") => PostKind::Cancelled,
        ("Stop", subtype) if subtype.strip_suffix("_exited") == Some(runtime) => PostKind::Exited,
        ("Stop", _) => PostKind::Idle,
        ("UserPromptSubmit" | "PreToolUse" | "active", _) => PostKind::Working,
        _ => PostKind::Other,
    }
}
