//! A month with Lictor: a scripted agent works through sessions from `month.jsonl`, each step through a real hook, and does
//! what it is told when it is stopped; a scripted person says yes to what is asked. Counted are interruptions, dead ends and long messages.

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

const SESSIONS: &str = include_str!("month.jsonl");

/// What the sessions came to.
#[derive(Debug, Default)]
struct Month {
    sessions: u64,
    steps: u64,
    /// A question or a block.
    interruptions: u64,
    /// A block whose fix, followed to the letter, is stopped too.
    dead_ends: Vec<String>,
    /// Messages of more than five lines.
    long: Vec<String>,
    /// Sessions that were interrupted more often than the data says they have to be.
    needless: Vec<String>,
}

fn hook(sandbox: &Sandbox, session: &str, step: &str) -> Run {
    let fields = match step.split_once(' ') {
        Some(("edit", file)) => json!({"session_id": session, "tool_name": "Edit", "tool_input":
            {"file_path": sandbox.project().join(file), "old_string": "a", "new_string": "b"}}),
        Some(("read", file)) => json!({"session_id": session, "tool_name": "Read", "tool_input":
            {"file_path": sandbox.project().join(file)}}),
        _ => json!({"session_id": session, "tool_name": "Bash", "tool_input": {"command": step}}),
    };
    sandbox.claude("PreToolUse", fields)
}

fn stopped(run: &Run) -> bool {
    run.code == 2 || run.stdout.contains("\"ask\"") || run.stdout.contains("\"deny\"")
}

fn live(count: usize) -> Month {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "text\n");
    sandbox.write(".env", "KEY=value\n");
    sandbox.write(".env.example", "KEY=\n");
    let scripts: Vec<Value> = SESSIONS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut month = Month::default();
    for number in 0..count {
        let script = &scripts[number % scripts.len()];
        let session = format!("day-{number}");
        sandbox.write(&format!("src/app{number}.py"), "a = 1\n");
        sandbox.program("git", &["add", "-A"], "");
        sandbox.program("git", &["-c", "user.email=a@b", "-c", "user.name=a", "commit", "-qm", "x"], "");
        month.sessions += 1;
        let mut stops = Vec::new();
        for step in script["steps"].as_array().unwrap() {
            let step = step.as_str().unwrap().replace("{n}", &number.to_string());
            let run = hook(&sandbox, &session, &step);
            month.steps += 1;
            let said = format!("{}{}", run.stdout, run.stderr);
            if run.stderr.lines().count() > 5 {
                month.long.push(format!("{step}: {said}"));
            }
            if !stopped(&run) {
                continue;
            }
            month.interruptions += 1;
            stops.push(step.clone());
            // A person who is asked says yes, and that has to count; a block has to lead on.
            if run.code != 2 {
                let yes = sandbox.lictor(&["approve", "--all", "--yes"]);
                if yes.code != 0 || stopped(&hook(&sandbox, &session, &step)) {
                    month
                        .dead_ends
                        .push(format!("{step}: a yes did not count: {}{}", yes.stdout, yes.stderr));
                }
                continue;
            }
            let fix = run.stderr.split_once("How to go on: ").map(|(_, fix)| fix).unwrap_or_default();
            let fix = fix.split("More: ").next().unwrap_or_default();
            let named: Vec<&str> = fix.split('`').skip(1).step_by(2).collect();
            let followed = named.iter().all(|command| !stopped(&hook(&sandbox, &session, command)));
            let leads_on = !named.is_empty() || fix.contains("a person") || fix.contains("save it to a file");
            if !followed || !leads_on {
                month.dead_ends.push(format!("{step}: {fix}"));
            }
        }
        if stops.len() as u64 > script["stops"].as_u64().unwrap() {
            month.needless.push(format!("{}: {stops:?}", script["name"]));
        }
    }
    month
}

fn holds(month: &Month) {
    assert!(month.dead_ends.is_empty(), "dead ends:\n{}", month.dead_ends.join("\n"));
    assert!(month.long.is_empty(), "long messages:\n{}", month.long.join("\n"));
    // The figures are in docs/benchmarks.md; they may not rise.
    assert_eq!(month.needless, Vec::<String>::new());
}

/// Every kind of session once.
#[test]
fn only_what_has_to_be_stopped_interrupts_a_session() {
    holds(&live(SESSIONS.lines().count()));
}

#[test]
#[ignore = "the same sessions over and over; `cargo xtask soak` runs it"]
fn a_whole_month() {
    let month = live(300);
    println!("{} sessions, {} steps, {} interruptions", month.sessions, month.steps, month.interruptions);
    holds(&month);
}
