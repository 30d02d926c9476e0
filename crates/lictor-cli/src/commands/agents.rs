//! `lictor agents`: the agents that Lictor has adapters for, and what hooks can do on each.

use anyhow::Result;
use clap::Args;
use lictor_agents::Agent;
use lictor_agents::install::{Scope, advice};
use serde_json::json;

use crate::args::Common;
use crate::exit::Exit;
use crate::output::{self, Style};

/// List the agents that Lictor governs, and what its hooks can do on each.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor agents
  lictor agents --json

`fails closed`: a hook that crashes stops the call. Where it does not, `lictor doctor` is what
finds a hook that does not run.")]
pub struct AgentsArgs {
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
pub fn run(args: &AgentsArgs) -> Result<Exit> {
    if args.common.json {
        let agents: Vec<_> = Agent::ALL.into_iter().map(described).collect();
        output::print_json(&json!({ "agents": agents }))?;
    } else {
        output::print(&table(Style::stdout()))?;
    }
    Ok(Exit::Ok)
}

fn described(agent: Agent) -> serde_json::Value {
    let can = agent.capabilities();
    json!({
        "name": agent.name(),
        "programs": agent.programs().collect::<Vec<_>>(),
        "can": {
            "block": can.block,
            "ask": can.ask,
            "refuse_prompts": can.prompt,
            "feedback": can.feedback,
            "stop_gate": can.stop,
            "subagent_stop_gate": can.subagents,
            "fails_closed": can.fails_closed,
            "exit_codes": can.exit_codes,
            "managed": can.managed,
        },
        "hooks": {
            "project": agent.documented_path(Scope::Project),
            "user": agent.documented_path(Scope::User),
            "managed": agent.documented_path(Scope::Managed),
        },
        "advice": advice(agent),
    })
}

const COLUMNS: [&str; 7] = ["agent", "block", "ask", "prompt", "feedback", "stop", "fails closed"];

fn table(style: Style) -> String {
    let width = Agent::ALL.map(|agent| agent.name().len()).into_iter().max().unwrap_or_default();
    let mut text = String::new();
    let [first, rest @ ..] = COLUMNS;
    text += &style.bold(&format!("{first:width$}  {}", rest.join("  ")));
    text.push('\n');
    for agent in Agent::ALL {
        let can = agent.capabilities();
        let cells = [can.block, can.ask, can.prompt, can.feedback, can.stop, can.fails_closed];
        let cells: Vec<String> = rest
            .iter()
            .zip(cells)
            .map(|(name, yes)| format!("{:1$}", if yes { "yes" } else { "-" }, name.len()))
            .collect();
        text += format!("{:width$}  {}", agent.name(), cells.join("  ")).trim_end();
        text.push('\n');
    }
    text += "\n`lictor init --agent NAME` installs the hooks; `lictor agents --json` says where they go.\n";
    text
}
