//! A real Chromium, driven over WebDriver.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http;

/// How long a page may take to become what a test waits for, in milliseconds.
const PATIENCE: u64 = 60_000;

/// A browser with an empty profile. Dropping it ends it.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

/// Whether Chromium and its driver are here. Where they must be, their absence fails the test.
pub(crate) fn is_here() -> bool {
    let here = ["chromium", "chromedriver"].iter().all(|program| {
        Command::new(program)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    });
    let needed = std::env::var("SEATCHECK_TESTS_NEED").is_ok_and(|needed| needed.contains("chromium"));
    assert!(
        here || !needed,
        "chromium and chromedriver are needed for this test"
    );
    if !here {
        eprintln!("not run: there is no chromium with its chromedriver");
    }
    here
}

impl Browser {
    pub(crate) fn start(size: (u32, u32), dark: bool) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let (driver, port) = driver();
        let mut arguments: Vec<String> = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
        ]
        .map(str::to_owned)
        .into();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        arguments.push(format!("--window-size={},{}", size.0, size.1));
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            _profile: profile,
        };
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "timeouts": {"script": PATIENCE},
        }}});
        let made = browser.call("POST", "/session", &capabilities);
        browser.session = made["sessionId"].as_str().unwrap().to_owned();
        browser.devtools(
            "Emulation.setEmulatedMedia",
            &json!({"features": [
                {"name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" }},
            ]}),
        );
        browser.devtools(
            "Emulation.setDeviceMetricsOverride",
            &json!({
                "width": size.0, "height": size.1, "deviceScaleFactor": 1, "mobile": false,
            }),
        );
        browser
    }

    pub(crate) fn open(&self, address: &str) {
        self.in_session("POST", "url", &json!({ "url": address }));
    }

    /// Runs a script's body and gives what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.in_session("POST", "execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until the expression is true. The page is looked at whenever it changes.
    pub(crate) fn until(&self, expression: &str) {
        let script = format!(
            "const done = arguments[0], met = () => Boolean({expression});
             if (met()) return done(true);
             const observer = new MutationObserver(() => {{ if (met()) {{ observer.disconnect(); done(true); }} }});
             observer.observe(document, {{subtree: true, childList: true, characterData: true, attributes: true}});"
        );
        let met = self.in_session("POST", "execute/async", &json!({"script": script, "args": []}));
        assert_eq!(met, json!(true), "{expression} did not come: {}", self.text());
    }

    /// Everything that the page shows.
    pub(crate) fn text(&self) -> String {
        self.run("return document.body.innerText")
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Presses the button or link with this id as a person does.
    pub(crate) fn click(&self, id: &str) {
        let found = self.in_session(
            "POST",
            "element",
            &json!({"using": "css selector", "value": format!("#{id}")}),
        );
        let element = found
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .as_str()
            .unwrap();
        self.in_session("POST", &format!("element/{element}/click"), &json!({}));
    }

    /// What the page's console said, and what stopped it.
    pub(crate) fn console(&self) -> Vec<String> {
        self.log("browser")
            .iter()
            .map(|entry| entry["message"].to_string())
            .collect()
    }

    /// The addresses of everything that was asked for so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.log("performance")
            .iter()
            .filter_map(|entry| serde_json::from_str::<Value>(entry["message"].as_str()?).ok())
            .filter(|event| event["message"]["method"] == "Network.requestWillBeSent")
            // The browser's own first page is none of the board's.
            .filter(|event| {
                let page = event
                    .pointer("/message/params/documentURL")
                    .and_then(Value::as_str);
                !page.is_some_and(|page| page.starts_with("chrome://"))
            })
            .filter_map(|event| {
                let address = event.pointer("/message/params/request/url")?.as_str()?;
                Some(address.to_owned())
            })
            .collect()
    }

    /// A picture of the page, as base64 of a PNG file.
    pub(crate) fn picture(&self) -> String {
        let picture = self.in_session("GET", "screenshot", &Value::Null);
        picture.as_str().unwrap().to_owned()
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        let entries = self.in_session("POST", "se/log", &json!({ "type": kind }));
        entries.as_array().unwrap().clone()
    }

    fn devtools(&self, command: &str, parameters: &Value) {
        self.in_session(
            "POST",
            "goog/cdp/execute",
            &json!({"cmd": command, "params": parameters}),
        );
    }

    fn in_session(&self, method: &str, what: &str, body: &Value) -> Value {
        self.call(method, &format!("/session/{}/{what}", self.session), body)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let host = format!("127.0.0.1:{}", self.port);
        let headers = [
            ("host", host.as_str()),
            ("content-type", "application/json"),
            ("connection", "close"),
        ];
        let answer = http::request(self.port, method, path, &headers, &body);
        let mut told: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(answer.status, 200, "{method} {path}: {told}");
        told["value"].take()
    }
}

/// A driver, and the port it listens on. It takes a free port of one kind of address and then wants the same of the other:
/// where somebody else has that, it ends at once, and another one finds another port.
fn driver() -> (Child, u16) {
    for _ in 0..20 {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let port = BufReader::new(driver.stdout.take().unwrap())
            .lines()
            .map(Result::unwrap)
            .find_map(|line| {
                line.split_once("successfully on port ")?
                    .1
                    .trim_end_matches('.')
                    .parse()
                    .ok()
            });
        if let Some(port) = port {
            return (driver, port);
        }
        driver.wait().unwrap();
    }
    panic!("chromedriver finds no port")
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A test that failed may have broken the driver too: it is killed in any case.
        if !self.session.is_empty() && !std::thread::panicking() {
            self.call("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
