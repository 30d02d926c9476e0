//! `lictor eval`: judge one action, or a file of them, without anything counting.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::Mode;
use lictor_config::diagnostic::closest;
use lictor_core::{Action, ActionKind, Decision, Evaluation, SessionKey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::args::Common;
use crate::exit::{self, Exit};
use crate::output::{self, Style};
use crate::place::{self, Project};
use crate::runtime::Runtime;

/// Judge one action: `lictor eval bash 'rm -rf /'`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor eval bash 'git push --force'
  lictor eval write src/main.rs --json
  lictor eval submit_task deploy --payload '{\"ticket\": \"OPS-12\"}'
  lictor eval --batch actions.jsonl

Exit codes: 0 pass or warn, 2 block, 3 ask, 64 usage, 70 internal. With --batch: 0 when every
line was judged.
The action is recorded as dry: no counter moves, no grant is used, no approval is requested.")]
pub struct EvalArgs {
    /// What kind of action: bash, read, write, execute_code, submit_task, fetch, tool, delegate.
    #[arg(required_unless_present = "batch")]
    kind: Option<String>,
    /// What it does: the command, path, code, task type, URL or tool name.
    #[arg(required_unless_present = "batch")]
    what: Option<String>,
    /// Further payload, as a JSON object.
    #[arg(long, value_name = "JSON")]
    payload: Option<String>,
    /// Judge as part of this session (its state is read, not changed).
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Judge as this agent.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    agent: String,
    #[command(flatten)]
    common: Common,
    /// Judge JSON lines of {kind, payload, cwd?, session_id?, tool?, task_type?} from FILE (`-`: standard input) and
    /// print one answer a line, in order.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kind", "what", "payload", "session"])]
    batch: Option<PathBuf>,
}

/// What `--json` and `--batch` print.
#[derive(Serialize)]
struct Answer<'a> {
    reason: String,
    fix: String,
    #[serde(flatten)]
    evaluation: &'a Evaluation,
}

/// One line of a batch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    kind: ActionKind,
    #[serde(default)]
    payload: Map<String, Value>,
    cwd: Option<PathBuf>,
    session_id: Option<String>,
    #[serde(default)]
    agent: String,
    #[serde(default)]
    tool: String,
    task_type: Option<String>,
    /// Ids of test data are taken over into the answer.
    id: Option<Value>,
}

/// Runs the command.
pub fn run(args: &EvalArgs) -> Result<Exit> {
    if let Some(file) = &args.batch {
        return batch(file, &args.common.cwd);
    }
    let (Some(kind), Some(what)) = (&args.kind, &args.what) else {
        return Err(exit::usage("nothing to judge; try `lictor eval bash 'git status'`"));
    };
    let mut action = action(kind, what, args.payload.as_deref())?.by_agent(&args.agent);
    action.cwd = text(&place::absolute(&args.common.cwd))?;
    if let Some(id) = &args.session {
        action = action.in_session(id);
    }
    let runtime = match Runtime::open(&Project::around(Path::new(&action.cwd))) {
        Ok(runtime) => runtime,
        // Whoever asks for JSON gets the block in the form they read.
        Err(error) if args.common.json && Exit::after(&error) == Exit::Block => {
            output::print_json(&refused(
                &output::chain(&error),
                "mend the policy; `lictor check` shows everything",
            ))?;
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    let evaluation = judge(&runtime, &action);
    if args.common.json {
        output::print_json(&answer(&evaluation))?;
    } else {
        output::print(&describe(&evaluation, Style::stdout()))?;
    }
    Ok(Exit::from(evaluation.decision))
}

/// What stands in place of an evaluation where nothing could be judged.
fn refused(reason: &str, fix: &str) -> Value {
    json!({"decision": "block", "reason": reason, "fix": fix, "error": true})
}

/// Judges one action that was given in words, for other commands.
pub fn judge_one(kind: &str, what: &str, cwd: &Path) -> Result<(Runtime, Evaluation)> {
    let mut action = action(kind, what, None)?;
    action.cwd = text(&place::absolute(cwd))?;
    let runtime = Runtime::open(&Project::around(Path::new(&action.cwd)))?;
    let evaluation = judge(&runtime, &action);
    Ok((runtime, evaluation))
}

/// Judges without leaving a trace in any session. An action without a session is the first of an empty one, so that
/// budgets have something to count.
fn judge(runtime: &Runtime, action: &Action) -> Evaluation {
    let mode = Mode { dry: true, ..Mode::default() };
    if action.session.is_some() {
        return runtime.judge(action, mode);
    }
    runtime.judge(&action.clone().in_session("eval without a session"), mode)
}

fn answer(evaluation: &Evaluation) -> Answer<'_> {
    Answer { reason: evaluation.reason(), fix: evaluation.fix(), evaluation }
}

/// The kinds that people can name.
const KINDS: [&str; 8] =
    ["bash", "read", "write", "execute_code", "submit_task", "fetch", "tool", "delegate"];

fn action(kind: &str, what: &str, payload: Option<&str>) -> Result<Action> {
    if !KINDS.contains(&kind) {
        let meant = closest(kind, KINDS).map(|near| format!("; did you mean `{near}`?"));
        return Err(exit::usage(format!(
            "`{kind}` is not a kind of action{}\nkinds: {}",
            meant.unwrap_or_default(),
            KINDS.join(", ")
        )));
    }
    let kind = ActionKind::from_name(kind);
    let mut fields: Map<String, Value> = match payload {
        None => Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|_| {
            exit::usage("`--payload` must be a JSON object, for example `{\"ticket\": \"OPS-12\"}`")
        })?,
    };
    let mut task_type = None;
    let mut tool = String::new();
    match &kind {
        ActionKind::Bash => insert(&mut fields, "command", what),
        ActionKind::Read | ActionKind::Write => insert(&mut fields, "path", what),
        ActionKind::Fetch => insert(&mut fields, "url", what),
        ActionKind::ExecuteCode => insert(&mut fields, "code", what),
        ActionKind::SubmitTask => task_type = Some(what.to_owned()),
        ActionKind::Delegate => insert(&mut fields, "agent", what),
        ActionKind::Tool | ActionKind::Other(_) => what.clone_into(&mut tool),
    }
    let mut action = Action::new(kind, fields);
    action.task_type = task_type;
    action.tool = tool;
    Ok(action)
}

fn insert(fields: &mut Map<String, Value>, key: &str, value: &str) {
    fields.insert(key.to_owned(), Value::String(value.to_owned()));
}

fn describe(evaluation: &Evaluation, style: Style) -> String {
    let mut text = format!("{}\n", style.decision(evaluation.decision));
    let told = evaluation.deciding();
    for given in &told {
        let rule = given.verdict.rule().unwrap_or(given.guard());
        text += &output::wrapped("  ", &format!("{} [{rule}]", given.verdict.reason()));
    }
    let mut fixes: Vec<&str> = Vec::new();
    for fix in told.iter().filter(|given| !given.verdict.passed()).map(|given| given.verdict.fix()) {
        if !fix.is_empty() && !fixes.contains(&fix) {
            text += &output::wrapped("  ", &format!("fix: {fix}"));
            fixes.push(fix);
        }
    }
    if let Some(id) = evaluation.id.filter(|_| evaluation.decision > Decision::Pass) {
        let more = evaluation.active().iter().filter(|given| !given.verdict.reason().is_empty()).count();
        let more = match more.saturating_sub(told.len()) {
            0 => String::new(),
            more => format!(" shows {more} more {}", if more == 1 { "reason" } else { "reasons" }),
        };
        text += &style.dim(&format!("  lictor explain {id}{more}\n"));
    }
    text
}

fn batch(file: &Path, cwd: &Path) -> Result<Exit> {
    let reader: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(file).map_err(|error| exit::unreadable(file, &error))?))
    };
    let mut runtimes: HashMap<PathBuf, Runtime> = HashMap::new();
    let mut exit = Exit::Ok;
    for (number, line) in reader.lines().enumerate() {
        let line = line.map_err(|error| exit::unreadable(file, &error))?;
        if line.trim().is_empty() {
            continue;
        }
        let mut printed = match one(&line, cwd, &mut runtimes) {
            Ok(answer) => answer,
            Err(error) => {
                exit = Exit::Usage;
                let reason = format!("line {}: {}", number + 1, output::chain(&error));
                refused(&reason, "correct the line").to_string()
            }
        };
        printed.push('\n');
        output::print(&printed)?;
    }
    Ok(exit)
}

fn one(line: &str, cwd: &Path, runtimes: &mut HashMap<PathBuf, Runtime>) -> Result<String> {
    let line: Line = serde_json::from_str(line)?;
    let mut action = Action::new(line.kind, line.payload);
    action.tool = line.tool;
    action.task_type = line.task_type;
    action.actor.agent = line.agent;
    action.session = line.session_id.map(|id| SessionKey { agent: action.actor.agent.clone(), id });
    action.cwd = text(&place::absolute(&line.cwd.map_or_else(|| cwd.to_owned(), |dir| cwd.join(dir))))?;
    let project = Project::around(Path::new(&action.cwd));
    if !runtimes.contains_key(&project.root) {
        runtimes.insert(project.root.clone(), Runtime::open(&project)?);
    }
    let runtime = runtimes.get(&project.root).context("no policy for this directory")?;
    let evaluation = judge(runtime, &action);
    let mut value = serde_json::to_value(answer(&evaluation))?;
    if let (Some(id), Some(fields)) = (line.id, value.as_object_mut()) {
        fields.insert("line_id".to_owned(), id);
    }
    Ok(value.to_string())
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).with_context(|| format!("`{}` is not valid UTF-8", path.display()))
}
