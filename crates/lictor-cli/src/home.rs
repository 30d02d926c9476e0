//! A permanent place for the program. Agents allow everything when the program of their hooks is gone, so hooks
//! never use one that a package runner may delete, or one inside the governed project.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use lictor::{Project, companion};

/// The program for hooks, and its source if it has to be copied first.
pub struct Home {
    /// The program that hooks start.
    pub program: PathBuf,
    /// The running program, and why hooks cannot use it.
    pub instead_of: Option<(PathBuf, &'static str)>,
}

impl Home {
    /// The home of a program for that project.
    pub fn of(binary: PathBuf, project: &Project) -> Self {
        match fleeting(&binary, &project.root) {
            None => Self { program: binary, instead_of: None },
            Some(why) => {
                let place =
                    project.dirs().home.join(".local/share/lictor/bin").join(env!("CARGO_PKG_VERSION"));
                Self { program: place.join("lictor"), instead_of: Some((binary, why)) }
            }
        }
    }

    /// The note for a person.
    pub fn note(&self) -> Option<String> {
        let (from, why) = self.instead_of.as_ref()?;
        Some(format!("hooks run a copy, `{}`: `{}` {why}", self.program.display(), from.display()))
    }

    /// Puts the program there.
    pub fn settle(&self) -> Result<()> {
        let Some((from, _)) = &self.instead_of else { return Ok(()) };
        put(from, &self.program)?;
        // Hooks expect it beside the program: it handles databases and servers.
        let companion = from.with_file_name(companion::PROGRAM);
        match companion.is_file() {
            true => put(&companion, &self.program.with_file_name(companion::PROGRAM)),
            false => Ok(()),
        }
    }
}

/// Replaces a program atomically: a hook may be starting the old one at this moment.
fn put(from: &Path, to: &Path) -> Result<()> {
    let failed = || format!("cannot copy this program to `{}`", to.display());
    fs::create_dir_all(to.parent().with_context(failed)?).with_context(failed)?;
    let draft = to.with_extension("new");
    fs::copy(from, &draft).with_context(failed)?;
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).with_context(failed)?;
    fs::rename(&draft, to).with_context(failed)
}

/// Why a program may be deleted or replaced later.
pub fn fleeting(binary: &Path, project: &Path) -> Option<&'static str> {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let binary = real(binary);
    let has = |name: &str| binary.iter().any(|part| part == name);
    if has("_npx") {
        return Some("lies in the cache of npx, which is cleaned up");
    }
    if ["archive-v0", "environments-v2", "builds-v0"].into_iter().any(has) {
        return Some("lies in the cache of uv, which is cleaned up");
    }
    if has("pipx") && (has(".cache") || has("Caches")) {
        return Some("lies in the cache of pipx, which is cleaned up");
    }
    let of_bun = binary.iter().any(|part| part.to_string_lossy().starts_with("bunx-"));
    if has(".cache") || has("Caches") || has("dlx") || of_bun {
        return Some("lies in a cache, which is cleaned up");
    }
    if binary.starts_with(real(project)) {
        return Some("lies in the project, where the agent may replace it");
    }
    // Environments that tools manage for the user are permanent; any other belongs to a project, and disappears
    // when it is recreated.
    let kept = has("uv") && has("tools") || has("pipx") && has("venvs");
    let environment = binary.parent().and_then(Path::parent);
    if !kept && environment.is_some_and(|environment| environment.join("pyvenv.cfg").is_file()) {
        return Some("lies in a virtual environment, which may be made anew");
    }
    installed_for_one(&binary).then_some("lies in the `node_modules` of some project, which may be made anew")
}

/// Whether npm installed it in a project. Global installations are in `lib/node_modules`.
fn installed_for_one(binary: &Path) -> bool {
    let mut above = None;
    for part in binary.iter() {
        if part == "node_modules" {
            return above != Some(std::ffi::OsStr::new("lib"));
        }
        above = Some(part);
    }
    false
}

#[cfg(test)]
mod tests;
