//! Running the actions of a list, one after another.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::agent::{Agent, Context};
use crate::built_in;
use crate::children;
use crate::control::{Fact, GateState};
use crate::script::{Action, Permission, Raw, Request};
use crate::standard_error;
use crate::waiting::off_the_reader;
use crate::wire::compose;

/// Why an action can't be done.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("{0} needs a session, and none is open")]
    NoSession(&'static str),
    #[error("{0} answers a request, and this list runs for none")]
    NoRequest(&'static str),
    #[error("close_stdout: it is closed already")]
    Closed,
    #[error("child: {0}")]
    Child(#[source] std::io::Error),
}

/// Runs a list. What can't be done is reported and skipped.
pub(crate) async fn run(agent: &Arc<Agent>, context: &Context, actions: &[Action]) {
    for action in actions {
        agent.reporter.wait_for_room();
        if let Err(trouble) = step(agent, context, action).await {
            agent.reporter.trouble(trouble.to_string());
        }
    }
}

/// Runs a list that stands in a list.
fn run_inner<'a>(
    agent: &'a Arc<Agent>,
    context: &'a Context,
    actions: &'a [Action],
) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
    Box::pin(run(agent, context, actions))
}

async fn step(agent: &Arc<Agent>, context: &Context, action: &Action) -> Result<(), Trouble> {
    let output = &agent.output;
    let session = |action| agent.session(context).ok_or(Trouble::NoSession(action));
    match action {
        Action::Say(text) => output.line(compose::chunk(&session("say")?, AGENT, text)).await,
        Action::Think(text) => {
            output
                .line(compose::chunk(&session("think")?, "agent_thought_chunk", text))
                .await
        }
        Action::SayLarge { bytes } => {
            off_the_reader().await;
            output
                .line(compose::chunk(&session("say_large")?, AGENT, &"x".repeat(*bytes)))
                .await;
        }
        Action::Update(update) => output.line(compose::update(&session("update")?, update)).await,
        Action::UpdateFor { session, update } => output.line(compose::update(session, update)).await,
        Action::Replay { turns } => replay(agent, &session("replay")?, *turns).await,
        Action::Notify { method, params } => {
            output.line(compose::notification(method, params.as_ref())).await
        }
        Action::Request(request) if request.same_id => {
            let id = context
                .request
                .as_deref()
                .and_then(|id| serde_json::from_str(id.get()).ok())
                .ok_or(Trouble::NoRequest("same_id"))?;
            ask(agent, request, id).await;
        }
        Action::Request(request) => {
            let id = request.id.clone().unwrap_or_else(|| agent.next_request_id());
            ask(agent, request, id).await;
        }
        Action::Permission(permission) => {
            let session = permission
                .session
                .clone()
                .map_or_else(|| session("permission"), Ok)?;
            let request = permission_request(permission, session);
            let id = request.id.clone().unwrap_or_else(|| agent.next_request_id());
            ask(agent, &request, id).await;
        }
        Action::ToolCall { id, title, status } => {
            let status = status.as_deref().unwrap_or("pending");
            let update =
                json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "status": status});
            output
                .line(compose::update(&session("tool_call")?, &update))
                .await;
        }
        Action::ToolDone { id, status } => {
            let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status});
            output
                .line(compose::update(&session("tool_done")?, &update))
                .await;
        }
        Action::Await(method) => agent.arrivals.method_after(method, context.since).await,
        Action::AwaitAnswer(id) => agent.arrivals.answer(id).await,
        Action::Gate(name) => gate(agent, name).await,
        Action::Ask => ask_the_engine(agent, context).await?,
        Action::Pause(delay) => {
            off_the_reader().await;
            tokio::time::sleep(delay.duration()).await;
        }
        Action::Answer => usual(agent, context).await?,
        Action::Result(result) => succeed(agent, context, "result", result).await?,
        Action::End(reason) => {
            let id = context.request.as_deref().ok_or(Trouble::NoRequest("end"))?;
            output.line(compose::stop(id, reason)).await;
        }
        Action::Error { code, message, data } => {
            fail(agent, context, "error", *code, message, data.as_ref()).await?;
        }
        Action::Send(message) => output.line(compose::line(message)).await,
        Action::Raw(raw) => output.raw(raw).await,
        Action::Noise(text) => {
            output
                .raw(&Raw {
                    bytes: format!("{text}\n").into_bytes(),
                    chunk: None,
                    gap: None,
                })
                .await;
        }
        Action::Joined(messages) => output.joined(messages.iter().map(compose::line).collect()).await,
        Action::Stderr(text) => standard_error::line(&agent.reporter, text).await,
        Action::StderrFlood { bytes } => standard_error::flood(&agent.reporter, *bytes).await,
        Action::Child { own_session } => {
            off_the_reader().await;
            let pid = children::start(&agent.program, *own_session)
                .await
                .map_err(Trouble::Child)?;
            agent.reporter.report(|| Fact::Child {
                pid,
                own_session: *own_session,
            });
        }
        Action::CloseStdout => {
            if !output.close().await {
                return Err(Trouble::Closed);
            }
        }
        Action::Exit(exit) => agent.end(*exit),
        Action::Repeat { times, actions } => {
            off_the_reader().await;
            for _ in 0..*times {
                run_inner(agent, context, actions).await;
            }
        }
    }
    Ok(())
}

/// The kind of update that holds what the agent says.
const AGENT: &str = "agent_message_chunk";

async fn replay(agent: &Agent, session: &str, turns: usize) {
    off_the_reader().await;
    for turn in 1..=turns {
        let question = format!("replayed prompt {turn}");
        agent
            .output
            .line(compose::chunk(session, "user_message_chunk", &question))
            .await;
        let answer = format!("replayed answer {turn}");
        agent.output.line(compose::chunk(session, AGENT, &answer)).await;
    }
}

async fn gate(agent: &Agent, name: &str) {
    let report = |state| {
        agent.reporter.report(|| Fact::Gate {
            name: name.to_owned(),
            state,
        })
    };
    report(GateState::Waiting);
    agent.arrivals.gate(name).await;
    report(GateState::Passed);
}

/// Does what the engine orders, until it orders no more.
async fn ask_the_engine(agent: &Arc<Agent>, context: &Context) -> Result<(), Trouble> {
    if agent.reporter.is_alone() {
        return usual(agent, context).await;
    }
    let (ask, mut orders) = agent.questions.open();
    agent.reporter.report(|| Fact::Asks {
        ask,
        method: context.method.clone(),
    });
    while let Some(told) = orders.recv().await {
        run_inner(agent, context, &told.actions).await;
        if !told.more {
            break;
        }
    }
    Ok(())
}

/// The answer of a script that does not mention the method.
async fn usual(agent: &Arc<Agent>, context: &Context) -> Result<(), Trouble> {
    match built_in::answer(agent, context) {
        Some(result) => succeed(agent, context, "answer", &result).await,
        None => fail(agent, context, "answer", -32601, "Method not found", None).await,
    }
}

async fn ask(agent: &Agent, request: &Request, id: Value) {
    agent.arrivals.asked(&id);
    let params = match request.filler {
        Some(bytes) => {
            off_the_reader().await;
            Some(filled(request.params.as_ref(), bytes))
        }
        None => request.params.clone(),
    };
    agent
        .output
        .line(compose::request(&id, &request.method, params.as_ref()))
        .await;
    if request.wait {
        agent.arrivals.answer(&id).await;
    }
}

/// The parameters, with a member `filler` of so many bytes beside what they hold.
fn filled(params: Option<&Value>, bytes: usize) -> Value {
    let mut members = params.and_then(Value::as_object).cloned().unwrap_or_default();
    members.insert("filler".into(), "x".repeat(bytes).into());
    members.into()
}

fn permission_request(permission: &Permission, session: String) -> Request {
    let mut params = Map::new();
    params.insert("sessionId".into(), session.into());
    let tool_call = permission
        .tool_call
        .clone()
        .unwrap_or_else(|| Some("call-1".into()));
    if let Some(id) = tool_call {
        let mut tool_call = Map::new();
        tool_call.insert("toolCallId".into(), id.into());
        if let Some(title) = &permission.title {
            tool_call.insert("title".into(), title.clone().into());
        }
        if let Some(raw_input) = &permission.raw_input {
            tool_call.insert("rawInput".into(), raw_input.clone());
        }
        params.insert("toolCall".into(), tool_call.into());
    }
    let ordinary = || {
        json!([
            {"optionId": "allow-once", "name": "Allow", "kind": "allow_once"},
            {"optionId": "allow-always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
        ])
    };
    params.insert(
        "options".into(),
        permission.options.clone().map_or_else(ordinary, Value::Array),
    );
    Request {
        method: "session/request_permission".into(),
        params: Some(params.into()),
        id: permission.id.clone(),
        same_id: false,
        filler: None,
        wait: permission.wait,
    }
}

async fn succeed(
    agent: &Arc<Agent>,
    context: &Context,
    action: &'static str,
    result: &Value,
) -> Result<(), Trouble> {
    let id = context.request.as_deref().ok_or(Trouble::NoRequest(action))?;
    agent.output.line(compose::success(id, result)).await;
    agent.after_result(context, result);
    Ok(())
}

async fn fail(
    agent: &Agent,
    context: &Context,
    action: &'static str,
    code: i64,
    message: &str,
    data: Option<&Value>,
) -> Result<(), Trouble> {
    let id = context.request.as_deref().ok_or(Trouble::NoRequest(action))?;
    agent.output.line(compose::failure(id, code, message, data)).await;
    Ok(())
}
