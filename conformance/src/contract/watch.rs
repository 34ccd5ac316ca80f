//! How long something may be demanded of a runner, and what frees it from a demand.
//!
//! An absence is a finding only while the seat was left to itself, the runner lived and the agent was there to be
//! spoken to. A conformant runner may end on its own, after its agent's exit for instance.

use crate::history::views::LaunchView;
use crate::history::{Event, Fact, Pane, Process, Step, Wire};

/// When nothing more may be demanded in this launch: the stop began, or the runner had ended before.
pub(super) fn free_until(launch: &LaunchView<'_>) -> u64 {
    let end = launch.end_of_free_run();
    launch.runner_exit().map_or(end, |exit| exit.at.min(end))
}

/// How long the runner lived undisturbed after `at`, in nanoseconds.
pub(super) fn free_after(launch: &LaunchView<'_>, at: u64) -> u64 {
    free_until(launch).saturating_sub(at)
}

/// The events, and the one that ended the watch: an absence is decided by it.
pub(super) fn cited<'h>(launch: &LaunchView<'h>, events: &[&'h Event]) -> Vec<&'h Event> {
    events.iter().copied().chain(launch.closing_event()).collect()
}

/// The first sign, before the seat is stopped, that an agent can't be counted on any more: it is about to end, has
/// ended, or closed its output.
pub(super) fn agent_lost<'h>(launch: &LaunchView<'h>, number: u32) -> Option<&'h Event> {
    let mut before_the_stop = launch
        .events
        .iter()
        .copied()
        .take_while(|event| !matches!(event.fact, Fact::Step(Step::Stopping { .. })));
    before_the_stop.find(|event| match &event.fact {
        Fact::Wire(
            Wire::Ending { agent, .. } | Wire::AgentEnded { agent } | Wire::StdoutClosed { agent },
        ) => *agent == number,
        _ => false,
    })
}

/// The event of the agent's own end, if it came before the stop: not the runner's doing, as far as can be seen.
pub(super) fn ended_on_its_own<'h>(launch: &LaunchView<'h>, agent: u32) -> Option<&'h Event> {
    let end = launch.end_of_free_run();
    let mut ending = None;
    for event in launch.events.iter().copied().take_while(|event| event.at <= end) {
        match &event.fact {
            Fact::Process(Process::RunnerExited { .. }) => break,
            Fact::Wire(Wire::EndOfInput { agent: other }) if *other == agent => break,
            Fact::Wire(Wire::Ending { agent: other, .. }) if *other == agent => ending = Some(event),
            Fact::Wire(Wire::AgentEnded { agent: other }) if *other == agent => return Some(event),
            _ => {}
        }
    }
    // The scripted end is followed by the process's own in no time; the history may have stopped in between.
    ending
}

/// Whether the runner may have read the end of its input, and ended for that: a pipe has one, and Ctrl-D may be one.
pub(super) fn input_may_have_ended(launch: &LaunchView<'_>) -> bool {
    launch.facts.transport == "pipe" || was_put_in(launch, 0x04, u64::MAX)
}

/// Whether that byte was written to the seat by then.
pub(super) fn was_put_in(launch: &LaunchView<'_>, byte: u8, until: u64) -> bool {
    launch.events.iter().any(|event| {
        event.at <= until
            && matches!(&event.fact, Fact::Pane(Pane::Input { bytes }) if bytes.0.contains(&byte))
    })
}

/// Everything that may count as an order to cancel, in order: bare /abort blocks, Ctrl-C outside a paste, and the
/// Ctrl-C byte inside a paste or among other keys (a declared limit of §5).
pub(super) fn possible_orders<'h>(launch: &LaunchView<'h>) -> Vec<&'h Event> {
    const CTRL_C: u8 = 0x03;
    let mut orders = launch.abort_orders();
    orders.extend(launch.events.iter().copied().filter(|event| match &event.fact {
        Fact::Step(Step::Typed { bytes }) => bytes.0.contains(&CTRL_C),
        Fact::Step(Step::Sent { text, .. }) => text.0.contains(&CTRL_C),
        _ => false,
    }));
    orders.sort_by_key(|event| event.sequence);
    orders
}
