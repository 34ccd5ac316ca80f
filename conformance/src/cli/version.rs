//! Asks a runner for its version before a run, as its profile says how.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use super::exit::Refusal;
use crate::engine::Setup;

/// How long the answer may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How much of the answer is kept, in bytes.
const KEPT: u64 = 4096;

/// What the runner answers; `None` if its profile does not say how to ask. It is asked with nothing of the caller's
/// environment but PATH and what a seat gets as well, in a folder that is gone afterwards.
pub(super) async fn ask(setup: &Setup) -> anyhow::Result<Option<String>> {
    let Some(line) = &setup.version_command else {
        return Ok(None);
    };
    let home = tempfile::tempdir().context("no folder for the version command can be made")?;
    let mut child = Command::new("/bin/sh")
        .arg("-c")
        .arg(line)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        .env("TMPDIR", home.path())
        .env("TERM", "dumb")
        .env("LANG", "C.UTF-8")
        .envs(setup.environment.iter().cloned())
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .context("/bin/sh can't be started")?;
    let group = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let end_group = || {
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    };
    let ended = async {
        let status = child.wait().await;
        // What it left running may hold its output open, and is not to outlive it.
        end_group();
        status
    };
    let answered = tokio::time::timeout(LIMIT, async {
        tokio::join!(beginning(stdout), beginning(stderr), ended)
    })
    .await;
    end_group();
    let bad = |why: String| {
        Refusal::usage(
            format!("the version command `{line}` {why}"),
            "it must print the runner's version and end with 0; it is run with PATH and the profile's environment alone",
        )
    };
    match answered {
        Err(_) => Err(bad(format!("did not end within {} s", LIMIT.as_secs()))),
        Ok((stdout, stderr, status)) => {
            let status: ExitStatus = status.context("the version command can't be waited for")?;
            if !status.success() {
                return Err(bad(format!("failed: {status}: {}", one_line(&stderr))));
            }
            // Some programs print it where errors go.
            let answer = Some(one_line(&stdout))
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| one_line(&stderr));
            if answer.is_empty() {
                return Err(bad("printed nothing".into()));
            }
            Ok(Some(answer))
        }
    }
}

/// The beginning of what is written; the rest is read and forgotten, so that nobody waits for a reader.
async fn beginning(output: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut kept = Vec::new();
    if let Some(mut output) = output {
        let _ = (&mut output).take(KEPT).read_to_end(&mut kept).await;
        let _ = tokio::io::copy(&mut output, &mut tokio::io::sink()).await;
    }
    kept
}

/// The lines that say something, in one.
fn one_line(bytes: &[u8]) -> String {
    const CHARACTERS: usize = 400;
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    lines.join("; ").chars().take(CHARACTERS).map(printable).collect()
}
