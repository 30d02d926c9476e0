//! What could be created below a directory that would govern the agent.

use lictor_agents::files::At;

use super::{IN_GIT, all};
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

/// Paths relative to the directory that would govern the agent, or be run without it, if they were created there. The
/// project itself and what holds it are left out, because ordinary work happens there.
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
    let own = project.own.iter().chain(&project.hooks_path);
    own.into_iter().for_each(|own| below(own));
    for dir in &project.git_dirs {
        IN_GIT.iter().for_each(|own| below(&format!("{dir}/{own}")));
    }
    let variable =
        |name: &str| project.moved.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
    for file in all().filter(|file| file.at != At::Project) {
        for place in file.places(home, &variable) {
            // Programs are installed beside the guard all the time: only where it is.
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
