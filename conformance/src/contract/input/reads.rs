//! How the bytes of messages were cut on their way: `input.split-reads`, `input.blocks-in-one-read` and
//! `input.large-block`.

use super::arrival::{LARGE, could_submit_for, judged};
use super::origin::{Origin, Origins, text_of};
use super::whole::difference;
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::{CROSSING, DUE};
use crate::contract::quote::quoted;
use crate::contract::watch::{cited, free_until};
use crate::history::views::{Block, LaunchView, Views, milliseconds};
use crate::history::{Event, Fact, Pane};

/// Up to this size a message arrives whole; a larger one may be refused.
const NEVER_REFUSED: usize = 64 << 10;

const MARKERS: [&[u8]; 2] = [b"\x1b[200~", b"\x1b[201~"];

pub(super) fn split_reads(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        for (index, block, entered) in judged(launch) {
            let Some(cut) = what_was_cut(&written(launch, block.sent, entered)) else {
                continue;
            };
            let how = format!("with {cut} cut in two");
            judge_arrival(launch, &origins, (index, block, entered), &how, &mut tally);
        }
    }
    tally.finding()
}

/// The writes that brought a message, in order.
fn written<'h>(launch: &LaunchView<'h>, sent: &Event, entered: &Event) -> Vec<&'h [u8]> {
    launch
        .events
        .iter()
        .filter(|event| (sent.sequence..=entered.sequence).contains(&event.sequence))
        .filter_map(|event| match &event.fact {
            Fact::Pane(Pane::Input { bytes }) => Some(bytes.0.as_slice()),
            _ => None,
        })
        .collect()
}

/// What lies across the border of two writes, if anything that must not be torn.
fn what_was_cut(writes: &[&[u8]]) -> Option<&'static str> {
    const CONTINUATION: std::ops::RangeInclusive<u8> = 0x80..=0xBF;
    let whole = writes.concat();
    let mut border = 0;
    for pair in writes.windows(2) {
        border += pair[0].len();
        if pair[1].first().is_some_and(|byte| CONTINUATION.contains(byte)) {
            return Some("a character");
        }
        let torn = MARKERS.iter().any(|marker| {
            // Where a marker would have to begin to lie across this border.
            (1..marker.len()).any(|before| {
                border
                    .checked_sub(before)
                    .and_then(|from| whole.get(from..from + marker.len()))
                    == Some(*marker)
            })
        });
        if torn {
            return Some("a paste marker");
        }
    }
    None
}

/// The message arrives as it would without the circumstance `how`.
fn judge_arrival<'h>(
    launch: &LaunchView<'h>,
    origins: &Origins<'_, 'h>,
    (index, block, entered): (usize, &Block<'h>, &'h Event),
    how: &str,
    tally: &mut Tally,
) {
    let text = text_of(block);
    let prompts = origins.of_block(index);
    let mut events = vec![block.sent, entered];
    events.extend(prompts.iter().map(|(prompt, _)| prompt.exchange.request.event));
    match prompts.as_slice() {
        [] => {
            let waited = could_submit_for(launch, block).unwrap_or(0);
            if waited >= DUE {
                tally.broken(
                    format!(
                        "{} did not arrive in {} {how}",
                        quoted(&text),
                        milliseconds(waited)
                    ),
                    &cited(launch, &events),
                );
            }
        }
        [(_, Origin::Exact(_))] => tally.held(format!("a message arrived whole {how}"), &events),
        [(prompt, Origin::Altered(_))] => tally.broken(
            format!("{how}, {}", difference(&text, &prompt.text().unwrap_or_default())),
            &events,
        ),
        [(prompt, _), ..] => tally.broken(
            format!(
                "{} arrived as {} {how}",
                quoted(&text),
                quoted(&prompt.text().unwrap_or_default())
            ),
            &events,
        ),
    }
}

pub(super) fn blocks_in_one_read(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        let blocks: Vec<_> = judged(launch).collect();
        for event in &launch.events {
            let Fact::Pane(Pane::Input { bytes }) = &event.fact else {
                continue;
            };
            let together: Vec<_> = in_one_write(&bytes.0, event, &blocks);
            if together.len() > 1 {
                for message in together {
                    judge_arrival(
                        launch,
                        &origins,
                        message,
                        "with another in the same write",
                        &mut tally,
                    );
                }
            }
        }
    }
    tally.finding()
}

/// The messages that one write brought whole, one Enter between them and the next.
fn in_one_write<'v, 'h>(
    written: &[u8],
    event: &Event,
    blocks: &[(usize, &'v Block<'h>, &'h Event)],
) -> Vec<(usize, &'v Block<'h>, &'h Event)> {
    let mut rest = written;
    let mut together = Vec::new();
    for message in blocks {
        let (_, block, entered) = message;
        let at_that_time = block.sent.at <= event.at.saturating_add(CROSSING)
            && event.at <= entered.at.saturating_add(CROSSING);
        if !at_that_time || block.text.is_empty() {
            continue;
        }
        let place = rest
            .windows(block.text.len())
            .position(|window| window == block.text);
        let Some(place) = place else { continue };
        let after = &rest[place + block.text.len()..];
        let Some(enter) = after.iter().position(|byte| *byte == b'\r') else {
            continue;
        };
        rest = &after[enter + 1..];
        together.push(*message);
    }
    together
}

pub(super) fn large_block(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        for (index, block, entered) in judged(launch) {
            if block.text.len() < LARGE {
                continue;
            }
            let how = format!("with its {} bytes", block.text.len());
            let refused = (block.text.len() > NEVER_REFUSED && origins.of_block(index).is_empty())
                .then(|| shown_refusal(launch, block.sent))
                .flatten();
            match refused {
                Some(shown) => tally.held(
                    format!("a message {how} was refused whole, visibly"),
                    &[block.sent, entered, shown],
                ),
                None => judge_arrival(launch, &origins, (index, block, entered), &how, &mut tally),
            }
        }
    }
    tally.finding()
}

/// The first output after the message with a word for not taking it.
fn shown_refusal<'h>(launch: &LaunchView<'h>, sent: &Event) -> Option<&'h Event> {
    const WORDS: [&str; 14] = [
        "too large",
        "too big",
        "too long",
        "too much",
        "limit",
        "refus",
        "reject",
        "not sent",
        "exceed",
        "larger than",
        "longer than",
        "more than",
        "dropped",
        "discard",
    ];
    let mut seen = String::new();
    for event in launch.output_between(sent.at, free_until(launch)) {
        if let Fact::Pane(Pane::Output { bytes }) = &event.fact {
            // An echo of a large message is long; a refusal is not.
            let from = seen.len().saturating_sub(LONGEST_WORD);
            let from = (0..=from)
                .rev()
                .find(|from| seen.is_char_boundary(*from))
                .unwrap_or(0);
            seen.drain(..from);
            seen.push_str(&bytes.text().to_lowercase());
            if WORDS.iter().any(|word| seen.contains(word)) {
                return Some(event);
            }
        }
    }
    None
}

/// Bytes to keep of what was seen, for a word that two outputs share.
const LONGEST_WORD: usize = 16;

#[cfg(test)]
mod tests {
    use super::what_was_cut;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Bytes, Delivery, Fact, Pane, Step};

    fn sent(history: HistoryBuilder, block: u32, text: &str) -> HistoryBuilder {
        history.fact(Fact::Step(Step::Sent {
            block,
            text: text.into(),
            delivery: Delivery::Paste,
        }))
    }

    fn written(history: HistoryBuilder, bytes: &[u8]) -> HistoryBuilder {
        history.fact(Fact::Pane(Pane::Input {
            bytes: Bytes(bytes.to_vec()),
        }))
    }

    fn entered(history: HistoryBuilder, block: u32) -> HistoryBuilder {
        history.fact(Fact::Step(Step::Entered { block }))
    }

    /// A message that was written in these pieces.
    fn in_pieces(text: &str, pieces: &[&[u8]]) -> HistoryBuilder {
        let begun = sent(HistoryBuilder::ready(), 1, text);
        entered(
            pieces
                .iter()
                .fold(begun, |history, piece| written(history, piece)),
            1,
        )
    }

    #[test]
    fn what_must_not_be_torn() {
        assert_eq!(
            what_was_cut(&[b"\x1b[20", b"0~ab\x1b[201~"]),
            Some("a paste marker")
        );
        assert_eq!(
            what_was_cut(&[b"\x1b[200~ab\x1b", b"[201~\r"]),
            Some("a paste marker")
        );
        assert_eq!(what_was_cut(&[b"gr\xc3", b"\xbcn"]), Some("a character"));
        assert_eq!(what_was_cut(&[b"\x1b[200~ab", b"cd\x1b[201~", b"\r"]), None);
        assert_eq!(
            what_was_cut(&[b"\x1b", b"[", b"2", b"00~"]),
            Some("a paste marker")
        );
        assert_eq!(what_was_cut(&[b"", b"\x1b["]), None);
        assert_eq!(what_was_cut(&[]), None);
    }

    #[test]
    fn split_reads() {
        const CLAUSE: &str = "input.split-reads";
        let torn = || in_pieces("grün", &[b"\x1b[200~gr\xc3", b"\xbcn\x1b[201~", b"\r"]);
        assert_held(CLAUSE, &torn().prompt_text_only("grün"));
        assert_broken(CLAUSE, &torn().prompt_text_only("gr\u{fffd}\u{fffd}n"));
        assert_broken(CLAUSE, &torn().prompt_text_only("gr"));
        assert_broken(CLAUSE, &torn().watch_seconds(5));
        let whole = in_pieces("grün", &["\x1b[200~grün\x1b[201~".as_bytes(), b"\r"]);
        assert_not_exercised(CLAUSE, &whole.prompt_text_only("grün"));
    }

    #[test]
    fn blocks_in_one_read() {
        const CLAUSE: &str = "input.blocks-in-one-read";
        let in_order = |bytes: &[u8]| {
            let first = entered(sent(HistoryBuilder::ready(), 1, "one"), 1);
            entered(written(sent(first, 2, "two"), bytes), 2)
        };
        let together = || in_order(b"\x1b[200~one\x1b[201~\r\x1b[200~two\x1b[201~\r");
        let one = || together().prompt_text_only("one").end_turn("end_turn");
        assert_held(CLAUSE, &one().prompt_text_only("two"));
        assert_broken(CLAUSE, &one().watch_seconds(5));
        assert_broken(CLAUSE, &together().prompt_text_only("onetwo"));
        let apart = in_order(b"\x1b[200~two\x1b[201~\r").prompt_text_only("one");
        assert_not_exercised(CLAUSE, &apart.end_turn("end_turn").prompt_text_only("two"));
    }

    #[test]
    fn large_block() {
        const CLAUSE: &str = "input.large-block";
        let text = "0123456789abcde\n".repeat(4 << 10);
        assert_held(
            CLAUSE,
            &HistoryBuilder::ready().block(&text).prompt_text_only(&text),
        );
        let cut = &text[..text.len() - 1_000];
        assert_broken(
            CLAUSE,
            &HistoryBuilder::ready().block(&text).prompt_text_only(cut),
        );
        let refused = |text: &str| HistoryBuilder::ready().block(text).shows("! not sent: too large");
        assert_broken(CLAUSE, &refused(&text).watch_seconds(5));
        let larger = text.repeat(16);
        assert_held(CLAUSE, &refused(&larger).watch_seconds(5));
        assert_held(
            CLAUSE,
            &HistoryBuilder::ready().block(&larger).prompt_text_only(&larger),
        );
        assert_broken(CLAUSE, &HistoryBuilder::ready().block(&larger).watch_seconds(5));
        assert_broken(CLAUSE, &refused(&larger).prompt_text_only(cut));
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready().prompt("small"));
    }
}
