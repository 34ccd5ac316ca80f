//! One event in a few words, for people who must understand why something did not come.

use crate::history::{Event, Fact, Pane, PostEnd, PostFact, Process, Step, Wire};

/// How much of a text is shown.
const SHOWN: usize = 100;

/// The event in a few words, its text cut and without control characters.
#[must_use]
pub fn in_words(event: &Event) -> String {
    match &event.fact {
        Fact::Step(step) => of_step(step),
        Fact::Pane(pane) => of_pane(pane),
        Fact::Wire(wire) => of_wire(wire),
        Fact::Post(post) => of_post(post),
        Fact::Record(record) => match &record.content {
            Some(content) => format!("record {:?}: {}", record.change, cut(&content.text())),
            None => format!("record {:?}", record.change),
        },
        Fact::Process(process) => of_process(process),
        Fact::Reading(reading) => format!("the seat reads {}, {}", reading.launch, reading.activity),
        Fact::Lag { late_ms } => format!("the engine itself was {late_ms} ms late"),
    }
}

fn of_step(step: &Step) -> String {
    match step {
        Step::Launched(facts) => format!("launched, attempt {}", facts.attempt),
        Step::Sent { block, text, .. } => format!("message {block}: {}", cut(&text.text())),
        Step::Entered { block } => format!("Enter for message {block}"),
        Step::Interrupted => "Ctrl-C".into(),
        Step::Typed { bytes } => format!("typed {}", cut(&bytes.text())),
        Step::Awaited { what, took_ms, .. } => format!("{what}: came in {took_ms} ms"),
        Step::TimedOut { what, limit_ms, .. } => format!("{what}: did not come in {limit_ms} ms"),
        Step::Quiet { lasted_ms } => format!("quiet for {lasted_ms} ms"),
        Step::Opened { gate } => format!("gate {gate:?} opened"),
        Step::Endpoint { fault } => format!("endpoint: {fault}"),
        Step::ClearedAttention => "attention cleared by the operator".into(),
        Step::Verified { block, found } => format!("message {block} in the pane: {found}"),
        Step::Stopping { how } => format!("stopping: {how}"),
        Step::Resized {
            size: (rows, columns),
        } => format!("gave the terminal {rows} rows and {columns} columns"),
        Step::Stopped { took_ms } => format!("stopped after {took_ms} ms"),
    }
}

fn of_pane(pane: &Pane) -> String {
    match pane {
        Pane::Output { bytes } => format!("pane: {}", cut(&bytes.text())),
        Pane::Input { bytes } => format!("typed: {}", cut(&bytes.text())),
        Pane::Settings(settings) => {
            format!("terminal {}", if settings.is_raw() { "raw" } else { "not raw" })
        }
        Pane::BracketedPaste { on } => format!("bracketed paste {}", if *on { "on" } else { "off" }),
        Pane::Closed => "pane closed".into(),
    }
}

fn of_wire(wire: &Wire) -> String {
    match wire {
        Wire::AgentStarted { agent, pid, .. } => format!("agent {agent} started, process {pid}"),
        Wire::ToAgent { line, .. } => format!("runner → agent: {}", cut(&line.text())),
        Wire::Framed { lines, writes, .. } => format!("agent writes {lines} line(s) in {writes} write(s)"),
        Wire::FromAgent { line, .. } => format!("agent → runner: {}", cut(&line.text())),
        Wire::FromAgentRaw { bytes, .. } => format!("agent → runner, raw: {}", cut(&bytes.text())),
        Wire::EndOfInput { agent } => format!("agent {agent}: its input ended"),
        Wire::Gate { name, passed, .. } => format!(
            "agent {} gate {name:?}",
            if *passed { "passed" } else { "waits at" }
        ),
        Wire::StdoutClosed { agent } => format!("agent {agent} closed its output"),
        Wire::Stderr { bytes, .. } => format!("agent wrote {bytes} bytes on stderr"),
        Wire::Child { pid, .. } => format!("agent started child {pid}"),
        Wire::Ending { agent, code, signal } => {
            format!("agent {agent} ends: code {code:?}, signal {signal:?}")
        }
        Wire::AgentEnded { agent } => format!("agent {agent} is gone"),
        Wire::Trouble { text, .. } => format!("script: {text}"),
    }
}

fn of_post(post: &PostFact) -> String {
    match post {
        PostFact::Started { id, body, .. } => format!("post {id}: {}", cut(&body.text())),
        PostFact::Ended {
            id,
            how: PostEnd::Answered { status },
        } => format!("post {id} answered {status}"),
        PostFact::Ended {
            id,
            how: PostEnd::GivenUp,
        } => format!("post {id} given up by the runner"),
        PostFact::Ended {
            id,
            how: PostEnd::Broken,
        } => format!("post {id} broken by the endpoint"),
        PostFact::Flooded { count } => format!("{count} more posts"),
    }
}

fn of_process(process: &Process) -> String {
    match process {
        Process::RunnerStarted { pid } => format!("runner started, process {pid}"),
        Process::RunnerNotStarted { why } => format!("runner not started: {why}"),
        Process::RunnerExited { code, signal } => format!("runner ended: code {code:?}, signal {signal:?}"),
        Process::Survivor { pid, command, .. } => format!("still there: {pid} {}", cut(command)),
    }
}

fn cut(text: &str) -> String {
    let plain: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        plain + "…"
    } else {
        plain
    }
}
