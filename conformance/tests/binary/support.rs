//! The built binary, run so that what it leaves behind can be seen.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// seatcheck with a temporary folder of its own.
pub(crate) struct Seatcheck {
    temporary: TempDir,
}

impl Seatcheck {
    pub(crate) fn new() -> Self {
        Self {
            temporary: tempfile::tempdir().unwrap(),
        }
    }

    /// The command, not yet started.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seatcheck"));
        command.args(arguments).env("TMPDIR", self.temporary.path());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Done {
        Done::new(self.command(arguments).output().unwrap())
    }

    /// What stands in the environment of every process of this run.
    pub(crate) fn mark(&self) -> &[u8] {
        self.temporary.path().as_os_str().as_encoded_bytes()
    }

    /// Every process that has this run's temporary folder in its environment or arguments.
    pub(crate) fn processes(&self) -> Vec<String> {
        let mark = self.mark();
        let holds = |path: PathBuf| {
            std::fs::read(path).is_ok_and(|text| text.windows(mark.len()).any(|window| window == mark))
        };
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|entry| {
                entry
                    .file_name()
                    .to_string_lossy()
                    .parse::<u32>()
                    .is_ok_and(|pid| pid != std::process::id())
            })
            .filter(|entry| holds(entry.path().join("environ")) || holds(entry.path().join("cmdline")))
            .map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default())
            .collect()
    }

    /// Fails if a process or a file of the run is left.
    pub(crate) fn assert_nothing_left(&self) {
        assert_eq!(self.processes(), Vec::<String>::new(), "processes are left");
        let files: Vec<_> = std::fs::read_dir(self.temporary.path())
            .unwrap()
            .flatten()
            .collect();
        assert!(files.is_empty(), "files are left: {files:?}");
    }
}

/// What a finished run said.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Standard output as a report.
    pub(crate) fn report(&self) -> reports::Report {
        reports::read(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout, self.stderr))
    }
}

/// Whether a program is here that a test needs. SEATCHECK_TESTS_NEED names, with commas between, those that must be:
/// without one of them the test fails; else it says that it was not run.
pub(crate) fn is_here(program: &str, version: &str) -> bool {
    let here = Command::new(program)
        .arg(version)
        .output()
        .is_ok_and(|output| output.status.success());
    let needed = std::env::var("SEATCHECK_TESTS_NEED")
        .is_ok_and(|needed| needed.split(',').any(|needed| needed == program));
    assert!(here || !needed, "{program} is needed for this test");
    if !here {
        eprintln!("not run: there is no {program}");
    }
    here
}

/// Whether tmux is here.
pub(crate) fn tmux_is_here() -> bool {
    is_here("tmux", "-V")
}

/// A program of `tests/programs`.
pub(crate) fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(name)
}

/// The verdicts of a report that say that something is wrong, in words.
pub(crate) fn complaints(report: &reports::Report) -> Vec<String> {
    report
        .clauses
        .iter()
        .filter(|clause| {
            !matches!(
                clause.verdict,
                reports::Verdict::Pass | reports::Verdict::NotApplicable | reports::Verdict::NotSelected
            )
        })
        .map(|clause| {
            format!(
                "{} {}: {:?} ({:?})",
                clause.verdict.as_str(),
                clause.id,
                clause.said,
                clause.scenario
            )
        })
        .chain(report.reasons.iter().cloned())
        .collect()
}

/// Python, if it is here.
pub(crate) fn python() -> Option<&'static str> {
    is_here("python3", "--version").then_some("python3")
}
