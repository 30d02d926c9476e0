//! Canaries: forbidden tool calls, sent through the exact command line in an agent's settings.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use lictor::Project;
use lictor_agents::conformance::{Conformance, Expect, Obeyed, Sent, obey};
use lictor_agents::install::{self, InstalledHook};
use lictor_agents::{Agent, Rendered};
use tempfile::TempDir;

use crate::here;

/// The result of the canaries of one hook.
pub enum Proof {
    /// The forbidden one was stopped and the harmless one went through.
    Blocks,
    /// The forbidden one was stopped, and so was the harmless one.
    BlocksAll(String),
    /// The forbidden one went through.
    LetsThrough(String),
    /// This hook gets no action that is always forbidden.
    Nothing,
}

/// Canaries for one run of the doctor. Their records are deleted afterwards.
pub struct Aviary<'a> {
    project: &'a Project,
    intents: Conformance,
    scratch: TempDir,
}

impl<'a> Aviary<'a> {
    /// Makes ready.
    pub fn new(project: &'a Project) -> Result<Self> {
        let intents = Conformance::load().map_err(|error| anyhow!("the canaries are damaged: {error}"))?;
        let scratch = tempfile::tempdir().context("cannot make a directory for the canaries' record")?;
        Ok(Self { project, intents, scratch })
    }

    /// Sends canaries through one hook, as the agent would.
    ///
    /// # Errors
    /// When the hook cannot be run at all.
    pub fn fly(&self, agent: Agent, hook: &InstalledHook) -> Result<Proof> {
        let Some(forbidden) = self.pick(agent, &hook.event, Expect::Block) else { return Ok(Proof::Nothing) };
        let answer = self.send(agent, hook, &forbidden)?;
        match obey(agent, &hook.event, &answer) {
            Obeyed::Stopped(_) | Obeyed::Asks(_) => {}
            Obeyed::Proceeds | Obeyed::Told(_) => return Ok(Proof::LetsThrough(told(&answer))),
        }
        let Some(harmless) = self.pick(agent, &hook.event, Expect::Pass) else { return Ok(Proof::Blocks) };
        Ok(match obey(agent, &hook.event, &self.send(agent, hook, &harmless)?) {
            Obeyed::Proceeds | Obeyed::Told(_) => Proof::Blocks,
            Obeyed::Stopped(reason) | Obeyed::Asks(reason) => Proof::BlocksAll(reason),
        })
    }

    /// Tries every way to disable the guard that this hook would see. Returns how many there are, and which were
    /// not stopped.
    ///
    /// # Errors
    /// When the hook cannot be run at all.
    pub fn disarm(&self, agent: Agent, hook: &InstalledHook, file: &Path) -> Result<(usize, Vec<String>)> {
        let (cwd, home) = (self.project.root.to_string_lossy(), here::dirs().home);
        let (mut tried, mut freed) = (0, Vec::new());
        for way in super::disarm::ways(file) {
            let Some(sent) = self.intents.send(agent, &way, &cwd, &home.to_string_lossy()) else { continue };
            if sent.event != hook.event {
                continue;
            }
            tried += 1;
            if matches!(
                obey(agent, &hook.event, &self.send(agent, hook, &sent)?),
                Obeyed::Proceeds | Obeyed::Told(_)
            ) {
                freed.push(way.id);
            }
        }
        Ok((tried, freed))
    }

    /// The first intent of this kind that the agent would report at this event.
    fn pick(&self, agent: Agent, event: &str, expect: Expect) -> Option<Sent> {
        let (cwd, home) = (self.project.root.to_string_lossy(), here::dirs().home);
        let intents = self.intents.intents.iter().filter(|intent| intent.expect == expect);
        intents
            .filter_map(|intent| self.intents.send(agent, intent, &cwd, &home.to_string_lossy()))
            .find(|sent| sent.event == event)
    }

    fn send(&self, agent: Agent, hook: &InstalledHook, sent: &Sent) -> Result<Rendered> {
        let limit = install::timeout(agent, &hook.event).unwrap_or(Duration::from_secs(10));
        let mut command = Command::new("sh");
        command
            .args(["-c", &hook.line])
            .current_dir(&self.project.root)
            .env("CLAUDE_PROJECT_DIR", &self.project.root)
            // A separate record: nothing of this goes to the person's.
            .env("LICTOR_STATE_DIR", self.scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().context("`sh` cannot be started")?;
        let payload = serde_json::to_vec(&sent.payload)?;
        answer(child, &payload, limit)
    }
}

/// Gives a process its input and waits for it as long as the agent would.
fn answer(mut child: Child, input: &[u8], limit: Duration) -> Result<Rendered> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let out = scope.spawn(move || drain(stdout));
        let err = scope.spawn(move || drain(stderr));
        let end = Instant::now() + limit;
        let status = loop {
            match child.try_wait()? {
                Some(status) => break status,
                None if Instant::now() >= end => {
                    child.kill()?;
                    child.wait()?;
                    bail!("it gave no answer within {} s", limit.as_secs());
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        let code =
            status.code().and_then(|code| u8::try_from(code).ok()).context("it was killed by a signal")?;
        let text = |joined: thread::Result<Vec<u8>>| {
            String::from_utf8_lossy(&joined.unwrap_or_default()).into_owned()
        };
        Ok(Rendered { stdout: text(out.join()), stderr: text(err.join()), exit: code })
    })
}

fn drain(pipe: Option<impl std::io::Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // Output before a read error is still useful.
        let _ = pipe.take(1 << 20).read_to_end(&mut bytes);
    }
    bytes
}

fn told(answer: &Rendered) -> String {
    let said = if answer.stderr.trim().is_empty() { &answer.stdout } else { &answer.stderr };
    let line = said.trim().lines().next().unwrap_or("nothing was said");
    format!("exit code {}, {line}", answer.exit)
}

/// Whether a program can be run, and which version it is.
pub fn version(program: &Path) -> Result<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
