//! A slow machine: a small pause before whatever crosses.

use std::time::Duration;

use reference_runner::{Crossing, Edge};

use crate::altered::on_crossing;

/// Shortest and longest pause, in milliseconds. Far below what the contract gives a runner for anything.
const PAUSE: (u64, u64) = (20, 60);

/// Reads of this size are pieces of something large, and hundreds of them come in a row.
const PIECE: usize = 1024;

/// What comes in hundreds, such as an agent's words, takes less: no machine is so slow at each of them.
const IN_A_ROW: u64 = 20;

/// Pauses before each crossing for a time that goes by the seed.
pub(super) fn edge(seed: u64) -> Box<dyn Edge> {
    let mut numbers = Numbers(seed);
    on_crossing(move |_, crossing| {
        let drawn = PAUSE.0 + numbers.next() % (PAUSE.1 - PAUSE.0 + 1);
        let milliseconds = match crossing {
            Crossing::Typed(bytes) if bytes.len() >= PIECE => drawn / IN_A_ROW,
            Crossing::FromAgent(line) if line.contains("session/update") => drawn / IN_A_ROW,
            Crossing::Shown(_) => drawn / IN_A_ROW,
            _ => drawn,
        };
        Some(vec![
            Crossing::Pause(Duration::from_millis(milliseconds)),
            crossing.clone(),
        ])
    })
}

/// Marsaglia's xorshift: the same numbers for the same seed, which must not be 0.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_crosses_after_a_pause_that_goes_by_the_seed() {
        let pauses = |seed| -> Vec<Crossing> {
            let mut edge = edge(seed);
            let crossed = (0..50).flat_map(|_| edge.cross(Crossing::EndOfInput));
            crossed
                .filter(|crossing| *crossing != Crossing::EndOfInput)
                .collect()
        };
        assert_eq!(pauses(1), pauses(1));
        assert_ne!(pauses(1), pauses(2));
        assert!(pauses(3).iter().all(|pause| matches!(pause,
            Crossing::Pause(time) if (20..=60).contains(&time.as_millis()))));
    }
}
