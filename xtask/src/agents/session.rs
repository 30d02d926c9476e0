//! One session of one agent: a scratch home and project, `lictor init`, the agent against its script, and what came of it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::api;
use super::server::{Act, Script, Server, Turn};
use super::spec::{self, AgentFile, Answer, SessionFile, Step, Wrapping};
use super::terminal;
use crate::shell;

/// How long an agent may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long an agent is watched that waits for a hook: longer than it waits by itself.
const HELD: Duration = Duration::from_secs(100);

/// How long an agent is watched after a person has declined its question.
const DECLINED: Duration = Duration::from_secs(20);

/// What came of a session.
pub struct Outcome {
    pub session: String,
    /// What is not as it should be.
    pub wrong: Vec<String>,
    /// What the model was told, in order, each text once.
    pub told: Vec<String>,
}

impl Outcome {
    /// It could not be run.
    pub fn failed(session: &SessionFile, error: &anyhow::Error) -> Self {
        Self { session: session.id.clone(), wrong: vec![format!("{error:#}")], told: Vec::new() }
    }
}

/// The places of one session.
struct Scratch {
    root: PathBuf,
    home: PathBuf,
    project: PathBuf,
    path: String,
    /// The program of the MCP server for files, and its arguments as a list without brackets.
    mcp: (String, String),
}

impl Scratch {
    fn new(agent: &AgentFile, session: &SessionFile, lictor: &Path) -> Result<Self> {
        let root = shell::target().join("agents/run").join(format!("{}-{}", agent.agent, session.id));
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        let (home, bin) = (root.join("home"), root.join("bin"));
        let project = root.join(&session.directory);
        for directory in [&home, &bin, &project] {
            fs::create_dir_all(directory)?;
        }
        fs::hard_link(lictor, bin.join("lictor"))
            .or_else(|_| fs::copy(lictor, bin.join("lictor")).map(drop))?;
        let path = format!(
            "{}:{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin",
            bin.display(),
            agent.cache().join("node_modules/.bin").display()
        );
        let mcp = mcp_server(session.mcp, &root, &project);
        let scratch = Self { root, home, project, path, mcp };
        scratch.sh(
            "git init -q -b main . && git config user.email dev@example.com && git config user.name Dev && \
                    echo hello > readme.txt && git add -A && git commit -q -m start",
        )?;
        Ok(scratch)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", &self.path)
            .env("LANG", "C.UTF-8")
            .env("SHELL", "/bin/bash")
            .env("TERM", "dumb")
            .current_dir(&self.project)
            .stdin(Stdio::null());
        command
    }

    fn sh(&self, line: &str) -> Result<()> {
        let output = self.command("sh").args(["-e", "-c", line]).output()?;
        if !output.status.success() {
            bail!(
                "`{line}` failed: {}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(())
    }

    fn filled(&self, text: &str, server: &str, agent: &AgentFile) -> String {
        text.replace("{off}", &agent.off)
            .replace("{server}", server)
            .replace("{home}", &self.home.to_string_lossy())
            .replace("{project}", &self.project.to_string_lossy())
            .replace("{root}", &self.root.to_string_lossy())
            .replace("{cache}", &agent.cache().to_string_lossy())
            .replace("{xtask}", &shell::root().join("xtask/agents").to_string_lossy())
            .replace("{mcp_program}", &self.mcp.0)
            .replace("{mcp_args}", &self.mcp.1)
            .replace("{settings}", &agent.settings)
            .replace("{agent}", &agent.agent)
            .replace("{prompt}", "Do what is needed.")
    }
}

/// The real server for files, before which Lictor stands or not.
fn mcp_server(wrapping: Option<Wrapping>, root: &Path, project: &Path) -> (String, String) {
    let server = shell::target().join("mcp/filesystem/node_modules/.bin/mcp-server-filesystem");
    let own = [server.to_string_lossy().into_owned(), project.to_string_lossy().into_owned()];
    let words = match wrapping {
        Some(Wrapping::Wrapped) => {
            let lictor = root.join("bin/lictor").to_string_lossy().into_owned();
            let before = [&lictor, "mcp", "run", "--name", "files", "--"].map(str::to_owned);
            [&before[..], &own[..]].concat()
        }
        _ => own.to_vec(),
    };
    let args: Vec<String> = words.iter().skip(1).map(|word| Value::from(word.as_str()).to_string()).collect();
    (words.first().cloned().unwrap_or_default(), args.join(", "))
}

/// Runs the session.
pub fn run(agent: &AgentFile, session: &SessionFile, lictor: &Path, keep: bool) -> Result<Outcome> {
    let scratch = Scratch::new(agent, session, lictor)?;
    fs::write(scratch.project.join("governance.yaml"), spec::policy()?)?;
    let turns = spread(agent, &session.turns);
    let server = Server::start(Script {
        api: agent.api,
        turns: turns
            .iter()
            .enumerate()
            .map(|(at, turn)| acts(agent, &scratch, at, turn))
            .collect::<Result<_>>()?,
        long: turns
            .iter()
            .map(|turn| if turn.contains(&Step::Long(true)) { agent.long } else { 0 })
            .collect(),
        before: turns.iter().map(|turn| person(&scratch, turn)).collect(),
        asked: Vec::new(),
        paths: Vec::new(),
    })?;
    let filled = |text: &str| scratch.filled(text, &server.address, agent);
    let mcp = agent.mcp.clone().filter(|_| session.mcp.is_some()).unwrap_or_default();
    let terminal = agent.terminal.as_ref().filter(|_| session.answer.is_some());
    let files =
        agent.files.iter().chain(&mcp.files).chain(terminal.iter().flat_map(|terminal| &terminal.files));
    for (path, text) in files {
        let path = PathBuf::from(filled(path));
        fs::create_dir_all(path.parent().context("a file has a directory")?)?;
        fs::write(path, filled(text))?;
    }
    let _machine = if session.managed { Some(Machine::of_its_own(&scratch)?) } else { None };
    // A wrapped server is governed without hooks.
    if session.mcp != Some(Wrapping::Wrapped) {
        let scope = if session.managed { "managed" } else { &agent.scope };
        scratch.sh(&filled(&format!("lictor init --yes --agent {{agent}} --scope {scope}")))?;
    }
    let mode = session.mode.as_ref().and_then(|mode| agent.modes.get(mode));
    let elsewhere = session.managed || session.worktree || session.mcp == Some(Wrapping::Wrapped);
    let trust = if elsewhere { agent.trust.as_str() } else { "" };
    for line in
        [trust, mode.map_or("", |mode| &mode.before), &session.before].iter().filter(|line| !line.is_empty())
    {
        scratch.sh(&filled(line))?;
    }
    if let Some(program) = &session.program {
        replace(&scratch.root.join("bin/lictor"), program)?;
    }
    let args = mode.map_or(&agent.args, |mode| &mode.args);
    let in_time = match session.answer {
        Some(answer) => in_terminal(&scratch, agent, session, answer, &server, &filled)?,
        None => {
            let mut in_time = start(&scratch, agent, session, &[args, &mcp.args], &filled)?;
            for way in session.again.iter().filter_map(|way| agent.again.get(way)) {
                if !way.before.is_empty() {
                    scratch.sh(&filled(&way.before))?;
                }
                in_time &= start(&scratch, agent, session, &[&way.args], &filled)?;
            }
            in_time
        }
    };
    let outcome = judge(&scratch, agent, session, &server, in_time)?;
    if !keep && outcome.wrong.is_empty() {
        // An agent whose terminal was closed may still write there; the next run begins anew.
        drop(fs::remove_dir_all(&scratch.root));
    }
    Ok(outcome)
}

/// A `/etc` that ends with the session: the settings of the machine are not this machine's.
struct Machine;

impl Machine {
    fn of_its_own(scratch: &Scratch) -> Result<Self> {
        // What programs need to start, and what everybody may read.
        const NEEDED: &str = "passwd group hosts nsswitch.conf alternatives ld.so.cache ssl/certs";
        let copy = scratch.root.join("etc").to_string_lossy().into_owned();
        let line = format!("mkdir '{copy}' && cd /etc && cp -r --parents --no-dereference {NEEDED} '{copy}'");
        shell::output("sh", &["-e", "-c", &line])?;
        shell::output("mount", &["--bind", &copy, "/etc"])?;
        Ok(Self)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Err(error) = shell::output("umount", &["/etc"]) {
            println!("    {error:#}");
        }
    }
}

/// The turns with one for each call that a name with `*` stands for.
fn spread(agent: &AgentFile, turns: &[Vec<Step>]) -> Vec<Vec<Step>> {
    let each = |turn: &Vec<Step>| match turn.as_slice() {
        [Step::Call(name, arguments)] if name.ends_with('*') => {
            let names = agent.names_of(name);
            names.map(|name| vec![Step::Call(name.clone(), arguments.clone())]).collect()
        }
        _ => vec![turn.clone()],
    };
    turns.iter().flat_map(each).collect()
}

/// The agent in a terminal, where a person answers its question.
fn in_terminal(
    scratch: &Scratch,
    agent: &AgentFile,
    session: &SessionFile,
    answer: Answer,
    server: &Server,
    filled: &dyn Fn(&str) -> String,
) -> Result<bool> {
    let terminal = agent.terminal.as_ref().context("it is not used in a terminal")?;
    let command = command(scratch, agent, session, &[&terminal.args], filled)?;
    let answered = if answer == Answer::Yes { &terminal.yes } else { &terminal.no };
    let presses = [terminal.first.as_slice(), answered].concat();
    let turns = session.turns.len();
    let done = || server.script.lock().map_or(true, |script| script.asked.len() > turns);
    // Who declines a question may have ended the turn with it: then nothing says that it is over.
    let after = (answer == Answer::No).then_some(DECLINED);
    terminal::run(&command, &scratch.root, &presses, (PATIENCE, after), &done)
}

/// Starts the agent, and waits for its end; `false` when it had to be ended.
fn start(
    scratch: &Scratch,
    agent: &AgentFile,
    session: &SessionFile,
    args: &[&Vec<String>],
    filled: &dyn Fn(&str) -> String,
) -> Result<bool> {
    let mut command = command(scratch, agent, session, args, filled)?;
    let output = fs::File::options().create(true).append(true).open(scratch.root.join("output.txt"))?;
    command.stdout(output.try_clone()?).stderr(output).process_group(0);
    let patience = if session.held { HELD } else { PATIENCE };
    wait(command.spawn().with_context(|| format!("cannot start `{}`", agent.program))?, patience)
}

/// The agent's command line, with its environment.
fn command(
    scratch: &Scratch,
    agent: &AgentFile,
    session: &SessionFile,
    args: &[&Vec<String>],
    filled: &dyn Fn(&str) -> String,
) -> Result<Command> {
    let program = agent.cache().join(&agent.program);
    let mut command = if session.under_run {
        let mut command = scratch.command(scratch.root.join("bin/lictor"));
        command.args(["run", "--"]).arg(&program);
        command
    } else {
        scratch.command(&program)
    };
    if session.worktree {
        scratch.sh("git add -A && git commit -q -m governed && git worktree add -q -b other ../worktree")?;
        command.current_dir(scratch.root.join("worktree"));
    }
    command.args(args.iter().flat_map(|args| args.iter()).map(|arg| filled(arg)));
    command.envs(agent.env.iter().map(|(name, value)| (name, filled(value))));
    Ok(command)
}

/// Whether it ended by itself.
fn wait(mut child: Child, patience: Duration) -> Result<bool> {
    let start = Instant::now();
    while start.elapsed() < patience {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(50));
    }
    // Some agents start themselves once more: all of them end.
    shell::output("kill", &["-9", "--", &format!("-{}", child.id())])?;
    child.wait()?;
    Ok(false)
}

fn acts(agent: &AgentFile, scratch: &Scratch, at: usize, steps: &[Step]) -> Result<Turn> {
    let mut turn = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Say(text) => turn.push(Act::Say(text.clone())),
            Step::Person(_) | Step::Long(_) => {}
            Step::Call(name, arguments) => {
                let call =
                    agent.calls.get(name).with_context(|| format!("{} has no `{name}`", agent.agent))?;
                let id = format!("toolu_{at}_{number}");
                let filled = |value: &String| scratch.filled(value, "", agent);
                let arguments = arguments.iter().map(|(name, value)| (name.clone(), filled(value))).collect();
                turn.push(Act::Call { id, name: call.name.clone(), input: with(&call.input, &arguments) });
            }
        }
    }
    Ok(turn)
}

/// The input with its arguments filled in.
fn with(input: &Value, arguments: &BTreeMap<String, String>) -> Value {
    match input {
        Value::String(text) => {
            let filled = arguments
                .iter()
                .fold(text.clone(), |text, (name, value)| text.replace(&format!("<{name}>"), value));
            Value::String(filled)
        }
        Value::Array(items) => items.iter().map(|item| with(item, arguments)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, item)| (name.clone(), with(item, arguments))).collect())
        }
        other => other.clone(),
    }
}

fn person(scratch: &Scratch, steps: &[Step]) -> Box<dyn Fn() + Send> {
    let lines: Vec<String> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Person(line) => Some(line.clone()),
            _ => None,
        })
        .collect();
    let mut commands: Vec<(PathBuf, PathBuf, String, String)> = Vec::new();
    for line in lines {
        commands.push((scratch.project.clone(), scratch.home.clone(), scratch.path.clone(), line));
    }
    Box::new(move || {
        for (project, home, path, line) in &commands {
            let status = Command::new("sh")
                .args(["-e", "-c", line])
                .env_clear()
                .env("HOME", home)
                .env("PATH", path)
                .current_dir(project)
                .stdin(Stdio::null())
                .output();
            if !status.as_ref().is_ok_and(|output| output.status.success()) {
                println!("    a person's `{line}` failed: {status:?}");
            }
        }
    })
}

/// Puts something else where hooks look for the program.
fn replace(program: &Path, by: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if by == "not-executable" {
        let copy = program.with_extension("copy");
        fs::copy(program, &copy)?;
        fs::rename(&copy, program)?;
        return Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o644))?);
    }
    fs::remove_file(program)?;
    if by != "missing" {
        fs::write(program, format!("#!/bin/sh\n{by}\n"))?;
        fs::set_permissions(program, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn judge(
    scratch: &Scratch,
    agent: &AgentFile,
    session: &SessionFile,
    server: &Server,
    in_time: bool,
) -> Result<Outcome> {
    let script = match server.script.lock() {
        Ok(script) => script,
        Err(poisoned) => poisoned.into_inner(),
    };
    let mut told: Vec<String> = Vec::new();
    for text in script.asked.iter().flat_map(|request| api::told(agent.api, request)) {
        if !told.contains(&text) {
            told.push(text);
        }
    }
    fs::write(scratch.root.join("told.txt"), told.join("\n---\n"))?;
    fs::write(scratch.root.join("paths.txt"), script.paths.join("\n"))?;
    fs::write(scratch.root.join("requests.json"), serde_json::to_string_pretty(&script.asked)?)?;
    let expect = &session.expect;
    let mut wrong = Vec::new();
    if !in_time && !session.held {
        wrong.push(format!("did not end within {} seconds", PATIENCE.as_secs()));
    }
    // An agent whose hook fails may refuse the prompt already.
    if script.asked.is_empty() && session.program.is_none() {
        wrong.push("never asked the model".to_owned());
    }
    for file in &expect.there {
        if !scratch.project.join(file).exists() {
            wrong.push(format!("`{file}` is not there: what should have run did not"));
        }
    }
    for file in &expect.absent {
        if scratch.project.join(file).exists() {
            wrong.push(format!("`{file}` is there: what should have been stopped ran"));
        }
    }
    for text in &expect.reads {
        if !told.iter().any(|said| said.contains(text)) {
            wrong.push(format!("the model did not read `{text}`"));
        }
    }
    for text in &expect.never_reads {
        if told.iter().any(|said| said.contains(text)) {
            wrong.push(format!("the model read `{text}`"));
        }
    }
    // One more than the turns, which may be more than the session's file has.
    let requests = if expect.all_turns { Some(script.turns.len() + 1) } else { expect.requests };
    if let Some(requests) = requests
        && script.asked.len() < requests
    {
        wrong.push(format!("the model was asked {} times, not {requests}", script.asked.len()));
    }
    if !expect.after.is_empty()
        && let Err(error) = scratch.sh(&scratch.filled(&expect.after, &server.address, agent))
    {
        wrong.push(format!("{error:#}"));
    }
    Ok(Outcome { session: session.id.clone(), wrong, told })
}
