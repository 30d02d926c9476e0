//! Files that the line moved or linked, which keep their identity under the new name; and programs that replace
//! others.

use lictor_core::facts::{Access, Cardinality, Effect};

use super::Walker;
use super::simple::Context;
use crate::operand::{Arg, Cwd, Incoming, Operand};
use crate::paths::{self, is_at_or_below};
use crate::words::{EVERYDAY_NAMES, INSTALLED_NAMES};

/// Most moves of one line that are remembered.
const MOST: usize = 64;
/// Directories for a person's own programs, before the system's in the search path.
const FOLDERS: [&str; 4] = ["/.local/bin/", "/bin/", "/usr/local/bin/", "/usr/local/sbin/"];
/// One thing that the line moved, or copied as links.
pub(super) struct Moved {
    /// Where it is now.
    place: String,
    /// Where it was.
    source: Operand,
    /// It is still there too.
    linked: bool,
}

impl Walker<'_> {
    /// Remembers what a command moves, and where to.
    pub(super) fn note_moved(&mut self, effects: &[Effect<Operand>]) {
        // A copy with hard links shares its content with the original.
        let linked = effects.iter().any(|effect| matches!(effect, Effect::File { access: Access::Link, .. }));
        let taken = |effect: &Effect<Operand>| match effect {
            Effect::File { access: Access::MoveAway, target, .. } => Some(target.clone()),
            Effect::File { access: Access::Read, target, .. } if linked => Some(target.clone()),
            _ => None,
        };
        let sources: Vec<Operand> = effects.iter().filter_map(taken).collect();
        let arrives = |effect: &Effect<Operand>| match effect {
            Effect::File { access: Access::Write | Access::Link, target, .. } => {
                Some(paths::key(&target.cwd, target.arg.known()?))
            }
            _ => None,
        };
        let Some(place) = effects.iter().find_map(arrives) else { return };
        for source in sources.into_iter().take(MOST.saturating_sub(self.moved.len())) {
            self.moved.push(Moved { place: place.trim_end_matches('/').to_owned(), source, linked });
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
        // A link that goes takes nothing with it.
        let lost = |moved: &&Moved| !moved.linked || *access != Access::Delete;
        let found = |moved: &&Moved| is_at_or_below(&moved.place, key) || is_at_or_below(key, &moved.place);
        let Moved { source, .. } = self.moved.iter().filter(lost).find(found)?;
        Some(Effect::File { access: *access, target: source.clone(), recursive: *recursive, by: *by })
    }

    /// The same effect through a link that the line itself created.
    pub(super) fn behind_link(&self, effect: &Effect<Operand>) -> Option<Effect<Operand>> {
        let Effect::File { access, target, recursive, by } = effect else { return None };
        if !self.links || matches!(access, Access::List | Access::Execute) {
            return None;
        }
        let path = target.arg.known()?;
        let key = paths::key(&target.cwd, path);
        // Losing the link itself is harmless; losing its target is not. Reading and writing follow the link, and so does
        // a path with a trailing slash.
        let itself =
            matches!(access, Access::Read | Access::Write | Access::Append | Access::Modify | Access::Empty)
                || path.ends_with('/');
        let ends = key.match_indices('/').map(|(at, _)| at).chain(itself.then_some(key.len()));
        let (link, rest) = ends
            .filter_map(|at| key.split_at_checked(at))
            .find_map(|(start, rest)| Some((self.state.file(start)?.link.clone()?, rest)))?;
        let real = paths::clean(&format!("{link}{rest}"));
        let arg = Arg { value: crate::operand::Known::Text(real.into()), ..target.arg.clone() };
        let target = Operand { arg, cwd: Cwd::Start, incoming: target.incoming.clone() };
        Some(Effect::File { access: *access, target, recursive: *recursive, by: *by })
    }

    /// A program under the name of an everyday one, in a directory that is searched first: it runs when the name
    /// is typed.
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
        let hidden = paths::is_temporary(from);
        let system =
            ["/usr/", "/bin/", "/opt/", "/nix/", "/snap/", "/lib/"].iter().any(|top| from.starts_with(top));
        searched
            && name.is_some_and(|name| {
                EVERYDAY_NAMES.contains(&name) && !system && source.arg.known().is_some()
                    || INSTALLED_NAMES.contains(&name) && hidden
            })
    }

    pub(super) fn persists(&mut self) {
        self.effect(Effect::Deed {
            verb: "change".to_owned(),
            object: "startup".to_owned(),
            cardinality: Cardinality::Single,
            what: None,
        });
    }
}

/// Whether a path is that of an everyday program, in a person's own directory; `written` when its text is on the
/// line, which is not an installation.
pub(super) fn is_everyday(path: &str, written: bool) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    (folder.ends_with("/.local/bin") || folder.ends_with("/bin") && !folder.contains("/project/"))
        && !folder.contains("venv")
        && !folder.contains("node_modules")
        && folder.matches('/').count() <= 4
        && (EVERYDAY_NAMES.contains(&name) || written && INSTALLED_NAMES.contains(&name))
}
