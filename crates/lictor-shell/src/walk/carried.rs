//! Data flow through copied trees: directories that the line packed or copied. Only the observer knows the files
//! in a tree, so when a copy is sent out, the original tree is reported as read by the command that copied it.

use lictor_core::facts::{Access, Effect};

use super::simple::Context;
use super::{Plumbing, Walker};
use crate::describe::Trait;
use crate::operand::{Arg, Known, Operand, Taint};
use crate::paths::is_at_or_below;
use crate::programs;

/// Most trees that are kept of one line.
const MOST: usize = 32;

/// A tree, and the command that took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Carried {
    tree: Operand,
    by: Option<u32>,
}

/// The copied trees of the line: in the current pipe, and in files that it wrote.
#[derive(Debug, Default)]
pub(crate) struct Load {
    pub(super) piped: Vec<Carried>,
    kept: Vec<(String, Carried)>,
}

/// What a command reads, writes and sends.
pub(super) struct Taken {
    read: Vec<Operand>,
    written: Vec<String>,
    sends: bool,
}

impl Taken {
    pub(super) fn new(effects: &[Effect<Operand>], files: &[(String, Taint)]) -> Self {
        let read = effects.iter().filter_map(|effect| match effect {
            Effect::File { access: Access::Read | Access::MoveAway, target, .. } => Some(target.clone()),
            _ => None,
        });
        Self {
            read: read.take(MOST).collect(),
            written: files.iter().map(|(key, _)| key.clone()).collect(),
            sends: effects.iter().any(|effect| matches!(effect, Effect::Reach(reach) if reach.sends)),
        }
    }
}

impl Walker<'_> {
    /// Whether a command copies trees, or may process a copied one.
    pub(super) fn carries(&self, program: &str) -> bool {
        !self.load.piped.is_empty() || !self.load.kept.is_empty() || programs::is(program, Trait::TakesTrees)
    }

    /// Follows what a command takes to where it puts or sends it.
    pub(super) fn carry(&mut self, taken: Taken, context: &Context<'_>, plumbing: &Plumbing) {
        let Taken { read, written, sends } = taken;
        let takes = programs::is(context.program, Trait::TakesTrees);
        let mut carried: Vec<Carried> = Vec::new();
        for tree in read {
            carried.extend(self.copies_of(&tree));
            if takes {
                carried.push(Carried { tree, by: context.by });
            }
        }
        if sends || plumbing.socket().is_some() {
            // A secret with a known name was reported where it was read.
            let known = |each: &Carried| programs::is_secret(&each.tree.arg);
            let before = self.load.piped.iter().chain(&carried);
            let before = before.filter(|each| each.by != context.by && !known(each));
            for Carried { tree, by } in before.cloned().collect::<Vec<Carried>>() {
                self.effect(Effect::File { access: Access::Read, target: tree, recursive: true, by });
            }
        }
        if written.is_empty() {
            let room = MOST.saturating_sub(self.load.piped.len());
            self.load.piped.extend(carried.into_iter().take(room));
            return;
        }
        for key in &written {
            self.keep_in(key, &carried);
        }
    }

    /// The piped data goes into a file.
    pub(super) fn carry_into(&mut self, key: &str) {
        if !self.load.piped.is_empty() {
            let piped = self.load.piped.clone();
            self.keep_in(key, &piped);
        }
    }

    fn keep_in(&mut self, key: &str, carried: &[Carried]) {
        let room = MOST.saturating_sub(self.load.kept.len());
        self.load.kept.extend(carried.iter().take(room).map(|each| (key.to_owned(), each.clone())));
    }

    /// The trees that lie in what is read, or that part of them which is.
    fn copies_of(&self, read: &Operand) -> Vec<Carried> {
        let Some(path) = read.arg.known().filter(|_| !self.load.kept.is_empty()) else { return Vec::new() };
        let key = crate::paths::key(&read.cwd, path);
        let key = key.trim_end_matches("/*").trim_end_matches('/');
        let copies = self.load.kept.iter().filter_map(|(place, carried)| {
            let place = place.trim_end_matches('/');
            if is_at_or_below(place, key) {
                return Some(carried.clone());
            }
            let inside = is_at_or_below(key, place).then(|| key.get(place.len()..)).flatten()?;
            let tree = carried.tree.arg.known()?.trim_end_matches('/');
            let arg =
                Arg { value: Known::Text(format!("{tree}{inside}").into()), ..carried.tree.arg.clone() };
            let tree = Operand::new(arg, carried.tree.cwd.clone());
            Some(Carried { tree, by: carried.by })
        });
        copies.collect()
    }
}
