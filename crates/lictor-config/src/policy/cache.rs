//! A policy as bytes, so that a hook does not parse YAML.

use lictor_core::Digest;

use super::PolicyBundle;
use crate::source::Source;

/// The header, which changes with the source code of the stored types.
const HEAD: &str = concat!("lictor policy ", env!("LICTOR_POLICY_FORM"));

impl PolicyBundle {
    /// The policy of these files as bytes with a seal. `seal` computes it over the files and the bytes with a
    /// secret key. `None` only when the policy cannot be stored; then it is parsed each time.
    #[must_use]
    pub fn to_cache(&self, sources: &[Source], seal: impl FnOnce(&[&[u8]]) -> Digest) -> Option<Vec<u8>> {
        let body = postcard::to_stdvec(self).ok()?;
        let mut bytes = HEAD.as_bytes().to_vec();
        bytes.extend_from_slice(sealed(sources, &body, seal).as_bytes());
        bytes.extend_from_slice(&body);
        Some(bytes)
    }

    /// The policy of such bytes, if their seal matches exactly these files. Otherwise the cache is ignored: write
    /// access to the cache file is not enough to change the policy.
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

/// One seal over the files and their stored policy, so that a hook hashes each byte once.
fn sealed(sources: &[Source], body: &[u8], seal: impl FnOnce(&[&[u8]]) -> Digest) -> Digest {
    let mut parts = super::parts_of(super::VERSION, sources);
    parts.push(body);
    seal(&parts)
}
