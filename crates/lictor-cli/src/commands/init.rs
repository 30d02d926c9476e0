//! `lictor init`: installs Lictor in a project. Shows what it would write, and writes only after confirmation.

mod agents;
mod copies;
mod git;
mod languages;
mod plan;
pub mod receipts;
mod servers;
mod starter;
mod trust;

use std::io::BufRead as _;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCandidates;
use lictor_agents::Agent;
use lictor_agents::install::Scope;
use serde_json::json;

pub use agents::{found as agents_found, settings_of};
use receipts::Receipts;
pub use trust::{Standing, standing};

use crate::args::Common;
use crate::candidates;
use crate::exit::Exit;
use crate::here;
use crate::home::Home;
use crate::output::{self, Style};
use crate::time_format;
use lictor::Project;
use lictor::Snapshot;
use lictor::councils;
pub use plan::Plan;

/// Govern this repository: write governance.yaml, install agent and git hooks.
#[derive(Debug, Args)]
#[command(after_help = "\
Shows what it would write and asks. Doing it twice changes nothing.

Examples:
  lictor init
  lictor init --yes --git
  lictor init --agent claude-code --agent codex --preset strict
  lictor init --mcp
  lictor init --uninstall

Exit codes: 0 written or nothing to do, 1 an agent does not run the hooks yet, 3 nothing was
written because nobody said yes.")]
pub struct InitArgs {
    /// Write without asking, and trust the programs that the policy names as they are now.
    #[arg(long)]
    yes: bool,
    /// Install git hooks too: the commit gate, and an anchor of the log with every commit.
    #[arg(long)]
    git: bool,
    /// Install for this agent, detected or not. May be repeated; default: the detected agents.
    #[arg(long = "agent", value_name = "NAME", add = ArgValueCandidates::new(candidates::agents))]
    agents: Vec<Agent>,
    /// Wrap the MCP servers in agents' settings with `lictor mcp run`; nothing else is written. With
    /// `--uninstall`, unwrap them.
    #[arg(long, conflicts_with_all = ["git", "agents", "scope"])]
    mcp: bool,
    /// Remove everything and restore the original files.
    #[arg(long)]
    uninstall: bool,
    /// Whose settings to install agent hooks in: yours (`user`), the project's, or the machine's (`managed`;
    /// needs root). Default: the project's; `--uninstall` also removes yours.
    #[arg(long, value_enum, hide_possible_values = true)]
    scope: Option<ScopeArg>,
    /// What a new governance.yaml begins with: `recommended` blocks what destroys, leaks or switches the guard off;
    /// `strict` also asks where that only remarks; with `read-only` agents look and change nothing.
    #[arg(long, value_enum, default_value = "recommended", hide_possible_values = true)]
    preset: Preset,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeArg {
    /// Yours, for all your projects.
    User,
    /// The project's.
    Project,
    /// The machine's; needs root.
    Managed,
}

impl InitArgs {
    fn scope(&self) -> Scope {
        self.scope.map_or(Scope::Project, Scope::from)
    }
}

impl From<ScopeArg> for Scope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::User => Self::User,
            ScopeArg::Project => Self::Project,
            ScopeArg::Managed => Self::Managed,
        }
    }
}

/// What a new policy begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Preset {
    /// Blocks what destroys, leaks or switches the guard off.
    Recommended,
    /// The same, and asks where `recommended` only remarks.
    Strict,
    /// Agents look and change nothing.
    ReadOnly,
}

impl Preset {
    fn pack(self) -> &'static str {
        match self {
            Self::Recommended => "recommended",
            Self::Strict => "strict",
            Self::ReadOnly => "read-only",
        }
    }
}

/// Runs the command.
pub fn run(args: &InitArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    here::people_only("init", &project)?;
    let mut receipts = Receipts::load()?;
    let plan =
        if args.uninstall { leave(args, &project, &receipts)? } else { enter(args, &project, &receipts)? };
    let agreed = args.yes || (!plan.is_empty() && !args.common.json && agreed(&plan)?);
    // If no file changes, only receipts change: no confirmation is needed.
    if agreed || plan.is_empty() {
        if !args.uninstall && agreed {
            Home::of(here::own_binary()?, &project).settle()?;
        }
        plan.apply(&mut receipts)?;
        if args.uninstall && agreed {
            receipts.remove_directories();
        }
        receipts.save()?;
    }
    let mut trusted = if agreed && !args.uninstall { trust(&project)? } else { Vec::new() };
    let mut missing = Vec::new();
    if !args.uninstall && (agreed || plan.is_empty()) {
        for agent in &plan.agents {
            if agreed {
                trusted.extend(agree(*agent, args.scope(), &project, &mut receipts)?);
            }
            if let Standing::NotYet { why, next } = standing(*agent, args.scope(), &project)? {
                missing.push((*agent, why, next));
            }
        }
    }
    if args.common.json {
        output::print_json(&json!({
            "project": project.root,
            "changes": plan.changes().map(|change| change.to_json()).collect::<Vec<_>>(),
            "notes": plan.notes,
            "trusted": trusted,
            "nothing_to_do": plan.is_empty(),
            "written": agreed && !plan.is_empty(),
            "not_governed": missing
                .iter()
                .map(|(agent, why, next)| json!({"agent": agent.name(), "why": why, "next": next}))
                .collect::<Vec<_>>(),
        }))?;
    } else {
        output::print(&closing(args, &plan, &trusted, &missing, agreed))?;
    }
    // A script that forgot `--yes` must not continue ungoverned.
    Ok(match (agreed || plan.is_empty(), missing.is_empty()) {
        (false, _) => Exit::Ask,
        (true, false) => Exit::Problems,
        (true, true) => Exit::Ok,
    })
}

/// Tells the agent that the hooks may run, in its own record.
fn agree(agent: Agent, scope: Scope, project: &Project, receipts: &mut Receipts) -> Result<Vec<String>> {
    let (plan, told) = trust::agree(agent, scope, project)?;
    plan.apply(receipts)?;
    receipts.save()?;
    Ok(told.into_iter().map(|what| format!("for {agent}: {what}")).collect())
}

fn enter(args: &InitArgs, project: &Project, receipts: &Receipts) -> Result<Plan> {
    let home = Home::of(here::own_binary()?, project);
    let binary = home.program.clone();
    let mut plan = Plan::default();
    if args.mcp {
        servers::wrap(&mut plan, project, &binary)?;
        return Ok(plan);
    }
    starter::plan(&mut plan, project, args.preset)?;
    agents::install(&mut plan, project, &args.agents, args.scope(), &binary, receipts)?;
    if args.git {
        git::install(&mut plan, project, &binary)?;
    }
    plan.notes.extend(home.note());
    Ok(plan)
}

fn leave(args: &InitArgs, project: &Project, receipts: &Receipts) -> Result<Plan> {
    let mut plan = Plan::default();
    if args.mcp {
        servers::unwrap(&mut plan, project)?;
        return Ok(plan);
    }
    let scopes = match args.scope {
        Some(scope) => vec![scope.into()],
        None => vec![Scope::Project, Scope::User],
    };
    for scope in scopes {
        agents::uninstall(&mut plan, project, &args.agents, scope, receipts)?;
    }
    // If agents are named, only those are changed.
    if args.agents.is_empty() {
        take_out(&mut plan, project, receipts)?;
    }
    copies::note_committed(&mut plan, project);
    Ok(plan)
}

/// Removes what belongs to a repository and to no agent.
fn take_out(plan: &mut Plan, project: &Project, receipts: &Receipts) -> Result<()> {
    git::uninstall(plan, project)?;
    starter::take_back(plan, project, receipts)?;
    servers::unwrap(plan, project)
}

/// Plans the removal from every project and every scope in the receipts.
pub fn leave_everywhere(here: &Project, receipts: &Receipts) -> Result<Plan> {
    let mut plan = Plan::default();
    agents::uninstall(&mut plan, here, &[], Scope::User, receipts)?;
    for project in receipts.projects(here) {
        agents::uninstall(&mut plan, &project, &[], Scope::Project, receipts)?;
        take_out(&mut plan, &project, receipts)?;
        for tree in copies::other_trees(&project) {
            let receipts = receipts.as_below(&project.root, &tree.root);
            agents::uninstall(&mut plan, &tree, &[], Scope::Project, &receipts)?;
        }
        copies::note_committed(&mut plan, &project);
    }
    Ok(plan)
}

/// Shows the plan and asks.
fn agreed(plan: &Plan) -> Result<bool> {
    let style = Style::stdout();
    output::print(&format!("{}{}", plan.show(style), noted(plan, style)))?;
    if let Some(told) = output::is_interactive().then(super::replay::offer).flatten() {
        output::print(&format!("\n{told}\n"))?;
    }
    said_yes("write this?")
}

/// The notes for a person before they confirm.
fn noted(plan: &Plan, style: Style) -> String {
    plan.notes.iter().map(|note| format!("{} {note}\n", style.yellow("note:"))).collect()
}

/// Asks for confirmation. Without a terminal the answer is no.
pub fn said_yes(question: &str) -> Result<bool> {
    if !output::is_interactive() {
        return Ok(false);
    }
    output::print(&format!("\n{question} [y/N] "))?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn closing(
    args: &InitArgs,
    plan: &Plan,
    trusted: &[String],
    missing: &[(Agent, String, String)],
    agreed: bool,
) -> String {
    let style = Style::stdout();
    let mut text = String::new();
    if plan.is_empty() {
        text += "nothing to do\n";
    } else if agreed {
        for change in plan.changes() {
            text += &format!("{} {}\n", style.green(change.verb()), change.path().display());
        }
    }
    for line in trusted {
        text += &format!("{} {line}\n", style.green("trusted"));
    }
    // A person who was asked has seen them already.
    if args.yes || plan.is_empty() {
        text += &noted(plan, style);
    }
    if !missing.is_empty() {
        text.push('\n');
        for (_, why, next) in missing {
            text += &format!("{} {why}\n  {next}\n", style.red("not governed yet:"));
        }
        return text;
    }
    text += match (agreed || plan.is_empty(), args.uninstall) {
        (true, true) => "",
        (true, false) if args.mcp => {
            "\n`lictor mcp scan` looks at the servers; `lictor mcp pins` shows what they are pinned to.\n"
        }
        (true, false) => "\ngoverned. `lictor doctor` proves it; `lictor demo` shows how it looks.\n",
        (false, _) => "\nnothing was written. Run the same with `--yes` to write this.\n",
    };
    text
}

/// Pins the programs of the policy that are not pinned yet.
fn trust(project: &Project) -> Result<Vec<String>> {
    let programs = councils::programs(&Snapshot::read(project).context("the policy cannot be read")?.policy)?;
    if programs.is_empty() {
        return Ok(Vec::new());
    }
    let store = project.store()?;
    let mut pinned = Vec::new();
    for program in programs {
        if !program.is_trusted(&*store, &project.root)? {
            program.trust(&*store, &project.root, &here::person(), time_format::now())?;
            pinned.push(format!("{}: {}", program.what, program.argv.join(" ")));
        }
    }
    Ok(pinned)
}
