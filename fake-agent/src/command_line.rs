//! The command line, and the start of the process.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

use crate::agent::Agent;
use crate::arrivals::Arrivals;
use crate::children::{self, Program};
use crate::ending;
use crate::orders::{self, OrdersError};
use crate::reporter::Reporter;
use crate::script::{Script, SignalName};
use crate::script_file;

/// A scripted ACP agent on standard input and output.
///
/// Without a script it opens and reopens conversations and answers every prompt with `done`.
#[derive(Parser)]
#[command(
    name = "fake-agent",
    version,
    no_binary_name = true,
    args_conflicts_with_subcommands = true
)]
struct Options {
    /// The script to play, a YAML file; a scenario file does as well
    #[arg(long, value_name = "FILE", conflicts_with = "control")]
    script: Option<PathBuf>,

    /// Write what is seen and done to this file, as JSON lines
    #[arg(long, value_name = "FILE", conflicts_with = "control")]
    log: Option<PathBuf>,

    /// Take the script and orders from an engine's Unix socket, and report to it
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,

    /// A text to report to the engine at the start
    #[arg(long, value_name = "TEXT", requires = "control")]
    label: Option<String>,

    /// What the runner passes to its agent: reported, and otherwise ignored
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,

    #[command(subcommand)]
    part: Option<Part>,
}

/// What the program starts itself as.
#[derive(Subcommand)]
#[command(disable_help_subcommand = true)]
enum Part {
    #[command(hide = true)]
    Child {
        #[arg(long)]
        own_session: bool,
    },
    #[command(hide = true)]
    Raise { signal: SignalName },
}

/// Runs the fake agent. `arguments` are those that follow the name of the program, or the words that led
/// to the fake agent inside a larger program; they must be the last of the process's own arguments, for
/// the fake agent starts that program again for its children.
///
/// Returns 2 for bad usage or a bad script and 1 for errors of the system and for an engine that is gone,
/// with a message on standard error. Ends the process itself where the script says so.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let options = match Options::try_parse_from(&arguments) {
        Ok(options) => options,
        Err(error) => {
            // There is nowhere left to report that this failed.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match options.part {
        Some(Part::Child { own_session }) => return children::live(own_session),
        Some(Part::Raise { signal }) => return ending::raise(signal),
        None => {}
    }
    let script = match options.script.as_deref().map(script_file::read).transpose() {
        Ok(script) => script.unwrap_or_default(),
        Err(error) => {
            eprintln!("error: {error}\nhint: {}", error.hint());
            return ExitCode::from(2);
        }
    };
    let Err(error) = start(options, script, &arguments);
    // With the engine gone nobody reads a message, and a full pipe would hold up the end.
    if !matches!(error.downcast_ref(), Some(OrdersError::Closed)) {
        eprintln!("error: {error:#}");
    }
    ExitCode::FAILURE
}

fn start(options: Options, script: Script, arguments: &[OsString]) -> anyhow::Result<Infallible> {
    let program = Program::current(arguments).context("this program's own path is unknown")?;
    match options.control {
        Some(path) => {
            let (reporter, mut orders) = orders::connect(&path).with_context(|| {
                let path = path.display();
                format!("no engine listens at {path}\nhint: without an engine, use --script FILE\ncause")
            })?;
            orders::say_hello(&reporter, options.label, options.arguments);
            let script = orders.script()?;
            let arrivals = Arrivals::new(&script, false);
            let agent = Agent::new(script, arrivals, reporter, program)?;
            orders.follow(Arc::clone(&agent))?;
            agent.play()
        }
        None => {
            let reporter = match options.log {
                Some(path) => Reporter::log(
                    File::create(&path)
                        .with_context(|| format!("the log {} can't be made", path.display()))?,
                ),
                None => Reporter::none(),
            };
            let arrivals = Arrivals::new(&script, true);
            Agent::new(script, arrivals, reporter, program)?.play()
        }
    }
}
