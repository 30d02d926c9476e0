//! `lictor demo`: a scripted agent in a scratch project. Every answer comes from the real hook, started as an agent starts it.

mod project;

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use lictor_agents::conformance::{Obeyed, obey};
use lictor_agents::{Agent, Rendered};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{self, Style};
use project::Scratch;

/// Watch a scripted agent being governed, in a scratch project.
#[derive(Debug, Args)]
pub struct DemoArgs {}

/// What the agent does next.
#[derive(Clone, Copy)]
enum Step {
    /// A line of explanation.
    Scene(&'static str),
    /// The agent runs a command.
    Bash(&'static str),
    /// The agent reads a file.
    Read(&'static str),
    /// The agent writes a file.
    Write(&'static str, &'static str),
    /// The agent wants to stop.
    Stop,
    /// A person says yes to what waits.
    Approve,
}

const SCRIPT: &[Step] = &[
    Step::Scene("The agent works. Lictor looks at every call and says nothing."),
    Step::Read("src/lib.rs"),
    Step::Write("src/lib.rs", "pub fn total(prices: &[u64]) -> u64 {\n    prices.iter().sum()\n}\n"),
    Step::Write("PLAN.md", "- [ ] add up prices\n- [ ] write the changelog\n"),
    Step::Scene("What would do harm does not happen. The agent learns why, and how to go on."),
    Step::Bash("cargo clean; rm -rf ~"),
    Step::Read(".env"),
    Step::Scene("Some things are for a person to decide. One yes counts for exactly this, once."),
    Step::Bash("rm src/old.rs src/older.rs"),
    Step::Approve,
    Step::Bash("rm src/old.rs src/older.rs"),
    Step::Scene("Order matters: tests come before a push, and an edit makes them not count any more."),
    Step::Bash("git push"),
    Step::Bash("cargo test"),
    Step::Bash("git push"),
    Step::Scene("The agent may stop when the work is done, not when it says so."),
    Step::Stop,
    Step::Write("CHANGELOG.md", "- total() adds up prices\n"),
    Step::Stop,
];

/// Runs the command.
pub fn run(_: &DemoArgs) -> Result<Exit> {
    let scratch = Scratch::new()?;
    let style = Style::stdout();
    output::print(&format!("{}\n", style.dim("governance.yaml")))?;
    for line in project::POLICY.lines() {
        output::print(&format!("  {}\n", style.dim(line)))?;
    }
    let mut calls = 0;
    for step in SCRIPT {
        let text = play(&scratch, *step, &mut calls, style)?;
        output::print(&text)?;
    }
    output::print(&format!(
        "\n{}\n",
        style.dim("Nothing of this touched your files. `lictor init` governs your own repository.")
    ))?;
    Ok(Exit::Ok)
}

fn play(scratch: &Scratch, step: Step, calls: &mut u32, style: Style) -> Result<String> {
    let shown = |what: &str| format!("  {} {}\n", style.dim("agent"), style.bold(what));
    match step {
        Step::Scene(text) => Ok(format!("\n{text}\n")),
        Step::Approve => {
            scratch.lictor(&["approve", "--all", "--yes"], "")?;
            Ok(format!("  {} {}\n", style.dim("person"), style.bold("lictor approve --all --yes")))
        }
        Step::Bash(command) => {
            let call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
            Ok(shown(command) + &tool(scratch, &call, None, calls, style)?)
        }
        Step::Read(path) => {
            let call = json!({"tool_name": "Read", "tool_input": {"file_path": scratch.path(path)}});
            Ok(shown(&format!("read {path}")) + &tool(scratch, &call, None, calls, style)?)
        }
        Step::Write(path, content) => {
            let call = json!({"tool_name": "Write", "tool_input": {"file_path": scratch.path(path), "content": content}});
            Ok(shown(&format!("write {path}")) + &tool(scratch, &call, Some((path, content)), calls, style)?)
        }
        Step::Stop => {
            let answer = scratch.hook("Stop", &json!({"stop_hook_active": false}))?;
            Ok(shown("I am done") + &told(scratch, "Stop", &answer, style))
        }
    }
}

/// One tool call: asked about before, reported after when it went ahead.
fn tool(
    scratch: &Scratch,
    call: &Value,
    file: Option<(&str, &str)>,
    calls: &mut u32,
    style: Style,
) -> Result<String> {
    *calls += 1;
    let mut call = call.clone();
    let fields = [("tool_use_id", format!("t{calls}").into()), ("permission_mode", "dontAsk".into())];
    for (name, value) in fields {
        if let Some(object) = call.as_object_mut() {
            object.insert(name.to_owned(), value);
        }
    }
    let answer = scratch.hook("PreToolUse", &call)?;
    let mut text = told(scratch, "PreToolUse", &answer, style);
    if matches!(obey(Agent::ClaudeCode, "PreToolUse", &answer), Obeyed::Proceeds | Obeyed::Told(_)) {
        if let Some((path, content)) = file {
            scratch.write(path, content)?;
        }
        if let Some(object) = call.as_object_mut() {
            object.insert(
                "tool_response".to_owned(),
                json!({"stdout": "", "stderr": "", "interrupted": false}),
            );
        }
        let after = scratch.hook("PostToolUse", &call)?;
        if let Obeyed::Told(remark) = obey(Agent::ClaudeCode, "PostToolUse", &after) {
            text += &answered(style.yellow("told"), &scratch.neutral(&remark), style);
        }
    }
    Ok(text)
}

/// What Lictor said, as the agent understands it.
fn told(scratch: &Scratch, event: &str, answer: &Rendered, style: Style) -> String {
    match obey(Agent::ClaudeCode, event, answer) {
        Obeyed::Proceeds => answered(style.green("pass"), "", style),
        Obeyed::Told(text) => answered(style.yellow("warn"), &scratch.neutral(&text), style),
        Obeyed::Asks(text) => answered(style.yellow("ask"), &scratch.neutral(&text), style),
        Obeyed::Stopped(text) => {
            let word = if event == "Stop" { "not yet" } else { "block" };
            answered(style.red(word), &scratch.neutral(&text), style)
        }
    }
}

fn answered(word: String, text: &str, style: Style) -> String {
    // The word before it says that already.
    let text = ["Blocked by Lictor: ", "Not done yet: "]
        .iter()
        .find_map(|said| text.strip_prefix(said))
        .unwrap_or(text);
    let mut lines = text.trim().lines();
    let mut shown = format!("  {} {word}", style.dim("lictor"));
    if let Some(first) = lines.next() {
        // Writing to a string cannot fail.
        let _ = write!(shown, "  {first}");
    }
    shown.push('\n');
    for line in lines {
        let _ = writeln!(shown, "         {}", style.dim(line));
    }
    shown
}
