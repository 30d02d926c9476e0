//! What git's commands change, from `git_verbs` in `programs/sets/words.yaml`.

/// What a command of git changes in the repository that it runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GitChanges {
    /// Which files git knows.
    pub index: bool,
    /// Files of the work tree.
    pub tree: bool,
    /// Branches and tags.
    pub refs: bool,
}

impl GitChanges {
    /// What a command changes; `None` for one that is not known.
    #[must_use]
    pub fn of(verb: &str) -> Option<Self> {
        let mut rows = crate::words::GIT_VERBS.iter().filter_map(|row| row.split_once('='));
        let (_, changes) = rows.find(|(name, _)| *name == verb)?;
        let has = |part: &str| changes.split(',').any(|change| change == part);
        Some(Self { index: has("index"), tree: has("tree"), refs: has("refs") })
    }
}

#[cfg(test)]
mod tests;
