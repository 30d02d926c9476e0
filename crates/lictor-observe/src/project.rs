//! What Lictor knows about the project and the person before it judges an action.

use std::sync::OnceLock;

use crate::git;
use crate::governing_file;
use crate::observer::{Observer, Seen};
use crate::place::{follow, tidy};

/// A tool that a policy file describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedTool {
    /// The description; its names are full names (`mcp__server__tool`), globs among them.
    pub tool: crate::describe::Tool,
    /// Its file.
    pub from: String,
    /// Of the user or managed: the tool may be used.
    pub trusted: bool,
}

impl DescribedTool {
    /// Whether its calls are tasks that are submitted.
    #[must_use]
    pub fn submits_tasks(&self) -> bool {
        self.tool.acts.iter().any(|act| matches!(act, crate::describe::Act::Task(_)))
    }
}

/// The project that an action is judged for. Paths are absolute, without `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its root: the work tree with the policy. Empty when there is no project.
    pub root: String,
    /// The same with links followed.
    pub real_root: String,
    /// Git directories: the repository's own and, for a linked worktree, the common one.
    pub git_dirs: Vec<String>,
    /// The hooks directory from `core.hooksPath`. Lazy: it is read from four files, and few actions need it.
    hooks_path: OnceLock<Option<String>>,
    /// The person's home directory.
    pub home: String,
    /// Directories for temporary files.
    pub temp: Vec<String>,
    /// Governing files and directories beyond the built-in table: the running program, and what the caller adds
    /// (the state directory, the current policy files, programs that policy runs).
    pub own: Vec<String>,
    /// Variables that move agents' settings or Lictor's files, with the directories they name.
    pub(crate) moved: Vec<(&'static str, String)>,
    /// Globs of files that policy treats specially (red lines). A glob or tree operand is searched for these.
    pub watched: Vec<String>,
    /// Programs that policy files describe.
    pub programs: Vec<lictor_shell::describe::Program>,
    /// Tools that policy files describe.
    pub described: Vec<DescribedTool>,
    /// Whether the content of files that are read or written has to be known.
    pub contents: bool,
}

/// What a policy adds to the known facts about a project. See the fields of [`Project`] with the same names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyView {
    /// Files and directories that the policy lives by.
    pub own: Vec<String>,
    /// Globs of files that it treats specially.
    pub watched: Vec<String>,
    /// Programs that it describes.
    pub programs: Vec<lictor_shell::describe::Program>,
    /// Tools that it describes.
    pub described: Vec<DescribedTool>,
    /// Whether it needs the content of files that are read or written.
    pub contents: bool,
}

impl Project {
    /// Adds what a policy knows.
    pub fn learn(&mut self, view: PolicyView) {
        self.own.extend(view.own);
        self.watched.extend(view.watched);
        self.programs.extend(view.programs);
        self.described.extend(view.described);
        self.contents |= view.contents;
    }

    /// The project around a directory: the nearest parent directory with `.git`, or the directory itself.
    #[must_use]
    pub fn discover(cwd: &str, observer: &dyn Observer) -> Self {
        match Self::work_tree(cwd, observer) {
            Some(root) => Self::at(&root, observer),
            None => Self::at(&tidy("/", cwd), observer),
        }
    }

    /// The nearest directory, from that one upwards, with `.git`.
    #[must_use]
    pub fn work_tree(cwd: &str, observer: &dyn Observer) -> Option<String> {
        let start = tidy("/", cwd);
        let mut at = start.as_str();
        loop {
            let dot_git = format!("{}/.git", at.trim_end_matches('/'));
            if observer.look(&dot_git) != Seen::Missing {
                return Some(at.to_owned());
            }
            match at.rsplit_once('/') {
                Some((parent, _)) if !parent.is_empty() => at = parent,
                _ => return None,
            }
        }
    }

    /// The project with that root.
    #[must_use]
    pub fn at(root: &str, observer: &dyn Observer) -> Self {
        let home = observer.variable("HOME").map(|home| tidy("/", &home)).unwrap_or_default();
        let root = tidy("/", root);
        let mut project = Self {
            real_root: follow(&root, observer),
            root,
            git_dirs: Vec::new(),
            hooks_path: OnceLock::new(),
            home,
            temp: temp_dirs(observer),
            own: observer.programs(),
            moved: Vec::new(),
            watched: Vec::new(),
            programs: Vec::new(),
            described: Vec::new(),
            contents: false,
        };
        project.moved = governing_file::moved(&project.root, observer);
        // A home directory or `/` that happens to be under version control is not a project: everything below it
        // would count as the agent's to delete.
        if project.root == "/" || crate::zone::is_at_or_below(&project.home, &project.root) {
            project.root.clear();
            project.real_root.clear();
            project.hooks_path = OnceLock::from(None);
            return project;
        }
        project.git_dirs = git::directories(&project.root, observer);
        project
    }

    /// Files and directories that govern and that no table names: its own, and the repository's hooks where they were moved.
    pub(crate) fn named_own(&self, observer: &dyn Observer) -> impl Iterator<Item = &String> {
        let hooks = self.hooks_path.get_or_init(|| git::hooks_path(self, observer));
        self.own.iter().chain(hooks)
    }

    /// The git directory that all work trees of the repository share. `None` outside a repository.
    #[must_use]
    pub fn git_common(&self) -> Option<&str> {
        // `.git` itself, or what its pointer names: the common directory of a linked worktree, else the only one.
        self.git_dirs.get(1).or(self.git_dirs.first()).map(String::as_str)
    }

    /// The roots that paths are compared with.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &str> {
        let real = (self.real_root != self.root).then_some(self.real_root.as_str());
        std::iter::once(self.root.as_str()).chain(real).filter(|root| !root.is_empty())
    }

    pub(crate) fn is_git_dir(&self, path: &str) -> bool {
        self.git_dirs.iter().any(|dir| crate::zone::is_at_or_below(path, dir))
    }

    /// The path relative to the root, if it is inside.
    pub(crate) fn relative<'a>(&self, path: &'a str) -> Option<&'a str> {
        self.roots().find_map(|root| path.strip_prefix(root)?.strip_prefix('/'))
    }
}

fn temp_dirs(observer: &dyn Observer) -> Vec<String> {
    let mut temp: Vec<String> = lictor_shell::TEMPORARY.map(str::to_owned).into();
    // Only if the name itself is that of a temporary directory: a TMPDIR that points to the home directory must
    // not exempt it.
    if let Some(named) = observer.variable("TMPDIR").map(|dir| tidy("/", &dir)) {
        let mac = named.starts_with("/var/folders/") || named.starts_with("/private/var/folders/");
        if mac && named.ends_with("/T") {
            temp.push(named);
        }
    }
    temp
}
