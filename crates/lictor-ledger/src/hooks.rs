//! Git hooks for the gate: which hook files to write, and how to restore the old ones.
//!
//! A [`HookPlan`] lists every file with its content before and after, so that it can be shown, applied and
//! undone. An existing hook keeps working: it is renamed and run after the gate.

use std::path::{Path, PathBuf};

/// One file that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// Its current content; `None` when it does not exist.
    pub before: Option<HookFile>,
    /// Its new content; `None` when it is removed.
    pub after: Option<HookFile>,
}

/// The content of a hook file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFile {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether git runs it: files that are not executable are ignored.
    pub executable: bool,
}

impl HookFile {
    fn script(text: String) -> Self {
        Self { bytes: text.into_bytes(), executable: true }
    }
}

/// What installing or removing the hooks changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookPlan {
    /// The files, in the order in which to write them.
    pub changes: Vec<FileChange>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// A git hook that the gate listens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// Before a commit.
    PreCommit,
    /// Before the commit of a merge, which skips `pre-commit`.
    PreMergeCommit,
    /// Before a push.
    PrePush,
    /// After a commit: detects commits that bypassed the others.
    PostCommit,
}

impl Hook {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::PreCommit, Self::PreMergeCommit, Self::PrePush, Self::PostCommit];

    /// The name of the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PreCommit => "pre-commit",
            Self::PreMergeCommit => "pre-merge-commit",
            Self::PrePush => "pre-push",
            Self::PostCommit => "post-commit",
        }
    }

    /// The event name for the gate.
    fn event(self) -> &'static str {
        match self {
            Self::PreCommit | Self::PreMergeCommit => "pre-commit",
            Self::PrePush => "pre-push",
            Self::PostCommit => "post-commit",
        }
    }
}

/// Where hooks are installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home {
    /// A directory that git reads hooks from: `.git/hooks`, or what `core.hooksPath` names.
    Directory(PathBuf),
    /// husky's directory. Its files are shell scripts under version control; a marked block is added to them.
    Husky(PathBuf),
}

impl Home {
    /// The home for the directory that git reads hooks from.
    #[must_use]
    pub fn of(hooks_dir: &Path) -> Self {
        let named = |path: &Path, name: &str| path.file_name().is_some_and(|file| file == name);
        match hooks_dir.parent() {
            // husky 9 points git at `.husky/_`, which it regenerates, and runs the file of the same name one
            // directory above.
            Some(parent) if named(hooks_dir, "_") && named(parent, ".husky") => {
                Self::Husky(parent.to_owned())
            }
            _ if named(hooks_dir, ".husky") => Self::Husky(hooks_dir.to_owned()),
            _ => Self::Directory(hooks_dir.to_owned()),
        }
    }
}

/// The suffix of a hook that was set aside.
const ASIDE: &str = ".before-lictor";
/// The line by which Lictor knows its own hooks.
const MARK: &str = "# lictor: the gate. `lictor init --git --uninstall` takes it away.";
const BLOCK_START: &str = "# >>> lictor >>>";
const BLOCK_END: &str = "# <<< lictor <<<";

/// The changes that make git run the gate. Empty when everything is in place.
///
/// `program` is the path of the `lictor` binary; `read` returns the content of a file.
pub fn install(home: &Home, program: &str, read: impl Fn(&Path) -> Option<HookFile>) -> HookPlan {
    let mut plan = HookPlan::default();
    for hook in Hook::ALL {
        match home {
            Home::Directory(dir) => install_file(&mut plan, dir, hook, program, &read),
            Home::Husky(dir) => install_block(&mut plan, dir, hook, program, &read),
        }
    }
    plan
}

/// The changes that restore the original state.
pub fn uninstall(home: &Home, read: impl Fn(&Path) -> Option<HookFile>) -> HookPlan {
    let mut plan = HookPlan::default();
    for hook in Hook::ALL {
        match home {
            Home::Directory(dir) => {
                let path = dir.join(hook.name());
                let Some(now) = read(&path).filter(is_ours) else { continue };
                let aside = dir.join(format!("{}{ASIDE}", hook.name()));
                let kept = read(&aside);
                plan.changes.push(FileChange { path, before: Some(now), after: kept.clone() });
                if kept.is_some() {
                    plan.changes.push(FileChange { path: aside, before: kept, after: None });
                }
            }
            Home::Husky(dir) => {
                let path = dir.join(hook.name());
                let Some(now) = read(&path) else { continue };
                let text = String::from_utf8_lossy(&now.bytes).into_owned();
                let Some(rest) = without_block(&text) else { continue };
                let after = (!rest.trim().is_empty())
                    .then(|| HookFile { bytes: rest.into_bytes(), executable: now.executable });
                plan.changes.push(FileChange { path, before: Some(now), after });
            }
        }
    }
    plan
}

fn is_ours(file: &HookFile) -> bool {
    String::from_utf8_lossy(&file.bytes).lines().any(|line| line == MARK)
}

fn install_file(
    plan: &mut HookPlan,
    dir: &Path,
    hook: Hook,
    program: &str,
    read: &impl Fn(&Path) -> Option<HookFile>,
) {
    let path = dir.join(hook.name());
    let now = read(&path);
    let after = HookFile::script(script(hook, program));
    if now.as_ref() == Some(&after) {
        return;
    }
    if let Some(theirs) = now.clone().filter(|file| !is_ours(file)) {
        let aside = dir.join(format!("{}{ASIDE}", hook.name()));
        let before = read(&aside);
        if before.as_ref().is_some_and(|before| *before != theirs) {
            let name = hook.name();
            plan.notes
                .push(format!("`{name}{ASIDE}` is in the way; move it and install again to keep both hooks"));
            return;
        }
        if !theirs.executable {
            plan.notes.push(format!("`{}` was there but not executable; it still does not run", hook.name()));
        }
        plan.changes.push(FileChange { path: aside, before, after: Some(theirs) });
    }
    plan.changes.push(FileChange { path, before: now, after: Some(after) });
}

fn install_block(
    plan: &mut HookPlan,
    dir: &Path,
    hook: Hook,
    program: &str,
    read: &impl Fn(&Path) -> Option<HookFile>,
) {
    let path = dir.join(hook.name());
    let now = read(&path);
    let text = now.as_ref().map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).unwrap_or_default();
    let rest = without_block(&text).unwrap_or(text);
    let (head, body) = match rest.split_once('\n') {
        Some((first, body)) if first.starts_with("#!") => (format!("{first}\n"), body),
        _ => (String::new(), rest.as_str()),
    };
    let after = HookFile::script(format!("{head}{}{body}", block(hook, program)));
    if now.as_ref() != Some(&after) {
        plan.changes.push(FileChange { path, before: now, after: Some(after) });
    }
}

fn without_block(text: &str) -> Option<String> {
    let (before, rest) = text.split_once(BLOCK_START)?;
    let (_, after) = rest.split_once(BLOCK_END)?;
    Some(format!("{before}{}", after.strip_prefix('\n').unwrap_or(after)))
}

/// The gate's part of a hook. Without the program everything is blocked, except post-commit, which cannot stop a
/// commit.
fn ask(hook: Hook, program: &str) -> String {
    let program = quoted(program);
    let event = hook.event();
    match hook {
        Hook::PostCommit => {
            format!("[ -x {program} ] && {program} verdict gate --event {event} </dev/null\n")
        }
        Hook::PrePush => format!(
            "[ -x {program} ] || {{ echo 'lictor: {event} is guarded, but the program is gone; install lictor again' >&2; exit 2; }}\n\
             pushed=$(cat)\n\
             printf '%s\\n' \"$pushed\" | {program} verdict gate --event {event} || exit $?\n"
        ),
        Hook::PreCommit | Hook::PreMergeCommit => format!(
            "[ -x {program} ] || {{ echo 'lictor: {event} is guarded, but the program is gone; install lictor again' >&2; exit 2; }}\n\
             {program} verdict gate --event {event} </dev/null || exit $?\n"
        ),
    }
}

fn script(hook: Hook, program: &str) -> String {
    let name = hook.name();
    let go_on = match hook {
        Hook::PrePush => "printf '%s\\n' \"$pushed\" | \"$before\" \"$@\"",
        _ => "exec \"$before\" \"$@\"",
    };
    format!(
        "#!/bin/sh\n{MARK}\n{}before=\"$(dirname -- \"$0\")/{name}{ASIDE}\"\nif [ -x \"$before\" ]; then\n  {go_on}\nfi\n",
        ask(hook, program)
    )
}

fn block(hook: Hook, program: &str) -> String {
    // Code after the block in a pre-push hook still needs the standard input.
    let give_back = match hook {
        Hook::PrePush => "exec <<LICTOR_PUSHED\n$pushed\nLICTOR_PUSHED\n",
        _ => "",
    };
    format!("{BLOCK_START}\n{}{give_back}{BLOCK_END}\n", ask(hook, program))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A problem while writing hook files.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// The file changed after the plan was made.
    #[error("`{0}` has changed meanwhile; run the command again")]
    Changed(PathBuf),
    /// The system refused.
    #[error("cannot write `{path}`: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system error.
        source: std::io::Error,
    },
}

/// Reads a hook file from disk.
#[must_use]
pub fn read_file(path: &Path) -> Option<HookFile> {
    use std::os::unix::fs::PermissionsExt as _;
    let executable = std::fs::metadata(path).ok()?.permissions().mode() & 0o111 != 0;
    Some(HookFile { bytes: std::fs::read(path).ok()?, executable })
}

impl HookPlan {
    /// Writes every file atomically, and only if it still has the content that the plan saw.
    ///
    /// # Errors
    /// When a file changed meanwhile, or cannot be written. Files before it are written.
    pub fn apply(&self) -> Result<(), HookError> {
        for change in &self.changes {
            if read_file(&change.path) != change.before {
                return Err(HookError::Changed(change.path.clone()));
            }
            change.write().map_err(|source| HookError::Io { path: change.path.clone(), source })?;
        }
        Ok(())
    }
}

impl FileChange {
    fn write(&self) -> std::io::Result<()> {
        use std::io::Write as _;
        use std::os::unix::fs::PermissionsExt as _;
        let Some(after) = &self.after else { return std::fs::remove_file(&self.path) };
        let dir = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir)?;
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(&after.bytes)?;
        let mode = if after.executable { 0o755 } else { 0o644 };
        file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}
