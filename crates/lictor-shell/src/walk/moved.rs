//! What the line moved: where it is now, it is still what it was, and programs that take the place of others.

use lictor_core::facts::{Access, Cardinality, Effect};

use super::Walker;
use super::simple::Context;
use crate::operand::{Incoming, Operand};
use crate::paths;

/// Most moves of one line that are remembered.
const MOST: usize = 64;
/// Directories in which people keep programs of their own, in front of the system's.
const FOLDERS: [&str; 4] = ["/.local/bin/", "/bin/", "/usr/local/bin/", "/usr/local/sbin/"];
/// Everyday programs that nobody builds for themselves.
const EVERYDAY: [&str; 22] = [
    "ls", "cat", "cp", "mv", "rm", "grep", "find", "sed", "ps", "kill", "chmod", "sudo", "su", "doas", "ssh",
    "scp", "bash", "sh", "zsh", "id", "whoami", "passwd",
];
/// Programs that people do install in several versions.
const INSTALLED: [&str; 14] = [
    "git", "python", "python3", "node", "npm", "npx", "pip", "pip3", "curl", "wget", "make", "vim", "docker",
    "gpg",
];

impl Walker<'_> {
    /// Remembers what a command moves, and where to.
    pub(super) fn note_moved(&mut self, effects: &[Effect<Operand>]) {
        let taken = |effect: &Effect<Operand>| match effect {
            Effect::File { access: Access::MoveAway, target, .. } => Some(target.clone()),
            _ => None,
        };
        let sources: Vec<Operand> = effects.iter().filter_map(taken).collect();
        let arrives = |effect: &Effect<Operand>| match effect {
            Effect::File { access: Access::Write, target, .. } => {
                Some(paths::key(&target.cwd, target.arg.known()?))
            }
            _ => None,
        };
        let Some(place) = effects.iter().find_map(arrives) else { return };
        for source in sources.into_iter().take(MOST.saturating_sub(self.moved.len())) {
            self.moved.push((place.trim_end_matches('/').to_owned(), source));
        }
    }

    /// The same effect on what the line moved there before.
    pub(super) fn before_move(&self, effect: &Effect<Operand>) -> Option<Effect<Operand>> {
        let Effect::File {
            access: access @ (Access::Delete | Access::Destroy | Access::Empty),
            target,
            recursive,
            by,
        } = effect
        else {
            return None;
        };
        let key = paths::key(&target.cwd, target.arg.known().filter(|_| !self.moved.is_empty())?);
        let key = key.trim_end_matches('/');
        let below = |path: &str, top: &str| {
            path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let (_, source) = self.moved.iter().find(|(place, _)| below(place, key) || below(key, place))?;
        Some(Effect::File { access: *access, target: source.clone(), recursive: *recursive, by: *by })
    }

    /// A program under the name of an everyday one, in a directory that is searched first: whoever types the name runs it.
    pub(super) fn shadows_program(&self, effect: &Effect<Operand>, context: &Context<'_>) -> bool {
        let Effect::File { access: Access::Write | Access::Link, target, .. } = effect else { return false };
        let Some(Incoming::Sources { sources, .. }) = target.incoming.as_deref() else { return false };
        let (Some(path), Some(source)) = (target.arg.known(), sources.first()) else { return false };
        if context.program == "rsync" || self.elsewhere > 0 {
            return false;
        }
        let from = source.arg.prefix();
        let name = match path.strip_suffix('/') {
            Some(_) => from.rsplit('/').next(),
            None => path.rsplit('/').next(),
        };
        let at_home =
            path.starts_with(['~', '$']) || path.starts_with("/home/") || path.starts_with("/usr/local/");
        let searched = at_home && FOLDERS.iter().any(|folder| path.contains(folder));
        let hidden = ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|top| from.starts_with(top));
        let system =
            ["/usr/", "/bin/", "/opt/", "/nix/", "/snap/", "/lib/"].iter().any(|top| from.starts_with(top));
        searched
            && name.is_some_and(|name| {
                EVERYDAY.contains(&name) && !system && source.arg.known().is_some()
                    || INSTALLED.contains(&name) && hidden
            })
    }

    pub(super) fn persists(&mut self) {
        self.effect(Effect::Deed {
            verb: "change".to_owned(),
            object: "startup".to_owned(),
            cardinality: Cardinality::Single,
        });
    }
}
