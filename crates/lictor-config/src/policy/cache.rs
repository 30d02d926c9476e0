//! A policy as bytes, so that a hook does not read YAML.

use lictor_core::Digest;

use super::PolicyBundle;
use crate::source::Source;

/// Changes with the form of what follows it: with the sources of its types.
const HEAD: &str = concat!("lictor policy ", env!("LICTOR_POLICY_FORM"));

impl PolicyBundle {
    /// The policy of those files as bytes under a seal, which is made of the files and the bytes by whoever keeps a
    /// secret. `None` only when it cannot be stored; then it is read anew each time.
    #[must_use]
    pub fn to_cache(&self, sources: &[Source], seal: impl FnOnce(&[&[u8]]) -> Digest) -> Option<Vec<u8>> {
        let body = postcard::to_stdvec(self).ok()?;
        let mut bytes = HEAD.as_bytes().to_vec();
        bytes.extend_from_slice(sealed(sources, &body, seal).as_bytes());
        bytes.extend_from_slice(&body);
        Some(bytes)
    }

    /// The policy of such bytes, when their seal is that of these very files. Anything else is as good as no cache: who
    /// can write the file cannot write a policy.
    #[must_use]
    pub fn from_cache(
        bytes: &[u8],
        sources: &[Source],
        seal: impl FnOnce(&[&[u8]]) -> Digest,
    ) -> Option<Self> {
        let rest = bytes.strip_prefix(HEAD.as_bytes())?;
        let (seal_in_file, body) = rest.split_at_checked(32)?;
        if sealed(sources, body, seal).as_bytes().as_slice() != seal_in_file {
            return None;
        }
        postcard::from_bytes(body).ok()
    }
}

/// One seal over the files and what was made of them: a hook hashes each byte once.
fn sealed(sources: &[Source], body: &[u8], seal: impl FnOnce(&[&[u8]]) -> Digest) -> Digest {
    let mut parts = super::parts_of(super::VERSION, sources);
    parts.push(body);
    seal(&parts)
}
