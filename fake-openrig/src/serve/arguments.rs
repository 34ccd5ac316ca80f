//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

/// OpenRig's side of one seat, without OpenRig.
#[derive(Debug, Parser)]
#[command(name = "fake-openrig", version)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Host a seat: give a runner its launch, take its posts, and show how the seat reads.
    Serve(Box<Serve>),
    /// A step of `serve`'s own
    #[command(hide = true)]
    OnTerminal {
        /// What to become
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
The runner gets this terminal; the board, whose address is named at the start, shows it too. Its posts and every change of the seat's reading go to a log file that is named at \
the start, and are shown again at the end; `tail -f` shows them meanwhile in another terminal.

Examples:
  fake-openrig serve --preset dsh.yaml -- dsh-seat
  fake-openrig serve --name dsh --resume CONVERSATION -- dsh-seat
  fake-openrig serve --name dsh > seat.sh     then, elsewhere:  . ./seat.sh && dsh-seat")]
pub(super) struct Serve {
    /// The preset file to take the seat's runtime from
    #[arg(long, value_name = "FILE", conflicts_with = "name")]
    pub(super) preset: Option<PathBuf>,
    /// The preset's name, where there is no file
    #[arg(long, default_value = "runner", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) name: String,
    /// The session's name
    #[arg(long, value_name = "NAME", default_value = "seat@local")]
    pub(super) session: String,
    /// Launch as a resume of this conversation
    #[arg(long, value_name = "REF")]
    pub(super) resume: Option<String>,
    /// The seat's model
    #[arg(long)]
    pub(super) model: Option<String>,
    /// The file with the seat's first input
    #[arg(long, value_name = "FILE")]
    pub(super) first_input: Option<PathBuf>,
    /// How many seconds to wait for a launch record
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(super) wait: Duration,
    /// Where the posts and readings are written; kept, and not shown again at the end
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// The runner and its arguments. Without it, the launch's variables are printed for a shell, and the seat is
    /// there until Ctrl-C
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: u64 = text
        .parse()
        .map_err(|_| "not a whole number of seconds".to_owned())?;
    match seconds {
        1..=86_400 => Ok(Duration::from_secs(seconds)),
        _ => Err("not from 1 to 86400".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Serve, clap::Error> {
        let arguments = ["fake-openrig", "serve"].iter().chain(arguments);
        Arguments::try_parse_from(arguments).map(|arguments| match arguments.command {
            Command::Serve(serve) => *serve,
            Command::OnTerminal { .. } => panic!("another command"),
        })
    }

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_command_comes_after_two_dashes() {
        let serve = parse(&["--name", "dsh", "--", "dsh-seat", "--resume", "x"]).unwrap();
        assert_eq!((serve.name.as_str(), serve.resume), ("dsh", None));
        assert_eq!(serve.command, ["dsh-seat", "--resume", "x"]);
        assert!(parse(&["dsh-seat"]).is_err());
    }

    #[test]
    fn a_file_and_a_name_exclude_each_other() {
        assert!(parse(&["--preset", "dsh.yaml", "--name", "dsh"]).is_err());
        assert_eq!(
            parse(&["--preset", "dsh.yaml"]).unwrap().preset,
            Some(PathBuf::from("dsh.yaml"))
        );
    }

    #[test]
    fn a_wait_has_its_limits() {
        assert_eq!(parse(&[]).unwrap().wait, Duration::from_secs(30));
        for wait in ["0", "86401", "-1", "1.5", "soon"] {
            assert!(parse(&[&format!("--wait={wait}")]).is_err(), "{wait}");
        }
    }
}
