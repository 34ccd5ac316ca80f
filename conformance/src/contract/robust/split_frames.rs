//! Lines that come in pieces, or several at once: `robust.split-frames`.

use std::collections::BTreeMap;

use super::aftermath::{judge_aftermath, tell_silence};
use crate::contract::finding::{Finding, Tally};
use crate::contract::grace::DUE;
use crate::contract::watch::{agent_lost, cited, free_until};
use crate::history::views::{LaunchView, Views};
use crate::history::{Event, Fact, Pane, Wire};

pub(super) fn split_frames(views: &Views<'_>) -> Finding {
    let mut tally = Tally::default();
    for launch in &views.launches {
        let framed = framed(launch);
        // The runner reads in order: a line that it has surely read vouches for all before it.
        let mut read_until = 0;
        for frame in &framed {
            if frame.line.sequence < read_until || frame.line.at >= launch.end_of_free_run() {
                continue;
            }
            let heard = judge_aftermath(views, launch, frame.agent, frame.line, &frame.what, &mut tally);
            match heard {
                Some(heard) => read_until = heard.sequence,
                None => break,
            }
        }
        if let Some((line, what)) = unheard_handshake(launch, &framed) {
            let said = format!("after {what}, the answer to initialize, the runner sent nothing more");
            tell_silence(views, launch, line, line, &said, &mut tally);
        }
        if let Some((line, shown)) = torn_character(launch, &framed) {
            tally.broken(
                "characters of a line that came in pieces are shown as U+FFFD",
                &cited(launch, &[line, shown]),
            );
        }
    }
    tally.finding()
}

/// A line written in an unusual way.
struct Frame<'h> {
    agent: u32,
    /// The line; of several in one write the last.
    line: &'h Event,
    what: String,
    /// It holds characters of several bytes, and was cut.
    may_tear: bool,
}

fn framed<'h>(launch: &LaunchView<'h>) -> Vec<Frame<'h>> {
    /// What an agent has announced: lines still to come, lines in all, and writes.
    type Announced = (u32, u32, u32);
    let mut announced: BTreeMap<u32, Announced> = BTreeMap::new();
    let mut frames = Vec::new();
    for event in launch.events.iter().copied() {
        match &event.fact {
            Fact::Wire(Wire::Framed { agent, lines, writes }) => {
                announced.insert(*agent, (*lines, *lines, *writes));
            }
            Fact::Wire(Wire::FromAgent { agent, line }) => {
                let Some((left, lines, writes)) = announced.get_mut(agent) else {
                    continue;
                };
                *left = left.saturating_sub(1);
                if *left == 0 {
                    let what = if *lines > 1 {
                        format!("{lines} lines in one write")
                    } else {
                        format!("a line in {writes} writes")
                    };
                    frames.push(Frame {
                        agent: *agent,
                        line: event,
                        what,
                        may_tear: *writes > 1 && !line.0.is_ascii(),
                    });
                    announced.remove(agent);
                }
            }
            _ => {}
        }
    }
    frames
}

/// The answer to initialize, after which a runner that heard it opens a conversation, and this one did nothing.
fn unheard_handshake<'f, 'h>(
    launch: &LaunchView<'h>,
    framed: &'f [Frame<'h>],
) -> Option<(&'h Event, &'f str)> {
    let answer = launch.initialized()?;
    let speaks_version_1 = answer
        .at("/result/protocolVersion")
        .is_some_and(|version| version == 1);
    let frame = framed
        .iter()
        .find(|frame| frame.line.sequence == answer.event.sequence)?;
    let sent_more = launch
        .messages
        .iter()
        .any(|message| message.to_agent() && message.event.sequence > frame.line.sequence);
    let until = agent_lost(launch, frame.agent).map_or(u64::MAX, |lost| lost.at);
    let waited = free_until(launch).min(until).saturating_sub(frame.line.at);
    // A reopening needs what the agent may not offer.
    let is_due = speaks_version_1 && !launch.is_resume() && !sent_more && waited >= DUE;
    is_due.then_some((frame.line, frame.what.as_str()))
}

/// A replacement character in the pane that stands for nothing but a cut character: nothing else that the runner read
/// held bytes that are no text.
fn torn_character<'h>(launch: &LaunchView<'h>, framed: &[Frame<'h>]) -> Option<(&'h Event, &'h Event)> {
    const REPLACEMENT: &str = "\u{fffd}";
    let torn = framed.iter().find(|frame| frame.may_tear)?;
    let until = free_until(launch);
    let other_reason = launch.events.iter().any(|event| match &event.fact {
        Fact::Wire(Wire::FromAgentRaw { .. } | Wire::Stderr { .. }) => true,
        Fact::Wire(Wire::FromAgent { line, .. }) => {
            std::str::from_utf8(&line.0).map_or(true, |line| line.contains(REPLACEMENT))
        }
        Fact::Pane(Pane::Input { bytes }) => !bytes.0.is_ascii(),
        _ => false,
    });
    if other_reason {
        return None;
    }
    let shown = launch.output_between(torn.line.at, until).find(|event| {
        let Fact::Pane(Pane::Output { bytes }) = &event.fact else {
            return false;
        };
        bytes
            .0
            .windows(REPLACEMENT.len())
            .any(|window| window == REPLACEMENT.as_bytes())
    })?;
    Some((torn.line, shown))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::history_builder::{
        HistoryBuilder, assert_broken, assert_held, assert_not_exercised,
    };
    use crate::history::{Fact, Process, Wire};

    const CLAUSE: &str = "robust.split-frames";

    fn framed(history: HistoryBuilder, lines: u32, writes: u32) -> HistoryBuilder {
        history.fact(Fact::Wire(Wire::Framed {
            agent: 1,
            lines,
            writes,
        }))
    }

    fn working() -> HistoryBuilder {
        HistoryBuilder::ready().prompt("work").after_ms(300)
    }

    fn chunk(history: HistoryBuilder, text: &str) -> HistoryBuilder {
        let update =
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        history.agent_writes(
            &json!({"jsonrpc": "2.0", "method": "session/update",
                    "params": {"sessionId": "conv-1", "update": update}})
            .to_string(),
        )
    }

    /// The turn's answer in pieces.
    fn answered_in_pieces() -> HistoryBuilder {
        framed(working(), 1, 60).end_turn("end_turn")
    }

    #[test]
    fn a_line_in_pieces_is_read() {
        let next = answered_in_pieces().post("Stop", "end_turn").prompt("next");
        assert_held(CLAUSE, &next.watch_seconds(1));
        assert_broken(CLAUSE, &answered_in_pieces().block("next").watch_seconds(20));
        let quits = answered_in_pieces().fact(Fact::Process(Process::RunnerExited {
            code: Some(1),
            signal: None,
        }));
        assert_broken(CLAUSE, &quits.watch_seconds(20));
        assert_not_exercised(CLAUSE, &answered_in_pieces().watch_seconds(20));
        let ordinary = working().end_turn("end_turn").block("next");
        assert_not_exercised(CLAUSE, &ordinary.watch_seconds(20));
    }

    #[test]
    fn so_are_several_in_one_write() {
        let joined = || chunk(framed(working(), 2, 1), "a").end_turn("end_turn");
        assert_held(CLAUSE, &joined().prompt("next").watch_seconds(1));
        assert_broken(CLAUSE, &joined().block("next").watch_seconds(20));
    }

    #[test]
    fn the_handshake_goes_on() {
        let initialized = || {
            HistoryBuilder::launched()
                .asks_agent("initialize", json!({"protocolVersion": 1}))
                .fact(Fact::Wire(Wire::Framed {
                    agent: 1,
                    lines: 1,
                    writes: 9,
                }))
                .agent_writes(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#)
        };
        assert_broken(CLAUSE, &initialized().watch_seconds(9));
        assert_not_exercised(CLAUSE, &initialized().watch_seconds(1));
        let opens = initialized().asks_agent("session/new", json!({"cwd": "/", "mcpServers": []}));
        assert_held(CLAUSE, &opens.watch_seconds(9));
        assert_not_exercised(CLAUSE, &initialized().agent_ended().watch_seconds(9));
    }

    #[test]
    fn characters_stay_whole() {
        let said = || chunk(framed(working(), 1, 200), "grün");
        let next = |history: HistoryBuilder| history.end_turn("end_turn").prompt("next").watch_seconds(1);
        assert_held(CLAUSE, &next(said().shows("grün")));
        assert_broken(CLAUSE, &next(said().shows("gr\u{fffd}\u{fffd}n")));
        // The agent itself wrote it so.
        let own = chunk(framed(working(), 1, 200), "gr\u{fffd}n").shows("gr\u{fffd}n");
        assert_held(CLAUSE, &next(own));
    }
}
