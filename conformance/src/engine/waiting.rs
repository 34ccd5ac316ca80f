//! Waiting: for a condition, for time to pass, for whatever comes next. Everything that comes meanwhile is taken in.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use super::driver::Driver;
use super::idle_reports::Watch;
use super::lanes::{Observation, WAITING};
use crate::history::{Fact, Step};
use crate::scenario::{self, Condition};
use crate::seat::clock;

/// Lateness below this is ordinary scheduling.
const WORTH_TELLING: Duration = Duration::from_millis(25);

/// After the runner's end, how long what is under way may still arrive.
pub(super) const AFTER_THE_END: Duration = Duration::from_millis(500);

impl Driver<'_> {
    /// How long one await may take.
    fn patience(&self) -> Duration {
        let least = self
            .scenario
            .patience
            .map_or(Duration::ZERO, |least| least.duration());
        self.setup.patience.max(least)
    }

    /// No seat of this run has started an agent so far.
    fn no_agent_anywhere(&self) -> bool {
        !self.observed.agent_started() && !self.any_agent.load(Ordering::Relaxed)
    }

    pub(super) async fn until(&mut self, condition: &Condition) -> bool {
        let began = Instant::now();
        let limit = self.patience();
        let mut deadline = began + limit;
        let mut cut_short = None;
        loop {
            if self.observed.meets(condition) {
                self.record(Fact::Step(Step::Awaited {
                    what: condition.to_string(),
                    took_ms: milliseconds(began.elapsed()),
                    limit_ms: milliseconds(limit),
                }));
                return true;
            }
            if cut_short.is_none() {
                if self.fault.is_some() {
                    cut_short = Some("the kit itself failed".to_owned());
                    deadline = Instant::now();
                } else if let Some(lane) = self.recorder.cut_lane() {
                    cut_short = Some(format!("more came in the {} lane than is kept", lane.as_str()));
                    deadline = Instant::now();
                } else if self.observed.runner_ended() {
                    cut_short = Some("the runner had ended".to_owned());
                    deadline = deadline.min(Instant::now() + AFTER_THE_END);
                } else if self.no_agent_anywhere() {
                    // A program that starts no agent by now will not: the rest of the patience is left to its end.
                    let no_agent = began + limit.mul_f64(0.75);
                    if Instant::now() >= no_agent {
                        cut_short = Some("no agent had been started".to_owned());
                        deadline = Instant::now();
                    } else {
                        deadline = no_agent;
                    }
                } else {
                    deadline = began + limit;
                }
            }
            let went_on = self.pump(deadline).await;
            if self.hurried() || (!went_on && (cut_short.is_some() || Instant::now() >= began + limit)) {
                if self.observed.meets(condition) {
                    continue;
                }
                let screen = self.observed.screen.lines();
                self.record(Fact::Step(Step::TimedOut {
                    what: condition.to_string(),
                    limit_ms: milliseconds(began.elapsed()),
                    cut_short,
                    screen,
                }));
                return false;
            }
        }
    }

    /// Waits for something that need not come, and goes on.
    pub(super) async fn linger(&mut self, linger: &scenario::Linger) {
        let began = Instant::now();
        let limit = linger.at_most.duration();
        let mut deadline = began + limit;
        let mut met = self.observed.meets(&linger.until);
        while !met {
            if self.observed.runner_ended() {
                deadline = deadline.min(Instant::now() + AFTER_THE_END);
            }
            let went_on = self.pump(deadline).await;
            met = self.observed.meets(&linger.until);
            if !went_on {
                break;
            }
        }
        let took_ms = milliseconds(began.elapsed());
        self.record(Fact::Step(if met {
            Step::Awaited {
                what: linger.until.to_string(),
                took_ms,
                limit_ms: milliseconds(limit),
            }
        } else {
            Step::Quiet { lasted_ms: took_ms }
        }));
    }

    /// Watches an idle seat for as long as its livenessSeconds asks.
    pub(super) async fn idle_through(&mut self, idle: &scenario::IdleThrough) {
        let began = Instant::now();
        while !self.observed.runner_ended()
            && let Watch::Until(deadline) = self
                .observed
                .idle
                .watch(Instant::now(), idle.liveness_up_to.duration())
        {
            let went_on = self.pump(deadline).await;
            if !went_on && (self.hurried() || self.fault.is_some()) {
                break;
            }
        }
        self.record(Fact::Step(Step::Quiet {
            lasted_ms: milliseconds(began.elapsed()),
        }));
    }

    /// Lets that time pass while taking everything in.
    pub(super) async fn pass(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while !self.hurried() && self.pump(until).await {}
    }

    /// Takes in what comes next. False when the deadline came first, or everything is to end at once.
    pub(super) async fn pump(&mut self, deadline: Instant) -> bool {
        let mut hurry = self.hurry.clone();
        if hurry.borrow().is_some() {
            return false;
        }
        tokio::select! {
            went_on = self.pump_in_hurry(deadline) => went_on,
            _ = hurry.wait_for(Option::is_some) => false,
        }
    }

    /// The same, whether or not everything is to end.
    pub(super) async fn pump_in_hurry(&mut self, deadline: Instant) -> bool {
        // A seat that never stops talking must not put the deadline off.
        if Instant::now() >= deadline {
            self.take_some();
            return false;
        }
        let now = clock::now();
        let reading_change = self
            .reading
            .as_ref()
            .and_then(|reading| reading.next_change(now))
            .map(|at| Instant::now() + Duration::from_nanos(at.saturating_sub(now)));
        let reading_changes = async {
            match reading_change {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(observation) = self.observations.recv() => {
                self.take(observation).await;
                self.take_some();
            }
            tick = self.ticker.tick() => self.tell_lateness(tick),
            () = reading_changes => self.tell_reading(),
            () = tokio::time::sleep_until(deadline) => return false,
        }
        true
    }

    /// Takes in what has come already, but not so long that a deadline is missed by much: a flood takes time. A seat
    /// that does not flood never has more than these waiting, however late the machine is.
    fn take_some(&mut self) {
        const ALWAYS: usize = 32;
        const LONG_ENOUGH: Duration = Duration::from_millis(20);
        let began = Instant::now();
        let mut taken = 0;
        while (taken < ALWAYS || began.elapsed() < LONG_ENOUGH)
            && let Some(observation) = self.observations.try_recv()
        {
            self.take_now(observation);
            taken += 1;
        }
    }

    /// Takes in what has come already, and no more than can have been waiting.
    pub(super) fn take_waiting(&mut self) {
        for _ in 0..WAITING {
            let Some(observation) = self.observations.try_recv() else {
                return;
            };
            self.take_now(observation);
        }
    }

    async fn take(&mut self, observation: Observation) {
        self.take_now(observation);
        tokio::task::yield_now().await;
    }

    fn tell_lateness(&mut self, tick: Instant) {
        let late = tick.elapsed();
        if late >= WORTH_TELLING {
            self.record(Fact::Lag {
                late_ms: milliseconds(late),
            });
        }
    }

    pub(super) async fn wait_for_supervisor(&mut self) -> io::Result<()> {
        let limit = Instant::now() + self.setup.patience;
        while self
            .running
            .as_ref()
            .is_some_and(|running| running.orders.is_none())
        {
            if !self.pump_in_hurry(limit).await {
                let ended = self
                    .running
                    .as_mut()
                    .and_then(|running| running.supervisor.try_wait().ok().flatten());
                return Err(io::Error::other(match ended {
                    Some(status) => self.why_the_supervisor_is_gone(status),
                    None => "the seat's supervisor did not come up".into(),
                }));
            }
        }
        Ok(())
    }

    pub(super) async fn wait_for_start(&mut self) -> io::Result<()> {
        let limit = Instant::now() + self.setup.patience;
        while self
            .running
            .as_ref()
            .is_some_and(|running| !running.started && !running.ended)
        {
            if !self.pump_in_hurry(limit).await {
                return Err(io::Error::other("the runner's program was not started"));
            }
        }
        Ok(())
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
