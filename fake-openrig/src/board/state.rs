//! The picture that a board keeps of a seat, in bounded memory.

use std::collections::VecDeque;

use serde::Serialize;

use super::event::{
    AskShown, BoardEvent, Control, LineShown, PostShown, ReadingShown, RecordShown, SeatShown,
};

/// How many posts are kept.
const POSTS: usize = 200;

/// How many lines between runner and agent are kept.
const LINES: usize = 300;

/// How many gates and questions may be open at a time.
const OPEN: usize = 64;

/// What a board shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BoardState {
    controls: Vec<Control>,
    seat: Option<SeatShown>,
    reading: Option<ReadingShown>,
    record: Option<RecordShown>,
    /// The oldest first.
    posts: VecDeque<PostShown>,
    pane: Vec<String>,
    lines: VecDeque<LineShown>,
    gates: VecDeque<String>,
    asks: VecDeque<AskShown>,
    runner_ended: Option<String>,
    over: Option<String>,
}

impl BoardState {
    pub(super) fn new(controls: Vec<Control>) -> Self {
        Self {
            controls,
            seat: None,
            reading: None,
            record: None,
            posts: VecDeque::new(),
            pane: Vec::new(),
            lines: VecDeque::new(),
            gates: VecDeque::new(),
            asks: VecDeque::new(),
            runner_ended: None,
            over: None,
        }
    }

    /// Takes in what happened. The page does the same with the same events.
    pub(super) fn apply(&mut self, event: BoardEvent) {
        match event {
            BoardEvent::Launched(seat) => {
                *self = Self {
                    controls: std::mem::take(&mut self.controls),
                    posts: std::mem::take(&mut self.posts),
                    seat: Some(seat),
                    ..Self::new(Vec::new())
                };
            }
            BoardEvent::Post(post) => match self.posts.iter_mut().find(|known| known.id == post.id) {
                Some(known) => *known = post,
                None => push(&mut self.posts, post, POSTS),
            },
            BoardEvent::Reading(reading) => self.reading = Some(reading),
            BoardEvent::Record(record) => self.record = Some(record),
            BoardEvent::Pane(lines) => self.pane = lines,
            BoardEvent::Line(line) => push(&mut self.lines, line, LINES),
            BoardEvent::Waiting(gate) => {
                if !self.gates.contains(&gate) {
                    push(&mut self.gates, gate, OPEN);
                }
            }
            BoardEvent::Opened(gate) => self.gates.retain(|waiting| *waiting != gate),
            BoardEvent::Asks(ask) => push(&mut self.asks, ask, OPEN),
            BoardEvent::Answered(id) => self.asks.retain(|ask| ask.id != id),
            BoardEvent::RunnerEnded(how) => {
                self.gates.clear();
                self.asks.clear();
                self.runner_ended = Some(how);
            }
            BoardEvent::Over(how) => {
                self.gates.clear();
                self.asks.clear();
                self.over = Some(how);
            }
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.is_some()
    }

    pub(super) fn has(&self, control: Control) -> bool {
        self.controls.contains(&control)
    }
}

/// Adds at the end; what is too much goes at the beginning.
fn push<T>(list: &mut VecDeque<T>, item: T, limit: usize) {
    if list.len() >= limit {
        list.pop_front();
    }
    list.push_back(item);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(id: u64, outcome: Option<&str>) -> BoardEvent {
        BoardEvent::Post(PostShown {
            id,
            at: 0,
            event: "Stop/idle".into(),
            sequence: Some(id),
            turn: None,
            liveness: None,
            token: None,
            outcome: outcome.map(str::to_owned),
            counts: None,
            why: None,
            body: String::new(),
        })
    }

    #[test]
    fn a_post_that_ends_takes_its_own_place() {
        let mut state = BoardState::new(Vec::new());
        state.apply(post(1, None));
        state.apply(post(2, None));
        state.apply(post(1, Some("200")));
        let posts: Vec<_> = state
            .posts
            .iter()
            .map(|post| (post.id, post.outcome.as_deref()))
            .collect();
        assert_eq!(posts, [(1, Some("200")), (2, None)]);
    }

    #[test]
    fn only_the_newest_posts_are_kept() {
        let mut state = BoardState::new(Vec::new());
        for id in 0..10_000 {
            state.apply(post(id, None));
        }
        assert_eq!(state.posts.len(), POSTS);
        assert_eq!(state.posts.back().map(|post| post.id), Some(9_999));
    }

    #[test]
    fn a_new_launch_forgets_all_but_the_posts_and_the_controls() {
        let mut state = BoardState::new(vec![Control::Send]);
        state.apply(post(1, None));
        state.apply(BoardEvent::Pane(vec!["old".into()]));
        state.apply(BoardEvent::Waiting("answer".into()));
        state.apply(BoardEvent::RunnerEnded("it exited with code 0".into()));
        state.apply(BoardEvent::Launched(SeatShown {
            session: "seat@local".into(),
            runtime: "dsh".into(),
            resume: None,
            command: None,
            at: 0,
        }));
        assert_eq!(state.posts.len(), 1);
        assert!(state.has(Control::Send) && !state.has(Control::Interrupt));
        assert!(state.pane.is_empty() && state.gates.is_empty() && state.runner_ended.is_none());
    }

    #[test]
    fn a_gate_is_shown_while_the_agent_waits_at_it() {
        let mut state = BoardState::new(Vec::new());
        state.apply(BoardEvent::Waiting("answer".into()));
        state.apply(BoardEvent::Waiting("answer".into()));
        assert_eq!(state.gates, ["answer"]);
        state.apply(BoardEvent::Opened("answer".into()));
        assert!(state.gates.is_empty());
    }
}
