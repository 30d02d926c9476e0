//! A month with Lictor: a scripted agent works through sessions from `month.jsonl`, each step through real hooks,
//! and follows the fix when it is stopped; a scripted person approves every question. The test counts
//! interruptions, dead ends and long messages. The figures are in docs/benchmarks.md.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::agent::{Agent, Way, stopped, told};
use crate::sandbox::Sandbox;

const SESSIONS: &str = include_str!("month.jsonl");
const DOCS: &str = include_str!("../../../../docs/benchmarks.md");
/// So many sessions are a month.
const MONTH: usize = 300;
/// A message has at most so many lines.
const LINES: usize = 5;

/// The result of sessions.
#[derive(Debug, Default, PartialEq, Eq)]
struct Month {
    sessions: usize,
    steps: usize,
    /// Questions and blocks.
    interruptions: usize,
    /// Sessions that were interrupted more often than what they do has to be stopped, or less.
    unexpected: Vec<String>,
    /// Stops that led nowhere.
    dead_ends: Vec<String>,
    /// Messages of more than five lines.
    long: Vec<String>,
}

fn scripts() -> Vec<Value> {
    SESSIONS.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The steps of a session; the last one is to end it.
fn steps(script: &Value, number: usize) -> Vec<String> {
    let steps = script["steps"].as_array().unwrap().iter();
    steps.map(|step| step.as_str().unwrap().replace("{n}", &number.to_string())).collect()
}

/// The expected result of this many sessions, from the scripts.
fn expected(count: usize) -> Month {
    let scripts = scripts();
    let mut month = Month::default();
    for number in 0..count {
        let script = &scripts[number % scripts.len()];
        month.sessions += 1;
        month.steps += steps(script, number).len();
        month.interruptions += usize::try_from(script["stops"].as_u64().unwrap()).unwrap();
    }
    month
}

fn project(policy: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "text\n");
    sandbox.write(".env", "KEY=value\n");
    sandbox.write(".env.example", "KEY=\n");
    if !policy.is_empty() {
        sandbox.write("governance.yaml", policy);
        let check = sandbox.lictor(&["check"]);
        assert_eq!(check.code, 0, "{}", check.stdout);
    }
    sandbox
}

fn live(count: usize) -> Month {
    let scripts = scripts();
    let mut projects: BTreeMap<&str, Sandbox> = BTreeMap::new();
    let mut month = Month::default();
    for number in 0..count {
        let script = &scripts[number % scripts.len()];
        let policy = script["policy"].as_str().unwrap_or_default();
        let sandbox = projects.entry(policy).or_insert_with(|| project(policy));
        sandbox.write(&format!("src/app{number}.py"), "a = 1\n");
        sandbox.program("git", &["add", "-A"], "");
        sandbox.program("git", &["-c", "user.email=a@b", "-c", "user.name=a", "commit", "-qm", "x"], "");
        month.sessions += 1;
        let agent = Agent { sandbox, session: format!("day-{number}") };
        agent.hook("SessionStart", json!({"source": "startup"}));
        agent.hook("UserPromptSubmit", json!({"prompt": script["name"]}));
        let mut stops = Vec::new();
        for step in steps(script, number) {
            month.steps += 1;
            let run = agent.step(&step);
            if told(&run).lines().count() > LINES {
                month.long.push(format!("{step}: {}", told(&run)));
            }
            if !stopped(&run) {
                continue;
            }
            stops.push(step.clone());
            let nowhere = match agent.goes_on(&step, &run) {
                Way::On | Way::Person => None,
                Way::Nowhere(why) => Some(why),
                // What following such words looks like is in the data.
                Way::Words(fix) => {
                    let then = script["then"][&step].as_array().cloned().unwrap_or_default();
                    let works = |then: &Value| !stopped(&agent.step(then.as_str().unwrap()));
                    (then.is_empty() || !then.iter().all(works)).then_some(fix)
                }
            };
            month.dead_ends.extend(nowhere.map(|why| format!("{step}: {why}")));
        }
        let end = agent.hook("Stop", json!({"stop_hook_active": false}));
        if end.code != 0 || end.stdout.contains("\"block\"") {
            stops.push(format!("the end: {}", told(&end)));
        }
        month.interruptions += stops.len();
        if stops.len() as u64 != script["stops"].as_u64().unwrap() {
            month.unexpected.push(format!("{}: {stops:?}", script["name"]));
        }
    }
    month
}

/// Every kind of session once.
#[test]
fn only_what_has_to_be_stopped_interrupts_a_session() {
    let kinds = SESSIONS.lines().count();
    assert_eq!(live(kinds), expected(kinds));
}

#[test]
#[ignore = "the same sessions over and over; `cargo xtask soak` runs it"]
fn a_whole_month() {
    let month = live(MONTH);
    println!("{} sessions, {} steps, {} interruptions", month.sessions, month.steps, month.interruptions);
    assert_eq!(month, expected(MONTH));
}

/// The page has the figures of the scripts, which the runs must match: a worse month has to be published.
#[test]
fn the_figures_of_the_month_are_in_the_docs() {
    let scripts = scripts();
    let month = expected(MONTH);
    let needed = scripts.iter().filter(|script| script["stops"] != 0).count();
    let words =
        format!("{MONTH} sessions of {} kinds (`crates/lictor-cli/tests/cli/month.jsonl`)", scripts.len());
    assert!(DOCS.contains(&words), "docs/benchmarks.md does not say: {words}");
    let words = format!("Sessions of {needed} kinds do something that has to be stopped");
    assert!(DOCS.contains(&words), "docs/benchmarks.md does not say: {words}");
    let row = format!(
        "| {MONTH} | {} | {} | {:.2} | 0 | 0 | 0 |",
        month.steps,
        month.interruptions,
        month.interruptions as f64 / MONTH as f64
    );
    assert!(DOCS.contains(&row), "docs/benchmarks.md does not have the row: {row}");
}
