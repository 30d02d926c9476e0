//! `lictor doctor`: tests that the installation works, and suggests fixes.

mod canary;
mod disarm;
mod hooks;
mod record;
mod servers;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::args::Common;
use crate::exit::Exit;
use crate::here;
use crate::output::{self, Style};

/// Test that every installed hook blocks, and find problems.
#[derive(Debug, Args)]
#[command(after_help = "\
Sends calls that must be blocked through each installed hook, as the agent would, ways to switch
Lictor off among them, and sees whether a block comes back. They are not carried out and leave
nothing in your log. Where bubblewrap is installed, a process in the sandbox of `lictor run` tries
the same. What stands before MCP servers has to refuse a request; the servers do not start.

Examples:
  lictor doctor
  lictor doctor --json

Exit codes: 0 no problems, 1 problems were found.")]
pub struct DoctorArgs {
    #[command(flatten)]
    common: Common,
}

/// The results, in the order of the checks.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    checks: Vec<Check>,
}

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    result: Finding,
    /// The subject and the result.
    what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Finding {
    Ok,
    /// Worth knowing; nothing is wrong.
    Note,
    Problem,
}

impl Report {
    fn ok(&mut self, what: impl Into<String>) {
        self.checks.push(Check { result: Finding::Ok, what: what.into(), next: None });
    }

    fn note(&mut self, what: impl Into<String>, next: impl Into<String>) {
        self.checks.push(Check { result: Finding::Note, what: what.into(), next: Some(next.into()) });
    }

    fn problem(&mut self, what: impl Into<String>, next: impl Into<String>) {
        self.checks.push(Check { result: Finding::Problem, what: what.into(), next: Some(next.into()) });
    }

    fn problems(&self) -> usize {
        self.checks.iter().filter(|check| check.result == Finding::Problem).count()
    }

    fn show(&self, style: Style) -> String {
        let mut text = String::new();
        for check in &self.checks {
            let mark = match check.result {
                Finding::Ok => style.green("ok     "),
                Finding::Note => style.yellow("note   "),
                Finding::Problem => style.red("problem"),
            };
            text += &format!("{mark}  {}\n", check.what);
            if let Some(next) = &check.next {
                text += &format!("         {} {next}\n", style.dim("→"));
            }
        }
        text += &match self.problems() {
            0 => format!("\n{}\n", style.green("no problems")),
            count => format!("\n{}\n", style.red(&output::count(count as u64, "problem"))),
        };
        text
    }
}

/// Runs the command.
pub fn run(args: &DoctorArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    let mut report = Report::default();
    record::policy(&mut report, &project);
    let settings = hooks::agents(&mut report, &project)?;
    servers::wrapped(&mut report, &project);
    servers::pins(&mut report, &project);
    hooks::git(&mut report, &project);
    record::state(&mut report, &project);
    record::faults(&mut report, &project);
    disarm::promises(&mut report, &project, &settings);
    if args.common.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.show(Style::stdout()))?;
    }
    Ok(if report.problems() == 0 { Exit::Ok } else { Exit::Problems })
}
