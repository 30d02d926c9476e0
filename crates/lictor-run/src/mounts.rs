//! What the sandbox sees: which places are writable, which are read-only on top of that, and which are hidden.

use std::path::{Path, PathBuf};

use crate::RunError;
use crate::points::Points;

/// What is to be run, and what must hold meanwhile. Paths are absolute and exist unless said otherwise.
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
    /// The directory with the guardian's socket, outside.
    pub runtime: PathBuf,
    /// More places that stay writable: caches, agents' own state, git's common directory. Those that are not there are
    /// left out.
    pub writable: Vec<PathBuf>,
    /// Files and directories that govern, there or not.
    pub governing: Vec<PathBuf>,
    /// Sockets and directories that lead outside; hidden where they are.
    pub hidden: Vec<PathBuf>,
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
    /// Nothing can be read or written there.
    Nothing(PathBuf),
    /// Something from outside, under another name.
    Shown {
        /// What.
        from: PathBuf,
        /// Where.
        at: PathBuf,
    },
    /// A place that was writable while the sandbox was made is so no longer.
    Sealed(PathBuf),
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
    // What lies below a scratch directory and is needed shows again.
    for path in [&wanted.home, &wanted.program] {
        if mounts.iter().any(|mount| matches!(mount, Mount::Scratch(above) if path.starts_with(above))) {
            mounts.push(Mount::ReadOnly(path.clone()));
        }
    }
    for path in wanted.hidden.iter().filter(|path| path.symlink_metadata().is_ok()) {
        mounts.push(if path.is_dir() { Mount::Empty(path.clone()) } else { Mount::Nothing(path.clone()) });
    }
    // Outer places before inner ones, so that none covers another.
    let mut writable: Vec<PathBuf> = wanted.writable.iter().filter(|path| path.exists()).cloned().collect();
    writable.push(wanted.project.clone());
    writable.sort();
    writable.dedup();
    mounts.extend(writable.iter().cloned().map(Mount::Writable));
    let mut governing = wanted.governing.clone();
    governing.sort();
    governing.dedup();
    let mut inner: Vec<Mount> = Vec::new();
    let mut held: Vec<PathBuf> = Vec::new();
    for path in &governing {
        // What is read-only anyway needs nothing.
        let Some(tree) =
            writable.iter().filter(|tree| path.starts_with(tree)).max_by_key(|tree| tree.as_os_str().len())
        else {
            continue;
        };
        // A directory that governs covers what lies in it.
        if inner.iter().any(
            |mount| matches!(mount, Mount::ReadOnly(outer) | Mount::Empty(outer) if path.starts_with(outer)),
        ) {
            continue;
        }
        let failed = || RunError::io(format!("cannot keep `{}` from being made", path.display()));
        let is_there = path.symlink_metadata().is_ok();
        if is_there {
            inner.push(Mount::ReadOnly(path.clone()));
        } else if is_directory_by_name(path) {
            points.directory(path).map_err(failed())?;
            inner.push(Mount::Empty(path.clone()));
        } else {
            points.file(path).map_err(failed())?;
            inner.push(Mount::Nothing(path.clone()));
        }
        // Every directory above it stays where it is: one that is a mount point cannot be renamed.
        held.extend(
            path.ancestors()
                .skip(1)
                .take_while(|above| above.starts_with(tree) && above != tree)
                .map(Path::to_owned),
        );
    }
    held.sort();
    held.dedup();
    held.retain(|path| !writable.contains(path));
    mounts.extend(held.into_iter().map(Mount::Writable));
    mounts.extend(inner);
    // Last, so that nothing lies on top: in the place of Lictor's state there is the way to the guardian.
    mounts.push(Mount::Scratch(wanted.state.clone()));
    for name in [crate::client::MARK, crate::client::SOCKET, crate::client::IGNORED] {
        mounts.push(Mount::Shown { from: wanted.runtime.join(name), at: wanted.state.join(name) });
    }
    mounts.push(Mount::Sealed(wanted.state.clone()));
    Ok(mounts)
}

/// Whether something that is not there would be a directory: files that govern have an ending or begin with a dot.
fn is_directory_by_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !name.contains('.') && name != "config"
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_governs_is_read_only_and_cannot_be_moved_or_made() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        for path in ["p/.claude", "p/.git/hooks", "home/.claude", "state", "run"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        for path in ["p/.claude/settings.json", "p/.git/config", "p/governance.yaml"] {
            fs::write(at(path), "x").unwrap();
        }
        let wanted = Wanted {
            project: at("p"),
            home: at("home"),
            program: at("lictor"),
            state: at("state"),
            runtime: at("run"),
            writable: vec![at("home/.claude"), at("home/.cache")],
            governing: [
                "p/.claude/settings.json",
                "p/.claude/settings.local.json",
                "p/.codex/hooks",
                "p/.git/config",
                "p/.git/hooks",
                "p/governance.yaml",
                "home/.claude/settings.json",
                "home/.bashrc",
            ]
            .map(at)
            .to_vec(),
            hidden: vec![at("none.sock")],
        };
        let mut points = Points::default();
        let mounts = plan(&wanted, &mut points).unwrap();
        let after = |first: &Mount, second: &Mount| {
            let place =
                |mount| mounts.iter().position(|known| known == mount).unwrap_or_else(|| panic!("{mount:?}"));
            assert!(place(first) < place(second), "{first:?} before {second:?}");
        };
        after(&Mount::Writable(at("p")), &Mount::Writable(at("p/.claude")));
        after(&Mount::Writable(at("p/.claude")), &Mount::ReadOnly(at("p/.claude/settings.json")));
        after(&Mount::Writable(at("p/.claude")), &Mount::Nothing(at("p/.claude/settings.local.json")));
        after(&Mount::Writable(at("p/.codex")), &Mount::Empty(at("p/.codex/hooks")));
        after(&Mount::Writable(at("p/.git")), &Mount::ReadOnly(at("p/.git/config")));
        after(&Mount::Writable(at("p")), &Mount::ReadOnly(at("p/governance.yaml")));
        after(&Mount::Writable(at("home/.claude")), &Mount::Nothing(at("home/.claude/settings.json")));
        after(&Mount::ReadOnly(at("p/.git/hooks")), &Mount::Scratch(at("state")));
        assert_eq!(mounts.last(), Some(&Mount::Sealed(at("state"))));
        // The home directory itself is read-only: nothing has to be done there.
        assert!(
            !mounts.iter().any(|mount| matches!(mount, Mount::Nothing(path) if path == &at("home/.bashrc")))
        );
        assert!(!mounts.contains(&Mount::Writable(at("home/.cache"))));
        crate::points::remove(points.made());
        assert!(!at("p/.codex").exists() && !at("p/.claude/settings.local.json").exists());
    }
}
