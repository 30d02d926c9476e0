//! `lictor eval`: judges one action, or a file of them, as a dry run.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::Runtime;
use lictor::forms::{self, ActionForm, EvaluationForm, KINDS};
use lictor_config::diagnostic::closest;
use lictor_core::{Action, Decision, Evaluation};
use serde_json::{Map, Value, json};

use crate::args::Common;
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};

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
    /// What kind of action: bash, read, write, execute_code, submit_task, fetch, tool, delegate. May be left out before
    /// a command.
    #[arg(required_unless_present = "batch")]
    kind: Option<String>,
    /// What it does: the command, path, code, task type, URL or tool name.
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
    /// Judge JSON lines of {kind, payload, cwd?, session_id?, tool?, task_type?} from FILE (`-`: standard input)
    /// and print one result per line, in order.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kind", "what", "payload", "session"])]
    batch: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &EvalArgs) -> Result<Exit> {
    if let Some(file) = &args.batch {
        return batch(file, &args.common.cwd);
    }
    let (kind, what) = match (args.kind.as_deref(), args.what.as_deref()) {
        (Some(kind), Some(what)) => (kind, what),
        (Some(command), None) if !KINDS.contains(&command) => (BASH, command),
        (Some(kind), None) => {
            return Err(exit::usage(format!(
                "nothing to judge after `{kind}`; try `lictor eval bash 'git status'`"
            )));
        }
        (None, _) => return Err(exit::usage("nothing to judge; try `lictor eval bash 'git status'`")),
    };
    let mut action = action(kind, what, args.payload.as_deref())?.by_agent(&args.agent);
    action.cwd = text(&here::absolute(&args.common.cwd))?;
    if let Some(id) = &args.session {
        action = action.in_session(id);
    }
    let opened = Runtime::of_project(here::project(Path::new(&action.cwd))).map_err(anyhow::Error::from);
    let runtime = match opened {
        Ok(runtime) => runtime,
        // With `--json`, the block is JSON too.
        Err(error) if args.common.json && Exit::after(&error) == Exit::Block => {
            output::print_json(&refused(
                &output::chain(&error),
                "mend the policy; `lictor check` shows everything",
            ))?;
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    let evaluation = runtime.evaluate_dry(&action);
    if args.common.json {
        output::print_json(&EvaluationForm::from(&evaluation))?;
    } else {
        output::print(&describe(&evaluation, Style::stdout()))?;
    }
    Ok(Exit::from(evaluation.decision))
}

/// The output instead of an evaluation if judging failed.
fn refused(reason: &str, fix: &str) -> Value {
    json!({"decision": "block", "reason": reason, "fix": fix, "error": true})
}

/// Judges one action from words, for other commands.
pub fn judge_one(kind: &str, what: &str, cwd: &Path) -> Result<(Runtime, Evaluation)> {
    let mut action = action(kind, what, None)?;
    action.cwd = text(&here::absolute(cwd))?;
    let runtime = Runtime::of_project(here::project(Path::new(&action.cwd)))?;
    let evaluation = runtime.evaluate_dry(&action);
    Ok((runtime, evaluation))
}

/// The kind of action that people try most.
const BASH: &str = "bash";

fn action(kind: &str, what: &str, payload: Option<&str>) -> Result<Action> {
    if !KINDS.contains(&kind) {
        let meant = closest(kind, KINDS).map(|near| format!("; did you mean `{near}`?"));
        return Err(exit::usage(format!(
            "`{kind}` is not a kind of action{}\nkinds: {}",
            meant.unwrap_or_default(),
            KINDS.join(", ")
        )));
    }
    let payload: Map<String, Value> = match payload {
        None => Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|_| {
            exit::usage("`--payload` must be a JSON object, for example `{\"ticket\": \"OPS-12\"}`")
        })?,
    };
    Ok(forms::with_payload(kind, what, payload))
}

fn describe(evaluation: &Evaluation, style: Style) -> String {
    let mut text = format!("{}\n", style.decision(evaluation.decision));
    let told = evaluation.deciding();
    for given in &told {
        let rule = given.verdict.rule().unwrap_or(given.guard());
        text += &output::wrapped("  ", &format!("{} [{rule}]", given.verdict.reason()));
    }
    let mut fixes: Vec<&str> = Vec::new();
    for fix in told.iter().map(|given| given.verdict.fix()) {
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
    let form: ActionForm =
        serde_json::from_str(line).map_err(|error| exit::usage(forms::not_json(&error)))?;
    let id = form.id.clone();
    let action = form.into_action(&here::absolute(cwd));
    let project = here::project(Path::new(&action.cwd));
    if !runtimes.contains_key(&project.root) {
        runtimes.insert(project.root.clone(), Runtime::of_project(project.clone())?);
    }
    let runtime = runtimes.get(&project.root).context("no policy for this directory")?;
    if let Some(near) = forms::meant_kind(runtime, &action) {
        let kind = &action.kind;
        return Err(exit::usage(format!("`{kind}` is not a kind of action; did you mean `{near}`?")));
    }
    let evaluation = runtime.evaluate_dry(&action);
    let mut value = serde_json::to_value(EvaluationForm::from(&evaluation))?;
    if let (Some(id), Some(fields)) = (id, value.as_object_mut()) {
        fields.insert("line_id".to_owned(), id);
    }
    Ok(value.to_string())
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).with_context(|| format!("`{}` is not valid UTF-8", path.display()))
}
