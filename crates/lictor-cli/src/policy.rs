//! The policy in force for a project, and the eyes it judges with.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use lictor_config::{Loaded, Origin, Policy, Source};
use lictor_core::{Action, Digest, FactSource};
use lictor_observe::{RealObserver, facts as observe};

use crate::exit;
use crate::place::{Project, managed_policy_file, user_policy_file};

/// The stored form of the policy in the state directory.
const CACHE: &str = "policy.bin";
/// More than a policy may have; the rest of a larger file is not read.
const READ_LIMIT: u64 = 2 * 1024 * 1024;

/// The policy files of a project, those that are there.
///
/// # Errors
/// A file that is there and cannot be read, or a managed one that others than root can change.
pub fn sources(project: &Project) -> Result<Vec<Source>> {
    let files = [
        (Origin::Managed, managed_policy_file()),
        (Origin::User, user_policy_file()),
        (Origin::Repository, project.policy_file()),
    ];
    let mut sources = Vec::new();
    for (origin, file) in files {
        let Some(bytes) = read(&file).with_context(|| format!("cannot read `{}`", file.display()))? else {
            continue;
        };
        if origin == Origin::Managed {
            refuse_writable(&file)?;
        }
        let path = match (origin, file.strip_prefix(&project.root)) {
            (Origin::Repository, Ok(inside)) => inside.display().to_string(),
            _ => file.display().to_string(),
        };
        sources.push(Source { origin, path, bytes });
    }
    Ok(sources)
}

fn read(file: &Path) -> io::Result<Option<Vec<u8>>> {
    use io::Read as _;
    let opened = match fs::File::open(file) {
        Ok(opened) => opened,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let metadata = opened.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(READ_LIMIT) as usize + 1);
    opened.take(READ_LIMIT).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// A managed policy that the person can change is not one.
fn refuse_writable(file: &Path) -> Result<()> {
    let directory = file.parent().unwrap_or(file);
    for path in [file, directory] {
        let metadata = fs::metadata(path).with_context(|| format!("cannot look at `{}`", path.display()))?;
        if metadata.uid() != 0 || metadata.mode() & 0o022 != 0 {
            bail!(
                "`{}` must belong to root and be writable by root alone; run `chown root: {0} && chmod go-w {0}`",
                path.display()
            );
        }
    }
    Ok(())
}

/// Reads and checks the policy anew.
///
/// # Errors
/// As [`sources`]; and a [`LoadError`](lictor_config::LoadError) when the policy is refused.
pub fn load(project: &Project) -> Result<Loaded> {
    Ok(lictor_config::load(&sources(project)?)?)
}

/// The policy with another file in place of the repository's.
///
/// # Errors
/// As [`load`], and when the file cannot be read.
pub fn load_instead(project: &Project, file: &Path) -> Result<Policy> {
    let mut sources = sources(project)?;
    sources.retain(|source| source.origin != Origin::Repository);
    let bytes = fs::read(file).map_err(|error| exit::unreadable(file, &error))?;
    sources.push(Source { origin: Origin::Repository, path: file.display().to_string(), bytes });
    Ok(lictor_config::load(&sources)?.policy)
}

/// The policy in force, from the stored form when that was made from the very files that are there.
///
/// # Errors
/// As [`load`].
pub fn in_force(project: &Project) -> Result<Policy> {
    compiled(&sources(project)?, &project.state_dir().join(CACHE))
}

/// The policy of those files, from the stored form in `cache` when that was made from these very files.
///
/// # Errors
/// When the policy is refused.
pub fn compiled(sources: &[Source], cache: &Path) -> Result<Policy> {
    let key = Policy::key_of(sources);
    if let Some(policy) = fs::read(cache).ok().and_then(|bytes| Policy::from_cache(&bytes, key)) {
        return Ok(policy);
    }
    let policy = lictor_config::load(sources)?.policy;
    if let Some(bytes) = policy.to_cache() {
        // Without a stored form the next process reads the files again.
        let _ = store(cache, &bytes);
    }
    Ok(policy)
}

/// Puts a file in place whole or not at all.
pub fn store(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = file.parent().ok_or_else(|| io::Error::other("no directory"))?;
    let half = directory.join(format!("{CACHE}.{}", std::process::id()));
    fs::write(&half, bytes)?;
    fs::rename(&half, file).inspect_err(|_| drop(fs::remove_file(&half)))
}

/// Identifies the policy with the programs it runs, as they are now.
pub fn digest(policy: &Policy, root: &Path) -> Digest {
    policy.digest(|word| fs::read(root.join(word)).ok().map(|bytes| Digest::of(&bytes)))
}

/// The files of the project that the policy runs or is made from: out of the agent's reach.
fn own_files(policy: &Policy, project: &Project) -> Vec<PathBuf> {
    let words = policy.programs().into_iter().flat_map(|program| program.argv);
    let mut own: Vec<PathBuf> =
        words.map(|word| project.root.join(word)).filter(|file| file.is_file()).collect();
    own.extend([
        project.state_dir().to_owned(),
        project.policy_file(),
        user_policy_file(),
        managed_policy_file(),
    ]);
    own
}

/// Works out what actions in that project would do.
pub fn facts(
    project: &Project,
    policies: &[&Policy],
    watched: Vec<String>,
    contents: bool,
) -> impl FactSource + use<> {
    let observer = RealObserver;
    let mut known = project.seen.clone();
    for policy in policies {
        let own = own_files(policy, project);
        known.own.extend(own.iter().map(|file| file.to_string_lossy().into_owned()));
    }
    known.watched = watched;
    known.contents = contents;
    move |action: &Action| observe(action, &known, &observer)
}
