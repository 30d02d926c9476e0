//! `lictor demo`: a scripted agent in a scratch project. Every reply comes from the real hook, started as an
//! agent starts it.

mod project;

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use lictor::demo::POLICY;
use lictor_agents::conformance::{Obeyed, obey};
use lictor_agents::{Agent, Rendered};
use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{self, Style};
use project::Scratch;

/// Watch a scripted agent being governed, in a scratch project.
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing of yours is touched: project, home and record of the demonstration are removed at its end.

Examples:
  lictor demo
  lictor demo --json")]
pub struct DemoArgs {
    /// Print JSON; `lictor schema --output demo` prints its form.
    #[arg(long)]
    json: bool,
}

/// The agent's next step.
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
    /// A person approves the pending question.
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

/// What happened in one step.
#[derive(Serialize)]
struct Played {
    who: Who,
    what: String,
    answers: Vec<Answer>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Who {
    Teller,
    Agent,
    Person,
}

/// Lictor's reply.
#[derive(Serialize)]
struct Answer {
    word: Word,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Pass,
    Warn,
    Ask,
    Block,
    /// The agent may not stop yet.
    NotYet,
    /// A remark after the call.
    Told,
}

/// Runs the command.
pub fn run(args: &DemoArgs) -> Result<Exit> {
    let scratch = Scratch::new()?;
    let style = Style::stdout();
    if !args.json {
        output::print(&format!("{}\n", style.dim("governance.yaml")))?;
        for line in POLICY.lines() {
            output::print(&format!("  {}\n", style.dim(line)))?;
        }
    }
    let mut calls = 0;
    let mut played = Vec::new();
    for step in SCRIPT {
        let step = play(&scratch, *step, &mut calls)?;
        if args.json {
            played.push(step);
        } else {
            output::print(&step.tell(style))?;
        }
    }
    if args.json {
        output::print_json(&json!({"policy": POLICY, "steps": played}))?;
        return Ok(Exit::Ok);
    }
    output::print(&format!(
        "\n{}\n",
        style.dim("Nothing of this touched your files. `lictor init` governs your own repository.")
    ))?;
    Ok(Exit::Ok)
}

fn play(scratch: &Scratch, step: Step, calls: &mut u32) -> Result<Played> {
    let agent = |what: String, answers| Played { who: Who::Agent, what, answers };
    Ok(match step {
        Step::Scene(text) => Played { who: Who::Teller, what: text.to_owned(), answers: Vec::new() },
        Step::Approve => {
            scratch.lictor(&["approve", "--all", "--yes"], "")?;
            let what = "lictor approve --all --yes".to_owned();
            Played { who: Who::Person, what, answers: Vec::new() }
        }
        Step::Bash(command) => {
            let call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
            agent(command.to_owned(), tool(scratch, &call, None, calls)?)
        }
        Step::Read(path) => {
            let call = json!({"tool_name": "Read", "tool_input": {"file_path": scratch.path(path)}});
            agent(format!("read {path}"), tool(scratch, &call, None, calls)?)
        }
        Step::Write(path, content) => {
            let call = json!({"tool_name": "Write", "tool_input": {"file_path": scratch.path(path), "content": content}});
            agent(format!("write {path}"), tool(scratch, &call, Some((path, content)), calls)?)
        }
        Step::Stop => {
            let answer = scratch.hook("Stop", &json!({"stop_hook_active": false}))?;
            agent("I am done".to_owned(), vec![said(scratch, "Stop", &answer)])
        }
    })
}

/// One tool call: judged before, reported after if it was allowed.
fn tool(scratch: &Scratch, call: &Value, file: Option<(&str, &str)>, calls: &mut u32) -> Result<Vec<Answer>> {
    *calls += 1;
    let mut call = call.clone();
    let fields = [("tool_use_id", format!("t{calls}").into()), ("permission_mode", "dontAsk".into())];
    for (name, value) in fields {
        if let Some(object) = call.as_object_mut() {
            object.insert(name.to_owned(), value);
        }
    }
    let answer = scratch.hook("PreToolUse", &call)?;
    let mut answers = vec![said(scratch, "PreToolUse", &answer)];
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
            answers.push(Answer::new(Word::Told, &scratch.neutral(&remark)));
        }
    }
    Ok(answers)
}

/// Lictor's reply, as the agent interprets it.
fn said(scratch: &Scratch, event: &str, answer: &Rendered) -> Answer {
    match obey(Agent::ClaudeCode, event, answer) {
        Obeyed::Proceeds => Answer::new(Word::Pass, ""),
        Obeyed::Told(text) => Answer::new(Word::Warn, &scratch.neutral(&text)),
        Obeyed::Asks(text) => Answer::new(Word::Ask, &scratch.neutral(&text)),
        Obeyed::Stopped(text) => {
            let word = if event == "Stop" { Word::NotYet } else { Word::Block };
            Answer::new(word, &scratch.neutral(&text))
        }
    }
}

impl Answer {
    fn new(word: Word, text: &str) -> Self {
        // The label already says that.
        let text = ["Blocked by Lictor: ", "Not done yet: "]
            .iter()
            .find_map(|said| text.strip_prefix(said))
            .unwrap_or(text);
        Self { word, text: text.trim().to_owned() }
    }

    fn tell(&self, style: Style) -> String {
        let word = match self.word {
            Word::Pass => style.green("pass"),
            Word::Warn => style.yellow("warn"),
            Word::Ask => style.yellow("ask"),
            Word::Told => style.yellow("told"),
            Word::Block => style.red("block"),
            Word::NotYet => style.red("not yet"),
        };
        let mut lines = self.text.lines();
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
}

impl Played {
    fn tell(&self, style: Style) -> String {
        let who = match self.who {
            Who::Teller => return format!("\n{}\n", self.what),
            Who::Agent => "agent",
            Who::Person => "person",
        };
        let mut text = format!("  {} {}\n", style.dim(who), style.bold(&self.what));
        text.extend(self.answers.iter().map(|answer| answer.tell(style)));
        text
    }
}
