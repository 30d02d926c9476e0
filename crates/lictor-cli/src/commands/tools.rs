//! `lictor tools`: tools without a description that a person approved.

use anyhow::Result;
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCandidates;
use lictor::Project;
use lictor::remembered::{Remembered, forget, remembered};
use lictor_config::diagnostic::closest;
use lictor_core::text::visible_line;
use serde_json::json;

use crate::args::Common;
use crate::candidates;
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};

/// List the tools that a person approved, or forget one.
#[derive(Debug, Args)]
#[command(after_help = "\
A tool that nobody described asks. `lictor approve` can remember the yes, in your own policy
file, for the tool and the way its server is configured. What the tool is called with is judged
as before. A server that is configured in another way is asked about again.

Examples:
  lictor tools
  lictor tools forget mcp__acme__lookup

Exit codes: 0 listed or forgotten, 1 no such tool is remembered.")]
pub struct ToolsArgs {
    /// What to do.
    #[arg(value_enum, default_value_t = ToolsAction::List)]
    action: ToolsAction,
    /// The tool to forget, by its full name.
    #[arg(add = ArgValueCandidates::new(candidates::tools))]
    name: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ToolsAction {
    /// List them.
    List,
    /// Forget one: it is asked about again.
    Forget,
}

/// Runs the command.
pub fn run(args: &ToolsArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    here::people_only("tools", &project)?;
    match (args.action, &args.name) {
        (ToolsAction::List, None) => list(&project, args.common.json),
        (ToolsAction::List, Some(_)) => Err(exit::usage("`lictor tools list` takes no name")),
        (ToolsAction::Forget, Some(name)) => forget_one(&project, name, args.common.json),
        (ToolsAction::Forget, None) => Err(exit::usage("name the tool to forget; `lictor tools` lists them")),
    }
}

fn list(project: &Project, json: bool) -> Result<Exit> {
    let tools = remembered(project)?;
    if json {
        output::print_json(&json!({"tools": tools}))?;
        return Ok(Exit::Ok);
    }
    let style = Style::stdout();
    let mut text = String::new();
    for one in &tools {
        text += &format!("{}\n", style.bold(&visible_line(&one.tool)));
        text += &output::wrapped("    ", standing(one));
        text += &output::wrapped("    ", &format!("in {}", one.file.display()));
    }
    if tools.is_empty() {
        text += "no tool is remembered\n";
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn standing(one: &Remembered) -> &'static str {
    match (one.current, one.server) {
        (false, _) => "its server is configured in another way now: it is asked about again",
        (true, Some(_)) => "its server is configured as it was then",
        (true, None) => "by its name alone: no settings that Lictor reads name a server for it",
    }
}

fn forget_one(project: &Project, name: &str, json: bool) -> Result<Exit> {
    let Some(file) = forget(project, name)? else {
        let known = remembered(project)?;
        if let Some(other) = known.iter().find(|one| one.tool == name) {
            let file = other.file.display();
            return Err(exit::not_there(format!("`{name}` is remembered in `{file}`, which is not yours")));
        }
        let names: Vec<&str> = known.iter().map(|one| one.tool.as_str()).collect();
        let hint = closest(name, names).map(|near| format!("; did you mean `{near}`?"));
        let hint = hint.unwrap_or_else(|| "; `lictor tools` lists them".to_owned());
        return Err(exit::not_there(format!("no tool `{name}` is remembered{hint}")));
    };
    if json {
        output::print_json(&json!({"forgotten": name, "file": file}))?;
    } else {
        let shown = format!("forgot {} in {}\n", visible_line(name), file.display());
        output::print(&(shown + "running sessions ask about it again\n"))?;
    }
    Ok(Exit::Ok)
}
