//! Governing files: policy files, its state, its program, git hooks, and the files that agents read hooks,
//! permissions and trust from.

mod below;
mod keys;

use lictor_agents::Agent;
use lictor_agents::files::{
    At, GoverningFile, HomeDir, governing_files, governing_files_of, machine, named_by, project,
};
use lictor_agents::install::Scope;

use crate::observer::{Observer, Seen};
use crate::place::tidy;
use crate::project::Project;

pub(crate) use below::{could_govern, files, of_agents, programs};
pub(crate) use keys::{fits_key, holds_key};

/// The name of the program that hooks run.
const PROGRAM: &str = "lictor";
/// How much of an editor's settings is read to see whether they mention hooks.
const LIMIT: usize = 256 * 1024;
/// Parts of a git directory that decide what git runs.
const IN_GIT: [&str; 11] = [
    "hooks",
    "config",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "config.worktree",
    "commondir",
    "refs/heads",
    "refs/notes",
    "refs/replace",
    "packed-refs",
];

/// Lictor's own files and those of hook managers.
const LICTOR: &[GoverningFile] = &[
    project("governance.yaml"),
    project("governance.yml"),
    project("governance.lock"),
    project(".lictor"),
    project(".husky"),
    HomeDir::at("").file(".lictor"),
    HomeDir::at(".config").moved_by(&[("XDG_CONFIG_HOME", "")]).file("lictor"),
    HomeDir::at(".cargo/bin").moved_by(&[("CARGO_HOME", "bin")]).file(PROGRAM),
    HomeDir::at(".local/bin").file(PROGRAM),
    HomeDir::at("bin").file(PROGRAM),
    machine("/etc/lictor"),
    machine("/usr/local/bin/lictor"),
    machine("/usr/bin/lictor"),
    machine("/opt/homebrew/bin/lictor"),
];

/// Where Lictor keeps its state.
const STATE: &[GoverningFile] = &[
    HomeDir::at(".local/state").moved_by(&[("XDG_STATE_HOME", "")]).file("lictor"),
    named_by(Scope::User, "LICTOR_STATE_DIR", ""),
];

/// Every file that governs, whether or not it exists.
fn all() -> impl Iterator<Item = &'static GoverningFile> {
    LICTOR.iter().chain(STATE).chain(governing_files())
}

/// The project files that govern whatever their content, as paths relative to any directory. The last part may
/// begin with `*`.
pub fn governing_in_projects() -> impl Iterator<Item = &'static str> {
    all().filter(|file| file.at == At::Project && !file.counts_by_text()).map(|file| file.path)
}

/// The variables that move governing files, with the values of those that are set.
pub(crate) fn moved(root: &str, observer: &dyn Observer) -> Vec<(&'static str, String)> {
    let mut moved: Vec<(&'static str, String)> = Vec::new();
    // Many files are moved by the same few variables.
    let mut asked: Vec<&'static str> = Vec::new();
    for name in all().flat_map(GoverningFile::variables) {
        // By address: texts need not be compared, and one that stands twice is only looked up twice.
        if asked.iter().any(|known| std::ptr::eq(*known, name)) {
            continue;
        }
        asked.push(name);
        if let Some(value) = observer.variable(name).filter(|value| !value.is_empty()) {
            let value = tidy(root, &value);
            // Everything is below the root: that would stop all work and protect nothing in particular.
            if value != "/" {
                moved.push((name, value));
            }
        }
    }
    moved
}

/// Whether a change of this path would change what governs the agent. With `tree`, a directory that contains such
/// a file counts too.
pub(crate) fn is_own(path: &str, tree: bool, project: &Project, observer: &dyn Observer) -> bool {
    let search = Search { path, fold: observer.folds_case(path), project, observer };
    search.is_owned() || tree && search.holds_owned()
}

/// Whether Lictor's hooks are installed where an agent reads them when it is started in the project.
fn is_governed(agent: Agent, project: &Project, observer: &dyn Observer) -> bool {
    let variable =
        |name: &str| project.moved.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
    governing_files_of(agent).filter(|file| file.may_hold_hooks()).any(|file| {
        let in_project =
            (file.at == At::Project).then(|| project.roots().map(|root| format!("{root}/{}", file.path)));
        let elsewhere = file.places(&project.home, &variable);
        in_project
            .into_iter()
            .flatten()
            .chain(elsewhere)
            .any(|place| observer.text(&place, LIMIT).is_some_and(|text| text.contains(PROGRAM)))
    })
}

/// Whether starting that agent in the project leads around Lictor's hooks: other agents have them there, and it has
/// not. Where no agent has hooks, starting one bypasses none.
pub(crate) fn leads_around_hooks(agent: Agent, project: &Project, observer: &dyn Observer) -> bool {
    !is_governed(agent, project, observer)
        && Agent::ALL.iter().any(|other| is_governed(*other, project, observer))
}

/// Whether a path is Lictor's own record, with its keys.
pub(crate) fn is_state(path: &str, project: &Project, observer: &dyn Observer) -> bool {
    let search = Search { path, fold: observer.folds_case(path), project, observer };
    STATE.iter().any(|file| search.is_named(file))
}

/// The directories of the search path.
pub(crate) fn search_path(observer: &dyn Observer) -> impl Iterator<Item = String> + use<> {
    let path = observer.variable("PATH").unwrap_or_default();
    let directories: Vec<String> =
        path.split(':').filter(|dir| dir.starts_with('/')).map(|dir| tidy("/", dir)).collect();
    directories.into_iter()
}

struct Search<'a> {
    path: &'a str,
    /// Whether `A` and `a` are the same name there.
    fold: bool,
    project: &'a Project,
    observer: &'a dyn Observer,
}

impl<'a> Search<'a> {
    fn is_owned(&self) -> bool {
        self.project.named_own(self.observer).any(|own| self.below(self.path, own).is_some())
            || self.is_in_git()
            || self.is_program_on_path()
            || all().any(|file| self.is_named(file) && self.counts(file, self.path))
    }

    /// Settings that govern only while they mention hooks.
    fn counts(&self, file: &GoverningFile, path: &str) -> bool {
        !file.counts_by_text()
            || self
                .observer
                .text(path, LIMIT)
                .is_some_and(|text| text.contains("hook") || text.contains(PROGRAM))
    }

    fn is_in_git(&self) -> bool {
        self.project.git_dirs.iter().any(|dir| {
            let inside = self.below(self.path, dir);
            // A lock file is left by a killed git.
            let lock = self.path.ends_with(".lock");
            inside.is_some_and(|rest| !lock && self.tells_git(rest))
        }) || self.is_outer_repository()
    }

    /// Whether a path below a git directory decides what git runs, there or in one of its submodules and work trees.
    fn tells_git(&self, path: &str) -> bool {
        let tells = |rest: &str| IN_GIT.iter().any(|own| self.below(rest, own).is_some());
        if tells(path) {
            return true;
        }
        let below = ["modules", "worktrees"].iter().find_map(|kind| self.below(path, kind));
        // A submodule may be called `a/b`.
        below.is_some_and(|rest| rest.match_indices('/').any(|(at, _)| rest.get(at + 1..).is_some_and(tells)))
    }

    /// A repository above the project would take its place: another store, another policy.
    fn is_outer_repository(&self) -> bool {
        self.path.match_indices("/.git").any(|(at, _)| {
            let (above, rest) = self.path.split_at(at);
            let named =
                rest.strip_prefix("/.git").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            named && self.project.roots().any(|root| root != above && self.below(root, above).is_some())
        })
    }

    /// Whether it is what a hook would start that names the program without its directory.
    fn is_program_on_path(&self) -> bool {
        let Some((directory, name)) = self.path.rsplit_once('/') else { return false };
        let on_path = || self.search_path().any(|on_path| self.same(&on_path, directory));
        if self.same(name, PROGRAM) {
            return on_path();
        }
        // A program found before git or an agent is started instead of it, without their hooks.
        (name == "git" || lictor_agents::launch::agent_of(name).is_some()) && on_path()
    }

    fn search_path(&self) -> impl Iterator<Item = String> + use<> {
        search_path(self.observer)
    }

    /// Whether the path is that file or below it.
    fn is_named(&self, file: &GoverningFile) -> bool {
        let home = self.project.home.as_str();
        match file.at {
            At::Project => self.is_in_project(file.path),
            At::Machine(_) => self.below(self.path, file.path).is_some(),
            At::Variable(name) => {
                self.variable(name).is_some_and(|value| self.is_below(value, "", file.path))
            }
            At::Home(directory) => {
                !home.is_empty() && self.is_below(home, directory.default, file.path)
                    || directory.moved_by.iter().any(|(name, middle)| {
                        self.variable(name).is_some_and(|value| self.is_below(value, middle, file.path))
                    })
            }
        }
    }

    fn variable(&self, name: &str) -> Option<&'a str> {
        let moved = self.project.moved.iter();
        moved.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    fn is_below(&self, base: &str, middle: &str, last: &str) -> bool {
        let rest = self.below(self.path, base).and_then(|rest| self.below(rest, middle));
        rest.is_some_and(|rest| self.names(rest, last))
    }

    /// Settings of the project count in every directory: agents read them from where they are started.
    fn is_in_project(&self, file: &str) -> bool {
        let Some(mut rest) = self.in_project() else { return false };
        loop {
            if self.names(rest, file) {
                return true;
            }
            match rest.split_once('/') {
                Some((_, below)) => rest = below,
                None => return false,
            }
        }
    }

    fn in_project(&self) -> Option<&'a str> {
        self.project.roots().find_map(|root| self.below(self.path, root))
    }

    /// Whether `path` is the path `file` or below it. The last part of `file` may begin with `*`.
    fn names(&self, path: &str, file: &str) -> bool {
        let Some((directory, ending)) = file.split_once('*') else { return self.below(path, file).is_some() };
        self.below(path, directory.trim_end_matches('/')).is_some_and(|rest| {
            let name = rest.split('/').next().unwrap_or_default();
            let from = name.len().saturating_sub(ending.len());
            from > 0 && name.get(from..).is_some_and(|end| self.same(end, ending))
        })
    }

    /// The rest of `path` below `directory`; empty when they are the same.
    fn below<'p>(&self, path: &'p str, directory: &str) -> Option<&'p str> {
        if directory.is_empty() {
            return Some(path);
        }
        let start = path.get(..directory.len()).filter(|start| self.same(start, directory))?;
        let rest = path.get(start.len()..)?;
        if rest.is_empty() || directory.ends_with('/') { Some(rest) } else { rest.strip_prefix('/') }
    }

    fn same(&self, one: &str, other: &str) -> bool {
        if self.fold { one.eq_ignore_ascii_case(other) } else { one == other }
    }

    /// Whether something that governs exists below the path.
    fn holds_owned(&self) -> bool {
        let exists =
            |own: &str| self.below(own, self.path).is_some() && self.observer.look(own) != Seen::Missing;
        let variable = |name: &str| self.variable(name);
        self.project.named_own(self.observer).any(|own| exists(own))
            || self.search_path().any(|dir| exists(&format!("{dir}/{PROGRAM}")))
            || all().any(|file| {
                file.places(&self.project.home, &variable)
                    .any(|place| exists(&place) && self.counts(file, &place))
            })
            || self.holds_project_file()
    }

    /// Checks the first part of each path once: most directories contain none of them.
    fn holds_project_file(&self) -> bool {
        let Some(inside) = self.in_project() else { return false };
        let name = inside.rsplit('/').next().unwrap_or_default();
        let mut known: Vec<(&str, bool)> = Vec::new();
        let mut is_there = |first: &'static str| match known.iter().find(|(known, _)| *known == first) {
            Some((_, there)) => *there,
            None => {
                let there = self.observer.look(&format!("{}/{first}", self.path)) != Seen::Missing;
                known.push((first, there));
                there
            }
        };
        all().filter(|file| file.at == At::Project).any(|file| {
            let exists = |path: &str| {
                let path = format!("{}/{path}", self.path);
                self.observer.look(&path) != Seen::Missing && self.counts(file, &path)
            };
            match file.path.split_once('/') {
                None => is_there(file.path),
                Some((first, rest)) => {
                    is_there(first) && exists(file.path) || self.same(name, first) && exists(rest)
                }
            }
        })
    }
}

#[cfg(test)]
mod tests;
