//! How much of a seat's events is kept, so that no seat can fill the memory and none is at another's mercy.
//!
//! Every lane of every seat has some room of its own; beyond it, all seats of a run share one room. A lane that finds
//! neither is cut: what comes later is counted and not kept.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::history::views::repeated;
use crate::history::{Cut, Event, Fact, Lane, Pane, PostFact, Process, Wire};

/// The room of its own that each lane of a seat has.
const OWN: usize = 1 << 20;

/// No lane of a seat takes more than this, however much common room there is. A pane costs most to judge; a
/// full-screen program that shows a message of 1 MiB stays well below.
const fn most(lane: Lane) -> usize {
    match lane {
        Lane::Pane => 8 << 20,
        _ => 32 << 20,
    }
}

/// What all seats of a run may take beyond their own.
const COMMON: usize = 384 << 20;

/// So much of the end of a pane that was cut is kept for people to look at.
const TAIL: usize = 64 << 10;

/// The room that all seats of a run share.
#[derive(Debug, Clone)]
pub(crate) struct CommonRoom(Arc<AtomicUsize>);

impl CommonRoom {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(COMMON)))
    }

    fn take(&self, size: usize) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(size)
            })
            .is_ok()
    }
}

/// What a seat has kept so far, and what it had to leave out.
#[derive(Debug)]
pub(super) struct Kept {
    common: CommonRoom,
    taken: BTreeMap<Lane, usize>,
    cuts: BTreeMap<Lane, (Event, Cut)>,
    tail: VecDeque<Event>,
    tail_size: usize,
}

impl Kept {
    pub(super) fn new(common: CommonRoom) -> Self {
        Self {
            common,
            taken: BTreeMap::new(),
            cuts: BTreeMap::new(),
            tail: VecDeque::new(),
            tail_size: 0,
        }
    }

    /// A lane that is cut.
    pub(super) fn cut_lane(&self) -> Option<Lane> {
        self.cuts.keys().next().copied()
    }

    /// Whether there is room for this event, which is then taken. What the engine does itself always has room.
    pub(super) fn has_room(&mut self, event: &Event) -> bool {
        let lane = event.lane();
        if lane == Lane::Step {
            return true;
        }
        if self.cuts.contains_key(&lane) {
            return false;
        }
        let taken = self.taken.entry(lane).or_default();
        let size = size_of::<Event>() + content(&event.fact);
        let beyond = (*taken + size).saturating_sub(OWN.max(*taken));
        if *taken + size > most(lane) || !self.common.take(beyond) {
            return false;
        }
        *taken += size;
        true
    }

    /// Counts an event that there is no room for.
    pub(super) fn leave_out(&mut self, event: Event) {
        let bytes = content(&event.fact) as u64;
        self.count(event.lane(), event.launch, event.at, 1, bytes);
        if matches!(event.fact, Fact::Pane(Pane::Output { .. })) {
            self.tail_size += content(&event.fact);
            self.tail.push_back(event);
            while self.tail_size > TAIL
                && let Some(gone) = self.tail.pop_front()
            {
                self.tail_size -= content(&gone.fact);
            }
        }
    }

    /// Cuts a lane where something was lost before it came here, or counts it if the lane is cut already.
    pub(super) fn count(&mut self, lane: Lane, launch: u32, at: u64, events: u64, bytes: u64) {
        let (_, cut) = self.cuts.entry(lane).or_insert_with(|| {
            let cut = Cut {
                lane,
                events: 0,
                bytes: 0,
                until: at,
            };
            let event = Event {
                sequence: 0,
                at,
                launch,
                fact: Fact::Cut(cut),
            };
            (event, cut)
        });
        cut.events += events;
        cut.bytes += bytes;
        cut.until = cut.until.max(at);
    }

    /// The cuts, and the end of a pane that was cut.
    pub(super) fn finish(self) -> Vec<Event> {
        let mut cuts = self.cuts;
        if let Some((_, cut)) = cuts.get_mut(&Lane::Pane) {
            cut.events = cut.events.saturating_sub(self.tail.len() as u64);
            cut.bytes = cut.bytes.saturating_sub(self.tail_size as u64);
        }
        cuts.into_values()
            .map(|(event, cut)| Event {
                fact: Fact::Cut(cut),
                ..event
            })
            .chain(self.tail)
            .collect()
    }
}

/// About how many bytes a fact takes beyond its own size.
fn content(fact: &Fact) -> usize {
    match fact {
        // What a screen has to draw is what it costs to judge.
        Fact::Pane(Pane::Output { bytes }) => bytes.0.len() + repeated(&bytes.0),
        Fact::Pane(Pane::Input { bytes } | Pane::Answer { bytes })
        | Fact::Wire(
            Wire::ToAgent { line: bytes, .. }
            | Wire::FromAgent { line: bytes, .. }
            | Wire::FromAgentRaw { bytes, .. },
        ) => bytes.0.len(),
        Fact::Wire(Wire::AgentStarted {
            arguments,
            environment,
            ..
        }) => {
            // What a text and an entry of a map take beside their bytes.
            const ENTRY: usize = 64;
            let arguments = arguments.iter().map(|argument| argument.len() + ENTRY);
            let environment = environment
                .iter()
                .map(|(name, value)| name.len() + value.len() + ENTRY);
            arguments.chain(environment).sum()
        }
        Fact::Wire(Wire::Gate { name, .. }) => name.len(),
        Fact::Wire(Wire::Trouble { text, .. }) => text.len(),
        Fact::Post(PostFact::Started {
            method, path, body, ..
        }) => method.len() + path.len() + body.0.len(),
        Fact::Record(record) => {
            record.content.as_ref().map_or(0, |content| content.0.len())
                + record.note.as_ref().map_or(0, String::len)
        }
        Fact::Process(Process::Survivor { command, .. }) => command.len(),
        Fact::Process(Process::RunnerNotStarted { why }) => why.len(),
        Fact::Reading(reading) => reading.launch.len() + reading.activity.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Bytes;

    fn output(at: u64, size: usize) -> Event {
        Event {
            sequence: 0,
            at,
            launch: 1,
            fact: Fact::Pane(Pane::Output {
                bytes: Bytes(vec![b'x'; size]),
            }),
        }
    }

    fn exit(at: u64) -> Event {
        Event {
            fact: Fact::Process(Process::RunnerExited {
                code: Some(0),
                signal: None,
            }),
            ..output(at, 0)
        }
    }

    fn keep(kept: &mut Kept, event: Event) -> bool {
        let room = kept.has_room(&event);
        if !room {
            kept.leave_out(event);
        }
        room
    }

    #[test]
    fn a_flood_is_cut_once_and_told_with_its_end() {
        let mut kept = Kept::new(CommonRoom::new());
        let came: Vec<bool> = (0..100).map(|at| keep(&mut kept, output(at, 1 << 20))).collect();
        let whole = came.iter().take_while(|kept| **kept).count();
        assert!(whole < 8 && came[whole..].iter().all(|kept| !kept), "{whole}");
        assert!(keep(&mut kept, exit(100)), "another lane has its room");
        assert!(!keep(&mut kept, output(101, 5)), "a cut lane stays cut");
        let told = kept.finish();
        let Fact::Cut(cut) = told[0].fact else {
            panic!("{told:?}")
        };
        assert_eq!((told[0].at, cut.until), (whole as u64, 101));
        assert_eq!(cut.events, 100 - whole as u64);
        assert_eq!(told[1..], [output(101, 5)]);
    }

    #[test]
    fn a_seat_has_its_own_room_when_others_took_the_common_one() {
        let common = CommonRoom::new();
        for _ in 0..80 {
            let mut flooding = Kept::new(common.clone());
            while keep(&mut flooding, output(1, 1 << 20)) {}
        }
        let mut quiet = Kept::new(common);
        assert!(keep(&mut quiet, output(1, OWN - size_of::<Event>())));
        assert!(!keep(&mut quiet, output(1, 2 << 20)));
    }

    #[test]
    fn the_common_room_is_what_bounds_a_run() {
        let common = CommonRoom::new();
        let mut sum = 0;
        for _ in 0..64 {
            let mut flooding = Kept::new(common.clone());
            while keep(&mut flooding, output(1, 4_000)) {
                sum += 4_000 + size_of::<Event>();
            }
        }
        assert!(sum <= COMMON + 64 * OWN, "{sum}");
    }
}
