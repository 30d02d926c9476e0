//! How a policy is stored for sessions that see it change.
//!
//! The files themselves are stored. They are used only if they have exactly the digest that is on record for the
//! session: a changed file counts as missing. The compiled form is in the state directory, like that of the
//! current policy.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use lictor_config::{Origin, PolicyBundle, Source, VERSION};
use lictor_core::Digest;
use lictor_engine::{PolicyCodec, PolicyVersion};
use lictor_store::Store;
use serde::{Deserialize, Serialize};

use crate::dirs;
use crate::error::Error;
use crate::policy_files::{self, Snapshot};
use crate::project::Project;
use crate::runtime::assemble;

/// The files of one policy.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The version of Lictor that read them.
    version: String,
    files: Vec<KeptFile>,
    /// The digests of the files that the policy's command lines name, by argument.
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

/// Where the compiled forms are.
pub(crate) fn directory(project: &Project) -> PathBuf {
    project.state_dir().join("policies")
}

fn kept_file(source: &Source) -> Option<KeptFile> {
    let text = std::str::from_utf8(&source.bytes).ok()?.to_owned();
    Some(KeptFile { origin: source.origin, path: source.path.clone(), text })
}

/// Stores the policy of a project, and reads the stored versions.
pub(crate) struct KeptPolicies {
    pub(crate) project: Project,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) current: Arc<Snapshot>,
}

impl PolicyCodec for KeptPolicies {
    fn encode(&self) -> Result<Vec<u8>, String> {
        let files = self.current.sources().iter().map(kept_file).collect::<Option<_>>();
        let kept = Kept {
            version: VERSION.to_owned(),
            files: files.ok_or("a policy file is not text")?,
            programs: self.current.programs().clone(),
        };
        serde_json::to_vec(&kept).map_err(|error| error.to_string())
    }

    fn decode(&self, digest: Digest, kept: &[u8]) -> Result<PolicyVersion, String> {
        let kept: Kept = serde_json::from_slice(kept).map_err(|error| error.to_string())?;
        self.version(digest, &kept).map_err(|error| error.chain())
    }
}

impl KeptPolicies {
    fn version(&self, digest: Digest, kept: &Kept) -> Result<PolicyVersion, Error> {
        let sources = kept.sources();
        let directory = directory(&self.project);
        // Without a compiled form the next process reads the files again.
        let _ = dirs::create_private(&directory);
        let compiled = directory.join(format!("{digest}.bin"));
        let policy = policy_files::compiled(&self.project, &sources, &compiled)?;
        let key = PolicyBundle::key_in(&kept.version, &sources);
        if policy.digest_of(key, |word| kept.programs.get(word).copied()) != digest {
            return Err(Error::KeptPolicy(digest));
        }
        let redactor = policy_files::redactor(&policy)?;
        assemble::version(&self.project, &self.store, &policy, redactor, digest)
    }
}
