//! The options of this process, and its project.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use lictor::agents::transcripts::Homes;
use lictor::{Dirs, Options, PolicyEngine, Project, Verdict, guard_fn};
use lictor_agents::install::{PROGRAM, Where};

use crate::exit;
use crate::time_format;

/// The options from this process.
pub fn options() -> Options {
    let options = Options::from_process().clock(time_format::Clock).program(env::current_exe);
    // For tests only; a release binary ignores it.
    #[cfg(debug_assertions)]
    if let Some(home) = env::var_os("LICTOR_TEST_HOME") {
        return options.registered_home(home);
    }
    options
}

/// The project around a directory.
pub fn project(directory: &Path) -> Project {
    Project::around(directory, &options())
}

/// The project's recorded sessions, independent of its current policy.
pub fn past(project: &Project) -> Result<PolicyEngine> {
    let nothing = guard_fn("nothing", |_, _| Verdict::pass());
    Ok(PolicyEngine::builder(nothing).shared_store(project.existing_store()?).build()?)
}

/// The user's directories, as the project around the current directory sees them.
pub fn dirs() -> Dirs {
    project(Path::new("")).dirs().clone()
}

/// The records of all projects.
pub fn all_stores() -> Vec<PathBuf> {
    let Ok(listed) = std::fs::read_dir(dirs().state) else { return Vec::new() };
    let files = listed.flatten().map(|entry| entry.path().join("lictor.db"));
    let mut found: Vec<PathBuf> = files.filter(|file| file.is_file()).collect();
    found.sort();
    found
}

/// Where people and agents keep things.
pub fn homes() -> Homes {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = dirs().home;
    Homes {
        data: named("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")),
        codex: named("CODEX_HOME"),
        claude: named("CLAUDE_CONFIG_DIR"),
        copilot: named("COPILOT_HOME"),
        home,
    }
}

/// Absolute and without `.` and `..`, without resolving links.
pub fn absolute(path: &Path) -> PathBuf {
    let cwd = env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    lictor::dirs::absolute(path, &cwd)
}

/// The running program, by a path with which hooks can start it again.
pub fn own_binary() -> Result<PathBuf> {
    let binary = env::current_exe().context("the path of this program is not known")?;
    let name = binary.file_name().unwrap_or_default();
    if name != "lictor" {
        bail!(
            "`{}` is not called `lictor`; rename it, or its hooks would not be known again",
            binary.display()
        );
    }
    Ok(binary)
}

/// The program that hooks find: in the usual places, then on the search path.
pub fn looked_for(place: &Where) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = [place.home().join(".local/bin"), place.home().join(".cargo/bin")];
    let directories = usual.into_iter().chain(env::split_paths(&path).filter(|dir| dir.is_absolute()));
    directories.map(|directory| directory.join(PROGRAM)).find(|file| file.is_file())
}

/// Whether hooks that search for the program find this one.
pub fn is_found(binary: &Path, place: &Where) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    looked_for(place).is_some_and(|found| real(&found).is_some() && real(&found) == real(binary))
}

/// Refuses a command for people if a governed agent of this project is among the process's ancestors.
///
/// # Errors
/// When there is one.
pub fn people_only(what: &str, project: &Project) -> Result<()> {
    match lictor::governed::above(project) {
        None => Ok(()),
        Some(agent) => Err(exit::not_theirs(format!(
            "`lictor {what}` is for people: process {agent} above this one is an agent that Lictor governs here; run it in a terminal of your own"
        ))),
    }
}

/// Who runs this command.
pub fn person() -> String {
    let of = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let named = of("USER").or_else(|| of("LOGNAME")).or_else(lictor::dirs::user_name);
    named.unwrap_or_else(|| "somebody".to_owned())
}
