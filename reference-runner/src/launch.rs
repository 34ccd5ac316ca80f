//! What OpenRig says at launch: the environment, read once, before anything else happens.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::options::Options;
use crate::seat::activity::endpoint;
pub use crate::seat::activity::endpoint::Endpoint;

/// Variables that are between OpenRig and the runner alone. The agent is started without them: it has no
/// business with the activity token, and must not write the launch record.
pub(crate) const RUNNER_ONLY: [&str; 5] = [
    "OPENRIG_ACTIVITY_HOOK_TOKEN",
    "OPENRIG_LAUNCH_RESULT",
    "OPENRIG_LAUNCH_ATTEMPT",
    "OPENRIG_RESUME_REF",
    "OPENRIG_FIRST_INPUT",
];

/// The facts of one launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchFacts {
    /// Where the launch record goes (`OPENRIG_LAUNCH_RESULT`). Without it the seat works, and stays
    /// unidentified.
    pub record_path: Option<PathBuf>,
    /// The attempt the record has to name (`OPENRIG_LAUNCH_ATTEMPT`).
    pub attempt: Option<String>,
    /// The preset's name (`OPENRIG_RUNTIME`), else the agent program's own name.
    pub harness: String,
    /// The conversation to reopen (`OPENRIG_RESUME_REF`), byte for byte. Present means: never start a new
    /// one.
    pub resume_reference: Option<String>,
    /// The file whose text is the first prompt (`OPENRIG_FIRST_INPUT`).
    pub first_input: Option<PathBuf>,
    /// The seat's declared model (`OPENRIG_MODEL`).
    pub model: Option<String>,
    /// The seat's session name (`OPENRIG_SESSION_NAME`).
    pub session_name: Option<String>,
    /// The seat's node (`OPENRIG_NODE_ID`).
    pub node_id: Option<String>,
    /// The occupant's generation (`OPENRIG_OCCUPANT_GENERATION`).
    pub generation: Option<String>,
    /// Where activity is posted. Without it nothing is posted.
    pub endpoint: Option<Endpoint>,
    /// The sequence number of the first post. Each later post has the next one.
    pub first_sequence: u64,
    /// Seconds between two reports of an idle seat.
    pub liveness_seconds: u32,
    /// The agent's command.
    pub agent: Vec<String>,
    /// Where the agent works: the runner's own working directory.
    pub working_directory: PathBuf,
}

impl LaunchFacts {
    /// The facts of this process's launch.
    pub(crate) fn of_this_process(options: Options) -> Self {
        let mut facts = Self::read(options, |name| std::env::var_os(name));
        facts.working_directory = std::env::current_dir().unwrap_or_default();
        // The clock's milliseconds: a runner started again in the same seat goes on above its predecessor's
        // numbers.
        facts.first_sequence = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .and_then(|since| u64::try_from(since.as_millis()).ok())
            .unwrap_or(1);
        facts
    }

    /// The facts as `variable` gives them. An empty variable counts as an absent one.
    fn read(options: Options, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name: &str| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let text = |name: &str| {
            variable(name)?
                .into_string()
                .ok()
                .filter(|value| !value.is_empty())
        };
        let program = options.agent.first().map(String::as_str).unwrap_or_default();
        let program = PathBuf::from(program)
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        Self {
            record_path: path("OPENRIG_LAUNCH_RESULT"),
            attempt: text("OPENRIG_LAUNCH_ATTEMPT"),
            harness: text("OPENRIG_RUNTIME").or(program).unwrap_or_default(),
            resume_reference: text("OPENRIG_RESUME_REF"),
            first_input: path("OPENRIG_FIRST_INPUT"),
            model: text("OPENRIG_MODEL"),
            session_name: text("OPENRIG_SESSION_NAME"),
            node_id: text("OPENRIG_NODE_ID"),
            generation: text("OPENRIG_OCCUPANT_GENERATION"),
            endpoint: endpoint::look_up(text, path("OPENRIG_HOME")),
            first_sequence: 1,
            liveness_seconds: options.liveness_seconds,
            agent: options.agent,
            working_directory: PathBuf::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(variables: &[(&str, &str)]) -> LaunchFacts {
        let options = Options {
            agent: vec!["/opt/bin/dsh".into(), "acp".into()],
            liveness_seconds: 5,
        };
        LaunchFacts::read(options, |name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn an_empty_environment_is_a_seat_without_identity() {
        let facts = facts(&[("OPENRIG_RESUME_REF", "")]);
        assert_eq!(facts.harness, "dsh");
        assert_eq!(
            (facts.record_path, facts.resume_reference, facts.endpoint),
            (None, None, None)
        );
    }

    #[test]
    fn names_and_reference_are_taken_byte_for_byte() {
        let facts = facts(&[
            ("OPENRIG_RUNTIME", "my-dsh"),
            ("OPENRIG_RESUME_REF", " päth/ünd \"so\" "),
            ("OPENRIG_LAUNCH_RESULT", "/run/record.json"),
            ("OPENRIG_LAUNCH_ATTEMPT", "attempt-1"),
        ]);
        assert_eq!(facts.harness, "my-dsh");
        assert_eq!(facts.resume_reference.as_deref(), Some(" päth/ünd \"so\" "));
        assert_eq!(facts.record_path, Some(PathBuf::from("/run/record.json")));
        assert_eq!(facts.attempt.as_deref(), Some("attempt-1"));
    }
}
