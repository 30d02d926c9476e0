//! Governed sessions of the real agents: each is installed at a pinned version, pointed at a scripted model server on
//! loopback, and run in a network namespace without any other interface. What the model reads and what is done on disk
//! decides. The result is the matrix in `docs/agents.md`.

mod api;
mod install;
mod matrix;
mod server;
mod session;
mod spec;
mod terminal;

use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;
use std::time::{Instant, SystemTime};

use anyhow::{Context as _, Result, bail};

use crate::namespace::{self, INSIDE};
use crate::{setup, shell};
use spec::{AgentFile, SessionFile};

/// What is tested, and with what.
struct Run {
    agents: Vec<AgentFile>,
    sessions: Vec<SessionFile>,
    lictor: PathBuf,
    /// The hook's program says nothing to anything: sessions that stop something must fail.
    planted: bool,
    /// Whether the matrix is written; sessions that are not run stay in it as they are.
    writes: bool,
    /// Agents are started by `lictor run`.
    sandboxed: bool,
    /// Every agent and every session.
    whole: bool,
}

/// How many agents are run at once: they wait more than they work.
const AT_ONCE: usize = 3;

/// `cargo xtask agents [name…] [--session ID]… [--write] [--lictor PATH] [--keep] [--run] [--planted]`; with `--run` every
/// agent is started by `lictor run`, with `--planted` a hook judges nothing; the matrix stays as it is then, and where only
/// some sessions are run unless they are to be written.
pub fn run(args: &[String]) -> Result<()> {
    let (run, keep) = read(args)?;
    if args.iter().any(|arg| arg == INSIDE) {
        return inside(&run, keep);
    }
    if let Some(missing) = run.needs().find(|program| !setup::is_there(program)) {
        bail!("`{missing}` is missing, which these sessions need; `cargo xtask setup` installs it");
    }
    for agent in &run.agents {
        install::ensure(agent)?;
    }
    if run.sessions.iter().any(|session| session.mcp.is_some()) {
        crate::mcp::install("filesystem")?;
    }
    if !args.iter().any(|arg| arg == "--lictor") {
        shell::run("cargo", &["build", "--locked", "--package", "lictor-cli"])?;
    }
    let (began, start) = (SystemTime::now(), matrix::Start::now()?);
    let failed = each_in_a_namespace(&run, args);
    if run.writes {
        let whole = run.whole && run.agents.iter().all(|agent| matrix::is_written_since(agent, began));
        matrix::write(whole.then_some(&start))?;
    }
    if !failed.is_empty() {
        bail!("sessions of {} went otherwise than they should", failed.join(", "));
    }
    Ok(())
}

/// Each agent in a namespace of its own, so that the settings of a machine that one of them sees are not those of another.
/// Says which failed.
fn each_in_a_namespace(run: &Run, args: &[String]) -> Vec<String> {
    let options: Vec<&String> =
        args.iter().filter(|arg| !run.agents.iter().any(|agent| agent.agent == **arg)).collect();
    let (waiting, failed) = (Mutex::new(run.agents.iter()), Mutex::new(Vec::new()));
    let work = || {
        // The guard is gone before the agent runs.
        while let Some(agent) = waiting.lock().ok().and_then(|mut waiting| waiting.next()) {
            let args: Vec<String> =
                options.iter().copied().chain([&agent.agent]).map(String::clone).collect();
            if namespace::enter("agents", &args).is_err()
                && let Ok(mut failed) = failed.lock()
            {
                failed.push(agent.agent.clone());
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    failed.into_inner().unwrap_or_default()
}

fn read(args: &[String]) -> Result<(Run, bool)> {
    let mut names = Vec::new();
    let mut only = Vec::new();
    let mut lictor = shell::target().join("debug/lictor");
    let (mut keep, mut write, mut sandboxed, mut planted) = (false, false, false, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            INSIDE => {}
            "--keep" => keep = true,
            "--write" => write = true,
            "--run" => sandboxed = true,
            "--planted" => planted = true,
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
    let writes = (write || only.is_empty()) && !planted && !sandboxed;
    let whole = names.is_empty() && only.is_empty();
    agents.retain(|agent| names.is_empty() || names.contains(&agent.agent));
    agents.sort_by_key(|agent| !agent.slow);
    let mut sessions = spec::sessions()?;
    sessions.retain(|session| only.is_empty() || only.contains(&session.id));
    // Hooks that are broken on purpose cannot start anything either.
    sessions.retain(|session| !sandboxed || session.program.is_none());
    Ok((Run { agents, sessions, lictor, planted, writes, sandboxed, whole }, keep))
}

/// Sessions that a broken adapter must turn red.
const STOPPED: [&str; 3] = ["block", "red-line-shell", "parallel"];

impl Run {
    /// Programs that its sessions start beside the agents: those of the sandboxes, and the terminal.
    fn needs(&self) -> impl Iterator<Item = &'static str> {
        let sandboxes = self.sessions.iter().any(|session| session.under_run || session.mode.is_some());
        let terminal = self.sessions.iter().any(|session| session.answer.is_some());
        let sandboxes = ["bwrap", "socat"].into_iter().filter(move |_| sandboxes);
        ["unshare", "ip"].into_iter().chain(sandboxes).chain(terminal.then_some("tmux"))
    }

    /// The session as it is run: with a hook that judges nothing where that is planted, and under `lictor run` where all are.
    fn as_run(&self, session: &SessionFile) -> SessionFile {
        let planted = || "case \"$*\" in *--confirm*) exit 80;; esac".to_owned();
        let program = if self.planted { Some(planted()) } else { session.program.clone() };
        SessionFile { program, under_run: session.under_run || self.sandboxed, ..session.clone() }
    }
}

/// Two agents that are quickly installed and started, as far as their packages can be had: what they must do, and that a
/// hook that judges nothing is seen.
pub fn light() -> Result<()> {
    let agents = spec::agents()?;
    for name in ["claude-code", "opencode"] {
        let agent = agents.iter().find(|agent| agent.agent == name).context("an agent")?;
        if let Err(error) = install::ensure(agent) {
            println!("{name}: not run, its package cannot be had: {error:#}");
            continue;
        }
        let args = |more: &[&str]| -> Vec<String> {
            let words = [name, "--session", "pass", "--session", "block", "--session", "mcp-wrapped"];
            words.iter().chain(more).map(|word| (*word).to_owned()).collect()
        };
        run(&args(&[]))?;
        let planted: Vec<String> = [name, "--session", "block", "--planted"].map(str::to_owned).to_vec();
        run(&planted)?;
    }
    Ok(())
}

fn inside(run: &Run, keep: bool) -> Result<()> {
    namespace::isolate()?;
    let mut failed = 0;
    for agent in &run.agents {
        let mut results = Vec::new();
        for file in run.sessions.iter().filter(|file| agent.can(file)) {
            let start = Instant::now();
            let result = session::run(agent, &run.as_run(file), &run.lictor, keep)
                .unwrap_or_else(|error| session::Outcome::failed(file, &error));
            if run.planted {
                let red = !result.wrong.is_empty();
                println!(
                    "{:12} {:22} {}",
                    agent.agent,
                    file.id,
                    if red { "red, as it must be" } else { "NOT RED" }
                );
                failed += usize::from(!red && STOPPED.contains(&file.id.as_str()));
                continue;
            }
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
            matrix::write_agent(agent, &results)?;
        }
    }
    if failed > 0 {
        bail!("{failed} sessions went otherwise than they should");
    }
    Ok(())
}
