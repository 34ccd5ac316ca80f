//! Progress on standard error: a bar on a terminal, lines elsewhere.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressStyle};

use crate::engine::{Progress, SeatRun};

pub(super) struct ProgressShown {
    bar: Option<ProgressBar>,
    done: u64,
    all: u64,
}

impl ProgressShown {
    pub(super) fn new(all: usize) -> Self {
        let all = all as u64;
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(all);
            // The template is ours and right.
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} scenarios  {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, done: 0, all }
    }

    pub(super) fn tell(&mut self, progress: &Progress) {
        match (progress, &self.bar) {
            (Progress::Began(id), Some(bar)) => bar.set_message(id.clone()),
            (Progress::Began(_), None) => {}
            (Progress::Ended(_), Some(bar)) => bar.inc(1),
            (Progress::Ended(run), None) => {
                self.done += 1;
                eprintln!(
                    "{}/{} {} {:.1} s{}",
                    self.done,
                    self.all,
                    run.scenario,
                    run.took.as_secs_f64(),
                    ended(run)
                );
            }
        }
    }

    pub(super) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn ended(run: &SeatRun) -> &'static str {
    match (run.completed, run.cut_off, &run.fault) {
        (_, _, Some(_)) => ": harness error",
        (_, true, _) => ": ended early",
        (false, ..) => ": an awaited event did not come",
        _ => "",
    }
}
