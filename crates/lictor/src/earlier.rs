//! The policies that sessions have seen, kept in the state directory by their digests.
//!
//! What is kept are the files themselves. They are believed only where they come to the very digest that is on record
//! for the session: a changed file is as good as none. Beside them lies the compiled form, as for the current policy.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lictor_config::{Origin, PolicyBundle, Source, VERSION};
use lictor_core::Digest;
use serde::{Deserialize, Serialize};

use crate::dirs;
use crate::error::Error;
use crate::files;
use crate::policy_files::{self, Snapshot};
use crate::project::Project;

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
pub(crate) fn directory(project: &Project) -> PathBuf {
    project.state_dir().join("policies")
}

/// Keeps the policy that a session has begun to see.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn keep(project: &Project, current: &Snapshot) -> Result<(), Error> {
    let directory = directory(project);
    let file = directory.join(current.digest().to_string());
    let unusable = |why: String| Error::KeptPolicy { path: file.clone(), why };
    let kept = Kept {
        version: VERSION.to_owned(),
        files: current
            .sources()
            .iter()
            .map(kept_file)
            .collect::<Option<_>>()
            .ok_or_else(|| unusable("is not text".to_owned()))?,
        programs: current.programs().clone(),
    };
    let bytes = serde_json::to_vec(&kept).map_err(|error| unusable(error.to_string()))?;
    dirs::create_private(&directory)?;
    // Written anew for each session, so that its age tells how long nobody has begun under it.
    policy_files::store(&file, &bytes).map_err(Error::file("cannot write", &file))
}

fn kept_file(source: &Source) -> Option<KeptFile> {
    let text = std::str::from_utf8(&source.bytes).ok()?.to_owned();
    Some(KeptFile { origin: source.origin, path: source.path.clone(), text })
}

/// The policy with that digest.
///
/// # Errors
/// When it is not there, or is not what it was.
pub(crate) fn kept(project: &Project, digest: Digest) -> Result<PolicyBundle, Error> {
    let file = directory(project).join(digest.to_string());
    let bytes = files::read(&file, files::PROGRAM).map_err(Error::file("cannot read", &file))?;
    let changed = |why: String| Error::KeptPolicy { path: file.clone(), why };
    let kept: Kept = serde_json::from_slice(&bytes).map_err(|error| changed(error.to_string()))?;
    let sources = kept.sources();
    let policy = policy_files::compiled(project, &sources, &file.with_extension("bin"))?;
    let key = PolicyBundle::key_in(&kept.version, &sources);
    if policy.digest_of(key, |word| kept.programs.get(word).copied()) != digest {
        return Err(changed("is not what it was".to_owned()));
    }
    Ok(policy)
}
