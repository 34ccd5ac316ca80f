//! How OpenRig would read a seat, as a fold over what came in: records, posts and the passing of time.
//!
//! [`SeatReading`] is pure: it holds no clock and does no input or output. Where the draft leaves room, this is how
//! it reads:
//!
//! - The first record that is usable, or that says missing, decides the launch; later ones change nothing. A record
//!   that comes after the wait leaves the seat in attention, or unconfirmed, until an operator clears it.
//! - `missing` means something only to a resume; in a new launch it is the same as no record.
//! - A resume whose record names another conversation is unconfirmed at once.
//! - An event that says nothing of a turn (`SessionStart`, another notification, an unknown name) is recorded, and
//!   its sequence counts, but it leaves the reading as it was: unknown if nothing was known.
//! - A post without a whole-number sequence counts in the order of arrival, and leaves the last sequence as it was.
//! - Exited is the last word of a generation: no later post of it moves the reading. A runner reports one agent
//!   process per launch, and a beat after its exit is not news of it.
//! - Any working or idle post ends needs input, as it does in OpenRig; holding attention is the runner's part.
//! - Attention that an operator cleared leaves the activity unknown until the next post that counts.

use crate::hook_event::EventState;
use crate::launch::Launch;
use crate::post::Post;
use crate::record::RecordReading;

const NANOSECONDS: u64 = 1_000_000_000;

/// What the reading has to know of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchFacts {
    /// The conversation to reopen; a launch that has one is a resume.
    pub resume_ref: Option<String>,
    /// The occupant's generation.
    pub generation: String,
    /// The session's name.
    pub session_name: String,
    /// The node's id.
    pub node_id: String,
    /// The preset's name.
    pub preset_name: String,
}

impl From<&Launch> for LaunchFacts {
    fn from(launch: &Launch) -> Self {
        Self {
            resume_ref: launch.resume_ref.clone(),
            generation: launch.generation.clone(),
            session_name: launch.session_name.clone(),
            node_id: launch.node_id.clone(),
            preset_name: launch.runtime.clone(),
        }
    }
}

/// What OpenRig shows of a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// How the launch went.
    pub launch: LaunchReading,
    /// What the seat is doing.
    pub activity: ActivityReading,
}

/// How a launch went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchReading {
    /// No record has decided it yet.
    Pending,
    /// A new conversation was opened.
    Ready,
    /// No usable record came in the wait.
    Attention,
    /// The conversation asked for was reopened.
    Resumed,
    /// The agent said that the conversation does not exist.
    Missing,
    /// Nobody could say whether the conversation came back.
    Unconfirmed,
}

impl LaunchReading {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Ready => "ready",
            Self::Attention => "attention",
            Self::Resumed => "resumed",
            Self::Missing => "missing",
            Self::Unconfirmed => "unconfirmed",
        }
    }
}

/// What a seat is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivityReading {
    /// Nothing is known, or what was known has lapsed.
    Unknown,
    /// In a turn.
    Working,
    /// Between turns.
    Idle,
    /// It waits for a person.
    NeedsInput,
    /// Its agent has ended.
    Exited,
}

impl ActivityReading {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Working => "working",
            Self::Idle => "idle",
            Self::NeedsInput => "needs input",
            Self::Exited => "exited",
        }
    }
}

/// Whether a post counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// It is the newest word of the seat.
    Yes,
    /// It is not about activity.
    OtherFamily,
    /// It names no seat, or another one.
    OtherSeat,
    /// It carries another generation, or none.
    OtherGeneration,
    /// Its sequence is at or below the last one.
    StaleSequence,
    /// It came after the exit of this generation.
    AfterExit,
}

/// The reading of one seat over one launch. Feed it what comes in, in the order of arrival.
#[derive(Debug, Clone)]
pub struct SeatReading {
    facts: LaunchFacts,
    launch: LaunchReading,
    /// What the first record that says something makes of the launch.
    record_says: Option<LaunchReading>,
    activity: ActivityReading,
    idle_until: Option<u64>,
    last_sequence: Option<u64>,
}

impl SeatReading {
    /// The reading of a seat that was just launched: pending and unknown.
    pub fn new(facts: LaunchFacts) -> Self {
        Self {
            facts,
            launch: LaunchReading::Pending,
            record_says: None,
            activity: ActivityReading::Unknown,
            idle_until: None,
            last_sequence: None,
        }
    }

    /// A record was found.
    pub fn record(&mut self, record: &RecordReading) {
        let Some(verdict) = self.launch_of(record) else {
            return;
        };
        let verdict = *self.record_says.get_or_insert(verdict);
        if self.launch == LaunchReading::Pending {
            self.launch = verdict;
        }
    }

    /// OpenRig's wait for a record is over.
    pub fn wait_over(&mut self) {
        if self.launch == LaunchReading::Pending {
            self.launch = match self.facts.resume_ref {
                None => LaunchReading::Attention,
                Some(_) => LaunchReading::Unconfirmed,
            };
        }
    }

    /// A post was recorded at `at`.
    pub fn post(&mut self, post: &Post, at: u64) -> Counted {
        let counted = self.counts(post);
        if counted != Counted::Yes {
            return counted;
        }
        self.last_sequence = post.sequence.or(self.last_sequence);
        let state = EventState::of(
            post.hook_event.as_deref(),
            post.subtype.as_deref(),
            &self.facts.preset_name,
        );
        let activity = match state {
            EventState::Unknown => return counted,
            EventState::Working => ActivityReading::Working,
            EventState::NeedsInput => ActivityReading::NeedsInput,
            EventState::Idle => ActivityReading::Idle,
            EventState::Exited => ActivityReading::Exited,
        };
        self.activity = activity;
        let liveness = post
            .liveness_seconds
            .filter(|_| activity == ActivityReading::Idle);
        self.idle_until = liveness.map(|seconds| at.saturating_add(seconds.saturating_mul(2 * NANOSECONDS)));
        counted
    }

    /// An operator cleared the seat's attention (`rig seat clear-attention`). A launch in attention becomes what its
    /// record says, if one came late; without a record there is nothing to clear it by.
    pub fn cleared(&mut self) {
        if self.activity == ActivityReading::NeedsInput {
            self.activity = ActivityReading::Unknown;
        }
        self.launch = self.record_says.unwrap_or(self.launch);
    }

    /// What OpenRig would show at `now`.
    pub fn at(&self, now: u64) -> Reading {
        let lapsed = self.idle_until.is_some_and(|until| now >= until);
        let activity = if lapsed {
            ActivityReading::Unknown
        } else {
            self.activity
        };
        Reading {
            launch: self.launch,
            activity,
        }
    }

    /// When the reading changes by itself after `now`, if nothing more comes in.
    pub fn next_change(&self, now: u64) -> Option<u64> {
        self.idle_until.filter(|&until| until > now)
    }

    fn launch_of(&self, record: &RecordReading) -> Option<LaunchReading> {
        match (record, &self.facts.resume_ref) {
            (RecordReading::Usable { .. }, None) => Some(LaunchReading::Ready),
            (RecordReading::Usable { native_ref }, Some(resume_ref)) if native_ref == resume_ref => {
                Some(LaunchReading::Resumed)
            }
            (RecordReading::Usable { .. }, Some(_)) => Some(LaunchReading::Unconfirmed),
            (RecordReading::Missing, Some(_)) => Some(LaunchReading::Missing),
            (RecordReading::Missing, None) | (RecordReading::Unusable { .. }, _) => None,
        }
    }

    fn counts(&self, post: &Post) -> Counted {
        let names = |posted: &Option<String>, own: &str| posted.as_deref().is_none_or(|posted| posted == own);
        let names_this_seat = (post.session_name.is_some() || post.node_id.is_some())
            && names(&post.session_name, &self.facts.session_name)
            && names(&post.node_id, &self.facts.node_id);
        if post.event_family.is_some() {
            Counted::OtherFamily
        } else if !names_this_seat {
            Counted::OtherSeat
        } else if post.generation.as_deref() != Some(&self.facts.generation) {
            Counted::OtherGeneration
        } else if self
            .last_sequence
            .is_some_and(|last| post.sequence.is_some_and(|sequence| sequence <= last))
        {
            Counted::StaleSequence
        } else if self.activity == ActivityReading::Exited {
            Counted::AfterExit
        } else {
            Counted::Yes
        }
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
