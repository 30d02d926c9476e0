//! Files in writable places that are run later outside of the sandbox: git hooks and configuration in other
//! places, programs on the search path, files that build tools run at every start.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use lictor::Environment;
use lictor_ledger::repository::quiet;

/// Files below the home directory that tools run or read at every start. They are next to caches.
const BY_TOOLS: &[&str] = &[
    ".gradle/init.d",
    ".gradle/init.gradle",
    ".gradle/init.gradle.kts",
    ".gradle/gradle.properties",
    ".m2/settings.xml",
    ".m2/extensions.xml",
    ".bundle/config",
    ".gem/credentials",
    ".sbt/1.0/plugins",
    ".sbt/1.0/global.sbt",
    ".nuget/NuGet",
    ".dotnet/tools",
];

/// The maximum nesting of submodule repositories.
const DEEPEST: usize = 8;

/// All of it. `writable` are the places besides the project.
pub(super) fn all(home: &Path, root: &Path, environment: &Environment, writable: &[PathBuf]) -> Vec<PathBuf> {
    let beside =
        |path: &Path| writable.iter().any(|place| path.starts_with(place)) && !path.starts_with(root);
    let tools = BY_TOOLS.iter().map(|path| home.join(path));
    // Only where the tool is used: nothing is made in the home directory for the others.
    let used = tools.filter(|path| {
        path.strip_prefix(home)
            .is_ok_and(|below| below.iter().next().is_some_and(|first| home.join(first).is_dir()))
    });
    let path = environment.get("PATH").unwrap_or_default();
    let found = env::split_paths(path).map(|directory| super::real(&directory));
    let found = found.filter(|directory| directory.is_dir() && beside(directory));
    used.chain(found).chain(by_git(root)).collect()
}

/// The directory of hooks, where it is not the usual one, and every file that configuration is read from.
fn by_git(root: &Path) -> Vec<PathBuf> {
    let ask = |args: &[&str]| {
        let output = quiet::<&str>(root, &[]).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // Every value that is set anywhere: for this question itself hooks are switched off.
    let hooks = ask(&["config", "--type=path", "--get-all", "core.hooksPath"]).unwrap_or_default();
    let hooks = hooks.lines().map(|path| root.join(path));
    let origins = ask(&["config", "--list", "--show-origin", "--name-only", "-z"]).unwrap_or_default();
    let files = origins.split('\0').filter_map(|part| part.strip_prefix("file:")).map(|file| root.join(file));
    let mut all: Vec<PathBuf> = hooks.chain(files).collect();
    all.sort();
    all.dedup();
    all
}

/// The repositories of submodules, however they are called and nested.
pub(super) fn submodules(git: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![(git.join("modules"), 0)];
    while let Some((directory, depth)) = pending.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if depth >= DEEPEST || !path.is_dir() {
                continue;
            }
            if path.join("HEAD").is_file() {
                pending.push((path.join("modules"), depth + 1));
                found.push(path);
            } else {
                pending.push((path, depth + 1));
            }
        }
    }
    found
}
