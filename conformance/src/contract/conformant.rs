//! Histories of runners that keep the contract, each in a manner of its own: no clause may call one of them broken.
//!
//! That holds for every beginning of such a history too, since a seat may be stopped at any time; and whatever a
//! history holds, no judge panics.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::history_builder::HistoryBuilder;
use super::{ClauseSet, Finding};
use crate::history::views::Views;
use crate::history::{Bytes, Event, Fact, History, Pane, PostEnd, Process, Step, Wire};

const OK: PostEnd = PostEnd::Answered { status: 200 };

fn numbered(number: u64) -> impl FnOnce(&mut Value) {
    move |body| body["sequence"] = json!(number)
}

fn beat(history: HistoryBuilder) -> HistoryBuilder {
    history.post_with("Stop", "idle", |body| body["livenessSeconds"] = json!(1))
}

fn update(history: HistoryBuilder, kind: &str) -> HistoryBuilder {
    let update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": "words"}});
    history.agent_writes(
        &json!({"jsonrpc": "2.0", "method": "session/update",
                "params": {"sessionId": "conv-1", "update": update}})
        .to_string(),
    )
}

/// Says when it is ready, beats, and states its liveness everywhere.
fn beating() -> HistoryBuilder {
    let ready = beat(beat(HistoryBuilder::ready()).after_ms(500));
    let turn = ready.prompt("two\nlines").after_ms(400).end_turn("end_turn");
    let idle = beat(beat(turn).after_ms(500));
    // A beat was on the wire when the next prompt went out.
    let crossing = beat(idle.block("next").prompt_text_only("next")).accepted();
    let ended = beat(crossing.shows("you ▸ next").after_ms(400).end_turn("end_turn"));
    let beating = (0..4).fold(ended.after_ms(500), |idle, _| beat(idle).after_ms(1_200));
    beating.stopping().agent_ended()
}

/// Knows neither turnId nor liveness, and has agents that chatter.
fn terse() -> HistoryBuilder {
    let silent = |body: &mut Value| body["turnId"] = Value::Null;
    let ready = update(HistoryBuilder::ready(), "available_commands_update").after_ms(300);
    let turn = ready
        .block("one")
        .prompt_text_only("one")
        .post_with("UserPromptSubmit", "accepted", silent)
        .shows("you ▸ one");
    let ended = update(turn, "agent_message_chunk")
        .after_ms(400)
        .end_turn("end_turn")
        .post_with("Stop", "end_turn", silent);
    update(ended, "agent_message_chunk").watch_seconds(5)
}

/// Two messages wait; the Stop of a turn arrives after the next prompt went out.
fn queueing() -> HistoryBuilder {
    HistoryBuilder::ready()
        .prompt("first")
        .block("second")
        .shows("queued (1)")
        .block("third")
        .shows("queued (2)")
        .after_ms(500)
        .end_turn("end_turn")
        .prompt_text_only("second")
        .post_with("Stop", "end_turn", |body| body["turnId"] = json!("1"))
        .accepted()
        .shows("you ▸ second")
        .after_ms(400)
        .end_turn("max_tokens")
        .post("Stop", "max_tokens")
        .prompt_text_only("third")
        .accepted()
        .shows("you ▸ third")
        .after_ms(400)
        .end_turn("end_turn")
        .post("Stop", "end_turn")
        .watch_seconds(9)
}

/// A cancel drops what waits.
fn cancelling() -> HistoryBuilder {
    HistoryBuilder::ready()
        .prompt("work")
        .block("dropped")
        .shows("queued")
        .after_ms(400)
        .abort()
        .cancel()
        .shows("cancel requested 12:00:00; 1 waiting message dropped")
        .after_ms(400)
        .end_turn("cancelled")
        .post("Stop", "cancelled")
        .after_ms(400)
        .prompt("/abort now")
        .after_ms(400)
        .end_turn("end_turn")
        .post("Stop", "end_turn")
        .watch_seconds(9)
}

/// A refusal is held to the next accepted prompt, over a message that waited.
fn refusing() -> HistoryBuilder {
    HistoryBuilder::ready()
        .prompt("edit it")
        .permission("call-1")
        .permission("call-2")
        .block("next\none")
        .shows("queued")
        .after_ms(400)
        .end_turn("cancelled")
        .prompt_text_only("next\none")
        .accepted()
        .shows("you ▸ next\r\none")
        .after_ms(400)
        .end_turn("end_turn")
        .post("Stop", "end_turn")
        .after_ms(400)
        .permission("outside")
        .watch_seconds(9)
}

/// A turn fails, and a Notification says so.
fn failing() -> HistoryBuilder {
    HistoryBuilder::ready()
        .prompt("work")
        .after_ms(400)
        .fail_turn(-32603)
        .post("Notification", "runtime_error")
        .after_ms(400)
        .prompt("again")
        .after_ms(400)
        .fail_turn(-32603)
        .post("Stop", "failed")
        .watch_seconds(9)
}

/// The agent exits in the middle of a turn; so does the runner.
fn losing_the_agent() -> HistoryBuilder {
    HistoryBuilder::ready()
        .prompt("work")
        .block("next")
        .shows("queued")
        .after_ms(400)
        .fact(Fact::Wire(Wire::Ending {
            agent: 1,
            code: Some(3),
            signal: None,
        }))
        .agent_ended()
        .post("Stop", "dsh_exited")
        .shows("the agent has exited; 1 waiting message dropped")
        .after_ms(5_000)
        .fact(Fact::Pane(Pane::BracketedPaste { on: false }))
        .fact(Fact::Process(Process::RunnerExited {
            code: Some(1),
            signal: None,
        }))
        .watch_seconds(20)
}

/// Told by port, it beats; the agent answers and leaves at once, and a beat and the turn's Stop are still on their way.
fn left_after_the_answer() -> HistoryBuilder {
    let opened = HistoryBuilder::empty()
        .launch(|facts| facts.endpoint_told = "port".into())
        .terminal_ready()
        .agent_started()
        .opened()
        .record("conv-1");
    let turn = beat(opened).prompt("work").after_ms(400).end_turn("end_turn");
    let left = turn.fact(Fact::Wire(Wire::Ending {
        agent: 1,
        code: Some(0),
        signal: None,
    }));
    beat(beat(left.agent_ended()))
        .post("Stop", "dsh_exited")
        .watch_seconds(9)
}

/// The agent closes its output and works on, as far as anybody can tell; then it is ended for that.
fn closing_its_output() -> HistoryBuilder {
    HistoryBuilder::ready()
        .prompt("work")
        .after_ms(400)
        .fact(Fact::Wire(Wire::StdoutClosed { agent: 1 }))
        .shows("the agent can't be heard any more")
        .after_ms(5_000)
        .agent_ended()
        .post("Stop", "dsh_exited")
        .watch_seconds(9)
}

/// Hung posts are given up and forgotten.
fn forgetting_in_a_hang() -> HistoryBuilder {
    HistoryBuilder::ready()
        .endpoint("hang")
        .block("work")
        .prompt_text_only("work")
        .post_started("UserPromptSubmit", "accepted", |_| {})
        .shows("you ▸ work")
        .after_ms(500)
        .end_turn("end_turn")
        .after_ms(1_500)
        .post_started("Stop", "end_turn", |_| {})
        .post_ended(PostEnd::GivenUp)
        .fact(Fact::Post(crate::history::PostFact::Ended {
            id: 1,
            how: PostEnd::GivenUp,
        }))
        .after_ms(500)
        .endpoint("healthy")
        .prompt("next")
        .after_ms(400)
        .end_turn("end_turn")
        .post("Stop", "end_turn")
        .watch_seconds(20)
}

/// What could not be posted is posted later, in its order, in the middle of the next turn.
fn catching_up() -> HistoryBuilder {
    HistoryBuilder::ready()
        .endpoint("refuse")
        .block("work")
        .prompt_text_only("work")
        .shows("you ▸ work")
        .after_ms(500)
        .end_turn("end_turn")
        .after_ms(500)
        .block("next")
        .prompt_text_only("next")
        .shows("you ▸ next")
        .after_ms(2_000)
        .endpoint("healthy")
        .post("UserPromptSubmit", "accepted")
        .post("Stop", "end_turn")
        .post("UserPromptSubmit", "accepted")
        .after_ms(500)
        .end_turn("end_turn")
        .post("Stop", "end_turn")
        .watch_seconds(20)
}

/// Failed posts are repeated with their number.
fn repeating() -> HistoryBuilder {
    let failed = HistoryBuilder::ready()
        .endpoint("status 500")
        .block("work")
        .prompt_text_only("work")
        .post_started("UserPromptSubmit", "accepted", numbered(1))
        .post_ended(PostEnd::Answered { status: 500 })
        .post_started("UserPromptSubmit", "accepted", numbered(1))
        .post_ended(PostEnd::Answered { status: 500 })
        .shows("you ▸ work")
        .endpoint("close_mid_answer")
        .end_turn("end_turn")
        .post_started("Stop", "end_turn", numbered(2))
        .post_ended(OK);
    failed
        .post_started("Stop", "end_turn", numbered(2))
        .endpoint("healthy")
        .post_ended(PostEnd::Broken)
        .post_with("Stop", "end_turn", numbered(2))
        .after_ms(400)
        .block("next")
        .prompt_text_only("next")
        .post_with("UserPromptSubmit", "accepted", numbered(3))
        .shows("you ▸ next")
        .watch_seconds(20)
}

/// Reopened, with history replayed after the answer too; a message came before the handshake.
fn resuming() -> HistoryBuilder {
    let asked = HistoryBuilder::resumed("conv-1")
        .block("early\nbird")
        .after_ms(500);
    let replayed = update(asked, "user_message_chunk").exchange(
        "session/load",
        json!({"sessionId": "conv-1", "cwd": "/seat", "mcpServers": []}),
        json!({"result": null}),
    );
    let still_replaying = update(
        update(replayed.record("conv-1"), "user_message_chunk"),
        "agent_message_chunk",
    );
    update(
        still_replaying
            .prompt_text_only("early\nbird")
            .accepted()
            .shows("you ▸ early\r\nbird"),
        "agent_message_chunk",
    )
    .after_ms(400)
    .end_turn("end_turn")
    .post("Stop", "end_turn")
    .watch_seconds(9)
}

/// Nothing was opened, and what was entered stays.
fn refused_open() -> HistoryBuilder {
    HistoryBuilder::resumed("conv-9")
        .exchange(
            "session/load",
            json!({"sessionId": "conv-9", "cwd": "/seat", "mcpServers": []}),
            json!({"error": {"code": -32603, "message": "Internal error"}}),
        )
        .shows("the conversation could not be reopened")
        .block("work")
        .shows("not sent: no conversation is open")
        .watch_seconds(30)
}

/// Told of no endpoint: works without posting. Launched again, it was told.
fn without_endpoint() -> HistoryBuilder {
    HistoryBuilder::empty()
        .launch(|facts| {
            facts.endpoint_told = "nothing".into();
            facts.first_input = Some("begin\n".into());
        })
        .terminal_ready()
        .agent_started()
        .opened()
        .record("conv-1")
        .prompt_text_only("begin")
        .shows("you ▸ begin")
        .after_ms(400)
        .end_turn("end_turn")
        .block("work")
        .prompt_text_only("work")
        .shows("you ▸ work")
        .after_ms(400)
        .end_turn("end_turn")
        .watch_seconds(9)
        .agent_ended()
        .launch(|_| {})
        .terminal_ready()
        .agent_started()
        .opened()
        .record("conv-1")
        .prompt("again")
        .end_turn("end_turn")
        .post("Stop", "end_turn")
        .watch_seconds(9)
}

/// Answered in raw bytes, and stopped in the middle of the next turn, with a message just entered.
fn stopped_in_a_turn() -> HistoryBuilder {
    HistoryBuilder::ready()
        .prompt("work")
        .fact(Fact::Wire(Wire::FromAgentRaw {
            agent: 1,
            bytes: Bytes::from("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"stopReason\":\"end_turn\"}}\n"),
        }))
        .post("Stop", "end_turn")
        .after_ms(400)
        .prompt("next")
        .after_ms(5_000)
        .block("too late")
        .stopping()
        .cancel()
        .agent_ended()
        .post("Stop", "dsh_exited")
}

pub(super) fn all() -> Vec<(&'static str, History)> {
    [
        ("beating", beating()),
        ("terse", terse()),
        ("queueing", queueing()),
        ("cancelling", cancelling()),
        ("refusing", refusing()),
        ("failing", failing()),
        ("losing the agent", losing_the_agent()),
        ("left after the answer", left_after_the_answer()),
        ("closing its output", closing_its_output()),
        ("forgetting in a hang", forgetting_in_a_hang()),
        ("catching up", catching_up()),
        ("repeating", repeating()),
        ("resuming", resuming()),
        ("refused open", refused_open()),
        ("without endpoint", without_endpoint()),
        ("stopped in a turn", stopped_in_a_turn()),
    ]
    .into_iter()
    .map(|(manner, builder)| (manner, builder.history()))
    .collect()
}

pub(super) fn assert_nothing_broken(manner: &str, history: &History) {
    let views = Views::new(history);
    for clause in ClauseSet::usual().clauses() {
        let finding = (clause.judge)(&views);
        assert!(
            !matches!(finding, Finding::Broken(_) | Finding::Inconclusive(_)),
            "{manner}, {} events: {}: {finding:?}",
            history.events.len(),
            clause.id
        );
    }
}

#[test]
fn no_clause_breaks() {
    for (manner, history) in all() {
        assert_nothing_broken(manner, &history);
    }
}

#[test]
fn nor_when_the_seat_is_stopped_at_any_time() {
    for (manner, history) in all() {
        for length in 0..history.events.len() {
            let mut events: Vec<Event> = history.events[..length].to_vec();
            if let Some(last) = events.last() {
                events.push(Event {
                    sequence: 0,
                    at: last.at + 1_000_000,
                    launch: last.launch,
                    fact: Fact::Step(Step::Stopping { how: "hangup".into() }),
                });
            }
            assert_nothing_broken(manner, &History::new(history.header.clone(), events));
        }
    }
}

proptest! {
    /// Events of all these histories, thrown together: any of them may be missing, stand twice, or stand elsewhere.
    #[test]
    fn no_history_makes_a_judge_panic(picks in proptest::collection::vec((any::<u16>(), 0u64..12_000, 0u32..3), 0..120)) {
        let pool: Vec<(String, History)> = all().into_iter().map(|(manner, history)| (manner.to_owned(), history)).collect();
        let facts: Vec<&Event> = pool.iter().flat_map(|(_, history)| &history.events).collect();
        let launch = facts.iter().find(|event| matches!(event.fact, Fact::Step(Step::Launched(_)))).copied();
        let events = launch.into_iter().cloned().chain(picks.iter().map(|(pick, at, launch)| {
            let event = facts[usize::from(*pick) % facts.len()];
            Event { at: at * 1_000_000, launch: *launch, ..event.clone() }
        }));
        let history = History::new(pool[0].1.header.clone(), events.collect());
        let views = Views::new(&history);
        for clause in ClauseSet::usual().clauses() {
            let _ = (clause.judge)(&views);
        }
    }
}
