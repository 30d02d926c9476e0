//! Governing files that could be created below a directory.

use lictor_agents::files::At;

use super::{IN_GIT, PROGRAM, all, search_path};
use crate::observer::{Observer, Seen};
use crate::project::Project;
use crate::zone::is_at_or_below;

/// Files below the home directory that shells, logins and git read by themselves.
const RUN_AT_HOME: [&str; 12] = [
    ".bashrc",
    ".profile",
    ".zshrc",
    ".gitconfig",
    ".ssh/authorized_keys",
    ".ssh/config",
    ".config/git/config",
    ".config/fish/config.fish",
    ".config/environment.d/env.conf",
    ".config/systemd/user/x.service",
    ".config/autostart/x.desktop",
    ".pam_environment",
];

/// How many files of a directory that governs are named.
const MAX_FILES: usize = 256;

/// The files that govern and exist, for comparing them with others. Not part of the common path.
pub(crate) fn files(project: &Project, observer: &dyn Observer) -> Vec<String> {
    let mut named: Vec<String> = project.named_own(observer).cloned().collect();
    for dir in &project.git_dirs {
        named.extend(IN_GIT.iter().map(|own| format!("{dir}/{own}")));
    }
    let variable =
        |name: &str| project.moved.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
    for file in all() {
        match file.at {
            At::Project => named.extend(project.roots().map(|root| format!("{root}/{}", file.path))),
            _ => named.extend(file.places(&project.home, &variable)),
        }
    }
    named.extend(programs(project, observer));
    let mut found = Vec::new();
    for path in named {
        match observer.look(&path) {
            Seen::Directory => {
                let inside = observer.names(&path, MAX_FILES).unwrap_or_default().names;
                found.extend(inside.into_iter().map(|name| format!("{path}/{name}")));
            }
            Seen::Missing => {}
            _ => found.push(path),
        }
    }
    found
}

/// The files of the project that govern and exist, but for those of git: agents' settings and Lictor's own.
pub(crate) fn of_agents(project: &Project, observer: &dyn Observer) -> Vec<String> {
    let in_git = |path: &String| project.git_dirs.iter().any(|dir| is_at_or_below(path, dir));
    let mut found = files(project, observer);
    found.retain(|path| !in_git(path));
    found
}

/// Where Lictor's program is: the one that runs, and those that hooks find by name.
pub(crate) fn programs(project: &Project, observer: &dyn Observer) -> Vec<String> {
    let mut found: Vec<String> = observer.program().into_iter().collect();
    found.extend(search_path(observer).map(|directory| format!("{directory}/{PROGRAM}")));
    let variable =
        |name: &str| project.moved.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
    for file in all().filter(|file| file.at != At::Project && file.path.ends_with(PROGRAM)) {
        found.extend(file.places(&project.home, &variable).filter(|place| place.ends_with("bin/lictor")));
    }
    found
}

/// Paths relative to the directory that would govern the agent, or run outside of its control, if they were
/// created there. The project itself and its parents are left out, because ordinary work happens there.
pub(crate) fn could_govern(directory: &str, project: &Project, observer: &dyn Observer) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let home = project.home.as_str();
    let holds_project = project.roots().any(|root| is_at_or_below(root, directory));
    if directory == "/" || holds_project && directory != home {
        return found;
    }
    let mut below = |own: &str| {
        if let Some(inner) = own.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')) {
            found.push(inner.replace('*', "x"));
        }
    };
    project.named_own(observer).for_each(|own| below(own));
    for dir in &project.git_dirs {
        IN_GIT.iter().for_each(|own| below(&format!("{dir}/{own}")));
    }
    let variable =
        |name: &str| project.moved.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
    for file in all().filter(|file| file.at != At::Project) {
        for place in file.places(home, &variable) {
            // Installing programs beside the guard is common: only the guard's own path counts.
            let program = place.ends_with("bin/lictor");
            if !program || observer.look(&place) != Seen::Missing {
                below(&place);
            }
        }
    }
    if !home.is_empty() {
        RUN_AT_HOME.iter().for_each(|own| below(&format!("{home}/{own}")));
    }
    if let Some(inside) = project.relative(directory) {
        for own in all().filter(|file| file.at == At::Project).map(|file| file.path) {
            for (at, _) in own.match_indices('/') {
                let (folder, inner) = own.split_at(at);
                let ends = inside.strip_suffix(folder);
                if ends.is_some_and(|front| front.is_empty() || front.ends_with('/')) {
                    found.push(inner.trim_start_matches('/').replace('*', "x"));
                }
            }
        }
    }
    found
}
