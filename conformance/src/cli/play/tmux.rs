//! Plays in a pane of the person's own tmux: that pane is then the terminal that `play` is in.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Context as _;

use crate::cli::exit::{Exit, Refusal};

/// Starts this same command there, without the option that led here (`--transport tmux`).
pub(super) fn start() -> anyhow::Result<Exit> {
    let seatcheck = std::env::current_exe()?;
    let arguments = without_transport(std::env::args_os().skip(1));
    let inside = std::env::var_os("TMUX").is_some();
    let name = format!("seatcheck-{}", std::process::id());
    let mut tmux = Command::new("tmux");
    if inside {
        tmux.args(["split-window", "-h"]);
    } else {
        tmux.args(["new-session", "-d", "-s", &name]);
    }
    // The server may have been started with another PATH.
    if let Some(path) = std::env::var_os("PATH") {
        let mut variable = OsString::from("PATH=");
        variable.push(path);
        tmux.arg("-e").arg(variable);
    }
    tmux.arg("-c").arg(std::env::current_dir()?);
    tmux.arg("--").arg(seatcheck).args(arguments);
    let status = tmux.status().map_err(|error| {
        Refusal::usage(
            format!("tmux can't be started: {error}"),
            "install tmux, or play in this terminal by leaving --tmux out",
        )
    })?;
    if !status.success() {
        anyhow::bail!("tmux could not make the pane ({status})");
    }
    if !inside {
        println!("tmux attach -t {name}");
    }
    std::io::Write::flush(&mut std::io::stdout()).context("the command can't be printed")?;
    Ok(Exit::Done)
}

/// The arguments without `--transport` and its value. What follows `--` is the runner's.
fn without_transport(mut arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut kept = Vec::new();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            kept.push(argument);
            kept.extend(arguments.by_ref());
        } else if argument == "--transport" {
            // Its value goes with it.
            let _ = arguments.next();
        } else if !argument.as_encoded_bytes().starts_with(b"--transport=") {
            kept.push(argument);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_option_is_left_out() {
        for given in [
            &[
                "play",
                "--transport",
                "tmux",
                "x",
                "--",
                "r",
                "--transport",
                "tmux",
            ][..],
            &["play", "--transport=tmux", "x", "--", "r", "--transport", "tmux"],
        ] {
            let kept = without_transport(given.iter().map(OsString::from));
            assert_eq!(kept, ["play", "x", "--", "r", "--transport", "tmux"]);
        }
    }
}
