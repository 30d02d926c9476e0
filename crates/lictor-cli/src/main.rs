//! The `lictor` command. `lictor hook` is the hot path and is recognised before anything else is set up.

mod args;
mod candidates;
mod cli;
mod commands;
mod exit;
mod here;
mod home;
mod hook;
mod output;
mod progress;
mod schemas;
mod time_format;

use std::ffi::OsString;
use std::process::ExitCode;

/// musl's own allocator makes too many system calls.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match args.split_first() {
        Some((first, rest)) if first == "hook" && !rest.iter().any(|arg| arg == "--help" || arg == "-h") => {
            ExitCode::from(hook::main(rest))
        }
        Some((first, rest)) if first == lictor_run::session::INSIDE => {
            output::tell(&format!("lictor run: {}\n", lictor_run::inside::become_agent(rest)));
            ExitCode::from(127)
        }
        Some((first, _)) if first == lictor_run::janitor::WORD => {
            lictor_run::janitor::run();
            ExitCode::SUCCESS
        }
        _ => match commands::run::handed_over(&args) {
            Some(code) => ExitCode::from(code),
            None => cli::main(&args),
        },
    }
}
