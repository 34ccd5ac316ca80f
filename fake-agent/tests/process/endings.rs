//! How the agent ends or does not: exits, signals, the end of input, closed output, children.

use std::os::unix::process::ExitStatusExt as _;

use fake_agent::control::{Fact, GateState};
use fake_agent::script::{Exit, SignalName};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Engine, group_and_session};

/// An agent that ends at its first prompt.
fn ended(exit: Value, script: Value) -> (Engine, std::process::ExitStatus) {
    let mut script = script;
    script["turns"] = json!([[{"say": "bye"}, {"exit": exit}, {"say": "never"}]]);
    let mut engine = Engine::start(script);
    engine.runner.prompt(1);
    assert_eq!(engine.runner.text(), "bye");
    assert_eq!(engine.runner.line(), None);
    let status = engine.runner.end();
    (engine, status)
}

#[test]
fn exits_with_a_code_after_its_last_report() {
    let (mut engine, status) = ended(json!({"code": 3}), json!({}));
    assert_eq!(status.code(), Some(3));
    assert_eq!(engine.rest().pop().unwrap().fact, Fact::Ending(Exit::Code(3)));
}

#[test]
fn dies_by_a_signal_after_its_last_report() {
    use SignalName::{Abrt, Hup, Int, Kill, Quit, Segv, Term, Usr1};
    for name in [Abrt, Hup, Int, Kill, Quit, Segv, Term, Usr1] {
        // Whoever runs this with a signal ignored, as nohup does, has it ignored in the agent too.
        if is_ignored(name) {
            eprintln!("not run for {name:?}: it is ignored here");
            continue;
        }
        let (mut engine, status) = ended(json!({"signal": name}), json!({}));
        assert_eq!(status.signal(), Some(name.number()));
        assert!(!status.core_dumped());
        assert_eq!(
            engine.rest().pop().unwrap().fact,
            Fact::Ending(Exit::Signal(name))
        );
    }
}

/// Whether this process ignores the signal, and hands that on to what it starts.
fn is_ignored(name: SignalName) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap();
    let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
    mask & (1 << (name.number() - 1)) != 0
}

#[test]
fn dies_by_a_signal_that_it_handles_otherwise() {
    let (mut engine, status) = ended(json!({"signal": "TERM"}), json!({"terminate": "ignore"}));
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
    assert_eq!(
        engine.rest().pop().unwrap().fact,
        Fact::Ending(Exit::Signal(SignalName::Term))
    );
}

#[test]
fn what_the_runner_has_seen_is_on_record_though_the_agent_is_killed() {
    for _ in 0..10 {
        let mut engine = Engine::start(json!({}));
        engine.runner.call(json!(1), "authenticate", json!({}));
        engine.runner.kill(Signal::KILL);
        let reports = engine.rest();
        assert!(
            reports
                .iter()
                .any(|report| matches!(report.fact, Fact::Sent { .. })),
            "{reports:?}"
        );
    }
}

#[test]
fn terminate_kills_exits_or_is_ignored() {
    let start = |terminate: Value| {
        let mut script = json!({"at_start": [{"noise": "ready"}]});
        script["terminate"] = terminate;
        let mut engine = Engine::start(script);
        assert_eq!(engine.runner.line().as_deref(), Some(&b"ready"[..]));
        engine.runner.kill(Signal::TERM);
        engine
    };
    assert_eq!(
        start(Value::Null).runner.end().signal(),
        Some(Signal::TERM.as_raw())
    );
    let mut exits = start(json!("exit"));
    assert_eq!(exits.runner.end().code(), Some(0));
    assert_eq!(exits.rest().pop().unwrap().fact, Fact::Ending(Exit::Code(0)));
    start(json!("ignore"))
        .runner
        .call(json!(1), "authenticate", json!({}));
}

#[test]
fn the_end_of_input_ends_it_in_the_middle_of_a_turn() {
    let mut engine = Engine::start(json!({"turns": [[{"gate": "never"}, {"end": "end_turn"}]]}));
    engine.runner.prompt(1);
    engine.until_gate("never", GateState::Waiting);
    engine.runner.end_input();
    assert_eq!(engine.runner.end().code(), Some(0));
    let facts: Vec<Fact> = engine.rest().into_iter().map(|report| report.fact).collect();
    assert_eq!(facts, [Fact::EndOfInput, Fact::Ending(Exit::Code(0))]);
}

#[test]
fn the_end_of_input_may_be_ignored() {
    let mut engine =
        Engine::start(json!({"end_of_input": "ignore", "at_start": [{"gate": "go"}, {"send": {"a": 1}}]}));
    engine.runner.end_input();
    engine.until(|fact| matches!(fact, Fact::EndOfInput));
    engine.open_gate("go");
    assert_eq!(engine.runner.message(), json!({"a": 1}));
}

#[test]
fn it_lives_on_with_its_output_closed() {
    let mut engine =
        Engine::start(json!({"on": {"go": [{"gate": "lives"}, {"result": 1}]}, "turns": [["close_stdout"]]}));
    engine.runner.prompt(1);
    assert_eq!(engine.runner.line(), None);
    engine.runner.request(json!(2), "go", json!({}));
    let reports = engine.until_gate("lives", GateState::Waiting);
    assert!(reports.iter().any(|report| report.fact == Fact::StdoutClosed));
    engine.open_gate("lives");
    engine.runner.end_input();
    let reports = engine.rest();
    assert!(
        !reports
            .iter()
            .any(|report| matches!(report.fact, Fact::Sent { .. } | Fact::Trouble { .. }))
    );
    assert_eq!(engine.runner.end().code(), Some(0));
}

#[test]
fn children_live_in_the_session_asked_for_and_outlive_it() {
    for own_session in [true, false] {
        let mut engine = Engine::start(json!({"at_start": [{"child": {"own_session": own_session}}]}));
        let reports = engine.until(|fact| matches!(fact, Fact::Child { .. }));
        let Fact::Child {
            pid,
            own_session: told,
        } = reports.last().unwrap().fact
        else {
            panic!("no child")
        };
        assert_eq!(told, own_session);
        let child = Pid::from_raw(pid.try_into().unwrap()).unwrap();
        let (group, session) = group_and_session(child);
        assert_eq!(session == pid, own_session);
        assert_eq!(group == group_and_session(engine.runner.pid()).0, !own_session);
        engine.runner.kill(Signal::KILL);
        // It holds none of the agent's streams, or this would wait for it.
        engine.runner.end();
        // A signal can be sent only to a process that is there.
        kill_process(child, Signal::KILL).unwrap();
    }
}
