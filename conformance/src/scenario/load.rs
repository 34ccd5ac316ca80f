//! Reads a scenario from YAML, with errors that point at the line.

use std::collections::{BTreeMap, BTreeSet};

use fake_agent::script::{Action, Delay, Script};
use serde::Deserialize;

use super::{Condition, Launch, Need, Scenario, Step, Transport};
use crate::contract::ClauseSet;

/// A scenario that can't be used, and where it says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {why}\n  {text}")]
pub struct ScenarioError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub why: String,
    /// The line itself.
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    why: String,
    #[serde(default)]
    seen: Vec<String>,
    exercises: Vec<String>,
    #[serde(default)]
    needs: Vec<Need>,
    #[serde(default)]
    patience: Option<Delay>,
    #[serde(default)]
    transport: Option<Transport>,
    #[serde(default)]
    not_on: BTreeMap<Transport, String>,
    #[serde(default)]
    agent: Script,
    #[serde(default)]
    agents: BTreeMap<String, Script>,
    steps: Vec<Step>,
}

/// Reads the scenario `id` from the text of `file` (a name for errors only).
///
/// # Errors
/// When it is not a scenario, or names a clause, agent or gate that does not exist.
pub fn load(id: &str, file: &str, text: &str) -> Result<Scenario, ScenarioError> {
    let deserializer = serde_yaml::Deserializer::from_str(text);
    let parsed: File =
        serde_yaml::with::singleton_map_recursive::deserialize(deserializer).map_err(|error| {
            let (line, column) = error
                .location()
                .map_or((1, 1), |place| (place.line(), place.column()));
            error_at(file, text, line, column, &error.to_string())
        })?;
    let scenario = Scenario {
        id: id.to_owned(),
        title: parsed.title,
        why: parsed.why,
        seen: parsed.seen,
        exercises: parsed.exercises,
        needs: parsed.needs,
        patience: parsed.patience,
        transport: parsed.transport,
        not_on: parsed.not_on,
        agent: parsed.agent,
        agents: parsed.agents,
        steps: parsed.steps,
    };
    check(&scenario).map_err(|problem| {
        let (line, column) = place_of(text, &problem.word);
        error_at(file, text, line, column, &problem.why)
    })?;
    Ok(scenario)
}

fn error_at(file: &str, text: &str, line: usize, column: usize, why: &str) -> ScenarioError {
    ScenarioError {
        file: file.to_owned(),
        line,
        column,
        why: why.to_owned(),
        text: text
            .lines()
            .nth(line.saturating_sub(1))
            .unwrap_or_default()
            .trim_end()
            .to_owned(),
    }
}

/// What is wrong with a well-formed scenario, and the word that is wrong.
struct Problem {
    why: String,
    word: String,
}

/// Where a word stands in the text: the checks work on parsed values, which don't remember their line.
fn place_of(text: &str, word: &str) -> (usize, usize) {
    let found = text.lines().enumerate().find_map(|(index, line)| {
        let boundary =
            |character: Option<char>| character.is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '_');
        line.match_indices(word)
            .find(|(at, _)| {
                boundary(line[..*at].chars().next_back()) && boundary(line[at + word.len()..].chars().next())
            })
            .map(|(at, _)| (index + 1, line[..at].chars().count() + 1))
    });
    found.unwrap_or((1, 1))
}

fn check(scenario: &Scenario) -> Result<(), Problem> {
    if scenario.exercises.is_empty() {
        return Err(Problem {
            why: "it exercises no clause".into(),
            word: "exercises".into(),
        });
    }
    for id in &scenario.exercises {
        if !ClauseSet::any_has(id) {
            return Err(Problem {
                why: format!("there is no clause {id:?}"),
                word: id.clone(),
            });
        }
    }
    let scripts = || std::iter::once(&scenario.agent).chain(scenario.agents.values());
    let mut gates = BTreeSet::new();
    scripts()
        .flat_map(action_lists)
        .for_each(|actions| gates_of(actions, &mut gates));
    if scripts().flat_map(action_lists).any(|actions| asks(actions)) {
        return Err(Problem {
            why: "nobody is there to be asked: `ask` is for `seatcheck play --ask`".into(),
            word: "ask".into(),
        });
    }
    if !matches!(scenario.steps.first(), Some(Step::Launch(_))) {
        return Err(Problem {
            why: "the first step must be a launch".into(),
            word: "steps".into(),
        });
    }
    for step in &scenario.steps {
        check_transport(scenario, step)?;
        match step {
            Step::Launch(launch) => {
                check_needs(scenario, launch)?;
                if let Some(name) = &launch.agent
                    && !scenario.agents.contains_key(name)
                {
                    return Err(Problem {
                        why: format!("there is no agent {name:?} under `agents`"),
                        word: name.clone(),
                    });
                }
            }
            Step::Release(gate) => gate_exists(&gates, gate)?,
            Step::Until(condition) => check_condition(condition, &gates)?,
            Step::Linger(linger) => check_condition(&linger.until, &gates)?,
            _ => {}
        }
    }
    Ok(())
}

/// OpenRig hands over only what the preset declares.
fn check_needs(scenario: &Scenario, launch: &Launch) -> Result<(), Problem> {
    let handed_over = [
        (launch.resume.is_some(), "resume", Need::Resume),
        (launch.first_input.is_some(), "first_input", Need::FirstInput),
        (launch.model.is_some(), "model", Need::PassesModel),
    ];
    match handed_over
        .iter()
        .find(|(given, _, need)| *given && !scenario.needs.contains(need))
    {
        Some((_, word, need)) => Err(Problem {
            why: format!(
                "a launch with {word} needs a runner that declares {0}: `needs: [{0}]`",
                need.field()
            ),
            word: (*word).to_owned(),
        }),
        None => Ok(()),
    }
}

/// A scenario that a transport can't do is fixed to another, or says why it is left out.
fn check_transport(scenario: &Scenario, step: &Step) -> Result<(), Problem> {
    let fixed = scenario.transport;
    let hindrance = fixed.unwrap_or(Transport::Tmux).cannot(step);
    match hindrance {
        Some(hindrance) if fixed.is_some() => Err(Problem {
            why: hindrance.why.into(),
            word: hindrance.step.into(),
        }),
        Some(hindrance) if !scenario.not_on.contains_key(&Transport::Tmux) => Err(Problem {
            why: format!(
                "{}: say so under `not_on`, as {{tmux: {:?}}}",
                hindrance.why, hindrance.why
            ),
            word: hindrance.step.into(),
        }),
        _ => Ok(()),
    }
}

fn check_condition(condition: &Condition, gates: &BTreeSet<String>) -> Result<(), Problem> {
    match condition {
        Condition::Gate(gate) => gate_exists(gates, gate),
        Condition::Any(conditions) => conditions
            .iter()
            .try_for_each(|condition| check_condition(condition, gates)),
        Condition::Post(name) if !name.contains('/') => Err(Problem {
            why: format!(
                "a post is named by hook event and subtype, as Stop/cancelled; {name:?} has no slash"
            ),
            word: name.clone(),
        }),
        _ => Ok(()),
    }
}

fn gate_exists(gates: &BTreeSet<String>, gate: &str) -> Result<(), Problem> {
    if gates.contains(gate) {
        return Ok(());
    }
    Err(Problem {
        why: format!("no agent of this scenario has a gate {gate:?}"),
        word: gate.to_owned(),
    })
}

fn asks(actions: &[Action]) -> bool {
    actions.iter().any(|action| match action {
        Action::Ask => true,
        Action::Repeat { actions, .. } => asks(actions),
        _ => false,
    })
}

fn action_lists(script: &Script) -> impl Iterator<Item = &Vec<Action>> {
    script
        .turns
        .iter()
        .chain(script.on.values())
        .chain(std::iter::once(&script.at_start))
        .chain(std::iter::once(&script.after_open))
        .chain(std::iter::once(&script.otherwise))
}

fn gates_of(actions: &[Action], gates: &mut BTreeSet<String>) {
    for action in actions {
        match action {
            Action::Gate(name) => {
                gates.insert(name.clone());
            }
            Action::Repeat { actions, .. } => gates_of(actions, gates),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
title: A cancel is reported only on the agent's word
why: clients that call a turn cancelled as soon as they asked
exercises: [cancel.abort-sends, cancel.posted]
agent:
  turns:
    - - say: working
      - await: session/cancel
      - gate: answer
      - end: cancelled
steps:
  - launch: {}
  - send: {text: \"two\\nlines\"}
  - until: {agent: session/prompt}
  - send_raw: /abort
  - until: {agent: session/cancel}
  - quiet: 300ms
  - release: answer
  - until: {seat: idle}
";

    fn error(text: &str) -> ScenarioError {
        load("test", "test.yaml", text).unwrap_err()
    }

    #[test]
    fn a_scenario_is_read() {
        let scenario = load("cancel/word", "word.yaml", GOOD).unwrap();
        assert_eq!(scenario.steps.len(), 8);
        assert_eq!(scenario.agent.turns[0].len(), 4);
    }

    #[test]
    fn errors_point_at_the_place() {
        let unknown_step = error(&GOOD.replace("  - release: answer", "  - relaese: answer"));
        assert_eq!(
            (unknown_step.line, unknown_step.text.as_str()),
            (17, "  - relaese: answer"),
            "{unknown_step}"
        );
        let unknown_clause = error(&GOOD.replace("cancel.posted]", "cancel.postd]"));
        assert_eq!(
            (unknown_clause.line, unknown_clause.column),
            (3, 33),
            "{unknown_clause}"
        );
        let unknown_gate = error(&GOOD.replace("release: answer", "release: door"));
        assert_eq!(unknown_gate.line, 17, "{unknown_gate}");
        let lingering = GOOD.replace("quiet: 300ms", "linger: {until: {gate: door}, at_most: 1s}");
        assert_eq!(error(&lingering).line, 16);
        let wrong_type = error(&GOOD.replace("quiet: 300ms", "quiet: soon"));
        assert_eq!(wrong_type.line, 16, "{wrong_type}");
        let unknown_key = error(&GOOD.replace("why:", "because:"));
        assert!(unknown_key.why.contains("because"), "{unknown_key}");
        let undeclared = error(&GOOD.replace("launch: {}", "launch: {first_input: go}"));
        assert!(
            undeclared.line == 11 && undeclared.why.contains("needs: [first_input]"),
            "{undeclared}"
        );
        let no_launch = error(&GOOD.replace("  - launch: {}\n", ""));
        assert!(no_launch.why.contains("launch"), "{no_launch}");
    }

    #[test]
    fn what_a_transport_cannot_do_is_refused_or_excused() {
        let pipe = error(&GOOD.replace("steps:", "transport: pipe\nsteps:"));
        assert!(pipe.why.contains("use send_raw") && pipe.line == 13, "{pipe}");
        let burst = GOOD.replace(
            "  - release: answer",
            "  - burst: [one, two]\n  - release: answer",
        );
        let unexcused = error(&burst);
        assert!(
            unexcused.why.contains("not_on") && unexcused.line == 17,
            "{unexcused}"
        );
        let excused = burst.replace("steps:", "not_on: {tmux: one at a time}\nsteps:");
        let scenario = load("test", "test.yaml", &excused).unwrap();
        assert_eq!(scenario.not_on[&Transport::Tmux], "one at a time");
    }
}
