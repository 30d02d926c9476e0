//! The command line, except for `lictor hook`.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::ArgValueCandidates;
use lictor_agents::commands::{self, Audience};
use lictor_agents::install;
use lictor_config::diagnostic::closest;

use crate::candidates;
use crate::commands::{
    agents, allow, approve, audit, check, completions, council, demo, doctor, eval, explain, graph, init,
    log, man, mcp, replay, report, rpc, run, schema, serve, session, share, test, tools, trust, ui,
    uninstall, verdict, why_not, wrong,
};
use crate::exit::{self, Exit};
use crate::output;

/// A governance runtime for AI agents: every action passes through a policy graph.
#[derive(Debug, Parser)]
#[command(name = "lictor", version, disable_help_subcommand = true, arg_required_else_help = true)]
#[command(after_help = "`lictor help <command>` says more; `lictor help exit-codes` lists the exit codes.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Govern this repository: write governance.yaml, install agent and git hooks.
    Init(init::InitArgs),
    /// Answer an agent's hook event on standard input (installed by `init`).
    #[command(
        hide = true,
        after_help = "\
Examples:
  lictor hook claude-code < event.json
  lictor hook gemini-cli BeforeTool < event.json"
    )]
    Hook {
        #[arg(help = format!("The agent: {}", lictor_agents::Agent::ALL.map(lictor_agents::Agent::name).join(", ")),
              add = ArgValueCandidates::new(candidates::agents))]
        agent: String,
        /// The event, for agents that do not send it.
        event: Option<String>,
        /// Exit with 80 instead of 0 and 82 instead of 2, which no other program does.
        #[arg(long)]
        confirm: bool,
    },
    /// Judge one action, or a file of them.
    Eval(eval::EvalArgs),
    /// Show how a decision came about.
    Explain(explain::ExplainArgs),
    /// Show which rules almost applied, and why they did not.
    WhyNot(why_not::WhyNotArgs),
    /// Check the policy files.
    Check(check::CheckArgs),
    /// Run the policy's tests.
    Test(test::TestArgs),
    /// Draw the policy graph.
    Graph(graph::GraphArgs),
    /// Print the JSON Schema of policy files, or of what a command prints with `--json`.
    Schema(schema::SchemaArgs),
    /// Record and inspect review findings; gate commits on them.
    Verdict(verdict::VerdictArgs),
    /// Plan and run reviews by councils.
    Council(council::CouncilArgs),
    /// List actions that wait for approval.
    Approvals(approve::ApprovalsArgs),
    /// Approve one waiting action, once.
    Approve(approve::ApproveArgs),
    /// Deny a waiting action.
    Deny(approve::DenyArgs),
    /// List, show, refresh or reset sessions.
    Session(session::SessionArgs),
    /// Show past decisions, one per line.
    Log(log::LogArgs),
    /// Summarise a period: decisions, rules, approvals, findings.
    Report(report::ReportArgs),
    /// Query, verify, export and archive the audit log.
    Audit(audit::AuditArgs),
    /// Judge recorded sessions again, with the current policy.
    Replay(replay::ReplayArgs),
    /// Test every installed hook with a real block, and find problems.
    Doctor(doctor::DoctorArgs),
    /// List supported agents and what hooks can do on each.
    Agents(agents::AgentsArgs),
    /// Govern any program: JSON-RPC 2.0 on standard input and output.
    Rpc(rpc::RpcArgs),
    /// Govern MCP servers.
    Mcp(mcp::McpArgs),
    /// List or forget the tools that a person approved.
    Tools(tools::ToolsArgs),
    /// Trust the programs that the repository's policy runs.
    Trust(trust::TrustArgs),
    /// Run the HTTP server for teams and other programs.
    Serve(serve::ServeArgs),
    /// Open the local web page: sessions, decisions, approvals.
    Ui(ui::UiArgs),
    /// Run an agent in a sandbox, with the guard outside it.
    Run(run::RunArgs),
    /// Add the smallest policy exception for a stopped action.
    Allow(allow::AllowArgs),
    /// Mark a decision as wrong, and turn it into a policy test.
    Wrong(wrong::WrongArgs),
    /// Play a governed session of a scripted agent in a scratch project.
    Demo(demo::DemoArgs),
    /// Print shell completions.
    Completions(completions::CompletionsArgs),
    /// Print manual pages.
    Man(man::ManArgs),
    /// Export this project's trust, waivers and exceptions as YAML.
    Export(share::ExportArgs),
    /// Import exported trust, waivers and exceptions.
    Import(share::ImportArgs),
    /// Remove Lictor from every project and from this machine.
    Uninstall(uninstall::UninstallArgs),
    /// Explain a command or a topic (`exit-codes`, `upgrade`).
    #[command(after_help = "\
Examples:
  lictor help verdict record
  lictor help exit-codes
  lictor help upgrade")]
    Help {
        /// The command, with its subcommand, or the topic.
        topic: Vec<String>,
    },
}

/// One command, or several that belong together, with their description.
type Listed = (&'static [&'static str], &'static str);

/// The commands as `lictor --help` shows them, each group under a heading.
const GROUPS: &[(&str, &[Listed])] = &[
    (
        "Set up",
        &[
            (&["init"], ""),
            (&["doctor"], ""),
            (&["agents"], ""),
            (&["mcp"], ""),
            (&["run"], ""),
            (&["demo"], ""),
            (&["uninstall"], ""),
        ],
    ),
    ("Policy", &[(&["check"], ""), (&["test"], ""), (&["graph"], ""), (&["eval"], ""), (&["trust"], "")]),
    (
        "Answer",
        &[
            (&["approvals"], ""),
            (&["approve", "deny"], "Say yes or no to a waiting action."),
            (&["allow"], ""),
            (&["tools"], ""),
            (&["wrong"], ""),
        ],
    ),
    (
        "Look back",
        &[
            (&["log"], ""),
            (&["explain"], ""),
            (&["why-not"], ""),
            (&["report"], ""),
            (&["session"], ""),
            (&["replay"], ""),
            (&["audit"], ""),
        ],
    ),
    ("Review", &[(&["verdict"], ""), (&["council"], "")]),
    (
        "Programs and teams",
        &[
            (&["rpc"], ""),
            (&["serve"], ""),
            (&["ui"], ""),
            (&["export", "import"], "Share trust, waivers and exceptions as YAML."),
            (&["schema"], "Print the JSON Schema of policy files or of a command's output."),
            (&["completions", "man"], "Print shell completions or manual pages."),
            (&["help"], ""),
        ],
    ),
];

/// The list of commands for `lictor --help`.
fn listed(top: &clap::Command) -> String {
    let mut text = String::new();
    for (heading, lines) in GROUPS {
        text += &format!("{heading}:\n");
        for (names, said) in *lines {
            let own = || names.first().and_then(|name| top.find_subcommand(name)?.get_about());
            let about =
                if said.is_empty() { own().map(ToString::to_string) } else { Some((*said).to_owned()) };
            let about = about.unwrap_or_default();
            text += &format!("  {:<17}  {}\n", names.join(", "), about.trim_end_matches('.'));
        }
    }
    text
}

/// Parses the arguments, runs the command, returns the exit code.
pub fn main(args: &[OsString]) -> ExitCode {
    let words: Vec<OsString> =
        std::iter::once(OsString::from("lictor")).chain(args.iter().cloned()).collect();
    match completions::answered(&words, definition) {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => {}
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(Exit::Usage.code());
        }
    }
    let cli = match parse(words) {
        Ok(cli) => cli,
        Err(error) => {
            let usage = error.use_stderr();
            // If the stream is closed, the error cannot be reported.
            let _ = error.print();
            if let Some(meant) = meant(&error, args) {
                output::tell(&format!("\n{meant}\n"));
            }
            return ExitCode::from(if usage { Exit::Usage } else { Exit::Ok }.code());
        }
    };
    match run(&cli.command) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            let refused = exit::is_refused_policy(&error);
            let next = if refused { "; `lictor check` shows everything" } else { "" };
            output::complain(&format!("{}{next}", output::chain(&error)));
            ExitCode::from(Exit::after(&error).code())
        }
    }
}

fn run(command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Hook { agent, event, confirm } => {
            let confirm = confirm.then_some(install::CONFIRM);
            let words = std::iter::once(agent.as_str()).chain(event.as_deref()).chain(confirm);
            let args: Vec<OsString> = words.map(OsString::from).collect();
            std::process::exit(i32::from(crate::hook::main(&args)));
        }
        Command::Init(args) => init::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Approvals(args) => approve::list(args),
        Command::Approve(args) => approve::approve(args),
        Command::Deny(args) => approve::deny(args),
        Command::Check(args) => check::run(args),
        Command::Graph(args) => graph::run(args),
        Command::Schema(args) => schema::run(args),
        Command::Session(args) => session::run(args),
        Command::WhyNot(args) => why_not::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Ui(args) => ui::run(args),
        Command::Allow(args) => allow::run(args),
        Command::Wrong(args) => wrong::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Test(args) => test::run(args),
        Command::Audit(args) => audit::run(args),
        Command::Verdict(args) => verdict::run(args),
        Command::Council(args) => council::run(args),
        Command::Rpc(args) => rpc::run(args),
        Command::Mcp(args) => mcp::run(args),
        Command::Tools(args) => tools::run(args),
        Command::Trust(args) => trust::run(args),
        Command::Run(args) => run::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Agents(args) => agents::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Log(args) => log::run(args),
        Command::Report(args) => report::run(args),
        Command::Man(args) => man::run(args, definition()),
        Command::Export(args) => share::export(args),
        Command::Import(args) => share::import(args),
        Command::Uninstall(args) => uninstall::run(args),
        Command::Help { topic } => help(topic),
    }
}

fn parse(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&definition().try_get_matches_from(words)?)
}

/// The commands with their help, which states whom each is for.
fn definition() -> clap::Command {
    let top = flowing(Cli::command());
    let template =
        format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}{{after-help}}\n", listed(&top).trim_end());
    commands::COMMANDS.iter().fold(top.help_template(template), |top, (words, audience)| {
        let note = match audience {
            Audience::Agents => return top,
            Audience::People => "For people: refused to agents.",
            Audience::Internal => "Run by hooks: refused to agents.",
        };
        noted(top, words, note)
    })
}

/// The same with notes rewrapped to the terminal width: in the source they are wrapped for the source.
fn flowing(command: clap::Command) -> clap::Command {
    let said = command.get_after_help().map(|said| joined(&said.to_string()));
    let command = said.into_iter().fold(command, clap::Command::after_help);
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, flowing))
}

/// Joins the lines of a paragraph; indented lines are kept.
fn joined(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
    for line in text.lines() {
        match lines.last_mut().filter(|last| prose(last) && prose(line)) {
            Some(last) => *last += &format!(" {line}"),
            None => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

fn noted(command: clap::Command, words: &str, note: &str) -> clap::Command {
    let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
    command.mut_subcommand(first, |found| match rest {
        "" => {
            let said = found.get_after_help().map(ToString::to_string);
            found.after_help(said.map_or_else(|| note.to_owned(), |said| format!("{said}\n\n{note}")))
        }
        rest => noted(found, rest, note),
    })
}

/// `lictor help upgrade`.
const UPGRADE: &str = "\
upgrading

  from a clone    git pull, then `cargo xtask install --yes`
  npm             npm install -g lictor@latest
  pip or uv       pip install --upgrade lictor, or uv tool upgrade lictor
  an archive      put the new program in the place of the old one

Afterwards, in each project: `lictor init --yes` brings hooks up to date and
changes nothing where they are, `lictor check` reads the policy with the new
program, `lictor doctor` proves that calls are stopped.

Record, approvals, trust, exceptions and policy files stay as they are. Sessions
that are open go on under the new program, or begin anew where it keeps more of
them than the old one did. An older program does not open a record that a newer
one has written to, and blocks: to go back, move the record away first (`lictor
doctor` says where it is).
";

/// The suggestion for a word that is not a subcommand of this one.
pub fn nearest(known: &clap::Command, word: &str) -> String {
    let names: Vec<&str> = known.get_subcommands().map(clap::Command::get_name).collect();
    match closest(word, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`lictor help` lists them".to_owned(),
    }
}

/// The suggestion for an unknown command, if the parser has none.
fn meant(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let known = error.get(ContextKind::SuggestedSubcommand).is_some();
    let word = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) if !known => word,
        _ => return None,
    };
    if TOPICS.iter().any(|(topic, _)| topic == word) {
        return Some(format!("`lictor help {word}` is about this"));
    }
    let top = definition();
    let words = args.iter().filter_map(|arg| arg.to_str()).take_while(|arg| arg != word);
    let above = words.fold(&top, |command, word| command.find_subcommand(word).unwrap_or(command));
    Some(nearest(above, word))
}

/// Additional topics of `lictor help`.
const TOPICS: [(&str, &str); 2] = [("exit-codes", exit::HELP), ("upgrade", UPGRADE)];

fn help(topic: &[String]) -> anyhow::Result<Exit> {
    let page = match topic {
        [word] => TOPICS.iter().find(|(topic, _)| topic == word).map(|(_, page)| *page),
        _ => None,
    };
    if let Some(page) = page {
        output::print_exact(page)?;
        return Ok(Exit::Ok);
    }
    let mut known = &definition();
    for word in topic {
        known = known.find_subcommand(word).ok_or_else(|| {
            let (topic, near) = (topic.join(" "), nearest(known, word));
            exit::usage(format!("there is no command or topic `{topic}`; {near}"))
        })?;
    }
    // As `--help` after the same words.
    let words = ["lictor"].into_iter().chain(topic.iter().map(String::as_str)).chain(["--help"]);
    match parse(words) {
        Err(help) if !help.use_stderr() => output::print_exact(&help.to_string())?,
        _ => anyhow::bail!("there is no help on this"),
    }
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests;
