use std::collections::HashMap;
use std::sync::Arc;

use super::{Graph, Kind, Node, SharedGuard};
use crate::digest::Digest;

impl Graph {
    /// Every guard with its name, each name once: those of the tree, then the observers.
    #[must_use]
    pub fn guards(&self) -> Vec<(&str, &SharedGuard)> {
        let mut guards: Vec<(&str, &SharedGuard)> = Vec::with_capacity(self.leaves);
        collect(&self.root, &mut guards);
        guards.extend(self.observers.iter().map(|observer| (&*observer.site.name, &observer.guard)));
        guards
    }

    /// The digest of the graph: its shape, and of each guard the name and the
    /// [`fingerprint`](crate::Guard::fingerprint). Two guards with the same name and no fingerprint are not
    /// distinguished.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let shape = serde_json::to_vec(&(self.outline(), self.observers())).unwrap_or_default();
        let prints: Vec<String> = self
            .guards()
            .into_iter()
            .map(|(name, guard)| format!("{name}\n{}", guard.fingerprint().unwrap_or_default()))
            .collect();
        let parts = [b"lictor graph 1".as_slice(), &shape];
        Digest::of_parts(parts.into_iter().chain(prints.iter().map(String::as_bytes)))
    }
}

fn collect<'a>(node: &'a Node, into: &mut Vec<(&'a str, &'a SharedGuard)>) {
    if let Kind::Leaf(guard) = &node.kind
        && !into.iter().any(|(known, _)| *known == &*node.site.name)
    {
        into.push((&node.site.name, guard));
    }
    node.children().for_each(|child| collect(child, into));
}

impl Node {
    /// The same tree with a number behind the second and every further guard of one name (`bash_safety#2`), so
    /// that several guards of one type fit in one graph. A guard that occurs in several places keeps its name.
    #[must_use]
    pub fn numbered(mut self) -> Self {
        number(&mut self, &mut HashMap::new());
        self
    }
}

fn number(node: &mut Node, seen: &mut HashMap<Arc<str>, Vec<*const ()>>) {
    if let Kind::Leaf(guard) = &node.kind {
        let identity: *const () = Arc::as_ptr(guard).cast();
        let same = seen.entry(Arc::clone(&node.site.name)).or_default();
        let at = same.iter().position(|known| *known == identity).unwrap_or_else(|| {
            same.push(identity);
            same.len() - 1
        });
        if at > 0 {
            let name = format!("{}#{}", node.site.name, at + 1);
            node.site_mut().name = Arc::from(name);
        }
        return;
    }
    match &mut node.kind {
        Kind::Leaf(_) => {}
        Kind::Quorum { children, .. } => children.iter_mut().for_each(|child| number(child, seen)),
        Kind::Not { child, .. } => number(child, seen),
        Kind::When { then, otherwise, .. } => {
            then.iter_mut().chain(otherwise).for_each(|child| number(child, seen));
        }
        Kind::Escalate { primary, fallback, .. } => {
            number(primary, seen);
            number(fallback, seen);
        }
    }
}
