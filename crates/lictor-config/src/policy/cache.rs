//! A policy as bytes, so that a hook does not read YAML.

use lictor_core::Digest;

use super::Policy;

/// Changes with the form of what follows it.
const HEAD: &[u8; 16] = b"lictor policy 04";

impl Policy {
    /// The policy as bytes under a seal, which is made of their digest by whoever keeps a secret. `None` only when it
    /// cannot be stored; then it is read anew each time.
    #[must_use]
    pub fn to_cache(&self, seal: impl FnOnce(&Digest) -> Digest) -> Option<Vec<u8>> {
        let body = postcard::to_stdvec(self).ok()?;
        let mut bytes = HEAD.to_vec();
        bytes.extend_from_slice(seal(&Digest::of(&body)).as_bytes());
        bytes.extend_from_slice(&body);
        Some(bytes)
    }

    /// The policy of such bytes, when they have that seal and are made from the files with that key. Anything else is as
    /// good as no cache: who can write the file cannot write a policy.
    #[must_use]
    pub fn from_cache(bytes: &[u8], key: Digest, seal: impl FnOnce(&Digest) -> Digest) -> Option<Self> {
        let rest = bytes.strip_prefix(HEAD)?;
        let (sealed, body) = rest.split_at_checked(32)?;
        if seal(&Digest::of(body)).as_bytes().as_slice() != sealed {
            return None;
        }
        let policy: Self = postcard::from_bytes(body).ok()?;
        (policy.key == key).then_some(policy)
    }
}
