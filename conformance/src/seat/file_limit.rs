//! How many files may be open: many seats side by side need more than a shell's usual 1024.

use std::sync::OnceLock;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

/// What a seat has open, in the engine: terminal, sockets, processes, and the connections of a runner that opens many.
const OF_A_SEAT: u64 = 24;

/// What the engine has open beside its seats.
const OF_THE_ENGINE: u64 = 64;

/// The limit that this program was started with; what it starts gets the same.
static GIVEN: OnceLock<Rlimit> = OnceLock::new();

/// The files that may be open are too few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooFewFiles {
    /// How many may be open.
    pub(crate) may: u64,
    /// How many so many seats need.
    pub(crate) need: u64,
    /// For how many seats they are enough.
    pub(crate) seats: u64,
}

/// Raises the limit as far as the system lets us, and says if that is too little for so many seats.
pub(crate) fn raise_for(seats: usize) -> Result<(), TooFewFiles> {
    let given = *GIVEN.get_or_init(|| getrlimit(Resource::Nofile));
    let raised = Rlimit {
        current: given.maximum,
        maximum: given.maximum,
    };
    // Where it is refused, what was given still holds.
    let _ = setrlimit(Resource::Nofile, raised);
    enough(getrlimit(Resource::Nofile).current, seats)
}

/// Gives a process that was just started the limit that this program was given: a runner must not meet another than the
/// user's own programs do.
pub(crate) fn as_given(process: u32) {
    if let Some(given) = GIVEN.get()
        && let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw)
    {
        // It may have ended already.
        let _ = prlimit(Some(process), Resource::Nofile, *given);
    }
}

fn enough(may: Option<u64>, seats: usize) -> Result<(), TooFewFiles> {
    let need = (seats as u64).saturating_mul(OF_A_SEAT) + OF_THE_ENGINE;
    match may {
        Some(may) if may < need => Err(TooFewFiles {
            may,
            need,
            seats: may.saturating_sub(OF_THE_ENGINE) / OF_A_SEAT,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_enough_for_so_many_seats_is_said() {
        assert_eq!(enough(None, 1000), Ok(()));
        assert_eq!(enough(Some(4864), 200), Ok(()));
        let few = enough(Some(1024), 200).unwrap_err();
        assert_eq!((few.need, few.seats), (4864, 40));
        assert_eq!(enough(Some(1024), 40), Ok(()));
    }
}
