//! Where activity is posted and with which token: from the launch environment, else from OpenRig's own file.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::http;

/// OpenRig's file is two short strings; more than this is not that file.
const LARGEST_FILE: u64 = 64 * 1024;

/// Where activity goes.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The base, such as `http://127.0.0.1:7433`, without a slash at its end.
    pub base: String,
    /// The hook token. It is a secret: it is in no message and no debug output.
    pub token: String,
    /// How long one post may take, from connecting to the answer's end.
    pub time_limit: Duration,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Endpoint")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

/// Finds base and token, each on its own: from `variable`, and what is still missing from
/// `activity-endpoint.json` in `home` (else in `~/.openrig`). None if either can't be found.
pub(crate) fn look_up(variable: impl Fn(&str) -> Option<String>, home: Option<PathBuf>) -> Option<Endpoint> {
    let variable = |name: &str| variable(name).as_deref().and_then(usable);
    let base = variable("OPENRIG_URL").or_else(|| {
        let host = variable("OPENRIG_HOST").unwrap_or_else(|| "127.0.0.1".to_owned());
        variable("OPENRIG_PORT").map(|port| format!("http://{}:{port}", bracketed(host)))
    });
    let token = variable("OPENRIG_ACTIVITY_HOOK_TOKEN");
    let file = if base.is_none() || token.is_none() {
        let home = home.or_else(|| variable("HOME").map(|home| Path::new(&home).join(".openrig")));
        home.and_then(|home| read_file(&home.join("activity-endpoint.json")))
    } else {
        None
    };
    let from_file = |key: &str| file.as_ref()?.get(key)?.as_str().and_then(usable);
    Some(Endpoint {
        base: base
            .or_else(|| from_file("baseUrl"))?
            .trim_end_matches('/')
            .to_owned(),
        token: token.or_else(|| from_file("token"))?,
        time_limit: http::LIMIT,
    })
}

/// The value without blanks around it; nothing that is empty or could break out of an HTTP header.
fn usable(value: &str) -> Option<String> {
    let value = value.trim();
    (!value.is_empty() && !value.contains(char::is_control)).then(|| value.to_owned())
}

/// A bare IPv6 address gets its brackets.
fn bracketed(host: String) -> String {
    if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]")
    } else {
        host
    }
}

fn read_file(path: &Path) -> Option<Value> {
    let mut text = String::new();
    File::open(path)
        .ok()?
        .take(LARGEST_FILE)
        .read_to_string(&mut text)
        .ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(variables: &[(&str, &str)], file: Option<&str>) -> Option<(String, String)> {
        let home = tempfile::tempdir().unwrap();
        if let Some(file) = file {
            std::fs::write(home.path().join("activity-endpoint.json"), file).unwrap();
        }
        let variable = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        look_up(variable, Some(home.path().to_owned())).map(|endpoint| (endpoint.base, endpoint.token))
    }

    fn pair(base: &str, token: &str) -> Option<(String, String)> {
        Some((base.to_owned(), token.to_owned()))
    }

    const TOKEN: (&str, &str) = ("OPENRIG_ACTIVITY_HOOK_TOKEN", "secret");
    const FILE: &str = r#"{"baseUrl": "http://127.0.0.1:9/", "token": "filed"}"#;

    #[test]
    fn the_url_wins_with_and_without_its_slash() {
        for url in ["http://127.0.0.1:7", " http://127.0.0.1:7/ "] {
            let found = look(&[("OPENRIG_URL", url), ("OPENRIG_PORT", "8"), TOKEN], Some(FILE));
            assert_eq!(found, pair("http://127.0.0.1:7", "secret"));
        }
    }

    #[test]
    fn else_the_port_with_its_host() {
        assert_eq!(
            look(&[("OPENRIG_PORT", "8"), TOKEN], None),
            pair("http://127.0.0.1:8", "secret")
        );
        assert_eq!(
            look(
                &[
                    ("OPENRIG_PORT", "8"),
                    ("OPENRIG_HOST", "::1"),
                    ("OPENRIG_URL", " "),
                    TOKEN
                ],
                None
            ),
            pair("http://[::1]:8", "secret")
        );
    }

    #[test]
    fn what_is_missing_comes_from_the_file() {
        assert_eq!(look(&[], Some(FILE)), pair("http://127.0.0.1:9", "filed"));
        assert_eq!(look(&[TOKEN], Some(FILE)), pair("http://127.0.0.1:9", "secret"));
        assert_eq!(
            look(&[("OPENRIG_PORT", "8")], Some(FILE)),
            pair("http://127.0.0.1:8", "filed")
        );
    }

    #[test]
    fn half_an_endpoint_is_none() {
        assert_eq!(look(&[TOKEN], None), None);
        assert_eq!(look(&[("OPENRIG_PORT", "8")], Some("not json")), None);
        assert_eq!(
            look(
                &[("OPENRIG_PORT", "8"), ("OPENRIG_ACTIVITY_HOOK_TOKEN", "a\r\nb")],
                None
            ),
            None
        );
    }

    #[test]
    fn the_token_is_not_in_debug_output() {
        let endpoint = Endpoint {
            base: "http://h".into(),
            token: "secret".into(),
            time_limit: http::LIMIT,
        };
        assert!(!format!("{endpoint:?}").contains("secret"));
    }
}
