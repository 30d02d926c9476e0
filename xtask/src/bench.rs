//! What Lictor costs, beside what it stands against. `docs/benchmarks.md` has the figures and how to read them.

mod hook;
pub mod paper;
mod plot;
mod record;
mod samples;
mod server;
mod session;

use anyhow::{Result, bail};

use crate::shell;

/// Runs the benchmarks that are asked for, all of them when none is named, and writes their figures down.
pub fn run(args: &[String]) -> Result<()> {
    match args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        None | Some(("all", [])) => {
            for one in [
                "shell", "store", "session", "ledger", "rpc", "record", "peers", "hook", "guardian", "server",
            ] {
                run(&[one.to_owned()])?;
            }
            Ok(())
        }
        Some(("hook", rest)) => hook::run(rest),
        Some(("guardian", rest)) => hook::guardian::run(rest),
        Some((hook::guardian::INSIDE, rest)) => hook::guardian::inside(rest),
        Some(("record", rest)) => record::run(rest),
        Some(("peers", [])) => {
            let manifest = "benches/peers/Cargo.toml";
            let args = ["run", "--locked", "--quiet", "--release", "--manifest-path", manifest];
            let told = shell::told("cargo", &args)?;
            // The last line is for programs.
            let tables: Vec<&str> = told.lines().filter(|line| !line.starts_with('{')).collect();
            paper::write("peers", &tables.join("\n"))
        }
        Some(("session", [])) => session::run(),
        Some(("server", rest)) => server::run(rest),
        Some(("shell", [])) => of("shell", "lictor-shell", "read"),
        Some(("store", [])) => of("store", "lictor-store", "cold_open"),
        Some(("ledger", [])) => of("ledger", "lictor-ledger", "ledger"),
        Some(("rpc", [])) => of("rpc", "lictor", "rpc"),
        Some((other, _)) => bail!("no benchmark `{other}` with these options; `cargo xtask help` lists them"),
    }
}

fn of(section: &str, package: &str, bench: &str) -> Result<()> {
    let args = ["bench", "--locked", "--quiet", "--package", package, "--bench", bench];
    let told = shell::told("cargo", &args)?;
    let is_table = told.lines().any(|line| line.starts_with("|---"));
    let figures = if is_table { told } else { format!("```text\n{}\n```", told.trim_end()) };
    paper::write(section, &figures)
}
