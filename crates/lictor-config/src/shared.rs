//! Deserialises shared parts of a stored policy directly into their `Arc`: serde's own implementation allocates
//! each twice.

use std::sync::Arc;

use serde::{Deserialize, Deserializer};

pub(crate) fn one<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Arc<T>, D::Error> {
    T::deserialize(deserializer).map(Arc::new)
}

pub(crate) fn many<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Arc<T>>, D::Error> {
    let all = Vec::<One<T>>::deserialize(deserializer)?;
    Ok(all.into_iter().map(|One(shared)| shared).collect())
}

struct One<T>(Arc<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for One<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        one(deserializer).map(Self)
    }
}
