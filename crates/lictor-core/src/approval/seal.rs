use serde::{Deserialize, Serialize};

/// A person's signature under a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// The public key that checks it, in hexadecimal digits.
    pub key: String,
    /// The signature, in hexadecimal digits.
    pub signature: String,
}

/// Signs on behalf of a person.
pub trait Sign: Send + Sync {
    /// The signature under these bytes.
    fn sign(&self, message: &[u8]) -> Seal;
}

/// Knows which signatures belong to a person.
pub trait CheckSeal: Send + Sync {
    /// Whether the person who is asked here has signed these bytes.
    fn is_theirs(&self, message: &[u8], seal: &Seal) -> bool;
}
