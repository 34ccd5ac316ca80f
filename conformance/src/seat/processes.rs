//! Descendants of a process, as /proc shows them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

/// A process, as far as the system says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessInfo {
    pub(crate) pid: u32,
    pub(crate) process_group: u32,
    pub(crate) session: u32,
    pub(crate) command: String,
}

/// All living processes below `root`, nearest first. Zombies are not among them: they only wait to be reaped.
pub(crate) fn descendants(root: u32) -> Vec<ProcessInfo> {
    let mut children: BTreeMap<u32, Vec<(ProcessInfo, bool)>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        if let Some((parent, info, dead)) = stat(pid) {
            children.entry(parent).or_default().push((info, dead));
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for (info, dead) in children.remove(&parent).unwrap_or_default() {
            parents.push(info.pid);
            if !dead {
                found.push(info);
            }
        }
    }
    found
}

/// Kills every process that was started with `mark` in its environment, until none is left: what remains to be done for
/// a seat whose supervisor was killed. A process that cleared its environment is not found this way.
pub(crate) fn kill_marked(mark: &Path) {
    /// A seat that forks faster than this is not ended by it.
    const ROUNDS: usize = 100;
    for _ in 0..ROUNDS {
        let marked = marked(mark);
        if marked.is_empty() {
            return;
        }
        for pid in marked {
            // It may have ended meanwhile.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

fn marked(mark: &Path) -> Vec<Pid> {
    let mark = mark.as_os_str().as_bytes();
    let holds = |path: PathBuf| {
        fs::read(path).is_ok_and(|text| text.windows(mark.len()).any(|window| window == mark))
    };
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid = entry
                .file_name()
                .to_str()?
                .parse::<i32>()
                .ok()
                .and_then(Pid::from_raw)?;
            holds(entry.path().join("environ")).then_some(pid)
        })
        .collect()
}

/// Parent, facts, and whether it is dead already.
fn stat(pid: u32) -> Option<(u32, ProcessInfo, bool)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything, brackets too.
    let (before, after) = text.rsplit_once(')')?;
    let name = before.split_once('(')?.1;
    let mut fields = after.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let process_group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let command = fs::read(format!("/proc/{pid}/cmdline"))
        .ok()
        .map(|raw| {
            String::from_utf8_lossy(&raw)
                .split('\0')
                .collect::<Vec<_>>()
                .join(" ")
                .trim()
                .to_owned()
        })
        .filter(|line| !line.is_empty())
        .unwrap_or_else(|| name.to_owned());
    let command = command.chars().take(200).collect();
    Some((
        parent,
        ProcessInfo {
            pid,
            process_group,
            session,
            command,
        },
        matches!(state, "Z" | "X"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_of_a_child_is_found() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sleep 600 & wait"])
            .spawn()
            .unwrap();
        // The shell prints nothing; its child is there once /proc shows it.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let found = loop {
            let found = descendants(std::process::id());
            if found
                .iter()
                .any(|process| process.command.starts_with("sleep 600"))
                || std::time::Instant::now() > deadline
            {
                break found;
            }
            std::thread::yield_now();
        };
        for process in found
            .iter()
            .filter(|process| process.command.starts_with("sleep 600"))
        {
            let pid = rustix::process::Pid::from_raw(i32::try_from(process.pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        child.wait().unwrap();
        assert!(
            found
                .iter()
                .any(|process| process.command.starts_with("sleep 600")),
            "{found:?}"
        );
    }
}
