//! Checks the installed hooks: in agents' settings and in git.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use lictor::Project;
use lictor_agents::Agent;
use lictor_agents::install::{self, InstalledHook, Problem, Scope, Settings, Where};
use lictor_ledger::hooks::{self as git_hooks, Home};
use lictor_ledger::repository::Git;

use super::Report;
use super::canary::{self, Aviary, Proof};
use crate::commands::init;
use crate::here;
use crate::home;

/// Checks the settings of every agent, and sends a canary through every pre-tool hook. Returns the settings with
/// hooks.
pub fn agents(report: &mut Report, project: &Project) -> Result<Vec<PathBuf>> {
    let place = project.agent_settings();
    let binary = here::own_binary().unwrap_or_else(|_| PathBuf::from("lictor"));
    let aviary = Aviary::new(project)?;
    let mut seen = BTreeSet::new();
    let mut homes: BTreeMap<Agent, Vec<PathBuf>> = BTreeMap::new();
    for agent in Agent::ALL {
        for settings in Settings::read_by(agent, &place, Path::exists) {
            let Some(text) = read(report, &settings) else { continue };
            let inspection = settings.inspect(&text, &binary);
            let file = settings.path().display().to_string();
            let installed = !inspection.hooks.is_empty();
            // Unreadable settings matter if they contain our hooks.
            let concerns = inspection.problems.iter().any(|problem| match problem {
                Problem::Disabled(_) => true,
                Problem::Unreadable(_) => text.contains("lictor"),
                _ => false,
            });
            if installed && settings.agent() == agent {
                let known = homes.entry(agent).or_default();
                if !known.contains(&settings.path().to_owned()) {
                    known.push(settings.path().to_owned());
                }
            }
            if !seen.insert(settings.path().to_owned()) || !(installed || concerns) {
                continue;
            }
            for problem in &inspection.problems {
                report.problem(format!("{file}: {problem}"), next(problem));
            }
            for hook in &inspection.hooks {
                look(report, &aviary, settings.agent(), &file, hook, &place, &binary);
            }
        }
    }
    for (agent, files) in &homes {
        if files.len() > 1 {
            let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            report.problem(
                format!("{agent} runs Lictor from {} files: {}", files.len(), files.join(", ")),
                "keep one: `lictor init --uninstall --scope user` or `--scope project`",
            );
        }
    }
    if homes.is_empty() {
        report.problem("no agent has Lictor's hooks here", "run `lictor init`");
    }
    shadowed(report, &place, &seen);
    skipped(report, project, &place, &homes)?;
    ungoverned_agents(report, &place, &homes);
    Ok(homes.into_values().flatten().collect())
}

fn read(report: &mut Report, settings: &Settings) -> Option<String> {
    match fs::read_to_string(settings.path()) {
        Ok(text) => Some(text),
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            None
        }
        Err(error) => {
            report.problem(
                format!("{}: cannot be read: {error}", settings.path().display()),
                "make it readable for you",
            );
            None
        }
    }
}

/// Checks one hook: its program, its entry, and its canaries.
fn look(
    report: &mut Report,
    aviary: &Aviary<'_>,
    agent: Agent,
    file: &str,
    hook: &InstalledHook,
    place: &Where,
    binary: &Path,
) {
    let name = format!("{file}: {agent} {}", hook.event);
    for problem in hook.problems.iter().filter(|problem| **problem != Problem::OtherBinary) {
        report.problem(format!("{name}: {problem}"), next(problem));
    }
    let program = match hook.command.is_looked_for() {
        true => here::looked_for(place),
        false => Some(hook.command.program.clone()),
    };
    let Some(program) = program else {
        report.problem(
            format!("{name}: there is no `lictor` in ~/.local/bin, ~/.cargo/bin or on the PATH"),
            "install it there: `cargo xtask install`",
        );
        return;
    };
    if let Err((what, next)) = runnable(&program) {
        report.problem(format!("{name}: {what}"), next);
        return;
    }
    if let Some(why) = home::fleeting(&program, place.project()) {
        report.problem(
            format!("{name}: the program `{}` {why}", program.display()),
            "run `lictor init` again: it keeps a copy elsewhere",
        );
    }
    let other = hook.command.is_looked_for() && !here::is_found(binary, place);
    if other || hook.problems.contains(&Problem::OtherBinary) {
        other_binary(report, &name, &program, binary);
    }
    match aviary.fly(agent, hook) {
        Ok(Proof::Nothing) => {}
        Ok(Proof::Blocks) => {
            report.ok(format!("{name}: a canary was blocked, a harmless call went through"));
            disarm(report, aviary, agent, &name, file, hook);
        }
        Ok(Proof::BlocksAll(reason)) => report.note(
            format!("{name}: a canary was blocked, and so was a harmless call: {}", first_line(&reason)),
            "if the policy does not mean that, `lictor eval bash ls` shows why",
        ),
        Ok(Proof::LetsThrough(what)) => {
            report.problem(format!("{name}: a canary went through ({what})"), "run `lictor init` again");
        }
        Err(error) => report.problem(
            format!("{name}: a canary could not be sent: {error:#}"),
            format!("try it: {}", hook.line),
        ),
    }
}

/// Checks the hook against attacks on the guard itself.
fn disarm(
    report: &mut Report,
    aviary: &Aviary<'_>,
    agent: Agent,
    name: &str,
    file: &str,
    hook: &InstalledHook,
) {
    match aviary.disarm(agent, hook, Path::new(file)) {
        Ok((0, _)) => {}
        Ok((tried, freed)) if freed.is_empty() => {
            report.ok(format!("{name}: all of {tried} ways to switch Lictor off were stopped"));
        }
        Ok((_, freed)) => report.problem(
            format!("{name}: the agent can switch Lictor off by: {}", freed.join(", ")),
            "run `lictor init` again, and report this if it stays",
        ),
        Err(error) => {
            report.problem(
                format!("{name}: a canary could not be sent: {error:#}"),
                format!("try it: {}", hook.line),
            );
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Why a program cannot be run, and a fix.
fn runnable(program: &Path) -> Result<(), (String, String)> {
    if !program.is_absolute() {
        return Ok(());
    }
    let shown = program.display();
    let Ok(metadata) = fs::metadata(program) else {
        let what = format!("the program `{shown}` is not there");
        return Err((what, "install Lictor again, then run `lictor init`".to_owned()));
    };
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err((format!("`{shown}` may not be run"), format!("run `chmod +x {shown}`")));
    }
    Ok(())
}

fn other_binary(report: &mut Report, name: &str, program: &Path, binary: &Path) {
    let own = format!("lictor {}", env!("CARGO_PKG_VERSION"));
    match canary::version(program) {
        Ok(version) if version == own => report.note(
            format!("{name}: the hook runs `{}`, this is `{}`", program.display(), binary.display()),
            "`lictor init` makes them one",
        ),
        Ok(version) => report.problem(
            format!("{name}: `{}` is {version}, this is {own}", program.display()),
            "run `lictor init` with the newer one",
        ),
        Err(error) => {
            report.problem(
                format!("{name}: `{}` cannot be run: {error}", program.display()),
                "run `lictor init`",
            );
        }
    }
}

fn next(problem: &Problem) -> String {
    match problem {
        Problem::Unreadable(_) => "correct the file, then run `lictor init`".to_owned(),
        Problem::Disabled(setting) => format!("remove `{setting}`"),
        Problem::Twice(_) | Problem::Narrowed(_) => {
            "remove the other entry, then run `lictor init`".to_owned()
        }
        _ => "run `lictor init`".to_owned(),
    }
}

/// Installed hooks that the agent does not run.
fn shadowed(report: &mut Report, place: &Where, read: &BTreeSet<PathBuf>) {
    for agent in Agent::ALL {
        for (ours, theirs) in install::shadowed(agent, place, Path::exists) {
            if fs::read_to_string(&ours).is_ok_and(|text| text.contains("lictor hook")) {
                report.problem(
                    format!("{}: not read any more, because `{}` is there", ours.display(), theirs.display()),
                    format!("run `lictor init --agent {agent}`"),
                );
            }
        }
        let Some((managed, setting)) = install::managed_only(agent) else { continue };
        let only = fs::read_to_string(managed)
            .ok()
            .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
            .is_some_and(|settings| settings.get(setting) == Some(&true.into()));
        let installed = [Scope::User, Scope::Project]
            .into_iter()
            .filter_map(|scope| init::settings_of(agent, scope, place))
            .any(|settings| read.contains(settings.path()));
        if only && installed {
            report.problem(
                format!("{}: `{setting}` switches all other hooks off", managed.display()),
                format!(
                    "install in the machine's settings: `sudo lictor init --scope managed --agent {agent}`"
                ),
            );
        }
    }
}

/// Hooks that an agent skips, according to its own records.
fn skipped(
    report: &mut Report,
    project: &Project,
    place: &Where,
    homes: &BTreeMap<Agent, Vec<PathBuf>>,
) -> Result<()> {
    for (agent, files) in homes {
        for scope in [Scope::Managed, Scope::User, Scope::Project] {
            let installed = init::settings_of(*agent, scope, place)
                .is_some_and(|file| files.iter().any(|known| known == file.path()));
            if installed && let init::Standing::NotYet { why, next } = init::standing(*agent, scope, project)?
            {
                report.problem(why, next);
            }
        }
    }
    Ok(())
}

/// Agents that are here and have no hooks.
fn ungoverned_agents(report: &mut Report, place: &Where, homes: &BTreeMap<Agent, Vec<PathBuf>>) {
    let files: BTreeSet<&PathBuf> = homes.values().flatten().collect();
    for agent in init::agents_found(place) {
        let scopes = [Scope::Managed, Scope::User, Scope::Project];
        let governed = scopes
            .into_iter()
            .filter_map(|scope| init::settings_of(agent, scope, place))
            .any(|settings| files.contains(&settings.path().to_owned()));
        if !governed {
            report.note(
                format!("{agent} is on this machine and has no hooks of Lictor's"),
                format!("`lictor init --agent {agent}`"),
            );
        } else {
            for advice in install::advice(agent) {
                report.note(format!("{agent}: {advice}"), "this cannot be checked from outside");
            }
            if !agent.capabilities().fails_closed {
                report.note(
                    format!("{agent} can let a call through when the hook's program does not answer as it should"),
                    "Lictor answers within its own deadline; `lictor run` keeps its program from being replaced",
                );
            }
        }
    }
}

/// The hooks in the repository, if there are any.
pub fn git(report: &mut Report, project: &Project) {
    let Ok(git) = Git::rooted(&project.root) else { return };
    let Ok(directory) = git.hooks_dir() else {
        report.problem("git does not say where its hooks are", "look at `git config core.hooksPath`");
        return;
    };
    let home = Home::of(&directory);
    let there = !git_hooks::uninstall(&home, git_hooks::read_file).changes.is_empty();
    if !there {
        report.note("git has no hooks of Lictor's", "`lictor init --git` adds the commit gate");
        return;
    }
    let binary = here::own_binary().unwrap_or_else(|_| PathBuf::from("lictor"));
    let plan = git_hooks::install(&home, &binary.to_string_lossy(), git_hooks::read_file);
    if plan.changes.is_empty() && plan.notes.is_empty() {
        report.ok(format!("{}: the commit gate is in place", directory.display()));
    }
    for change in plan.changes {
        let path = change.path.display();
        report
            .problem(format!("{path}: not what `lictor init --git` writes today"), "run `lictor init --git`");
    }
    for note in plan.notes {
        report.problem(format!("{}: {note}", directory.display()), "run `lictor init --git`");
    }
}
