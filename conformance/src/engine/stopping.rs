//! Stops a seat: hangs up, waits for everything to end, and then sees to it.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::time::Instant;

use super::driver::Driver;
use super::setup::RunnerCommand;
use crate::history::{Fact, Step};
use crate::scenario::{StopBy, Transport};
use crate::seat::processes;
use crate::seat::supervisor::{self, Order};

/// How long the runner and its agent may take to end by themselves.
const STOP: Duration = Duration::from_secs(10);

/// How long is waited for processes in sessions of their own once nobody is left who could end them: a signal may still
/// be on its way to them.
const ABANDONED: Duration = Duration::from_secs(1);

/// How long the last bytes of a terminal that all have left may take.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// How long the supervisor may take to kill what is left; then it is killed, and the kernel with it hangs up.
const KILL: Duration = Duration::from_secs(10);

impl Driver<'_> {
    /// Hangs the terminal up as the end of a tmux session does (a pipe is closed and SIGHUP sent), waits until nothing of
    /// the seat is left, and kills what does not end. A seat that is not running is stopped already.
    pub(super) async fn stop(&mut self) -> io::Result<()> {
        if self.running.is_none() {
            return Ok(());
        }
        self.record(Fact::Step(Step::Stopping { how: "hangup".into() }));
        let began = Instant::now();
        self.kill_session().await;
        if let Some(running) = &mut self.running {
            match self.transport {
                Transport::Pty => {}
                Transport::Tmux => running.order(&Order::HangUpIfOrphaned).await,
                // Nobody hangs up where there is no terminal.
                Transport::Pipe => running.order(&Order::HangUp).await,
            }
            running.close();
        }
        self.see_it_end(began).await
    }

    /// Stops it in another way, and waits the same.
    pub(super) async fn stop_by(&mut self, how: StopBy) -> io::Result<()> {
        if self.running.is_none() {
            return Ok(());
        }
        if how == StopBy::EndOfInput {
            self.keep_hangup().await;
        }
        self.record(Fact::Step(Step::Stopping {
            how: how.as_str().into(),
        }));
        let began = Instant::now();
        let behind_a_shell = matches!(self.setup.runner, RunnerCommand::Shell(_));
        if let Some(running) = &mut self.running {
            match how {
                StopBy::HangupSignal => running.order(&Order::HangUp).await,
                StopBy::Terminate => running.order(&Order::Terminate { behind_a_shell }).await,
                StopBy::EndOfInput => running.close(),
            }
        }
        self.see_it_end(began).await
    }

    /// Sees to it that the supervisor will not pass a hang-up on.
    async fn keep_hangup(&mut self) {
        if let Some(running) = &mut self.running {
            running.order(&Order::KeepHangup).await;
        }
        let limit = Instant::now() + self.setup.patience;
        while self
            .running
            .as_ref()
            .is_some_and(|running| !running.keeps_hangup && !running.ended)
            && self.pump(limit).await
        {}
    }

    /// Waits until nothing of the seat is left, and kills what does not end.
    async fn see_it_end(&mut self, began: Instant) -> io::Result<()> {
        let patience = if self.hurried() { Duration::ZERO } else { STOP };
        if self.pane().is_some() {
            // The shell and the server would outlive it: they end once the runner has.
            while !self.observed.runner_ended() && self.pump(began + patience).await {}
            self.kill_session().await;
        }
        let mut deadline = began + patience;
        let mut is_abandoned = false;
        while let Some(running) = self.running.as_ref()
            && !running.empty
            && !running.ended
        {
            if running.is_abandoned() && self.agents.is_empty() && !is_abandoned {
                is_abandoned = true;
                deadline = deadline.min(Instant::now() + ABANDONED);
            }
            if !self.pump(deadline).await {
                break;
            }
        }
        self.end_supervisor().await?;
        // What was already under way to the engine still belongs to this launch.
        self.take_waiting();
        self.record(Fact::Step(Step::Stopped {
            took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }));
        Ok(())
    }

    async fn end_supervisor(&mut self) -> io::Result<()> {
        let limit = Instant::now() + KILL;
        if let Some(running) = &mut self.running {
            running.order(&Order::End).await;
        }
        while self.running.as_ref().is_some_and(|running| !running.ended) {
            if !self.pump_in_hurry(limit).await {
                break;
            }
        }
        let last_bytes = limit.min(Instant::now() + LAST_BYTES);
        while self
            .running
            .as_ref()
            .is_some_and(|running| running.connection.is_some() && !running.pane_closed)
        {
            if !self.pump_in_hurry(last_bytes).await {
                break;
            }
        }
        if self.fault.is_some() {
            processes::kill_marked(&self.room.home());
        }
        let Some(mut running) = self.running.take() else {
            return Ok(());
        };
        match tokio::time::timeout_at(limit, running.supervisor.wait()).await {
            Ok(status) if self.supervisor_is_gone => {
                self.fault = Some(self.why_the_supervisor_is_gone(status?));
            }
            Ok(_) => {}
            Err(_) => running.supervisor.kill().await?,
        }
        Ok(())
    }

    /// What is known of a supervisor that ended before it was told to.
    pub(super) fn why_the_supervisor_is_gone(&self, status: ExitStatus) -> String {
        let how = if status.signal().is_some() {
            "was killed"
        } else {
            "ended by itself"
        };
        let words = supervisor::last_words(&self.room.socket(), self.launch);
        let words = std::fs::read_to_string(words).unwrap_or_default();
        match words.lines().last() {
            Some(last) => format!("the seat's supervisor {how} ({status}): {last}"),
            None => format!("the seat's supervisor {how} ({status})"),
        }
    }
}
