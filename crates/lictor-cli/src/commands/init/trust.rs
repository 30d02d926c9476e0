//! The trust that agents require before they run hooks: reports what is missing, and adds it to the agent's own
//! record if a person agreed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use lictor::Project;
use lictor_agents::Agent;
use lictor_agents::install::{self, Change, Problem, Scope, Settings, Where};
use lictor_agents::trust::{self, ListedHook, Trust};
use serde_json::{Value, json};

use super::agents::{read, settings_of};
use super::plan::{FileStep, Plan};
use super::receipts::Receipts;

/// The timeout for an agent to list its hooks.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether an agent runs the hooks that are installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Governed,
    /// Not yet: the reason, and the next step.
    NotYet { why: String, next: String },
}

/// Whether the hooks of an agent run, from its own settings and records.
pub fn standing(agent: Agent, scope: Scope, project: &Project) -> Result<Standing> {
    let place = project.agent_settings();
    if let Some((file, setting)) = switched_off(agent, &place)? {
        return Ok(Standing::NotYet {
            why: format!("{agent} runs no hooks: `{setting}` in `{}`", file.display()),
            next: "take that setting out, then run `lictor doctor`".to_owned(),
        });
    }
    let lies_in = |scope: &Scope| settings_of(agent, *scope, &place).is_some();
    if !lies_in(&scope) {
        let other = [Scope::Project, Scope::User, Scope::Managed].into_iter().find(lies_in);
        let other = other.map_or("managed", |scope| match scope {
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Managed => "managed",
        });
        return Ok(Standing::NotYet {
            why: format!("{agent} reads no hooks from settings of this scope"),
            next: format!("run `lictor init --yes --agent {agent} --scope {other}`"),
        });
    }
    let Some(record) = agent.trust().record(scope, &place) else { return Ok(Standing::Governed) };
    let again = format!("run `lictor init --yes --agent {agent}`");
    match agent.trust() {
        Trust::AtStart => Ok(Standing::Governed),
        Trust::Folders(..) => Ok(match trust::is_trusted_folder(read(&record)?.as_deref(), &project.root) {
            true => Standing::Governed,
            false => Standing::NotYet {
                why: format!("{agent} runs no hooks here: `{}` does not list this folder", record.display()),
                next: again,
            },
        }),
        Trust::Hashes(_, _, arguments) => {
            let Some(program) = program(agent) else {
                return Ok(Standing::NotYet {
                    why: format!(
                        "{agent} skips hooks that nobody trusted, and its program is not here to be asked"
                    ),
                    next: format!("when {agent} is installed, {again}"),
                });
            };
            let hooks = ours(list(&program, arguments, &project.root)?, agent, scope, &place);
            let untrusted = hooks.iter().filter(|hook| !hook.trusted).count();
            Ok(match (hooks.len(), untrusted) {
                (0, _) => Standing::NotYet {
                    why: format!("{agent} lists none of Lictor's hooks: it does not trust this project"),
                    next: again,
                },
                (_, 0) => Standing::Governed,
                (all, untrusted) => Standing::NotYet {
                    why: format!(
                        "{agent} skips {untrusted} of Lictor's {all} hooks: nobody has trusted them"
                    ),
                    next: again,
                },
            })
        }
    }
}

/// The setting that disables hooks, and its file.
fn switched_off(agent: Agent, place: &Where) -> Result<Option<(PathBuf, String)>> {
    for settings in Settings::read_by(agent, place, Path::exists) {
        let Some(text) = read(settings.path())? else { continue };
        let problems = settings.inspect(&text, Path::new(install::PROGRAM)).problems;
        let off = problems.into_iter().find_map(|problem| match problem {
            Problem::Disabled(setting) => Some(setting),
            _ => None,
        });
        if let Some(setting) = off {
            return Ok(Some((settings.path().to_owned(), setting)));
        }
    }
    Ok(None)
}

/// Adds what is missing to the agent's record. Returns what was added, with file and hash.
pub fn agree(agent: Agent, scope: Scope, project: &Project) -> Result<(Plan, Vec<String>)> {
    let place = project.agent_settings();
    let mut plan = Plan::default();
    let Some(record) = agent.trust().record(scope, &place) else { return Ok((plan, Vec::new())) };
    let before = read(&record)?;
    let mut told = Vec::new();
    let after = match agent.trust() {
        Trust::AtStart => return Ok((plan, told)),
        Trust::Folders(..) => {
            if trust::is_trusted_folder(before.as_deref(), &project.root) {
                return Ok((plan, told));
            }
            told.push(format!("this folder in {}", record.display()));
            trust::with_folder(before.as_deref(), &project.root)
                .with_context(|| format!("`{}` cannot be added to; correct it first", record.display()))?
        }
        Trust::Hashes(_, _, arguments) => {
            let Some(program) = program(agent) else { return Ok((plan, told)) };
            let mut text = before.clone().unwrap_or_default();
            if scope == Scope::Project {
                text = trust::with_project(&text, &project.root);
            }
            // The agent lists a project's hooks only once it trusts the project.
            let trusting = Change { path: record.clone(), before: before.clone(), after: Some(text.clone()) };
            trusting.apply()?;
            let hooks = match list(&program, arguments, &project.root) {
                Ok(listed) => ours(listed, agent, scope, &place),
                Err(error) => {
                    let back = Change { path: record, before: trusting.after, after: before };
                    back.apply()?;
                    return Err(error);
                }
            };
            let new: Vec<ListedHook> = hooks.into_iter().filter(|hook| !hook.trusted).collect();
            told.extend(new.iter().map(|hook| format!("{} {} in {}", hook.key, hook.hash, record.display())));
            let after = Some(trust::with_hashes(&text, &new));
            let receipt = Change { path: record.clone(), before, after: after.clone() }.receipt();
            plan.add(FileStep { change: Change { path: record, before: Some(text), after }, receipt });
            return Ok((plan, told));
        }
    };
    let change = Change { path: record, before, after: Some(after) };
    let receipt = change.receipt();
    plan.add(FileStep { change, receipt });
    Ok((plan, told))
}

/// Removes what was added to the agent's record for this project.
pub fn forget(
    plan: &mut Plan,
    agent: Agent,
    settings: &Path,
    scope: Scope,
    project: &Project,
    receipts: &Receipts,
) -> Result<()> {
    let place = project.agent_settings();
    let Some(record) = agent.trust().record(scope, &place) else { return Ok(()) };
    let Some(before) = read(&record)? else { return Ok(()) };
    let after = match (agent.trust(), receipts.of(&record)) {
        (Trust::AtStart, _) => return Ok(()),
        (Trust::Hashes(..), _) => Some(trust::without_hooks_of(&before, settings)),
        // A person trusted the folder.
        (Trust::Folders(..), None) => return Ok(()),
        (Trust::Folders(..), Some(receipt)) => match receipt.before(&before) {
            Some(earlier) if !trust::is_trusted_folder(earlier, &project.root) => earlier.map(str::to_owned),
            _ => match trust::without_folder(&before, &project.root) {
                Ok(None) if receipt.was_there() => Some("{}\n".to_owned()),
                Ok(after) => after,
                Err(_) => return Ok(()),
            },
        },
    };
    let change = Change { path: record, before: Some(before), after };
    plan.add(FileStep { change, receipt: None });
    Ok(())
}

/// Lictor's hooks among those that the agent lists, of that scope.
fn ours(listed: Vec<ListedHook>, agent: Agent, scope: Scope, place: &Where) -> Vec<ListedHook> {
    let Some(settings) = settings_of(agent, scope, place) else { return Vec::new() };
    let start = format!("{}:", settings.path().display());
    let is_ours =
        |hook: &ListedHook| hook.key.starts_with(&start) && install::Command::read(&hook.command).is_some();
    listed.into_iter().filter(is_ours).collect()
}

fn program(agent: Agent) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let directories: Vec<PathBuf> = std::env::split_paths(&path).filter(|dir| dir.is_absolute()).collect();
    let mut names = agent.programs().flat_map(|name| directories.iter().map(move |dir| dir.join(name)));
    names.find(|file| file.is_file())
}

/// Asks the agent's program for the hooks that it knows in that folder.
fn list(program: &Path, arguments: &[&str], folder: &Path) -> Result<Vec<ListedHook>> {
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start `{}`", program.display()))?;
    let answer = converse(&mut child, folder);
    // It has listed its hooks, or never will.
    let _ = child.kill();
    let _ = child.wait();
    let answer = answer.with_context(|| format!("`{}` does not list its hooks", program.display()))?;
    let hooks = answer.pointer("/result/data/0/hooks").and_then(Value::as_array);
    let hooks = hooks.context("the list of hooks has another form than expected")?;
    Ok(hooks.iter().filter_map(listed).collect())
}

fn listed(hook: &Value) -> Option<ListedHook> {
    let text = |name: &str| hook.get(name)?.as_str().map(str::to_owned);
    let status = text("trustStatus")?;
    Some(ListedHook {
        key: text("key")?,
        command: text("command")?,
        hash: text("currentHash")?,
        trusted: matches!(status.as_str(), "trusted" | "managed"),
    })
}

fn converse(child: &mut std::process::Child, folder: &Path) -> Result<Value> {
    let mut input = child.stdin.take().context("no way to ask")?;
    let output = child.stdout.take().context("no way to hear")?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    let client = json!({"name": "lictor", "title": "Lictor", "version": env!("CARGO_PKG_VERSION")});
    let hello = json!({"id": 1, "method": "initialize", "params": {"clientInfo": client}});
    writeln!(input, "{hello}")?;
    answer_to(&receiver, 1)?;
    writeln!(input, "{}", json!({"method": "initialized"}))?;
    writeln!(input, "{}", json!({"id": 2, "method": "hooks/list", "params": {"cwds": [folder]}}))?;
    answer_to(&receiver, 2)
}

fn answer_to(receiver: &mpsc::Receiver<Value>, id: u64) -> Result<Value> {
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(message) if message.get("id").and_then(Value::as_u64) == Some(id) => return Ok(message),
            Ok(_) => {}
            Err(_) => bail!("no answer within {} seconds", PATIENCE.as_secs()),
        }
    }
}
