//! Where the posts go: `activity.endpoint-url`, `activity.endpoint-port` and `activity.endpoint-file`.
//!
//! Judged only in launches that tell the endpoint in that one way; where OpenRig sets all variables, a runner may have
//! used any. A URL in the environment beside a token in the file is judged by none of them: whether the two are looked
//! up separately is free (reading 4).

use crate::contract::endpoint_faults::posts_are_all_seen;
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{DUE, machine_was_late};
use crate::contract::quote::quoted;
use crate::contract::watch::{cited, free_after};
use crate::history::views::{LaunchView, Views, milliseconds};
use crate::history::{Authorization, Fact, PostFact};

pub(super) fn url(views: &Views<'_>) -> Finding {
    judge(views, &["url", "url_with_slash"], "OPENRIG_URL")
}

pub(super) fn port(views: &Views<'_>) -> Finding {
    judge(views, &["port", "host_and_port"], "OPENRIG_PORT")
}

pub(super) fn file(views: &Views<'_>) -> Finding {
    judge(views, &["file"], "activity-endpoint.json")
}

fn judge(views: &Views<'_>, ways: &[&str], source: &str) -> Finding {
    let mut tally = Tally::default();
    let told_so = |launch: &&LaunchView<'_>| ways.contains(&launch.facts.endpoint_told.as_str());
    for launch in views.launches.iter().filter(told_so) {
        let told = &launch.facts.endpoint_told;
        let mut arrived = launch.all_posts.iter().filter(|post| post.at_the_hook).peekable();
        if arrived.peek().is_some() {
            // One that came with other credentials is for activity.bearer to judge.
            if let Some(post) = arrived.find(|post| post.authorization == Authorization::Right) {
                tally.held(
                    format!("told by {source} alone ({told}), and {} arrived", post.name()),
                    &[launch.event, post.started],
                );
            }
            continue;
        }
        let Some(prompt) = launch.prompts.first() else {
            continue;
        };
        let submitted = prompt.exchange.request.event;
        let watched = free_after(launch, submitted.at);
        if !posts_are_all_seen(views, launch) || watched < DUE {
            continue;
        }
        let elsewhere = launch.all_posts.first().map(|post| post.started);
        let instead = elsewhere.and_then(request_line).map_or_else(String::new, |line| {
            format!("; what came first was {}", quoted(&line))
        });
        let said = format!(
            "told by {source} alone ({told}), a prompt went out, and nothing came to the activity hook in {}{instead}",
            milliseconds(watched)
        );
        let causes: Vec<_> = [launch.event, submitted].into_iter().chain(elsewhere).collect();
        let events = cited(launch, &causes);
        if machine_was_late(views, submitted.at, submitted.at.saturating_add(watched), watched) {
            tally.inconclusive(said, &events);
        } else {
            tally.broken(said, &events);
        }
    }
    tally.finding()
}

fn request_line(event: &crate::history::Event) -> Option<String> {
    match &event.fact {
        Fact::Post(PostFact::Started { method, path, .. }) => Some(format!("{method} {path}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Authorization, Fact, PostEnd, PostFact};

    const CLAUSES: [(&str, &[&str]); 3] = [
        ("activity.endpoint-url", &["url", "url_with_slash"]),
        ("activity.endpoint-port", &["port", "host_and_port"]),
        ("activity.endpoint-file", &["file"]),
    ];

    /// A ready seat that was told so.
    fn told(way: &str) -> HistoryBuilder {
        let way = way.to_owned();
        HistoryBuilder::empty()
            .launch(move |facts| facts.endpoint_told = way)
            .terminal_ready()
            .agent_started()
            .opened()
            .record("conv-1")
    }

    fn unposted(way: &str) -> HistoryBuilder {
        told(way).block("work").prompt_text_only("work")
    }

    #[test]
    fn posts_that_arrive_prove_it_and_silence_breaks_it() {
        for (clause, ways) in CLAUSES {
            for way in ways {
                assert_held(clause, &told(way).prompt("work"));
                assert_held(clause, &told(way).post("Stop", "idle"));
                assert_broken(clause, &unposted(way).watch_seconds(5));
                assert_not_exercised(clause, &unposted(way).watch_seconds(2));
                assert_not_exercised(clause, &told(way).watch_seconds(9));
            }
        }
    }

    #[test]
    fn each_clause_is_about_its_own_way() {
        for (clause, ways) in CLAUSES {
            let others = [
                "all",
                "url",
                "url_with_slash",
                "port",
                "host_and_port",
                "file",
                "url_and_token_file",
                "nothing",
            ];
            for way in others.iter().filter(|way| !ways.contains(way)) {
                assert_not_exercised(clause, &told(way).prompt("work"));
                assert_not_exercised(clause, &unposted(way).watch_seconds(9));
            }
        }
    }

    #[test]
    fn one_way_of_two_that_fails_breaks_it() {
        let second = told("port").prompt("work").launch(|facts| {
            facts.endpoint_told = "host_and_port".into();
        });
        let silent = second.agent_started().opened().prompt_text_only("work");
        assert_broken("activity.endpoint-port", &silent.watch_seconds(5));
    }

    #[test]
    fn another_path_is_not_the_hook() {
        let doubled = unposted("url_with_slash")
            .fact(Fact::Post(PostFact::Started {
                id: 1,
                method: "POST".into(),
                path: "//api/activity/hooks".into(),
                authorization: Authorization::Right,
                body: "{}".into(),
                body_cut: false,
            }))
            .post_ended(PostEnd::Answered { status: 404 });
        assert_broken("activity.endpoint-url", &doubled.watch_seconds(5));
    }

    #[test]
    fn a_wrong_token_is_another_clauses_matter() {
        let wrong = unposted("file").raw_post("{}", Authorization::Wrong);
        assert_not_exercised("activity.endpoint-file", &wrong.watch_seconds(5));
    }

    #[test]
    fn nothing_is_due_in_an_outage_or_of_a_runner_that_ended() {
        let outage = unposted("url").endpoint("refuse").watch_seconds(9);
        assert_not_exercised("activity.endpoint-url", &outage);
        let ended = unposted("url").fact(Fact::Process(crate::history::Process::RunnerExited {
            code: Some(1),
            signal: None,
        }));
        assert_not_exercised("activity.endpoint-url", &ended.watch_seconds(9));
    }

    #[test]
    fn a_late_machine_leaves_it_open() {
        let late = unposted("url")
            .after_ms(2_000)
            .fact(Fact::Lag { late_ms: 1_900 })
            .watch_seconds(3);
        let finding = crate::contract::history_builder::judge("activity.endpoint-url", &late);
        assert!(
            matches!(finding, crate::contract::Finding::Inconclusive(_)),
            "{finding:?}"
        );
    }
}
