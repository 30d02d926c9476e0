//! Governed sessions of the real agents: each is installed at a pinned version, pointed at a scripted model server on
//! loopback, and run in a network namespace without any other interface. What the model reads and what is done on disk
//! decides. The result is the matrix in `docs/agents.md`.

mod api;
mod install;
mod matrix;
mod server;
mod session;
mod spec;

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::shell;
use spec::{AgentFile, SessionFile};

/// Set in the process that runs inside the namespace.
const INSIDE: &str = "--inside-namespace";

/// What is tested, and with what.
struct Run {
    agents: Vec<AgentFile>,
    sessions: Vec<SessionFile>,
    lictor: PathBuf,
    /// Whether the matrix is written: only by a run of everything.
    writes: bool,
    /// Agents are started by `lictor run`.
    sandboxed: bool,
}

/// `cargo xtask agents [name…] [--session ID]… [--lictor PATH] [--keep] [--run]`; with `--run` every agent is started by
/// `lictor run`, and the matrix stays as it is.
pub fn run(args: &[String]) -> Result<()> {
    let (run, keep) = read(args)?;
    if args.iter().any(|arg| arg == INSIDE) {
        return inside(&run, keep);
    }
    for agent in &run.agents {
        install::ensure(agent)?;
    }
    if !args.iter().any(|arg| arg == "--lictor") {
        shell::run("cargo", &["build", "--locked", "--package", "lictor-cli"])?;
    }
    let own = std::env::current_exe().context("the path of this program is not known")?;
    let status = Command::new("unshare")
        .args(["--map-root-user", "--net", "--"])
        .arg(own)
        .arg("agents")
        .args(args)
        .arg(INSIDE)
        .status()
        .context("cannot start `unshare`; it is part of util-linux")?;
    if !status.success() {
        bail!("not every session held");
    }
    Ok(())
}

fn read(args: &[String]) -> Result<(Run, bool)> {
    let mut names = Vec::new();
    let mut only = Vec::new();
    let mut lictor = shell::root().join("target/debug/lictor");
    let (mut keep, mut sandboxed) = (false, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            INSIDE => {}
            "--keep" => keep = true,
            "--run" => sandboxed = true,
            "--session" => only.push(args.next().context("`--session` needs an id")?.clone()),
            "--lictor" => lictor = args.next().context("`--lictor` needs a path")?.into(),
            name if name.starts_with('-') => bail!("there is no option `{name}`"),
            name => names.push(name.to_owned()),
        }
    }
    let mut agents = spec::agents()?;
    if let Some(unknown) = names.iter().find(|name| !agents.iter().any(|agent| agent.agent == **name)) {
        let known: Vec<_> = agents.iter().map(|agent| agent.agent.as_str()).collect();
        bail!("there is no agent `{unknown}` to run; there is: {}", known.join(", "));
    }
    let writes = only.is_empty() && !sandboxed;
    agents.retain(|agent| names.is_empty() || names.contains(&agent.agent));
    let mut sessions = spec::sessions()?;
    sessions.retain(|session| only.is_empty() || only.contains(&session.id));
    // Hooks that are broken on purpose cannot start anything either.
    sessions.retain(|session| !sandboxed || session.program.is_none());
    Ok((Run { agents, sessions, lictor, writes, sandboxed }, keep))
}

fn inside(run: &Run, keep: bool) -> Result<()> {
    isolated()?;
    let mut failed = 0;
    for agent in &run.agents {
        let mut results = Vec::new();
        for file in run.sessions.iter().filter(|file| agent.can(file)) {
            let start = Instant::now();
            let result = session::run(agent, file, &run.lictor, keep, run.sandboxed)
                .with_context(|| format!("{} {}", agent.agent, file.id))?;
            let expected = agent.expects(&file.id);
            let word = match (&result.wrong[..], expected) {
                ([], None) => "ok",
                ([], Some(_)) => "better than known",
                (_, Some(_)) => "known",
                (_, None) => "FAILED",
            };
            println!("{:12} {:22} {word} ({:.1} s)", agent.agent, file.id, start.elapsed().as_secs_f32());
            if word == "FAILED" || word == "better than known" {
                failed += 1;
                for line in &result.wrong {
                    println!("    {line}");
                }
            }
            results.push(result);
        }
        if run.writes {
            matrix::write_agent(agent, &run.sessions, &results)?;
        }
    }
    if run.writes {
        matrix::write(&run.sessions)?;
    }
    if failed > 0 {
        bail!("{failed} sessions went otherwise than they should");
    }
    Ok(())
}

/// Loopback and nothing else: what an agent sends anywhere else goes nowhere.
pub fn isolated() -> Result<()> {
    shell::output("ip", &["link", "set", "lo", "up"])?;
    let devices = std::fs::read_to_string("/proc/net/dev")?;
    let others: Vec<&str> = devices
        .lines()
        .skip(2)
        .filter_map(|line| line.split(':').next())
        .map(str::trim)
        .filter(|name| *name != "lo")
        .collect();
    if !others.is_empty() {
        bail!("this namespace has more than loopback: {}", others.join(", "));
    }
    Ok(())
}
