//! Resolves a word to a place: its target, through links, and what exists there.

mod anywhere;
mod glob;

use lictor_core::facts::{Access, Existence, Place, Zone};
use lictor_shell::{Arg, Cwd, Known, Operand};

use crate::edits::OwnEdits;
use crate::git;
use crate::governing_file;
use crate::observer::{Observer, Seen};
use crate::project::Project;
use crate::zone::zone_of;

pub(crate) use glob::{Names, remarkable};

/// How many links are followed before a path counts as a loop.
const MAX_LINKS: usize = 40;

/// Names that a pattern is tried on: what it would match if it were there.
const SECRET_NAMES: [&str; 3] = [".env", "id_rsa", "id_ed25519"];

/// The path made absolute from `base`, with `.`, `..` and doubled slashes removed, without looking.
pub(crate) fn tidy(base: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { base };
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut out = String::with_capacity(base.len() + path.len() + 1);
    for part in parts {
        out.push('/');
        out.push_str(part);
    }
    if out.is_empty() { "/".to_owned() } else { out }
}

/// The path with every link resolved. A missing part is kept below its nearest existing parent.
pub(crate) fn follow(path: &str, observer: &dyn Observer) -> String {
    let mut pending: Vec<String> =
        path.split('/').rev().filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let mut real = String::new();
    let mut links = 0;
    let mut exists = true;
    while let Some(part) = pending.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                real.truncate(real.rfind('/').unwrap_or(0));
                continue;
            }
            _ => {}
        }
        let length = real.len();
        real.push('/');
        real.push_str(&part);
        if !exists {
            continue;
        }
        match observer.look(&real) {
            Seen::Missing => exists = false,
            Seen::Link => {
                links += 1;
                let Some(target) = observer.link(&real).filter(|_| links <= MAX_LINKS) else { return real };
                real.truncate(if target.starts_with('/') { 0 } else { length });
                pending.extend(target.split('/').rev().map(str::to_owned));
            }
            _ => {}
        }
    }
    if real.is_empty() { "/".to_owned() } else { real }
}

/// Looks at operands on behalf of one action.
pub(crate) struct Looker<'a> {
    pub(crate) project: &'a Project,
    pub(crate) observer: &'a dyn Observer,
    /// Directory of the action.
    pub(crate) cwd: &'a str,
    /// The session's own edits.
    pub(crate) edits: &'a dyn OwnEdits,
}

impl Looker<'_> {
    /// The place of an operand of a shell command.
    pub(crate) fn operand(&self, operand: &Operand, access: Access, recursive: bool) -> Place {
        let base = self.directory(&operand.cwd);
        let Arg { value, text, glob, .. } = &operand.arg;
        let text: &str = text;

        match value {
            Known::Text(path) => {
                let glob = *glob || text.contains("!(");
                self.at(base.as_deref(), path, text, glob, access, recursive)
            }
            Known::Partly { prefix, suffix } => {
                self.partly(base.as_deref(), prefix, suffix, text, access, recursive)
            }
            Known::Nothing => Place::unknown(text),
        }
    }

    /// The directory that a command runs in, absolute.
    pub(crate) fn directory(&self, cwd: &Cwd) -> Option<String> {
        match cwd {
            Cwd::Start => Some(self.cwd.to_owned()),
            Cwd::Known(dir) => Some(tidy(self.cwd, &self.untilde(dir))),
            Cwd::Glob(_) | Cwd::Unknown => None,
        }
    }

    /// The place of a path in a tool's input.
    pub(crate) fn path(&self, path: &str, access: Access, recursive: bool) -> Place {
        self.at(Some(self.cwd), path, path, false, access, recursive)
    }

    fn at(
        &self,
        base: Option<&str>,
        path: &str,
        text: &str,
        glob: bool,
        access: Access,
        recursive: bool,
    ) -> Place {
        if path.is_empty() || path.contains('\0') || path.starts_with("\\\\") {
            return Place { malformed: true, ..Place::unknown(text) };
        }
        let path = self.untilde(path);
        if is_drive(&path) {
            let zone = Zone::System;
            return Place { path: path.clone(), zone, real_zone: zone, glob, ..Place::unknown(text) };
        }
        let base = match base {
            Some(base) => base,
            None if path.starts_with('/') => "/",
            None => {
                let own = !access.is_read_only() && self.may_govern_anywhere(&path);
                return Place { own, secret: self.names_secret(&path), ..Place::unknown(text) };
            }
        };
        if glob {
            return self.glob(base, &path, text, access, recursive);
        }
        let trailing = path.ends_with('/') || path.ends_with("/.");
        let written = tidy(base, &path);
        // The system resolves `link/..` through the link; the lexical path and the real one may differ.
        let joined = if path.starts_with('/') { path.clone() } else { format!("{base}/{path}") };
        let acts_on_link = matches!(access, Access::Delete | Access::MoveAway) && !trailing;
        let real = match joined.rsplit_once('/') {
            Some((parent, name)) if acts_on_link && !matches!(name, "" | "." | "..") => {
                tidy(&follow(parent, self.observer), name)
            }
            _ => follow(&joined, self.observer),
        };
        let existence = self.existence(if acts_on_link { &written } else { &real });
        self.finish(text, written, real, existence, false, access, recursive)
    }

    /// A word of which only the ends are known.
    fn partly(
        &self,
        base: Option<&str>,
        prefix: &str,
        suffix: &str,
        text: &str,
        access: Access,
        recursive: bool,
    ) -> Place {
        let prefix = self.untilde(prefix);
        let climbs = suffix.split('/').any(|part| part == "..");
        let (Some((fixed, _)), false) = (prefix.rsplit_once('/'), climbs) else {
            let place = self.partly_name(base, (&prefix, suffix), text, climbs, (access, recursive));
            let own = prefix.is_empty() && !access.is_read_only() && self.governs_somewhere(suffix);
            return Place { own: place.own || own, ..place };
        };
        let fixed = if fixed.is_empty() { "/" } else { fixed };
        let Some(base) = base.or_else(|| fixed.starts_with('/').then_some("/")) else {
            return Place::unknown(text);
        };
        // Stands for some entry below the fixed part: judged like one.
        let written = tidy(base, fixed);
        let real = follow(&written, self.observer);
        let name = last_part(&prefix);
        let guess = format!("{}/{name}x{suffix}", written.trim_end_matches('/'));
        let mut place =
            self.finish(text, written.clone(), real.clone(), Existence::Unknown, true, access, recursive);
        // Only the matches are removed, not the whole fixed part. Everyday work happens at the top of projects
        // and homes.
        let top = self.project.roots().any(|root| *root == written) || self.project.home == written;
        if !top || !name.is_empty() || !suffix.trim_end_matches('/').is_empty() {
            let is_own = |path: &str| governing_file::is_own(path, false, self.project, self.observer);
            let tree = recursive || access == Access::MoveAway;
            place.own = !access.is_read_only()
                && (is_own(&written) || is_own(&real) || self.may_govern(&written, name, suffix, tree));
        }
        place.zone = zone_of(&child(&written), self.project);
        place.real_zone = zone_of(&child(&real), self.project);
        place.secret |= self.names_secret(&guess);
        place.own |= governing_file::is_own(&guess, false, self.project, self.observer);
        place
    }

    /// Whether a name in a directory, with known prefix and suffix, may be a governing file, or a directory that
    /// contains one.
    pub(crate) fn may_govern(&self, directory: &str, start: &str, end: &str, tree: bool) -> bool {
        let directory = directory.trim_end_matches('/').replace(['*', '?', '[', '{'], "?");
        let pattern = format!("{directory}/{start}*{}", end.trim_end_matches('/'));
        let fits = |path: &str| fast_glob::glob_match(pattern.as_str(), path);
        governing_file::files(self.project, self.observer).iter().any(|file| {
            let folders = file.match_indices('/').skip(1).map(|(at, _)| file.get(..at).unwrap_or_default());
            fits(file) || tree && folders.into_iter().any(fits)
        })
    }

    /// A word whose directory is not known, or whose known start is part of a name.
    fn partly_name(
        &self,
        base: Option<&str>,
        (prefix, suffix): (&str, &str),
        text: &str,
        climbs: bool,
        (access, recursive): (Access, bool),
    ) -> Place {
        let secret = self.names_secret(&format!("{prefix}x{suffix}"));
        match base {
            // `build-$x` in a known directory: some entry of that directory.
            Some(base) if !prefix.is_empty() && !climbs && !prefix.starts_with(['~', '-']) => {
                let zone = zone_of(&child(base), self.project);
                Place {
                    path: base.to_owned(),
                    zone,
                    real_zone: zone,
                    glob: true,
                    in_project: self.project.relative(base).map(str::to_owned),
                    secret,
                    own: !access.is_read_only()
                        && self.may_govern(base, prefix, suffix, recursive || access == Access::MoveAway),
                    ..Place::unknown(text)
                }
            }
            _ => Place { secret, ..Place::unknown(text) },
        }
    }

    fn glob(&self, base: &str, path: &str, text: &str, access: Access, recursive: bool) -> Place {
        let shape = glob::shape(path);
        let written = tidy(base, shape.fixed);
        let real = follow(&written, self.observer);
        let existence = self.existence(&real);
        let mut place = self.finish(text, written.clone(), real.clone(), existence, true, access, recursive);
        if shape.climbs {
            place.zone = Zone::Unknown;
            place.real_zone = Zone::Unknown;
        } else if !shape.everything && !is_whole_machine(&written, shape.pattern, access) {
            // A pattern that matches `.git` by name counts as it, whether or not it exists.
            let entry = if glob::means(shape.pattern, ".git") { "/.git" } else { "/x" };
            let entry = |directory: &str| format!("{}{entry}", directory.trim_end_matches('/'));
            place.zone = zone_of(&entry(&written), self.project);
            place.real_zone = zone_of(&entry(&real), self.project);
        }
        let pattern = format!("{}/{}", written.trim_end_matches('/'), shape.pattern);
        place.secret = self.names_secret(&pattern.replace(['*', '?'], ""))
            || access == Access::Read && governing_file::fits_key(&pattern, self.project, self.observer)
            || SECRET_NAMES.iter().any(|name| glob::means(shape.pattern, name));
        place.own = governing_file::is_own(&pattern, false, self.project, self.observer);
        place
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one place, used three times here")]
    fn finish(
        &self,
        text: &str,
        path: String,
        real: String,
        existence: Existence,
        glob: bool,
        access: Access,
        recursive: bool,
    ) -> Place {
        // Unpacking or copying into a directory, or changing its mode, keeps its contents.
        let tree = recursive && matches!(access, Access::Delete | Access::Destroy | Access::Empty)
            || access == Access::MoveAway;
        let is_own = |path: &str| {
            governing_file::is_own(path, tree || self.locks_up(path, access), self.project, self.observer)
        };
        // Writing to a harmless device does no harm; taking its place does.
        let takes_place =
            matches!(access, Access::Delete | Access::Destroy | Access::MoveAway | Access::Link);
        let zone_of = |path: &str| match zone_of(path, self.project) {
            Zone::HarmlessDevice if takes_place => Zone::Device,
            zone => zone,
        };
        let zone = zone_of(&path);
        let real = match glob {
            false => self.other_name(&real, existence, access).unwrap_or(real),
            true => real,
        };
        let differs = real != path;
        let holds_key = |path: &str| governing_file::holds_key(path, self.project, self.observer);
        let key = access == Access::Read && !glob && (holds_key(&path) || differs && holds_key(&real));
        Place {
            text: text.to_owned(),
            zone,
            real_zone: if differs { zone_of(&real) } else { zone },
            existence,
            glob,
            in_project: self.project.relative(&path).map(str::to_owned),
            own: !access.is_read_only() && (is_own(&path) || differs && is_own(&real)),
            secret: key || self.names_secret(&path) || differs && self.names_secret(&real),
            committed: access == Access::Restore
                && !glob
                && git::holds_nothing_new(&path, self.observer, self.edits),
            malformed: false,
            content: None,
            real: differs.then_some(real),
            path,
        }
    }

    pub(crate) fn existence(&self, path: &str) -> Existence {
        match self.observer.look(path) {
            Seen::File { empty: true } => Existence::EmptyFile,
            Seen::File { empty: false } => Existence::File,
            Seen::Directory => Existence::Directory,
            Seen::Special => Existence::Special,
            Seen::Missing => Existence::Missing,
            // A link that is acted on itself, or one that leads nowhere.
            Seen::Link => Existence::File,
            Seen::Unknown => Existence::Unknown,
        }
    }

    /// Whether changed permissions of a directory may make its governing files inaccessible. Changing permissions
    /// of the whole project, its repository or a person's directories is everyday work.
    fn locks_up(&self, path: &str, access: Access) -> bool {
        matches!(access, Access::ChangeMode | Access::ChangeOwner)
            && self.project.relative(path).is_some_and(|inside| !matches!(inside, "" | "."))
            && !self.project.git_dirs.iter().any(|dir| dir == path)
    }

    /// Whether policy treats this path specially.
    pub(crate) fn is_watched(&self, path: &str) -> bool {
        let relative = self.project.relative(path).unwrap_or(path);
        self.project.watched.iter().any(|glob| fast_glob::glob_match(glob.as_str(), relative) || glob == path)
    }

    fn names_secret(&self, path: &str) -> bool {
        if self.observer.folds_case(path) {
            return lictor_shell::programs::is_secret_path(&path.to_lowercase());
        }
        lictor_shell::programs::is_secret_path(path)
    }

    /// `~` and `~user` resolved. Homes of unknown users are assumed to be beside the current one.
    pub(crate) fn untilde(&self, path: &str) -> String {
        let Some(rest) = path.strip_prefix('~') else { return path.to_owned() };
        let (user, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let home = match user {
            "" => self.project.home.clone(),
            "+" => self.cwd.to_owned(),
            user if user.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') => {
                self.observer.home_of(user).unwrap_or_else(|| {
                    let homes = self.project.home.rsplit_once('/').map_or("/home", |(homes, _)| homes);
                    format!("{homes}/{user}")
                })
            }
            _ => return path.to_owned(),
        };
        format!("{home}{below}")
    }
}

/// `C:/x` and `C:\x`: a path of another system, never one of the project.
fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

fn child(directory: &str) -> String {
    format!("{}/x", directory.trim_end_matches('/'))
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Whether files are changed wherever they are on the machine: `find / -name '*.py' -exec sed -i …`.
fn is_whole_machine(directory: &str, pattern: &str, access: Access) -> bool {
    matches!(directory, "/" | "/home" | "/Users")
        && pattern.contains("**")
        && matches!(access, Access::Write | Access::Modify | Access::Empty)
}

#[cfg(test)]
mod tests;
