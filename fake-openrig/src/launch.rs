//! What a launch gives to a runner: the environment, and the files and folders it points at.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::{Error, Result, Token, random};

/// The name of the file under OPENRIG_HOME that tells a runner the endpoint.
pub const ENDPOINT_FILE: &str = "activity-endpoint.json";

/// One launch of one seat, a resume included.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Names this attempt; the launch record must carry it.
    pub attempt: String,
    /// The occupant's generation, a UUID of version 4; activity posts must carry it.
    pub generation: String,
    /// The session's name, as `pod-member@rig`.
    pub session_name: String,
    /// The node's id, a ULID.
    pub node_id: String,
    /// The runtime, which for a community harness is its preset's name.
    pub runtime: String,
    /// The activity token.
    pub token: Token,
    /// OPENRIG_HOME.
    pub openrig_home: PathBuf,
    /// Where the launch record goes; none when OpenRig could not make its folder.
    pub record_path: Option<PathBuf>,
    /// The conversation to reopen; a launch that has one is a resume.
    pub resume_ref: Option<String>,
    /// The file with the seat's first input.
    pub first_input: Option<PathBuf>,
    /// The seat's declared model.
    pub model: Option<String>,
    /// How the runner is told the endpoint.
    pub endpoint: EndpointTold,
}

/// How a launch tells a runner where to post and with which token.
///
/// Each kind sets only what it names, so that a runner which never looks there posts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointTold {
    /// OPENRIG_URL, OPENRIG_HOST, OPENRIG_PORT and the token, all agreeing: what OpenRig sets.
    Url {
        /// Whether the URL ends with a slash.
        trailing_slash: bool,
    },
    /// OPENRIG_URL and the token.
    UrlOnly {
        /// Whether the URL ends with a slash.
        trailing_slash: bool,
    },
    /// OPENRIG_URL and the token, beside an OPENRIG_PORT that is wrong: the URL comes first.
    UrlBesideStalePort {
        /// The wrong port.
        stale_port: u16,
    },
    /// OPENRIG_PORT and the token; the host is 127.0.0.1 by default.
    PortOnly,
    /// OPENRIG_HOST, OPENRIG_PORT and the token.
    HostAndPort,
    /// OPENRIG_URL and the token, beside an endpoint file that names a wrong port and a wrong token: the
    /// environment comes first.
    UrlBesideStaleFile {
        /// The wrong port.
        stale_port: u16,
    },
    /// The endpoint file alone.
    File,
    /// OPENRIG_URL, and the token in the endpoint file.
    UrlAndTokenFile,
    /// Nothing at all: the runner works without posting.
    Nothing,
}

impl Default for EndpointTold {
    fn default() -> Self {
        Self::Url {
            trailing_slash: false,
        }
    }
}

impl Launch {
    /// A launch of a new conversation with fresh identifiers, its record under `openrig_home` and no more than
    /// what every launch has. `runtime` is the preset's name.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn new(openrig_home: PathBuf, session_name: &str, runtime: &str) -> Result<Self> {
        let attempt = random::uuid()?;
        Ok(Self {
            record_path: Some(
                openrig_home
                    .join("launch-results")
                    .join(format!("{attempt}.json")),
            ),
            attempt,
            generation: random::uuid()?,
            session_name: session_name.to_owned(),
            node_id: random::ulid()?,
            runtime: runtime.to_owned(),
            token: Token::random()?,
            openrig_home,
            resume_ref: None,
            first_input: None,
            model: None,
            endpoint: EndpointTold::default(),
        })
    }

    /// The variables this launch sets, with the endpoint listening on `port` of 127.0.0.1. Nothing else that begins
    /// with `OPENRIG_` should be in the runner's environment.
    pub fn environment(&self, port: u16) -> Vec<(String, String)> {
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        let mut variables = vec![
            ("OPENRIG_LAUNCH_ATTEMPT", self.attempt.clone()),
            ("OPENRIG_OCCUPANT_GENERATION", self.generation.clone()),
            ("OPENRIG_SESSION_NAME", self.session_name.clone()),
            ("OPENRIG_NODE_ID", self.node_id.clone()),
            ("OPENRIG_RUNTIME", self.runtime.clone()),
            ("OPENRIG_HOME", path(&self.openrig_home)),
        ];
        let optional = [
            ("OPENRIG_LAUNCH_RESULT", self.record_path.as_ref().map(path)),
            ("OPENRIG_RESUME_REF", self.resume_ref.clone()),
            ("OPENRIG_FIRST_INPUT", self.first_input.as_ref().map(path)),
            ("OPENRIG_MODEL", self.model.clone()),
        ];
        variables.extend(
            optional
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        variables.extend(self.endpoint_variables(port));
        variables
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    fn endpoint_variables(&self, port: u16) -> Vec<(&'static str, String)> {
        let url = |slash: bool| {
            (
                "OPENRIG_URL",
                format!("{}{}", base_url(port), if slash { "/" } else { "" }),
            )
        };
        let host = ("OPENRIG_HOST", "127.0.0.1".to_owned());
        let port_number = |port: u16| ("OPENRIG_PORT", port.to_string());
        let token = ("OPENRIG_ACTIVITY_HOOK_TOKEN", self.token.reveal().to_owned());
        match self.endpoint {
            EndpointTold::Url { trailing_slash } => vec![url(trailing_slash), host, port_number(port), token],
            EndpointTold::UrlOnly { trailing_slash } => vec![url(trailing_slash), token],
            EndpointTold::UrlBesideStalePort { stale_port } => {
                vec![url(false), port_number(stale_port), token]
            }
            EndpointTold::UrlBesideStaleFile { .. } => vec![url(false), token],
            EndpointTold::PortOnly => vec![port_number(port), token],
            EndpointTold::HostAndPort => vec![host, port_number(port), token],
            EndpointTold::UrlAndTokenFile => vec![url(false)],
            EndpointTold::File | EndpointTold::Nothing => vec![],
        }
    }

    /// Makes what the environment points at: OPENRIG_HOME (mode 0700), the record's folder and, for the kinds of
    /// [`EndpointTold`] that use it, the endpoint file (mode 0600).
    ///
    /// # Errors
    /// If a folder or the file can't be made. OpenRig then starts a new conversation without a `record_path`, and
    /// does not start a resume at all.
    pub fn prepare(&self, port: u16) -> Result<()> {
        make_private_folder(&self.openrig_home)?;
        if let Some(folder) = self.record_path.as_deref().and_then(Path::parent) {
            make_folder(folder)?;
        }
        match self.endpoint {
            EndpointTold::File | EndpointTold::UrlAndTokenFile => self.write_endpoint_file(port, &self.token),
            EndpointTold::UrlBesideStaleFile { stale_port } => {
                self.write_endpoint_file(stale_port, &Token::random()?)
            }
            _ => Ok(()),
        }
    }

    fn write_endpoint_file(&self, port: u16, token: &Token) -> Result<()> {
        let path = self.openrig_home.join(ENDPOINT_FILE);
        let content = serde_json::json!({ "baseUrl": base_url(port), "token": token.reveal() }).to_string();
        let write = || {
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&path)?;
            // The mode above counts only for a new file.
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(content.as_bytes())
        };
        write().map_err(|source| Error::Write {
            path: path.clone(),
            source,
        })
    }
}

fn base_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn make_private_folder(path: &Path) -> Result<()> {
    make_folder(path)?;
    // The mode at creation counts only for a new folder.
    fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(|source| Error::Folder {
        path: path.to_owned(),
        source,
    })
}

fn make_folder(path: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|source| Error::Folder {
            path: path.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn launch(home: &Path, endpoint: EndpointTold) -> Launch {
        let mut launch = Launch::new(home.to_owned(), "pod-member@rig", "dsh").unwrap();
        launch.endpoint = endpoint;
        launch
    }

    fn endpoint_names(endpoint: EndpointTold) -> Vec<String> {
        let names = [
            "OPENRIG_URL",
            "OPENRIG_HOST",
            "OPENRIG_PORT",
            "OPENRIG_ACTIVITY_HOOK_TOKEN",
        ];
        let environment = launch(Path::new("/home"), endpoint).environment(4000);
        environment
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| names.contains(&name.as_str()))
            .collect()
    }

    #[test]
    fn a_plain_launch_sets_exactly_this() {
        let launch = launch(Path::new("/home"), EndpointTold::default());
        let environment: BTreeMap<_, _> = launch.environment(4000).into_iter().collect();
        let record = format!("/home/launch-results/{}.json", launch.attempt);
        let expected = [
            ("OPENRIG_ACTIVITY_HOOK_TOKEN", launch.token.reveal()),
            ("OPENRIG_HOME", "/home"),
            ("OPENRIG_HOST", "127.0.0.1"),
            ("OPENRIG_LAUNCH_ATTEMPT", &launch.attempt),
            ("OPENRIG_LAUNCH_RESULT", &record),
            ("OPENRIG_NODE_ID", &launch.node_id),
            ("OPENRIG_OCCUPANT_GENERATION", &launch.generation),
            ("OPENRIG_PORT", "4000"),
            ("OPENRIG_RUNTIME", "dsh"),
            ("OPENRIG_SESSION_NAME", "pod-member@rig"),
            ("OPENRIG_URL", "http://127.0.0.1:4000"),
        ];
        let expected: BTreeMap<_, _> = expected
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        assert_eq!(environment, expected);
    }

    #[test]
    fn optional_variables_follow_their_fields() {
        let mut launch = launch(Path::new("/home"), EndpointTold::Nothing);
        launch.record_path = None;
        launch.resume_ref = Some("ref/ü".to_owned());
        launch.first_input = Some(PathBuf::from("/home/first"));
        launch.model = Some("large".to_owned());
        let environment: BTreeMap<_, _> = launch.environment(1).into_iter().collect();
        assert_eq!(environment["OPENRIG_RESUME_REF"], "ref/ü");
        assert_eq!(environment["OPENRIG_FIRST_INPUT"], "/home/first");
        assert_eq!(environment["OPENRIG_MODEL"], "large");
        assert!(!environment.contains_key("OPENRIG_LAUNCH_RESULT"));
        assert!(environment.contains_key("OPENRIG_LAUNCH_ATTEMPT"));
    }

    #[test]
    fn each_kind_tells_only_what_it_names() {
        let token = "OPENRIG_ACTIVITY_HOOK_TOKEN";
        assert_eq!(
            endpoint_names(EndpointTold::UrlOnly { trailing_slash: true }),
            ["OPENRIG_URL", token]
        );
        assert_eq!(endpoint_names(EndpointTold::PortOnly), ["OPENRIG_PORT", token]);
        assert_eq!(
            endpoint_names(EndpointTold::HostAndPort),
            ["OPENRIG_HOST", "OPENRIG_PORT", token]
        );
        assert_eq!(endpoint_names(EndpointTold::UrlAndTokenFile), ["OPENRIG_URL"]);
        assert!(endpoint_names(EndpointTold::File).is_empty());
        assert!(endpoint_names(EndpointTold::Nothing).is_empty());
    }

    #[test]
    fn a_trailing_slash_and_a_stale_port_are_kept_apart() {
        let value = |endpoint, name: &str| {
            let environment: BTreeMap<_, _> = launch(Path::new("/home"), endpoint)
                .environment(4000)
                .into_iter()
                .collect();
            environment[name].clone()
        };
        assert_eq!(
            value(EndpointTold::Url { trailing_slash: true }, "OPENRIG_URL"),
            "http://127.0.0.1:4000/"
        );
        assert_eq!(
            value(EndpointTold::UrlBesideStalePort { stale_port: 9 }, "OPENRIG_PORT"),
            "9"
        );
        assert_eq!(
            value(EndpointTold::UrlBesideStalePort { stale_port: 9 }, "OPENRIG_URL"),
            "http://127.0.0.1:4000"
        );
    }

    #[test]
    fn prepare_makes_private_folders_and_the_file_only_where_told() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;

        let by_url = launch(&folder.path().join("url"), EndpointTold::default());
        by_url.prepare(4000).unwrap();
        assert_eq!(mode(&by_url.openrig_home), 0o700);
        assert!(by_url.record_path.as_ref().unwrap().parent().unwrap().is_dir());
        assert!(!by_url.openrig_home.join(ENDPOINT_FILE).exists());

        let by_file = launch(&folder.path().join("file"), EndpointTold::File);
        by_file.prepare(4000).unwrap();
        by_file.prepare(4001).unwrap();
        let path = by_file.openrig_home.join(ENDPOINT_FILE);
        assert_eq!(mode(&path), 0o600);
        let content: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let expected =
            serde_json::json!({ "baseUrl": "http://127.0.0.1:4001", "token": by_file.token.reveal() });
        assert_eq!(content, expected);
    }

    #[test]
    fn a_stale_file_names_neither_the_port_nor_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let launch = launch(folder.path(), EndpointTold::UrlBesideStaleFile { stale_port: 9 });
        launch.prepare(4000).unwrap();
        let content = fs::read_to_string(folder.path().join(ENDPOINT_FILE)).unwrap();
        assert!(content.contains("127.0.0.1:9\""));
        assert!(!content.contains(launch.token.reveal()));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let mut launch = launch(folder.path(), EndpointTold::default());
        launch.record_path = Some(folder.path().join("file/record.json"));
        assert!(matches!(launch.prepare(1), Err(Error::Folder { .. })));
    }

    #[test]
    fn the_token_never_prints_itself() {
        let launch = launch(Path::new("/home"), EndpointTold::default());
        assert!(!format!("{launch:?}").contains(launch.token.reveal()));
    }
}
