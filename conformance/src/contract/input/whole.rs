//! A message arrives whole and exact: `input.one-block-one-prompt` and `input.exact-text`.

use super::arrival::{LARGE, could_submit_for, judged};
use super::origin::{Origin, Origins, text_of, with_line_feeds};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::DUE;
use crate::contract::quote::quoted;
use crate::contract::watch::cited;
use crate::history::Event;
use crate::history::views::{Block, LaunchView, Prompt, Views, milliseconds};

pub(super) fn one_block_one_prompt(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        let blocks: Vec<_> = judged(launch).collect();
        let places: Vec<usize> = blocks.iter().map(|(index, _, _)| *index).collect();
        for (index, block, entered) in blocks {
            if block.text.len() < LARGE {
                judge_count(launch, &origins, &places, index, block, entered, &mut tally);
            }
        }
    }
    tally.finding()
}

fn judge_count<'h>(
    launch: &LaunchView<'h>,
    origins: &Origins<'_, 'h>,
    places: &[usize],
    index: usize,
    block: &Block<'h>,
    entered: &'h Event,
    tally: &mut Tally,
) {
    let text = text_of(block);
    let prompts = origins.of_block(index);
    let mut events = vec![block.sent, entered];
    events.extend(prompts.iter().map(|(prompt, _)| prompt.exchange.request.event));
    match prompts.as_slice() {
        [] => {
            let waited = could_submit_for(launch, block).unwrap_or(0);
            // A message before the handshake is for input.before-ready to judge.
            let was_open = launch
                .conversation()
                .is_some_and(|(_, opened)| opened.at <= block.sent.at);
            if was_open && waited >= DUE {
                tally.broken(
                    format!("no prompt came of {} in {}", quoted(&text), milliseconds(waited)),
                    &cited(launch, &events),
                );
            }
        }
        [(_, Origin::Exact(_) | Origin::Altered(_))] => {
            if text.contains('\n') {
                tally.held("a message of several lines became one prompt", &events);
            }
        }
        [(prompt, Origin::Piece(_)), ..] => tally.broken(
            format!(
                "of {} a piece became a prompt of its own: {}",
                quoted(&text),
                quoted(&text_in(prompt))
            ),
            &events,
        ),
        [(prompt, Origin::Merged(of)), ..] if of.iter().all(|part| places.contains(part)) => tally.broken(
            format!(
                "{} and another message became one prompt: {}",
                quoted(&text),
                quoted(&text_in(prompt))
            ),
            &events,
        ),
        [_] => {}
        more => tally.broken(
            format!("{} became {} prompts", quoted(&text), more.len()),
            &events,
        ),
    }
}

/// A prompt's text as it is compared.
fn text_in(prompt: &Prompt<'_>) -> String {
    with_line_feeds(&prompt.text().unwrap_or_default())
}

pub(super) fn exact_text(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let origins = Origins::new(launch);
        for (index, block, entered) in judged(launch) {
            let Some(prompt) = origins.arrived(index) else {
                continue;
            };
            let events = [block.sent, entered, prompt.exchange.request.event];
            if origins.arrived_exactly(index) {
                tally.held("the prompt's text is the message's, to the byte", &events);
            } else if block.text.len() < LARGE {
                tally.broken(difference(&text_of(block), &text_in(prompt)), &events);
            }
        }
    }
    tally.finding()
}

/// Where two texts part, with a little of what stands before.
pub(super) fn difference(entered: &str, arrived: &str) -> String {
    const BEFORE: usize = 16;
    let common = entered
        .chars()
        .zip(arrived.chars())
        .take_while(|(entered, arrived)| entered == arrived)
        .count();
    let from = common.saturating_sub(BEFORE);
    let shown = |text: &str| quoted(&text.chars().skip(from).collect::<String>());
    format!(
        "entered and arrived part at character {}: {} was entered, {} arrived",
        common + 1,
        shown(entered),
        shown(arrived)
    )
}

#[cfg(test)]
mod tests {
    use super::difference;
    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };

    fn prompts(block: &str, prompts: &[&str]) -> HistoryBuilder {
        prompts
            .iter()
            .fold(HistoryBuilder::ready().block(block), |history, prompt| {
                history.prompt_text_only(prompt).end_turn("end_turn")
            })
    }

    #[test]
    fn one_block_one_prompt() {
        const CLAUSE: &str = "input.one-block-one-prompt";
        assert_held(CLAUSE, &prompts("two\nlines", &["two\nlines"]));
        assert_held(CLAUSE, &prompts("two\n lines", &["two\nlines"]));
        assert_broken(CLAUSE, &prompts("two\nlines", &["two", "lines"]));
        assert_broken(CLAUSE, &prompts("two\nlines", &["two"]));
        assert_broken(CLAUSE, &prompts("two\nlines", &["two\nlines", "two\nlines"]));
        assert_not_exercised(CLAUSE, &prompts("one line", &["one line"]));
        assert_broken(CLAUSE, &prompts("one line", &[]).watch_seconds(5));
        assert_not_exercised(CLAUSE, &prompts("one line", &[]).watch_seconds(2));
        let merged = HistoryBuilder::ready()
            .prompt("work")
            .block("one")
            .block("two")
            .end_turn("end_turn")
            .prompt_text_only("one\ntwo");
        assert_broken(CLAUSE, &merged);
    }

    #[test]
    fn equal_messages_are_two() {
        let equal = HistoryBuilder::ready()
            .prompt("two\nlines")
            .end_turn("end_turn")
            .prompt("two\nlines");
        assert_held("input.one-block-one-prompt", &equal);
    }

    #[test]
    fn what_a_cancel_or_an_exit_drops_is_not_missed() {
        const CLAUSE: &str = "input.one-block-one-prompt";
        let waiting = || HistoryBuilder::ready().prompt("work").block("dropped");
        let aborted = waiting().abort().cancel().end_turn("cancelled");
        assert_not_exercised(CLAUSE, &aborted.watch_seconds(9));
        assert_not_exercised(CLAUSE, &waiting().agent_ended().watch_seconds(9));
        let never_opened = HistoryBuilder::launched().block("waits");
        assert_not_exercised(CLAUSE, &never_opened.watch_seconds(9));
    }

    #[test]
    fn exact_text() {
        const CLAUSE: &str = "input.exact-text";
        let text = " tab\there, grün 漢字,\n  blanks  ";
        assert_held(CLAUSE, &prompts(text, &[text]));
        assert_held(CLAUSE, &prompts("a\r\nb\rc", &["a\nb\nc"]));
        assert_held(CLAUSE, &prompts("a\r\nb\rc", &["a\r\nb\rc"]));
        for arrived in [
            text.trim(),
            " tab here, grün 漢字,\n  blanks  ",
            " tab\there, gr\u{fffd}\u{fffd}n 漢字,\n  blanks  ",
            " tab\there, grün 漢字,  blanks  ",
        ] {
            assert_broken(CLAUSE, &prompts(text, &[arrived]));
        }
        assert_not_exercised(CLAUSE, &prompts("a\nb", &["a", "b"]));
        assert_not_exercised(CLAUSE, &HistoryBuilder::ready());
    }

    #[test]
    fn a_prompt_may_come_in_several_content_blocks() {
        let in_two = HistoryBuilder::ready().block("a\nb").runner_writes(
            r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"conv-1","prompt":[{"type":"text","text":"a\n"},{"type":"text","text":"b"}]}}"#,
        );
        assert_held("input.exact-text", &in_two);
    }

    #[test]
    fn a_difference_is_shown_where_it_is() {
        let long = "x".repeat(500);
        let said = difference(&format!("{long}a"), &format!("{long}b"));
        assert!(said.contains("character 501"), "{said}");
        assert!(said.contains(r#"xa" was entered"#), "{said}");
    }
}
