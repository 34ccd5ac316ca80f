//! What every post must say: `activity.fields`.

use serde_json::Value;

use crate::contract::finding::{Finding, Tally};
use crate::contract::quote::quoted;
use crate::history::views::{Post, Views};
use crate::history::{Event, Fact, PostEnd, PostFact};

const TEXTS: [&str; 7] = [
    "sessionName",
    "nodeId",
    "runtime",
    "generation",
    "occurredAt",
    "hookEvent",
    "subtype",
];

const HOOK: &str = "/api/activity/hooks";

pub(super) fn fields(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for post in views.launches.iter().flat_map(|launch| &launch.all_posts) {
        let Some(request) = Request::of(post.started) else {
            continue;
        };
        if !post.at_the_hook {
            if request.is_meant_as_a_post(post) {
                tally.broken(
                    format!(
                        "a post came as {} {}; the hook is POST {HOOK}",
                        request.method,
                        quoted(request.path)
                    ),
                    &[post.started],
                );
            }
        } else if let Some(body) = &post.body {
            judge_body(body, post, &mut tally);
        } else if request.body_cut {
            tally.inconclusive("a post's body is longer than what is kept of it", &[post.started]);
        } else if matches!(post.end, Some(PostEnd::Answered { .. })) {
            // A request that was given up or broken may have lost a part of its body on the way.
            tally.broken(
                format!("the post's body is no JSON object: {}", quoted(&request.body)),
                &[post.started],
            );
        }
    }
    tally.finding()
}

fn judge_body(body: &Value, post: &Post<'_>, tally: &mut Tally) {
    let mut wrong: Vec<&str> = TEXTS
        .into_iter()
        .filter(|name| {
            body.get(name)
                .and_then(Value::as_str)
                .is_none_or(|text| text.trim().is_empty())
        })
        .collect();
    if post.sequence().is_none() {
        wrong.push("sequence");
    }
    if wrong.is_empty() {
        tally.held(format!("{} has all eight fields", post.name()), &[post.started]);
    } else {
        let seen: Vec<String> = wrong
            .iter()
            .map(|name| match body.get(name) {
                Some(value) => format!("{name} is {}", quoted(&value.to_string())),
                None => format!("{name} is absent"),
            })
            .collect();
        tally.broken(format!("{}: {}", post.name(), seen.join(", ")), &[post.started]);
    }
}

struct Request<'h> {
    method: &'h str,
    path: &'h str,
    body: std::borrow::Cow<'h, str>,
    body_cut: bool,
}

impl<'h> Request<'h> {
    fn of(event: &'h Event) -> Option<Self> {
        match &event.fact {
            Fact::Post(PostFact::Started {
                method,
                path,
                body,
                body_cut,
                ..
            }) => Some(Self {
                method,
                path,
                body: body.text(),
                body_cut: *body_cut,
            }),
            _ => None,
        }
    }

    /// Asking whether OpenRig is there, on some other path, is no post.
    fn is_meant_as_a_post(&self, post: &Post<'_>) -> bool {
        let at_the_path = self.path.split('?').next() == Some(HOOK);
        self.method == "POST" || at_the_path || post.field("hookEvent").is_some()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Authorization, Fact, PostEnd, PostFact};

    const CLAUSE: &str = "activity.fields";
    const ANSWERED: PostEnd = PostEnd::Answered { status: 200 };

    fn elsewhere(method: &str, path: &str, body: &str) -> HistoryBuilder {
        HistoryBuilder::ready().fact(Fact::Post(PostFact::Started {
            id: 1,
            method: method.into(),
            path: path.into(),
            authorization: Authorization::Right,
            body: body.into(),
            body_cut: false,
        }))
    }

    #[test]
    fn all_eight_fields_are_there() {
        assert_held(CLAUSE, &HistoryBuilder::ready().prompt("work"));
        let own = HistoryBuilder::ready().post("ToolFinished", "ok");
        assert_held(CLAUSE, &own);
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready());
    }

    #[test]
    fn a_field_is_absent_blank_or_of_another_type() {
        for name in [
            "sessionName",
            "nodeId",
            "runtime",
            "generation",
            "sequence",
            "occurredAt",
            "hookEvent",
            "subtype",
        ] {
            let absent = HistoryBuilder::ready().post_with("Stop", "idle", |body| {
                body.as_object_mut().unwrap().remove(name);
            });
            assert_broken(CLAUSE, &absent);
            let of_another_type =
                HistoryBuilder::ready().post_with("Stop", "idle", |body| body[name] = json!(null));
            assert_broken(CLAUSE, &of_another_type);
        }
        let blank = HistoryBuilder::ready().post_with("Stop", "idle", |body| body["nodeId"] = json!(" "));
        assert_broken(CLAUSE, &blank);
        let half = HistoryBuilder::ready().post_with("Stop", "idle", |body| body["sequence"] = json!(1.5));
        assert_broken(CLAUSE, &half);
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        let whole = HistoryBuilder::ready().post_with("Stop", "idle", |body| body["sequence"] = json!(7.0));
        assert_held(CLAUSE, &whole);
    }

    #[test]
    fn a_body_that_is_no_object() {
        let whole = HistoryBuilder::ready().raw_post("[]", Authorization::Right);
        assert_broken(CLAUSE, &whole.clone().post_ended(ANSWERED));
        assert_not_exercised(CLAUSE, &whole.post_ended(PostEnd::GivenUp));
    }

    #[test]
    fn a_post_must_come_to_the_hook() {
        assert_broken(CLAUSE, &elsewhere("POST", "/api/activity", "{}"));
        assert_broken(CLAUSE, &elsewhere("PUT", "/api/activity/hooks", "{}"));
        assert_not_exercised(CLAUSE, &elsewhere("GET", "/api/health", ""));
    }
}
