//! Takes out a token that the pane showed in pieces: the end of one read and the beginning of the next.

use crate::history::{Event, Fact, Pane, TOKEN_MARK};

/// Replaces the token wherever it stands in a launch's pane output taken together. Where it is torn, its first piece
/// becomes the mark and the others vanish, so that every event keeps its place and its time.
pub(super) fn replace(events: &mut [Event], token: &[u8]) {
    if token.is_empty() {
        return;
    }
    let fallback = fallback(token);
    let mut launch = None;
    let mut matched = 0;
    for index in 0..events.len() {
        let Some(bytes) = output(&events[index]) else {
            continue;
        };
        if launch != Some(events[index].launch) {
            launch = Some(events[index].launch);
            matched = 0;
        }
        let mut ends = Vec::new();
        for (at, byte) in bytes.iter().enumerate() {
            while matched > 0 && token[matched] != *byte {
                matched = fallback[matched - 1];
            }
            if token[matched] == *byte {
                matched += 1;
            }
            if matched == token.len() {
                ends.push(at + 1);
                matched = 0;
            }
        }
        // From the last to the first, so that the places of those before stay right.
        for end in ends.into_iter().rev() {
            cut(events, index, end, token.len());
        }
    }
}

/// For each length of a beginning of the token: how long its longest end is that is a beginning too.
fn fallback(token: &[u8]) -> Vec<usize> {
    let mut lengths = vec![0; token.len()];
    let mut length = 0;
    for at in 1..token.len() {
        while length > 0 && token[at] != token[length] {
            length = lengths[length - 1];
        }
        if token[at] == token[length] {
            length += 1;
        }
        lengths[at] = length;
    }
    lengths
}

/// Takes out the `length` bytes of output that end at `end` of the event `index`.
fn cut(events: &mut [Event], index: usize, end: usize, length: usize) {
    let launch = events[index].launch;
    let (mut index, mut end, mut left) = (index, end, length);
    loop {
        if let Some(bytes) = output_mut(&mut events[index]).filter(|_| left > 0) {
            let start = end.saturating_sub(left);
            left -= end - start;
            let mark: &[u8] = if left == 0 { TOKEN_MARK } else { b"" };
            bytes.splice(start..end, mark.iter().copied());
        }
        if left == 0 || index == 0 {
            return;
        }
        index -= 1;
        end = if events[index].launch == launch {
            output(&events[index]).map_or(0, <[u8]>::len)
        } else {
            0
        };
    }
}

fn output(event: &Event) -> Option<&[u8]> {
    match &event.fact {
        Fact::Pane(Pane::Output { bytes }) => Some(&bytes.0),
        _ => None,
    }
}

fn output_mut(event: &mut Event) -> Option<&mut Vec<u8>> {
    match &mut event.fact {
        Fact::Pane(Pane::Output { bytes }) => Some(&mut bytes.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(launch: u32, text: &[u8]) -> Event {
        Event {
            sequence: 0,
            at: 0,
            launch,
            fact: Fact::Pane(Pane::Output {
                bytes: crate::history::Bytes(text.to_vec()),
            }),
        }
    }

    fn texts(events: &[Event]) -> Vec<String> {
        events
            .iter()
            .map(|event| String::from_utf8_lossy(output(event).unwrap_or_default()).into_owned())
            .collect()
    }

    fn replaced(pieces: &[&str]) -> Vec<String> {
        let mut events: Vec<Event> = pieces.iter().map(|piece| shown(1, piece.as_bytes())).collect();
        replace(&mut events, b"s3cret");
        texts(&events)
    }

    #[test]
    fn a_torn_token_becomes_one_mark() {
        let mark = String::from_utf8_lossy(TOKEN_MARK).into_owned();
        assert_eq!(replaced(&["a s3c", "ret b"]), [format!("a {mark}"), " b".into()]);
        assert_eq!(
            replaced(&["s", "3", "c", "r", "e", "t", "!"]),
            [mark.as_str(), "", "", "", "", "", "!"]
        );
        assert_eq!(
            replaced(&["s3cs3c", "rets3c", "ret"]),
            [format!("s3c{mark}"), mark, String::new()]
        );
        assert_eq!(replaced(&["s3c", "re"]), ["s3c", "re"]);
    }

    #[test]
    fn launches_and_other_events_don_t_mix() {
        let other = Event {
            fact: Fact::Lag { late_ms: 1 },
            ..shown(1, b"")
        };
        let mut apart = [shown(1, b"s3c"), shown(2, b"ret")];
        replace(&mut apart, b"s3cret");
        assert_eq!(texts(&apart), ["s3c", "ret"]);
        let mut between = [shown(1, b"s3c"), other, shown(1, b"ret")];
        replace(&mut between, b"s3cret");
        assert_eq!(texts(&between)[2], "");
    }

    proptest! {
        #[test]
        fn however_it_is_torn_nothing_of_it_is_left(
            words in proptest::collection::vec("[ab]{0,4}|abaab", 1..8),
            size in 1usize..6,
        ) {
            const TOKEN: &str = "abaab";
            let whole = words.concat();
            let mut events: Vec<Event> =
                whole.as_bytes().chunks(size).map(|piece| shown(1, piece)).collect();
            replace(&mut events, TOKEN.as_bytes());
            let mark = String::from_utf8_lossy(TOKEN_MARK).into_owned();
            prop_assert_eq!(texts(&events).concat(), whole.replace(TOKEN, &mark));
        }
    }
}
