//! The command line.

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

use crate::words;

/// What a person chooses when starting the runner. The rest comes from the launch environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The agent's command: its program and arguments. Never empty.
    pub agent: Vec<String>,
    /// How often an idle seat reports that it is alive, in seconds, 1 to 3600. OpenRig takes the seat for
    /// idle for twice this long after each report.
    pub liveness_seconds: u32,
}

/// A reference runner: sits in a pane, drives an ACP agent, reports honestly what happens.
#[derive(Debug, Parser)]
#[command(name = "reference-runner", version)]
struct CommandLine {
    /// The agent's command; quotes and backslashes work, nothing else of a shell does
    #[arg(long, value_name = "CMD", default_value = "dsh acp")]
    agent: String,
    /// Seconds between two reports of an idle seat
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3600))]
    liveness: u32,
}

impl Options {
    /// Reads the options from command line arguments, the program's name first. The error is clap's own,
    /// which also carries requests for help and for the version.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        use clap::CommandFactory;
        let line = CommandLine::try_parse_from(arguments)?;
        let refuse = |message: String| CommandLine::command().error(ErrorKind::ValueValidation, message);
        let agent = words::split(&line.agent).map_err(|fault| refuse(format!("--agent: {fault}")))?;
        if agent.first().is_none_or(String::is_empty) {
            return Err(refuse(
                "--agent: a command is needed, such as 'dsh acp'".to_owned(),
            ));
        }
        Ok(Self {
            agent,
            liveness_seconds: line.liveness,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        Options::parse(
            std::iter::once("reference-runner")
                .chain(arguments.iter().copied())
                .map(OsString::from),
        )
    }

    #[test]
    fn the_default_agent_is_dsh() {
        assert_eq!(
            parse(&[]).unwrap(),
            Options {
                agent: vec!["dsh".into(), "acp".into()],
                liveness_seconds: 20
            }
        );
    }

    #[test]
    fn what_openrig_would_ignore_is_refused() {
        assert!(parse(&["--liveness", "0"]).is_err());
        assert!(parse(&["--liveness", "3601"]).is_err());
        assert!(parse(&["--liveness", "1.5"]).is_err());
        assert_eq!(parse(&["--liveness", "3600"]).unwrap().liveness_seconds, 3600);
    }

    #[test]
    fn an_empty_or_unclosed_command_is_refused() {
        assert!(parse(&["--agent", "  "]).is_err());
        assert!(parse(&["--agent", "''"]).is_err());
        assert!(parse(&["--agent", "'dsh"]).is_err());
    }
}
