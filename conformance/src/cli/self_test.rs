//! `seatcheck self-test`.

use clap::Args;

use super::exit::Exit;

/// Options of `self-test`.
#[derive(Debug, Args)]
pub(super) struct Options {}

pub(super) fn run(_options: &Options) -> anyhow::Result<Exit> {
    anyhow::bail!("not there yet")
}
