//! What the sandbox sees: which places are writable, which are read-only on top of that, and which are hidden.

use std::path::{Path, PathBuf};

use crate::RunError;
use crate::points::Points;

/// The program to run, and the constraints of the sandbox. Paths are absolute and exist unless stated otherwise.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The project.
    pub project: PathBuf,
    /// The person's home directory.
    pub home: PathBuf,
    /// Lictor's own program.
    pub program: PathBuf,
    /// Where Lictor keeps its state; hidden.
    pub state: PathBuf,
    /// Where the project's part of it keeps the list of mount points.
    pub points: PathBuf,
    /// The directory with the guardian's socket, outside.
    pub runtime: PathBuf,
    /// More places that stay writable: caches, agents' own state, git's common directory. Those that are not there are
    /// left out.
    pub writable: Vec<PathBuf>,
    /// Files and directories that govern, there or not.
    pub governing: Vec<PathBuf>,
    /// Files in which an agent keeps what governs it together with its state: inside there are copies.
    pub copied: Vec<PathBuf>,
    /// Sockets and directories that lead outside; hidden where they are.
    pub leading_out: Vec<PathBuf>,
    /// Sockets to the outside that are opened explicitly.
    pub open: Vec<PathBuf>,
    /// Variables that lead outside and stay set, for those sockets.
    pub kept: Vec<&'static str>,
    /// Files and directories that a policy hides; those that are not there are left out.
    pub hidden: Vec<PathBuf>,
    /// Programs that cannot work inside and are replaced by an explanation.
    pub explained: Vec<PathBuf>,
    /// The available network.
    pub network: Network,
}

/// The network inside the sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// The machine's network.
    #[default]
    All,
    /// Between processes inside.
    Loopback,
    /// Nothing.
    None,
}

impl Network {
    /// A word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Loopback => "loopback",
            Self::None => "none",
        }
    }
}

/// One step in making the sandbox. Later steps lie on top of earlier ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mount {
    /// A place shows itself and can be written.
    Writable(PathBuf),
    /// A place shows itself and cannot be written.
    ReadOnly(PathBuf),
    /// An empty directory that can be written and is gone afterwards.
    Scratch(PathBuf),
    /// An empty directory that cannot be written.
    Empty(PathBuf),
    /// An empty read-only file.
    Nothing(PathBuf),
    /// Something from outside, under another name.
    Shown {
        /// What.
        from: PathBuf,
        /// Where.
        at: PathBuf,
    },
    /// The same, read-only.
    Replaced {
        /// By what.
        from: PathBuf,
        /// Where.
        at: PathBuf,
    },
    /// A place that was writable while the sandbox was made is so no longer.
    Closed(PathBuf),
    /// The same for Lictor's state, with the sign that a guardian judges.
    Sealed(PathBuf),
}

/// Contents of empty files, by their name in the guardian's directory: agents report errors for settings that are
/// not a regular file, or not JSON.
pub(crate) const NOTHING: [(&str, &str); 3] =
    [("nothing.json", "{}\n"), ("nothing", ""), ("nothing.commondir", HERE)];
/// The content of `commondir` for a repository without one: its own directory is the common one.
const HERE: &str = ".\n";
/// Names without an ending that files have.
const FILES: [&str; 3] = ["config", "commondir", "attributes"];

/// The content of a file that is created as a mount point: git does not work with an empty `commondir`, and other
/// processes use the repository from outside meanwhile.
pub(crate) fn holds(path: &Path) -> &'static str {
    if path.file_name().is_some_and(|name| name == "commondir") { HERE } else { "" }
}

/// The file in the guardian's directory that is mounted in place of a missing file.
#[must_use]
pub fn nothing(runtime: &Path, at: &Path) -> PathBuf {
    let [json, other, here] = NOTHING.map(|(name, _)| name);
    let is_json = at.extension().is_some_and(|ending| ending == "json" || ending == "jsonc");
    let named = if holds(at) == HERE { here } else { other };
    runtime.join(if is_json { json } else { named })
}

/// The copy of a file in the guardian's directory.
#[must_use]
pub fn copy_of(runtime: &Path, at: usize) -> PathBuf {
    runtime.join(format!("copy-{at}"))
}

/// The program in the guardian's directory that explains why others do not work.
#[must_use]
pub fn explanation(runtime: &Path) -> PathBuf {
    runtime.join("explanation")
}

/// The steps, and the mount points that had to be made for them.
///
/// # Errors
/// When a mount point cannot be made. What was made is in `points` all the same.
pub fn plan(wanted: &Wanted, points: &mut Points) -> Result<Vec<Mount>, RunError> {
    let mut mounts = vec![Mount::Scratch("/tmp".into())];
    for path in ["/var/tmp", "/dev/shm"].map(Path::new).into_iter().filter(|path| path.is_dir()) {
        mounts.push(Mount::Scratch(path.to_owned()));
    }
    // Needed paths below a scratch directory are mounted again.
    for path in [&wanted.home, &wanted.program] {
        if mounts.iter().any(|mount| matches!(mount, Mount::Scratch(above) if path.starts_with(above))) {
            mounts.push(Mount::ReadOnly(path.clone()));
        }
    }
    // Outer places before inner ones, so that none covers another.
    let mut writable: Vec<PathBuf> = wanted.writable.iter().filter(|path| path.exists()).cloned().collect();
    writable.push(wanted.project.clone());
    writable.sort();
    writable.dedup();
    mounts.extend(writable.iter().cloned().map(Mount::Writable));
    // Some of it is in writable places.
    leading_out(wanted, &mut mounts);
    protect(wanted, &writable, points, &mut mounts)?;
    for path in wanted.hidden.iter().filter(|path| path.exists()) {
        mounts.push(hidden(path));
    }
    for (at, path) in wanted.copied.iter().enumerate() {
        mounts.push(Mount::Shown { from: copy_of(&wanted.runtime, at), at: path.clone() });
    }
    for path in &wanted.explained {
        mounts.push(Mount::Replaced { from: explanation(&wanted.runtime), at: path.clone() });
    }
    // Last, so that nothing covers it: the guardian's socket is mounted in place of Lictor's state.
    mounts.push(Mount::Scratch(wanted.state.clone()));
    for name in [crate::client::MARK, crate::client::SOCKET, crate::client::IGNORED] {
        mounts.push(Mount::Shown { from: wanted.runtime.join(name), at: wanted.state.join(name) });
    }
    let programs = crate::client::PROGRAMS;
    mounts.push(Mount::Replaced { from: wanted.runtime.join(programs), at: wanted.state.join(programs) });
    mounts.push(Mount::Sealed(wanted.state.clone()));
    Ok(mounts)
}

fn hidden(path: &Path) -> Mount {
    if path.is_dir() { Mount::Empty(path.to_owned()) } else { Mount::Nothing(path.to_owned()) }
}

/// Hides what leads outside, except for sockets that are open.
fn leading_out(wanted: &Wanted, mounts: &mut Vec<Mount>) {
    let open: Vec<&PathBuf> = wanted.open.iter().filter(|path| path.exists()).collect();
    let show = |path: &PathBuf| Mount::Shown { from: path.clone(), at: path.clone() };
    for path in wanted.leading_out.iter().filter(|path| path.symlink_metadata().is_ok()) {
        let inside: Vec<&&PathBuf> = open.iter().filter(|socket| socket.starts_with(path)).collect();
        if inside.is_empty() {
            mounts.push(hidden(path));
        } else if path.is_dir() {
            mounts.push(Mount::Scratch(path.clone()));
            mounts.extend(inside.into_iter().map(|socket| show(socket)));
            mounts.push(Mount::Closed(path.clone()));
        }
    }
    let covered = |socket: &PathBuf| wanted.leading_out.iter().any(|path| socket.starts_with(path));
    mounts.extend(open.into_iter().filter(|socket| !covered(socket)).map(show));
}

/// Makes what governs read-only where it would be writable, and keeps what is not there from being made.
fn protect(
    wanted: &Wanted,
    writable: &[PathBuf],
    points: &mut Points,
    mounts: &mut Vec<Mount>,
) -> Result<(), RunError> {
    let mut governing: Vec<&PathBuf> =
        wanted.governing.iter().filter(|path| !wanted.copied.contains(path)).collect();
    governing.sort();
    governing.dedup();
    let mut inner: Vec<Mount> = Vec::new();
    let mut held: Vec<PathBuf> = Vec::new();
    for path in governing {
        // A path that is read-only anyway needs no mount.
        let Some(tree) = innermost(writable, path) else { continue };
        // A governing directory covers its contents.
        if inner.iter().any(
            |mount| matches!(mount, Mount::ReadOnly(outer) | Mount::Empty(outer) if path.starts_with(outer)),
        ) {
            continue;
        }
        let failed = || RunError::io(format!("cannot keep `{}` from being made", path.display()));
        if points.is_there(path) {
            inner.push(Mount::ReadOnly(path.clone()));
        } else if is_directory_by_name(path) || wanted.governing.iter().any(|other| is_below(other, path)) {
            points.directory(path).map_err(failed())?;
            inner.push(Mount::Empty(path.clone()));
        } else {
            points.file(path).map_err(failed())?;
            inner.push(Mount::Nothing(path.clone()));
        }
        held.extend(above(path, tree));
    }
    for path in wanted.hidden.iter().filter(|path| path.exists()) {
        held.extend(innermost(writable, path).into_iter().flat_map(|tree| above(path, tree)));
    }
    held.sort();
    held.dedup();
    held.iter().chain(writable).for_each(|directory| points.keep_open(directory));
    held.retain(|path| !writable.contains(path));
    mounts.extend(held.into_iter().map(Mount::Writable));
    mounts.extend(inner);
    Ok(())
}

/// The writable tree that contains a path.
fn innermost<'a>(writable: &'a [PathBuf], path: &Path) -> Option<&'a PathBuf> {
    writable.iter().filter(|tree| path.starts_with(tree)).max_by_key(|tree| tree.as_os_str().len())
}

/// Every directory between a tree and a path in it. They stay where they are: one that is a mount point cannot be
/// renamed.
fn above(path: &Path, tree: &Path) -> impl Iterator<Item = PathBuf> {
    path.ancestors()
        .skip(1)
        .take_while(move |above| above.starts_with(tree) && *above != tree)
        .map(Path::to_owned)
}

fn is_below(path: &Path, directory: &Path) -> bool {
    path != directory && path.starts_with(directory)
}

/// Whether something that is not there would be a directory: files that govern have an ending or begin with a dot.
fn is_directory_by_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !name.contains('.') && !FILES.contains(&&*name)
}

#[cfg(test)]
mod tests;
