//! For whom a post speaks and with which right: `activity.names-from-launch` and `activity.bearer`.

use crate::contract::finding::{Finding, Tally};
use crate::contract::quote::quoted;
use crate::history::Authorization;
use crate::history::views::{LaunchView, Views};

pub(super) fn names_from_launch(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let names = [
            ("sessionName", &launch.facts.session_name),
            ("nodeId", &launch.facts.node_id),
            ("runtime", &launch.facts.runtime),
            ("generation", &launch.facts.generation),
        ];
        for post in launch.all_posts.iter().filter(|post| post.at_the_hook) {
            // That a name is absent is for activity.fields to say.
            let stated = names
                .iter()
                .filter_map(|(name, launched)| Some((*name, *launched, post.field(name)?)));
            let mut agreeing = 0;
            for (name, launched, said) in stated {
                if said == launched {
                    agreeing += 1;
                } else {
                    tally.broken(
                        format!(
                            "{}: {name} is {}; this launch's is {}",
                            post.name(),
                            quoted(said),
                            quoted(launched)
                        ),
                        &[launch.event, post.started],
                    );
                }
            }
            if agreeing == names.len() {
                tally.held(
                    format!("{} carries this launch's four names", post.name()),
                    &[post.started],
                );
            }
        }
    }
    tally.finding()
}

pub(super) fn bearer(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        for post in launch.all_posts.iter().filter(|post| post.at_the_hook) {
            let seen = match post.authorization {
                Authorization::Right => {
                    tally.held(
                        format!("{} carries the token as Bearer", post.name()),
                        &[post.started],
                    );
                    continue;
                }
                Authorization::Absent if token_stands_apart(launch) => continue,
                Authorization::Absent => "no token",
                Authorization::Wrong => "another token or another scheme",
                Authorization::OtherHeader => "the token in OpenRig's own header only",
            };
            tally.broken(format!("{} carries {seen}", post.name()), &[post.started]);
        }
    }
    tally.finding()
}

/// The URL came in the environment and the token in the file: a runner need not look them up separately (reading 4).
fn token_stands_apart(launch: &LaunchView<'_>) -> bool {
    let told = launch.facts.endpoint_told.to_lowercase();
    told.contains("token") && told.contains("file")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::Authorization;

    #[test]
    fn names_from_launch() {
        const CLAUSE: &str = "activity.names-from-launch";
        assert_held(CLAUSE, &HistoryBuilder::ready().prompt("work"));
        for name in ["sessionName", "nodeId", "runtime", "generation"] {
            let other =
                HistoryBuilder::ready().post_with("Stop", "idle", |body| body[name] = json!("another's"));
            assert_broken(CLAUSE, &other);
            let absent = HistoryBuilder::ready().post_with("Stop", "idle", |body| body[name] = json!(null));
            assert_not_exercised(CLAUSE, &absent);
        }
    }

    #[test]
    fn the_second_launch_has_names_of_its_own() {
        let again = |generation: &str| {
            HistoryBuilder::ready()
                .prompt("work")
                .launch(|facts| facts.generation = "later".into())
                .post_with("Stop", "idle", |body| body["generation"] = json!(generation))
        };
        assert_held("activity.names-from-launch", &again("later"));
        let earlier = "9b1c2c1e-0000-4000-8000-000000000001";
        assert_broken("activity.names-from-launch", &again(earlier));
    }

    #[test]
    fn bearer() {
        const CLAUSE: &str = "activity.bearer";
        assert_held(CLAUSE, &HistoryBuilder::ready().prompt("work"));
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready());
        for credentials in [
            Authorization::Wrong,
            Authorization::Absent,
            Authorization::OtherHeader,
        ] {
            assert_broken(CLAUSE, &HistoryBuilder::ready().raw_post("{}", credentials));
        }
    }

    #[test]
    fn a_token_that_stands_apart_from_the_url_may_be_missed() {
        let apart = |credentials| {
            HistoryBuilder::empty()
                .launch(|facts| facts.endpoint_told = "url_and_token_file".into())
                .raw_post("{}", credentials)
        };
        assert_not_exercised("activity.bearer", &apart(Authorization::Absent));
        assert_broken("activity.bearer", &apart(Authorization::Wrong));
    }
}
