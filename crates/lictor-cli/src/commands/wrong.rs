//! `lictor wrong <id>`: turns a wrong decision into a test case.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use lictor::Project;
use lictor_core::{Action, ActionKind, Decision};
use lictor_store::{Draft, Durability, StoreExt as _};
use serde_json::json;

use super::explain;
use crate::args::Common;
use crate::exit::{self, Exit};
use crate::here;
use crate::output;
use crate::time_format;

/// Mark a decision as a false alarm or a miss. It becomes a test of the policy.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor wrong 12
  lictor wrong 12 --should ask --reason 'a person may decide this'")]
pub struct WrongArgs {
    /// The number that Lictor gave with the decision.
    #[arg(value_parser = crate::args::decision)]
    id: u64,
    /// The right decision. Default: `pass` if it was stopped, `block` if not.
    #[arg(long, value_enum)]
    should: Option<Should>,
    /// Why.
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Should {
    Pass,
    Warn,
    Ask,
    Block,
}

/// Where the cases go.
const FILE: &str = "policy_tests/wrong.yaml";

/// Runs the command.
pub fn run(args: &WrongArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    here::people_only("wrong", &project)?;
    let store = project.existing_store()?;
    let record = explain::find(&*store, args.id)?;
    let evaluated: lictor::log::Evaluated<'_> = serde_json::from_str(&record.body)?;
    let was = evaluated.evaluation.decision;
    let should = match args.should {
        Some(Should::Pass) => Decision::Pass,
        Some(Should::Warn) => Decision::Warn,
        Some(Should::Ask) => Decision::Ask,
        Some(Should::Block) => Decision::Block,
        None if was.allows() => Decision::Block,
        None => Decision::Pass,
    };
    if should == was {
        return Err(exit::usage(format!(
            "decision {} already is `{was}`; say `--should` otherwise",
            args.id
        )));
    }
    add_test(&project, args.id, &evaluated.action, should)?;
    let body = json!({"id": args.id, "was": was, "should": should, "reason": args.reason,
                      "by": here::person()});
    store.update(Durability::Power, |tx| {
        let draft = Draft {
            at: time_format::now(),
            session: record.session.clone(),
            kind: "decision.wrong".to_owned(),
            body: body.to_string(),
        };
        tx.append(draft)
    })?;
    if args.common.json {
        output::print_json(&json!({"id": args.id, "was": was, "should": should, "test": FILE}))?;
        return Ok(Exit::Ok);
    }
    output::print(&format!(
        "noted: decision {} was {was} and should be {should}\nwrote a test to {FILE}; `lictor test` fails until the policy says so\n",
        args.id
    ))?;
    Ok(Exit::Ok)
}

/// Writes a test for the right decision about an action, and returns its location.
///
/// # Errors
/// When there is one already, the action cannot be replayed, or the file cannot be written.
pub fn add_test(project: &Project, id: u64, action: &Action, should: Decision) -> Result<String> {
    let (word, what) = match &action.kind {
        ActionKind::SubmitTask => ("submit_task", action.task_type.clone().unwrap_or_default()),
        ActionKind::Tool | ActionKind::Other(_) => ("tool", action.tool.clone()),
        kind => {
            let field =
                ["command", "path", "url", "code", "agent"].into_iter().find_map(|field| action.text(field));
            (kind.as_str(), field.context("the action has no text that a test could repeat")?.to_owned())
        }
    };
    let file = project.root.join(FILE);
    let mut text = fs::read_to_string(&file).unwrap_or_else(|_| "tests:\n".to_owned());
    let name = name(id);
    if text.contains(&name) {
        return Err(exit::usage(format!(
            "`{FILE}` already has a test for decision {id}; remove it there to write it anew"
        )));
    }
    // JSON strings are YAML strings.
    let (name, what) = (serde_json::to_string(&name)?, serde_json::to_string(&what)?);
    let _ = write!(text, "  - name: {name}\n    steps:\n      - {word}: {what}\n        expect: {should}\n");
    let directory = file.parent().context("no directory")?;
    fs::create_dir_all(directory).with_context(|| format!("cannot create `{}`", directory.display()))?;
    fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
    Ok(FILE.to_owned())
}

/// Removes the test of a decision, and returns its location.
///
/// # Errors
/// When the file cannot be written.
pub fn take_test(project: &Project, id: u64) -> Result<Option<String>> {
    let file = project.root.join(FILE);
    let Ok(text) = fs::read_to_string(&file) else { return Ok(None) };
    let head = format!("  - name: {}", serde_json::to_string(&name(id))?);
    let mut inside = false;
    let kept: Vec<&str> = text
        .lines()
        .filter(|line| {
            if line.starts_with("  - ") {
                inside = *line == head;
            }
            !inside
        })
        .collect();
    if kept.len() == text.lines().count() {
        return Ok(None);
    }
    let written = match kept.as_slice() {
        [] | ["tests:"] => fs::remove_file(&file),
        kept => fs::write(&file, kept.join("\n") + "\n"),
    };
    written.with_context(|| format!("cannot write `{}`", file.display()))?;
    Ok(Some(FILE.to_owned()))
}

fn name(id: u64) -> String {
    format!("decision {id} was wrong")
}
