//! Small hand-written histories for the judges' tests: one that holds, one that breaks.
//!
//! Each call adds what a seat would have shown; time moves on by a millisecond a call unless said otherwise. The
//! defaults are those of a conformant runner, so that a test only says what matters to it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ClauseSet, Finding};
use crate::history::views::Views;
use crate::history::{
    Authorization, Bytes, Declared, Delivery, Event, FORMAT, Fact, Header, History, Launched, Pane, PostEnd,
    PostFact, Process, RecordChange, RecordFact, Step, TerminalSettings, Wire,
};

/// 2026-01-01T00:00:00Z: the wall clock at the start of each history.
const WALL_START_NS: u64 = 1_767_225_600_000_000_000;
const MILLISECOND: u64 = 1_000_000;

#[derive(Clone)]
pub(crate) struct HistoryBuilder {
    events: Vec<Event>,
    now: u64,
    launch: u32,
    facts: Launched,
    next_request: i64,
    next_asked: i64,
    last_prompt: i64,
    sequence: u64,
    posts: u64,
    blocks: u32,
    turns: u64,
    agents: u32,
    conversation: String,
    declared: Declared,
}

fn launched() -> Launched {
    Launched {
        attempt: "attempt-1".into(),
        generation: "9b1c2c1e-0000-4000-8000-000000000001".into(),
        session_name: "dev-builder@rig".into(),
        node_id: "01JNODE".into(),
        runtime: "dsh".into(),
        record_path_given: true,
        stale_record: false,
        resume_ref: None,
        endpoint_told: "url".into(),
        first_input: None,
        model: None,
        command: vec!["runner".into()],
        agent_names: vec!["dsh".into()],
        transport: "pty".into(),
        size: (40, 120),
    }
}

impl HistoryBuilder {
    /// Nothing has happened yet.
    pub(crate) fn empty() -> Self {
        Self {
            events: Vec::new(),
            now: 0,
            launch: 0,
            facts: launched(),
            next_request: 0,
            next_asked: 0,
            last_prompt: -1,
            sequence: 0,
            posts: 0,
            blocks: 0,
            turns: 0,
            agents: 0,
            conversation: "conv-1".into(),
            declared: Declared::default(),
        }
    }

    /// The same seat with other declarations.
    pub(crate) fn declared(mut self, declared: Declared) -> Self {
        self.declared = declared;
        self
    }

    /// A seat that was launched, opened its conversation `conv-1` and wrote its record.
    pub(crate) fn ready() -> Self {
        Self::launched().opened().record("conv-1")
    }

    /// A seat whose runner started and turned its terminal raw.
    pub(crate) fn launched() -> Self {
        Self::empty().launch(|_| {}).terminal_ready().agent_started()
    }

    /// A seat that was asked to reopen `reference`; the agent has answered initialize.
    pub(crate) fn resumed(reference: &str) -> Self {
        let reference = reference.to_owned();
        Self::empty()
            .launch(move |facts| facts.resume_ref = Some(reference))
            .terminal_ready()
            .agent_started()
            .initialized(json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}))
    }

    /// Another launch of the seat, with facts changed by `change`.
    pub(crate) fn launch(mut self, change: impl FnOnce(&mut Launched)) -> Self {
        self.launch += 1;
        self.agents = 0;
        self.posts = 0;
        self.sequence = 0;
        self.facts = launched();
        self.facts.attempt = format!("attempt-{}", self.launch);
        change(&mut self.facts);
        let facts = self.facts.clone();
        self.fact(Fact::Step(Step::Launched(Box::new(facts))))
            .fact(Fact::Process(Process::RunnerStarted { pid: 100 }))
    }

    pub(crate) fn terminal_ready(self) -> Self {
        self.settings(false, false)
            .fact(Fact::Pane(Pane::BracketedPaste { on: true }))
    }

    pub(crate) fn settings(self, canonical: bool, echo: bool) -> Self {
        self.fact(Fact::Pane(Pane::Settings(TerminalSettings {
            canonical,
            echo,
            signals: canonical,
        })))
    }

    pub(crate) fn agent_started(mut self) -> Self {
        self.agents += 1;
        let agent = self.agents;
        self.fact(Fact::Wire(Wire::AgentStarted {
            agent,
            pid: 200 + agent,
            arguments: vec!["dsh".into(), "acp".into()],
            environment: BTreeMap::new(),
        }))
    }

    /// What follows is about a second agent, whose start the test has made itself.
    pub(crate) fn second_agent(mut self) -> Self {
        self.agents = 2;
        self
    }

    pub(crate) fn agent_ended(self) -> Self {
        let agent = self.agents;
        self.fact(Fact::Wire(Wire::AgentEnded { agent }))
    }

    /// initialize and its answer with these agentCapabilities.
    pub(crate) fn initialized(self, capabilities: Value) -> Self {
        self.exchange(
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": {}}),
            json!({"result": {"protocolVersion": 1, "agentCapabilities": capabilities}}),
        )
    }

    /// initialize and session/new, answered with `conv-1`.
    pub(crate) fn opened(self) -> Self {
        let id = self.conversation.clone();
        self.initialized(json!({"loadSession": true})).exchange(
            "session/new",
            json!({"cwd": "/seat", "mcpServers": []}),
            json!({"result": {"sessionId": id}}),
        )
    }

    /// A runner's request and the agent's answer: `{"result": …}` or `{"error": …}`.
    pub(crate) fn exchange(mut self, method: &str, params: Value, answer: Value) -> Self {
        let id = self.next_request;
        self.next_request += 1;
        self = self.runner_writes(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        let mut answer = answer;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = json!(id);
        self.agent_writes(&answer.to_string())
    }

    /// A runner's request that the agent leaves unanswered.
    pub(crate) fn asks_agent(mut self, method: &str, params: Value) -> Self {
        let id = self.next_request;
        self.next_request += 1;
        self.runner_writes(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        )
    }

    pub(crate) fn runner_writes(self, line: &str) -> Self {
        let agent = self.agents;
        self.fact(Fact::Wire(Wire::ToAgent {
            agent,
            line: line.into(),
        }))
    }

    pub(crate) fn agent_writes(self, line: &str) -> Self {
        let agent = self.agents;
        self.fact(Fact::Wire(Wire::FromAgent {
            agent,
            line: line.into(),
        }))
    }

    /// A whole message: pasted, entered, submitted, accepted, mirrored.
    pub(crate) fn prompt(self, text: &str) -> Self {
        let mirror = text.replace('\n', "\r\n");
        self.block(text)
            .prompt_text_only(text)
            .accepted()
            .shows(&format!("you ▸ {mirror}"))
    }

    /// The message is put into the terminal and entered; nothing follows yet.
    pub(crate) fn block(mut self, text: &str) -> Self {
        self.blocks += 1;
        let block = self.blocks;
        self.fact(Fact::Step(Step::Sent {
            block,
            text: text.into(),
            delivery: Delivery::Paste,
        }))
        .fact(Fact::Step(Step::Entered { block }))
    }

    /// A session/prompt with that text and nothing else.
    pub(crate) fn prompt_text_only(mut self, text: &str) -> Self {
        let id = self.next_request;
        self.next_request += 1;
        self.last_prompt = id;
        self.turns += 1;
        let session = self.conversation.clone();
        self.runner_writes(
            &json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt",
                    "params": {"sessionId": session, "prompt": [{"type": "text", "text": text}]}})
            .to_string(),
        )
    }

    pub(crate) fn accepted(self) -> Self {
        self.post("UserPromptSubmit", "accepted")
    }

    /// The agent answers the newest prompt with a stop reason.
    pub(crate) fn end_turn(self, reason: &str) -> Self {
        let id = self.last_prompt;
        self.agent_writes(&json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": reason}}).to_string())
    }

    /// The agent answers the newest prompt with an error.
    pub(crate) fn fail_turn(self, code: i64) -> Self {
        let id = self.last_prompt;
        self.agent_writes(
            &json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}}).to_string(),
        )
    }

    pub(crate) fn abort(self) -> Self {
        self.block("/abort")
    }

    pub(crate) fn interrupt(self) -> Self {
        self.fact(Fact::Step(Step::Interrupted))
    }

    pub(crate) fn cancel(self) -> Self {
        let session = self.conversation.clone();
        self.runner_writes(
            &json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
                .to_string(),
        )
    }

    /// The agent asks for permission under that tool call, the runner refuses, shows it and posts it.
    pub(crate) fn permission(self, tool_call: &str) -> Self {
        self.asks_permission(json!({"toolCallId": tool_call, "title": format!("do {tool_call}")}))
            .refuses()
            .shows(&format!("permission refused: do {tool_call}"))
            .post("Notification", "permission_prompt")
    }

    /// The agent asks for permission with that `toolCall`; nothing follows yet.
    pub(crate) fn asks_permission(mut self, tool_call: Value) -> Self {
        let id = self.next_asked;
        self.next_asked += 1;
        let session = self.conversation.clone();
        self.agent_writes(
            &json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
                    "params": {"sessionId": session, "toolCall": tool_call, "options": []}})
            .to_string(),
        )
    }

    /// The runner refuses the newest permission request.
    pub(crate) fn refuses(self) -> Self {
        let id = self.next_asked - 1;
        self.runner_writes(
            &json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "cancelled"}}}).to_string(),
        )
    }

    /// A post with everything in it, answered 200.
    pub(crate) fn post(self, hook_event: &str, subtype: &str) -> Self {
        self.post_with(hook_event, subtype, |_| {})
    }

    /// A post whose body was changed, answered 200.
    pub(crate) fn post_with(self, hook_event: &str, subtype: &str, change: impl FnOnce(&mut Value)) -> Self {
        self.post_started(hook_event, subtype, change)
            .post_ended(PostEnd::Answered { status: 200 })
    }

    /// A post that has not ended yet.
    pub(crate) fn post_started(
        mut self,
        hook_event: &str,
        subtype: &str,
        change: impl FnOnce(&mut Value),
    ) -> Self {
        self.sequence += 1;
        let mut body = json!({
            "sessionName": self.facts.session_name, "nodeId": self.facts.node_id, "runtime": self.facts.runtime,
            "generation": self.facts.generation, "sequence": self.sequence, "occurredAt": self.clock(),
            "hookEvent": hook_event, "subtype": subtype, "turnId": self.turns.to_string(),
        });
        change(&mut body);
        self.raw_post(&body.to_string(), Authorization::Right)
    }

    /// The newest post ends.
    pub(crate) fn post_ended(self, how: PostEnd) -> Self {
        let id = self.posts;
        self.fact(Fact::Post(PostFact::Ended { id, how }))
    }

    /// A post with that body and those credentials; it has not ended yet.
    pub(crate) fn raw_post(mut self, body: &str, authorization: Authorization) -> Self {
        self.posts += 1;
        let id = self.posts;
        self.fact(Fact::Post(PostFact::Started {
            id,
            method: "POST".into(),
            path: "/api/activity/hooks".into(),
            authorization,
            body: body.into(),
            body_cut: false,
        }))
    }

    /// The wall clock now, RFC 3339 with milliseconds.
    pub(crate) fn clock(&self) -> String {
        let milliseconds = self.now / MILLISECOND;
        let (minutes, seconds) = (milliseconds / 60_000, milliseconds / 1_000 % 60);
        format!(
            "2026-01-01T00:{minutes:02}:{seconds:02}.{:03}Z",
            milliseconds % 1_000
        )
    }

    /// A whole record of this launch with that nativeRef, moved into place.
    pub(crate) fn record(self, native_ref: &str) -> Self {
        let native_ref = native_ref.to_owned();
        self.record_with(move |record| record["nativeRef"] = json!(native_ref))
    }

    /// A record of this launch that was changed; it has neither nativeRef nor error unless `change` adds one.
    pub(crate) fn record_with(self, change: impl FnOnce(&mut Value)) -> Self {
        let mut record = json!({
            "format": 1, "attempt": self.facts.attempt, "harness": self.facts.runtime, "producer": "runner 1.0",
        });
        change(&mut record);
        self.raw_record(RecordChange::MovedIn, &record.to_string())
    }

    pub(crate) fn raw_record(self, change: RecordChange, content: &str) -> Self {
        self.fact(Fact::Record(RecordFact {
            change,
            content: Some(content.into()),
            note: None,
        }))
    }

    /// The seat writes that text and a line end.
    pub(crate) fn shows(self, text: &str) -> Self {
        self.fact(Fact::Pane(Pane::Output {
            bytes: Bytes::from(format!("{text}\r\n").as_str()),
        }))
    }

    pub(crate) fn endpoint(self, fault: &str) -> Self {
        self.fact(Fact::Step(Step::Endpoint { fault: fault.into() }))
    }

    /// The seat is watched for that long; then the engine begins to stop it.
    pub(crate) fn watch_seconds(self, seconds: u64) -> Self {
        self.after_ms(seconds * 1_000).stopping()
    }

    pub(crate) fn stopping(self) -> Self {
        self.fact(Fact::Step(Step::Stopping { how: "hangup".into() }))
    }

    pub(crate) fn after_ms(mut self, milliseconds: u64) -> Self {
        self.now += milliseconds * MILLISECOND;
        self
    }

    /// Sets the clock, forwards only.
    pub(crate) fn at_ms(mut self, milliseconds: u64) -> Self {
        assert!(
            milliseconds * MILLISECOND >= self.now,
            "the clock of a history goes forwards"
        );
        self.now = milliseconds * MILLISECOND;
        self
    }

    pub(crate) fn fact(mut self, fact: Fact) -> Self {
        self.now += MILLISECOND;
        self.events.push(Event {
            sequence: 0,
            at: self.now,
            launch: self.launch,
            fact,
        });
        self
    }

    pub(crate) fn history(&self) -> History {
        let header = Header {
            format: FORMAT.into(),
            contract: ClauseSet::usual().name.into(),
            scenario: "test".into(),
            exercises: Vec::new(),
            declared: self.declared.clone(),
            wall_start_ns: WALL_START_NS,
        };
        History::new(header, self.events.clone())
    }
}

pub(crate) fn judge(id: &str, history: &HistoryBuilder) -> Finding {
    let clause = ClauseSet::usual()
        .clause(id)
        .unwrap_or_else(|| panic!("no clause {id}"));
    (clause.judge)(&Views::new(&history.history()))
}

pub(crate) fn assert_held(id: &str, history: &HistoryBuilder) {
    let finding = judge(id, history);
    let Finding::Held(decided) = &finding else {
        panic!("{id} should hold: {finding:?}")
    };
    assert!(!decided.events.is_empty(), "{id} holds without a deciding event");
}

pub(crate) fn assert_broken(id: &str, history: &HistoryBuilder) {
    let finding = judge(id, history);
    let Finding::Broken(decided) = &finding else {
        panic!("{id} should be broken: {finding:?}")
    };
    assert!(
        !decided.events.is_empty(),
        "{id} is broken without a deciding event"
    );
}

pub(crate) fn assert_not_exercised(id: &str, history: &HistoryBuilder) {
    let finding = judge(id, history);
    assert_eq!(finding, Finding::NotExercised, "{id}");
}
