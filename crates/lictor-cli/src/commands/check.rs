//! `lictor check`: errors and lints of the policy.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use lictor::{NoPrograms, Program, Project, councils, policy_files};
use lictor_config::diagnostic::closest;
use lictor_config::{Diagnostic, LoadError, Loaded, Origin, PolicyBundle, Severity, Source};
use lictor_core::{Action, FactSource as _, Graph, SessionState, Value};
use serde_json::json;

use crate::args::Common;
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};

/// Check the policy files.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor check
  lictor check --show-merged
  lictor check new.yaml --json

Exit codes: 0 when the policy is accepted (warnings included), 1 when it is refused.")]
pub struct CheckArgs {
    /// Check this file as if it were the repository's, instead of the active files.
    file: Option<PathBuf>,
    /// Show every active setting with its file and line.
    #[arg(long)]
    show_merged: bool,
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    let sources = match &args.file {
        Some(file) => vec![one(file)?],
        None => policy_files::sources(&project)?,
    };
    let loaded = lictor_config::load(&sources);
    let problems = match &loaded {
        Ok(loaded) => all_problems(loaded, &project)?,
        Err(LoadError { diagnostics }) => diagnostics.clone(),
    };
    if args.common.json {
        let settings = loaded.as_ref().ok().filter(|_| args.show_merged).map(Loaded::settings);
        output::print_json(&json!({
            "accepted": loaded.is_ok(),
            "files": sources.iter().map(|source| &source.path).collect::<Vec<_>>(),
            "base": loaded.as_ref().ok().map(|loaded| loaded.policy.base_packs()),
            "problems": problems,
            "settings": settings,
        }))?;
    } else {
        let mut text = render(&problems, &sources, Style::stdout());
        match &loaded {
            Ok(loaded) if args.show_merged => text += &merged(loaded, Style::stdout()),
            _ => {}
        }
        text += &summary(&problems, &sources, loaded.as_ref().ok().map(|loaded| &loaded.policy));
        output::print(&text)?;
    }
    Ok(if loaded.is_ok() { Exit::Ok } else { Exit::Problems })
}

fn one(file: &Path) -> Result<Source> {
    let bytes = std::fs::read(file).map_err(|error| exit::unreadable(file, &error))?;
    Ok(Source { origin: Origin::Repository, path: file.display().to_string(), bytes })
}

/// The problems of the files themselves, and those that depend on this machine.
fn all_problems(loaded: &Loaded, project: &Project) -> Result<Vec<Diagnostic>> {
    let mut problems = loaded.check();
    let missing = missing_programs(loaded, &project.root);
    // A missing program cannot be hashed either: one message is enough.
    let is_missing = |problem: &Diagnostic| missing.iter().any(|other| other.span == problem.span);
    let untrusted = untrusted_programs(loaded, project).into_iter().filter(|problem| !is_missing(problem));
    problems.extend(untrusted.collect::<Vec<_>>());
    problems.extend(missing);
    problems.extend(unpinned_programs(loaded, &project.root));
    problems.extend(missing_paths(loaded, &project.root));
    problems.extend(forbidden_ways_out(loaded, project)?);
    Ok(problems)
}

fn missing_programs(loaded: &Loaded, root: &Path) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for named in loaded.named_programs() {
        let Some(program) = named.words.first() else { continue };
        let later = "until it is there, what asks it is an error, and that blocks".to_owned();
        let problem = if !program.contains('/') {
            (!on_path(program)).then(|| (format!("there is no program `{program}` on the PATH"), later))
        } else {
            match std::fs::metadata(root.join(program)) {
                Ok(found) if !found.is_file() => Some((format!("`{program}` is no file"), later)),
                Ok(found) if found.permissions().mode() & 0o111 == 0 => {
                    let help = format!("`chmod +x {program}`; until then what asks it blocks");
                    Some((format!("`{program}` cannot be run: it is not executable"), help))
                }
                Ok(_) => None,
                Err(_) => Some((format!("there is no file `{program}`"), later)),
            }
        };
        if let Some((message, help)) = problem {
            found.push(Diagnostic::warning(&named.file, named.span, message).help(help));
        }
    }
    found
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// The untrusted programs of the repository's policy. Without a record, all of them.
pub fn untrusted(policy: &PolicyBundle, project: &Project) -> Vec<Program> {
    let mut programs = councils::programs(policy).unwrap_or_default();
    if project.has_store() {
        let store = project.existing_store();
        let trusted = |program: &Program| match &store {
            Ok(store) => program.is_trusted(&**store, &project.root).unwrap_or(true),
            Err(_) => true,
        };
        programs.retain(|program| !trusted(program));
    }
    programs
}

/// Programs of the repository without a person's trust: until then their guards block.
fn untrusted_programs(loaded: &Loaded, project: &Project) -> Vec<Diagnostic> {
    let untrusted = untrusted(&loaded.policy, project);
    let mut found = Vec::new();
    for named in loaded.named_programs() {
        if untrusted.iter().any(|program| program.argv == named.words) {
            let message = "nobody has trusted this program as it is";
            let problem = Diagnostic::warning(&named.file, named.span, message);
            found.push(problem.help("look at it with `lictor trust`; until then what asks it blocks"));
        }
    }
    found
}

/// Programs of the repository that judge the agent and read unpinned files, which the agent could edit.
/// Completion checks are exempt: they run the agent's own work.
fn unpinned_programs(loaded: &Loaded, root: &Path) -> Vec<Diagnostic> {
    let programs = councils::programs(&loaded.policy).unwrap_or_default();
    let decides = |program: &&Program| {
        !["completion", "feedback"].iter().any(|for_work| program.what.starts_with(for_work))
    };
    let mut found = Vec::new();
    for named in loaded.named_programs() {
        let program = programs.iter().filter(decides).find(|program| program.argv == named.words);
        if let Some(open) = program.and_then(|program| program.unpinned(root)) {
            let problem = Diagnostic::warning(&named.file, named.span, open);
            found.push(problem.help(
                "say what of the project it reads, and `lictor trust` pins that too: `reads: [\u{2026}]`",
            ));
        }
    }
    found
}

/// Paths of missing files: a red line on a misspelt name protects nothing.
fn missing_paths(loaded: &Loaded, root: &Path) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for named in loaded.named_paths() {
        let Some(path) = named.words.first() else { continue };
        let plain = !path.contains(['*', '?', '[', '{', '~', '$']) && !path.starts_with('/');
        if plain && std::fs::symlink_metadata(root.join(path)).is_err() {
            let near = nearest(root, path);
            let problem =
                Diagnostic::warning(&named.file, named.span, format!("`{path}` matches nothing here"));
            found.push(problem.help(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "leave it if the file is still to come".to_owned(),
            }));
        }
    }
    found
}

/// The existing file with the most similar path, compared by component.
fn nearest(root: &Path, path: &str) -> Option<String> {
    let mut near: Vec<String> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let above = root.join(near.join("/"));
        if std::fs::symlink_metadata(above.join(part)).is_ok() {
            near.push(part.to_owned());
            continue;
        }
        let names: Vec<String> = std::fs::read_dir(above)
            .ok()?
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        near.push(closest(part, names.iter().map(String::as_str))?.to_owned());
    }
    Some(near.join("/"))
}

/// Lints a `fix` that recommends a command which the same policy blocks.
fn forbidden_ways_out(loaded: &Loaded, project: &Project) -> Result<Vec<Diagnostic>> {
    let recommended = loaded.recommended_commands();
    if recommended.is_empty() {
        return Ok(Vec::new());
    }
    let root = project.root.to_string_lossy().into_owned();
    let built = loaded.policy.build(&NoPrograms::around(root.clone()))?;
    let view = policy_files::view(&loaded.policy, project, built.watched, built.knows_files);
    let facts = policy_files::facts(project, vec![view]);
    let graph = Graph::new(built.root)?;
    let mut found = Vec::new();
    for named in recommended {
        for command in &named.words {
            let action = Action::bash(command.as_str()).in_dir(root.as_str()).in_session("check");
            let judged = graph.judge(
                &action,
                &facts.facts(&action),
                &SessionState::default(),
                crate::time_format::now(),
            );
            // The session's history is unknown here: `git push` may be a valid fix once the tests have run.
            let of_the_session =
                |guard: &str| ["tools", "budget", "rate_limit"].iter().any(|name| guard.ends_with(name));
            let blocks = judged.verdicts.iter().find(|given| {
                given.verdict.value() == Value::Block && given.counts() && !of_the_session(given.guard())
            });
            if let Some(given) = blocks.filter(|_| judged.value == Value::Block) {
                let message = format!("this way out is itself blocked: `{command}`");
                let problem = Diagnostic::warning(&named.file, named.span, message);
                found.push(problem.help(format!("{}: {}", given.guard(), given.verdict.reason())));
            }
        }
    }
    Ok(found)
}

fn render(problems: &[Diagnostic], sources: &[Source], style: Style) -> String {
    let mut text = String::new();
    for problem in problems {
        let source = sources.iter().find(|source| source.path == problem.file);
        let lines = source.map(|source| String::from_utf8_lossy(&source.bytes)).unwrap_or_default();
        let shown = problem.render(&lines);
        let (word, painted) = match problem.severity {
            Severity::Error => (": error: ", style.red("error")),
            Severity::Warning => (": warning: ", style.yellow("warning")),
        };
        text += &shown.replacen(word, &format!(": {painted}: "), 1);
        text += "\n\n";
    }
    text
}

fn merged(loaded: &Loaded, style: Style) -> String {
    let mut text = String::new();
    for setting in loaded.settings() {
        let from = match (&setting.file, setting.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => "built in".to_owned(),
        };
        text += &format!("{} = {}  {}\n", setting.path, setting.value, style.dim(&from));
    }
    text + "\n"
}

fn summary(problems: &[Diagnostic], sources: &[Source], policy: Option<&PolicyBundle>) -> String {
    let count =
        |severity: Severity| problems.iter().filter(|problem| problem.severity == severity).count() as u64;
    let found = format!(
        "{}, {}",
        output::count(count(Severity::Error), "error"),
        output::count(count(Severity::Warning), "warning")
    );
    let files: Vec<&str> = sources.iter().map(|source| source.path.as_str()).collect();
    let files = if files.is_empty() { "no policy file".to_owned() } else { files.join(", ") };
    match policy {
        Some(policy) => {
            let packs = policy.base_packs();
            let base = if packs.is_empty() { "none".to_owned() } else { packs.join(", ") };
            format!("accepted: {files}; base: {base}; {found}\n")
        }
        None => format!("refused: {files}; {found}\n"),
    }
}
