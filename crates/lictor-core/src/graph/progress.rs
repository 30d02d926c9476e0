use std::sync::atomic::{AtomicU32, Ordering};

use super::Graph;

/// The current position of an evaluation, for a caller that waits for it.
#[derive(Debug)]
pub struct Progress(AtomicU32);

/// No guard has been asked yet.
const NOWHERE: u32 = u32::MAX;

impl Default for Progress {
    fn default() -> Self {
        Self(AtomicU32::new(NOWHERE))
    }
}

impl Progress {
    pub(crate) fn enter(&self, node: u32) {
        self.0.store(node, Ordering::Relaxed);
    }
}

impl Graph {
    /// The guard that is running, or ran last.
    #[must_use]
    pub fn guard_at(&self, progress: &Progress) -> Option<&str> {
        let index = usize::try_from(progress.0.load(Ordering::Relaxed)).ok()?;
        self.nodes.get(index).map(|node| &*node.site.name)
    }
}
