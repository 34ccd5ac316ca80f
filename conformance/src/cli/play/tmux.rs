//! Plays in a pane of the person's own tmux: that pane is then the terminal that `play` is in.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Context as _;

use crate::cli::exit::{Exit, Refusal};

/// Starts this same command there, without the option that led here.
pub(super) fn start() -> anyhow::Result<Exit> {
    let seatcheck = std::env::current_exe()?;
    let mut own = true;
    let arguments: Vec<OsString> = std::env::args_os()
        .skip(1)
        .filter(|argument| {
            own &= argument != "--";
            !(own && argument == "--tmux")
        })
        .collect();
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
