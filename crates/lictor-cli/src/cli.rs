//! The command line, except for `lictor hook`.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use lictor_agents::commands::{self, Audience};

use crate::commands::{
    agents, allow, approve, audit, check, completions, council, demo, doctor, eval, explain, graph, init,
    log, man, mcp, replay, report, rpc, run, schema, serve, session, share, test, trust, ui, uninstall,
    verdict, why_not, wrong,
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
    #[command(after_help = "\
Examples:
  lictor hook claude-code < event.json
  lictor hook gemini-cli BeforeTool < event.json")]
    Hook {
        /// The agent: claude-code, codex, gemini-cli, cursor, copilot-cli, vscode, opencode, antigravity, factory, windsurf.
        agent: String,
        /// The event, for agents that do not name it themselves.
        event: Option<String>,
    },
    /// Judge one action, or a file of them.
    Eval(eval::EvalArgs),
    /// Show how a decision came about.
    Explain(explain::ExplainArgs),
    /// Show which rules came close to deciding, and what kept them from it.
    WhyNot(why_not::WhyNotArgs),
    /// Check the policy files.
    Check(check::CheckArgs),
    /// Run the policy's tests.
    Test(test::TestArgs),
    /// Draw the policy graph.
    Graph(graph::GraphArgs),
    /// Print the JSON Schema of policy files, or of what a command prints with `--json`.
    Schema(schema::SchemaArgs),
    /// What reviewers found, and whether it lets work go on.
    Verdict(verdict::VerdictArgs),
    /// Who has to look at what before work goes on.
    Council(council::CouncilArgs),
    /// List what waits for a person.
    Approvals(approve::ApprovalsArgs),
    /// Say yes to exactly one action, once.
    Approve(approve::ApproveArgs),
    /// Say no to an action that waits.
    Deny(approve::DenyArgs),
    /// Show sessions, or let them go on under the current policy.
    Session(session::SessionArgs),
    /// What was decided, one line a decision.
    Log(log::LogArgs),
    /// What a stretch of time came to.
    Report(report::ReportArgs),
    /// Read and check the log.
    Audit(audit::AuditArgs),
    /// Run recorded sessions through a changed policy.
    Replay(replay::ReplayArgs),
    /// Prove that every installed hook blocks, and find what is wrong.
    Doctor(doctor::DoctorArgs),
    /// List the agents that Lictor governs, and what its hooks can do on each.
    Agents(agents::AgentsArgs),
    /// Govern any program: JSON-RPC 2.0 on standard input and output.
    Rpc(rpc::RpcArgs),
    /// Govern MCP servers.
    Mcp(mcp::McpArgs),
    /// Let the programs run that the repository's policy names.
    Trust(trust::TrustArgs),
    /// Serve teams and other programs over HTTP.
    Serve(serve::ServeArgs),
    /// Look at what agents do here, and answer their questions, in a browser.
    Ui(ui::UiArgs),
    /// Run an agent in a sandbox, judged from outside.
    Run(run::RunArgs),
    /// Make the smallest exception that lets a stopped action pass.
    Allow(allow::AllowArgs),
    /// Turn a wrong decision into a test of the policy.
    Wrong(wrong::WrongArgs),
    /// Watch a scripted agent being governed, in a scratch project.
    Demo(demo::DemoArgs),
    /// Print what lets a shell complete `lictor` commands.
    Completions(completions::CompletionsArgs),
    /// Print manual pages.
    Man(man::ManArgs),
    /// Print what you have decided for this project, for others.
    Export(share::ExportArgs),
    /// Take over what somebody else has decided for this project.
    Import(share::ImportArgs),
    /// Take Lictor out of every project and off this machine.
    Uninstall(uninstall::UninstallArgs),
    /// Explain a command or a topic (`exit-codes`).
    #[command(after_help = "\
Examples:
  lictor help verdict record
  lictor help exit-codes")]
    Help {
        /// The command, with its subcommand, or the topic.
        topic: Vec<String>,
    },
}

/// Reads the arguments, runs the command, says how to end.
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
            // Nobody is left to tell when the stream is closed.
            let _ = error.print();
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
        Command::Hook { agent, event } => {
            let args: Vec<OsString> =
                std::iter::once(agent).chain(event).map(|word| OsString::from(word.as_str())).collect();
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

/// The commands with their help, which says whom each is for.
fn definition() -> clap::Command {
    commands::COMMANDS.iter().fold(Cli::command(), |top, (words, audience)| {
        let note = match audience {
            Audience::Agents => return top,
            Audience::People => "For people: refused to agents.",
            Audience::Internal => "Run by hooks: refused to agents.",
        };
        noted(top, words, note)
    })
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

fn help(topic: &[String]) -> anyhow::Result<Exit> {
    if topic == ["exit-codes"] {
        output::print(exit::HELP)?;
        return Ok(Exit::Ok);
    }
    let mut known = &definition();
    for word in topic {
        known = known.find_subcommand(word).ok_or_else(|| {
            let topic = topic.join(" ");
            exit::usage(format!("there is no command or topic `{topic}`; `lictor help` lists them"))
        })?;
    }
    // As `--help` after the same words.
    let words = ["lictor"].into_iter().chain(topic.iter().map(String::as_str)).chain(["--help"]);
    match parse(words) {
        Err(help) if !help.use_stderr() => output::print(&help.to_string())?,
        _ => anyhow::bail!("there is no help on this"),
    }
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests;
