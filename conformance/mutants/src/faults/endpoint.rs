//! Faults of finding the activity endpoint. They read the launch environment as the runner itself does.

use std::env;

use reference_runner::LaunchFacts;

use crate::Mutant;
use crate::altered::on_launch;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "url-ignored",
        clause: "activity.endpoint-url",
        fault: "takes no notice of OPENRIG_URL",
        edge: || {
            on_launch(|facts| {
                if is_set("OPENRIG_URL") && !is_set("OPENRIG_PORT") {
                    facts.endpoint = None;
                }
            })
        },
    },
    Mutant {
        name: "url-slash-doubled",
        clause: "activity.endpoint-url",
        fault: "posts to a path with two slashes when OPENRIG_URL ends with one",
        edge: || {
            on_launch(|facts| {
                let ends_with_slash = env::var("OPENRIG_URL").is_ok_and(|url| url.ends_with('/'));
                if let Some(endpoint) = facts.endpoint.as_mut().filter(|_| ends_with_slash) {
                    endpoint.base.push('/');
                }
            })
        },
    },
    Mutant {
        name: "port-ignored",
        clause: "activity.endpoint-port",
        fault: "takes no notice of OPENRIG_PORT",
        edge: || {
            on_launch(|facts| {
                if is_set("OPENRIG_PORT") && !is_set("OPENRIG_URL") {
                    facts.endpoint = None;
                }
            })
        },
    },
    Mutant {
        name: "port-only-with-host",
        clause: "activity.endpoint-port",
        fault: "takes OPENRIG_PORT only together with OPENRIG_HOST",
        edge: || {
            on_launch(|facts| {
                if is_set("OPENRIG_PORT") && !is_set("OPENRIG_HOST") && !is_set("OPENRIG_URL") {
                    facts.endpoint = None;
                }
            })
        },
    },
    Mutant {
        name: "endpoint-file-ignored",
        clause: "activity.endpoint-file",
        fault: "does not read activity-endpoint.json",
        edge: || on_launch(forget_what_is_in_the_file),
    },
];

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn forget_what_is_in_the_file(facts: &mut LaunchFacts) {
    let has_base = is_set("OPENRIG_URL") || is_set("OPENRIG_PORT");
    if !has_base || !is_set("OPENRIG_ACTIVITY_HOOK_TOKEN") {
        facts.endpoint = None;
    }
}
