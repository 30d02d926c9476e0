//! The policies that sessions have seen, kept in the state directory by their digests.
//!
//! What is kept are the files themselves. They are believed only where they come to the very digest that is on record
//! for the session: a changed file is as good as none. Beside them lies the compiled form, as for the policy of now.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use lictor_config::{Origin, Policy, Source, VERSION};
use lictor_core::Digest;
use serde::{Deserialize, Serialize};

use crate::place::{self, Project};
use crate::policy;

/// The files of one policy.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The version of Lictor that read them.
    version: String,
    files: Vec<KeptFile>,
    /// The files that the policy's command lines name, by the words that name them.
    programs: BTreeMap<String, Digest>,
}

#[derive(Serialize, Deserialize)]
struct KeptFile {
    origin: Origin,
    path: String,
    text: String,
}

impl Kept {
    fn sources(&self) -> Vec<Source> {
        let source = |file: &KeptFile| Source {
            origin: file.origin,
            path: file.path.clone(),
            bytes: file.text.clone().into_bytes(),
        };
        self.files.iter().map(source).collect()
    }
}

/// Where the policies of a project are kept.
pub fn directory(project: &Project) -> PathBuf {
    project.state_dir().join("policies")
}

/// Keeps the policy of now.
///
/// # Errors
/// When it cannot be read or written.
pub fn keep(project: &Project) -> Result<()> {
    let sources = policy::sources(project)?;
    let loaded = policy::in_force(project)?;
    let words = loaded.programs().into_iter().flat_map(|program| program.argv);
    let hash = |word: String| {
        let bytes = fs::read(project.root.join(&word)).ok()?;
        Some((word, Digest::of(&bytes)))
    };
    let kept = Kept {
        version: VERSION.to_owned(),
        files: sources.into_iter().map(file).collect::<Result<_>>()?,
        programs: words.filter_map(hash).collect(),
    };
    let digest = loaded.digest(|word| kept.programs.get(word).copied());
    let directory = directory(project);
    place::create_private(&directory)?;
    // Written anew for each session, so that its age tells how long nobody has begun under it.
    policy::store(&directory.join(digest.to_string()), &serde_json::to_vec(&kept)?)?;
    Ok(())
}

fn file(source: Source) -> Result<KeptFile> {
    let text = String::from_utf8(source.bytes).context("a policy that is no text")?;
    Ok(KeptFile { origin: source.origin, path: source.path, text })
}

/// The policy with that digest.
///
/// # Errors
/// When it is not there, or is not what it was.
pub fn kept(project: &Project, digest: Digest) -> Result<Policy> {
    let file = directory(project).join(digest.to_string());
    let bytes = fs::read(&file).with_context(|| format!("`{}`", file.display()))?;
    let kept: Kept = serde_json::from_slice(&bytes).with_context(|| format!("`{}`", file.display()))?;
    let sources = kept.sources();
    let policy = policy::compiled(&sources, &file.with_extension("bin"))?;
    let key = Policy::key_in(&kept.version, &sources);
    if policy.digest_of(key, |word| kept.programs.get(word).copied()) != digest {
        bail!("`{}` is not what it was", file.display());
    }
    Ok(policy)
}
