//! Many seats side by side: the limits of the system are known before they are met.

use std::process::Command;

use crate::support::{Done, Seatcheck};

/// seatcheck under a shell's limit of open files.
fn limited(seatcheck: &Seatcheck, limit: &str, arguments: &[&str]) -> Done {
    let run = seatcheck.command(arguments);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("ulimit {limit} && exec \"$@\""), "sh"])
        .arg(run.get_program())
        .args(run.get_args())
        .envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Done::new(shell.output().unwrap())
}

#[test]
fn too_few_open_files_are_refused_with_a_way_out() {
    let seatcheck = Seatcheck::new();
    let done = limited(&seatcheck, "-n 100", &["run", "--jobs", "200"]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("seats side by side need about") && done.stderr.contains("hint: run fewer with"),
        "{}",
        done.stderr
    );
    seatcheck.assert_nothing_left();
}

#[test]
fn what_nobody_asked_for_adapts_to_the_open_files_that_there_are() {
    let seatcheck = Seatcheck::new();
    // Enough for two seats; the selection has six and more.
    let done = limited(
        &seatcheck,
        "-n 130",
        &["run", "--suite", "promotion", "--format", "json"],
    );
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    seatcheck.assert_nothing_left();
}

#[test]
fn a_low_limit_that_may_be_raised_is_raised_for_the_kit_and_not_for_the_runner() {
    let seatcheck = Seatcheck::new();
    let arguments = [
        "run",
        "--only",
        "promotion/1-*",
        "--patience",
        "2s",
        "--format",
        "json",
        "--",
    ];
    let mut arguments = arguments.to_vec();
    arguments.extend(["sh", "-c", "echo it may open $(ulimit -n)"]);
    let done = limited(&seatcheck, "-S -n 80", &arguments);
    assert_eq!(done.code, Some(3), "{}", done.stderr);
    assert!(done.stdout.contains("it may open 80"), "{}", done.stdout);
}
