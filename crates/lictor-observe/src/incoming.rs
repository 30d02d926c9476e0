//! The files that a copy, an archive or a patch would create in a directory, as far as they can be determined.

use lictor_core::facts::{Access, Existence, Facts, Place, Zone};
use lictor_shell::{Arg, Coding, Cwd, Incoming, Known, Operand, Source};

use crate::governing_file;
use crate::members::{self, Link, Member};
use crate::observer::Seen;
use crate::place::{Looker, tidy};

/// The maximum number of source entries that are read.
const MAX_ENTRIES: usize = 2048;
/// How deep a source is searched.
const MAX_DEPTH: usize = 5;
/// How many created files are reported.
const MAX_CREATED: usize = 64;
/// How many links of an archive are followed.
const MAX_LINKS: usize = 512;
/// The most of a diff that is read.
const DIFF_LIMIT: usize = 4 * 1024 * 1024;

/// What is known about the name of an incoming file.
enum Name {
    /// The whole name.
    Known(String),
    /// Its start and end.
    Partly(String, String),
    /// A pattern that it fits.
    Pattern(String),
    /// Nothing.
    Any,
}

impl Name {
    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Known(known) => known == name,
            Self::Partly(start, end) => name.starts_with(start.as_str()) && name.ends_with(end.as_str()),
            Self::Pattern(pattern) => fast_glob::glob_match(pattern.as_str(), name),
            Self::Any => true,
        }
    }
}

/// What a write creates.
#[derive(Default)]
pub(crate) struct Created {
    /// The files and trees themselves. They replace the target if `instead` is set.
    pub(crate) places: Vec<(Access, Place)>,
    /// All that arrives at the target is named.
    pub(crate) instead: bool,
    /// The names are single files: no tree of the target is affected.
    pub(crate) files: bool,
    /// The source is a local archive that cannot be read, and the target is where agents read settings.
    pub(crate) unread: bool,
}

/// The analysis of what arrives at one target.
struct Arrival<'a> {
    looker: &'a Looker<'a>,
    target: &'a Place,
    access: Access,
    /// What the line has done so far.
    before: &'a Facts,
    created: Created,
    seen: usize,
}

/// What the operand's write creates at that place, taking earlier commands of the line into account.
pub(crate) fn created(
    looker: &Looker<'_>,
    operand: &Operand,
    target: &Place,
    access: Access,
    (incoming, before): (&Incoming, &Facts),
) -> Created {
    if target.path.is_empty() || target.malformed {
        return Created::default();
    }
    let other = told_apart(looker, operand, target);
    let target = other.as_ref().unwrap_or(target);
    let mut arrival = Arrival { looker, target, access, before, created: Created::default(), seen: 0 };
    match incoming {
        Incoming::Sources { sources, into, exact, linked, kept } => {
            arrival.sources(operand, sources, *into, *exact, *linked);
            let there = |place: &Place| matches!(place.existence, Existence::File | Existence::EmptyFile);
            arrival.created.places.retain(|(_, place)| !(*kept && there(place)));
        }
        Incoming::Archive { files, coding, strip, flat, only } => {
            let is_file =
                |path: &String| matches!(looker.observer.look(path), Seen::File { .. } | Seen::Link);
            let paths: Vec<String> =
                files.iter().filter_map(|file| arrival.local(file, &operand.cwd)).filter(is_file).collect();
            let members = match paths.as_slice() {
                [path] => members::of(path, *coding, looker.observer),
                _ => None,
            };
            // What another program makes of files on this machine.
            let made = *coding == Coding::Other && files.iter().any(|file| file.value == Known::Nothing);
            let mut read_there =
                [looker.cwd, looker.project.root.as_str(), looker.project.home.as_str()].into_iter();
            let there = read_there.any(|read| crate::zone::is_at_or_below(read, &target.path));
            arrival.created.unread = members.is_none() && there && (made || !paths.is_empty());
            arrival.archive(members, *strip, *flat, only);
        }
        Incoming::Patch { file, strip } => {
            let file = arrival.local(file, &operand.cwd);
            let text = file.and_then(|file| looker.observer.text(&file, DIFF_LIMIT));
            arrival.patch(text.as_deref(), *strip);
        }
        Incoming::Nothing | Incoming::Submodules => {}
        Incoming::Unknown | Incoming::Commit { .. } => arrival.fear(&target.path, &Name::Any, true),
    }
    arrival.created
}

/// A tree that holds what governs, of which every file gets another name.
pub(crate) fn linked_tree(looker: &Looker<'_>, operand: &Operand, sources: &[Source]) -> Option<Place> {
    let base = looker.directory(&operand.cwd)?;
    let known = sources.iter().filter(|source| !source.elsewhere && !source.arg.glob);
    let path = known
        .filter_map(|source| Some(tidy(&base, &looker.untilde(source.arg.known()?))))
        .find(|path| governing_file::is_own(path, true, looker.project, looker.observer))?;
    let place = looker.path(&path, Access::Link, false);
    let text = looker.project.relative(&path).filter(|text| !text.is_empty()).unwrap_or(&path).to_owned();
    Some(Place { text, own: true, ..place })
}

/// A target of which only the ends of its name are known, as one that has such a name: where no directory that governs
/// has one, what arrives does not arrive in the directory around it.
fn told_apart(looker: &Looker<'_>, operand: &Operand, target: &Place) -> Option<Place> {
    let Known::Partly { prefix, suffix } = &operand.arg.value else { return None };
    let name = last(prefix);
    if name.is_empty() && suffix.trim_end_matches('/').is_empty()
        || looker.may_govern(&target.path, name, suffix, true)
    {
        return None;
    }
    let path = join(&target.path, &format!("{name}x{}", suffix.trim_end_matches('/')));
    Some(Place { path, glob: false, ..target.clone() })
}

impl Arrival<'_> {
    /// The absolute path of a file operand, when it is known.
    fn local(&self, file: &Arg, cwd: &Cwd) -> Option<String> {
        let path = file.known().filter(|_| !file.glob)?;
        Some(tidy(&self.looker.directory(cwd)?, &self.looker.untilde(path)))
    }

    fn is_directory(&self, path: &str) -> bool {
        match self.looker.observer.look(path) {
            Seen::Directory => true,
            Seen::Link => {
                let real = crate::place::follow(path, self.looker.observer);
                self.looker.observer.look(&real) == Seen::Directory
            }
            _ => false,
        }
    }

    fn sources(&mut self, operand: &Operand, sources: &[Source], into: bool, exact: bool, linked: bool) {
        let text = &self.target.text;
        let named_directory = into || text.ends_with('/') || text.ends_with("/.") || sources.len() > 1;
        let directory =
            !exact && !self.target.glob && (named_directory || self.target.existence == Existence::Directory);
        let target = self.target.path.clone();
        self.created.instead = directory;
        if self.target.glob {
            self.matched(sources, operand);
        }
        for source in sources {
            let source_path = (!source.elsewhere).then(|| self.local(&source.arg, &operand.cwd)).flatten();
            let contents = source.contents
                || source_path.is_some() && matches!(last(source.arg.prefix()), "" | "." | "..");
            if let Some(path) = source_path.as_ref() {
                self.another_name(path, linked);
            }
            self.other_ways_to(source, operand, linked, directory);
            if source.arg.known().is_none() && source.arg.text.contains("lictor") {
                self.program_by_command(&source.arg.text);
            }
            // Only files are copied without their tree: a directory represents the files that `find` found in it.
            if !source.tree && source_path.as_ref().is_some_and(|path| self.is_directory(path)) {
                self.created.instead = false;
                self.fear(&target, &Name::Any, false);
                continue;
            }
            // `cp -r a/ b`: one `cp` implementation copies the directory, the other its contents.
            let either = directory && contents && !source.contents && source.arg.prefix().ends_with('/');
            if contents || !directory {
                if linked {
                    self.fear(&target, &Name::Any, true);
                } else if source.tree {
                    self.tree(source_path.as_deref(), &target);
                }
                self.created.instead &= !contents;
                if !either {
                    continue;
                }
            }
            for name in self.names(source, operand) {
                match name {
                    Name::Known(name) => {
                        let path = join(&target, &name);
                        self.add(&path, true);
                        if linked {
                            // The target of a link counts like a file.
                            self.fear(&path, &Name::Any, true);
                        } else if source.tree {
                            let from = source_path.as_deref().filter(|_| !source.arg.glob);
                            self.tree(from, &path);
                        }
                    }
                    name => {
                        self.created.instead = false;
                        self.fear(&target, &name, source.tree);
                    }
                }
            }
        }
    }

    /// The target is a pattern: it may match a directory in which one of the sources would govern.
    fn matched(&mut self, sources: &[Source], operand: &Operand) {
        let names: Vec<Name> = sources.iter().flat_map(|source| self.names(source, operand)).collect();
        let Some(pattern) = operand.arg.known().zip(self.looker.directory(&operand.cwd)) else { return };
        let pattern = tidy(&pattern.1, &self.looker.untilde(pattern.0));
        let files = governing_file::files(self.looker.project, self.looker.observer);
        let mut folders: Vec<&str> = files.iter().filter_map(|path| Some(path.rsplit_once('/')?.0)).collect();
        folders.dedup();
        for folder in folders.into_iter().filter(|folder| fast_glob::glob_match(pattern.as_str(), *folder)) {
            for name in &names {
                self.fear(folder, name, true);
            }
        }
    }

    /// The names under which a source arrives in a directory.
    fn names(&self, source: &Source, operand: &Operand) -> Vec<Name> {
        let arg = &source.arg;
        let tail = |text: &str| {
            let text = text.trim_end_matches('/');
            let text = if source.elsewhere { text.rsplit(':').next().unwrap_or(text) } else { text };
            last(text).to_owned()
        };
        match &arg.value {
            Known::Text(path) if arg.glob => {
                let pattern = tail(path);
                let folder = path.trim_end_matches('/').strip_suffix(pattern.as_str()).unwrap_or_default();
                let folder = folder.to_owned();
                if source.elsewhere || folder.contains(['*', '?', '[', '{']) {
                    return vec![Name::Pattern(pattern)];
                }
                let base = self.looker.directory(&operand.cwd);
                let folder = base.map(|base| tidy(&base, &self.looker.untilde(&folder)));
                let listed =
                    folder.as_ref().and_then(|folder| self.looker.observer.names(folder, MAX_ENTRIES));
                match listed {
                    Some(listing) if !listing.cut => {
                        let made = self.made_in(folder.as_deref().unwrap_or_default());
                        let made = made.into_iter().filter(|(name, _)| !name.contains('/'));
                        let mut found: Vec<Name> = listing
                            .names
                            .into_iter()
                            .chain(made.map(|(name, _)| name))
                            .filter(|name| fast_glob::glob_match(pattern.as_str(), name.as_str()))
                            .map(Name::Known)
                            .collect();
                        // The line itself may still make some that fit.
                        if found.len() > MAX_CREATED || found.is_empty() {
                            found = vec![Name::Pattern(pattern)];
                        }
                        found
                    }
                    _ => vec![Name::Pattern(pattern)],
                }
            }
            Known::Text(path) => match tail(path).as_str() {
                "" | "." | ".." => vec![Name::Any],
                name => vec![Name::Known(name.to_owned())],
            },
            Known::Partly { prefix, suffix } => match suffix.trim_end_matches('/').rsplit_once('/') {
                Some((_, name)) => vec![Name::Known(name.to_owned())],
                None => vec![Name::Partly(last(prefix).to_owned(), suffix.clone())],
            },
            Known::Nothing => vec![Name::Any],
        }
    }

    /// The whole source tree arrives below a directory.
    fn tree(&mut self, source: Option<&str>, target: &str) {
        match source {
            Some(source) if self.is_directory(source) => {
                self.below(source, target, 0);
                self.made_below(source, target);
            }
            Some(source) if self.looker.observer.look(source) != Seen::Missing => {}
            // Missing or unknown: it may contain anything.
            _ => self.fear(target, &Name::Any, true),
        }
    }

    fn below(&mut self, source: &str, target: &str, depth: usize) {
        let left = MAX_ENTRIES.saturating_sub(self.seen);
        let Some(listing) = self.looker.observer.names(source, left) else { return };
        self.seen += listing.names.len();
        if listing.cut || depth >= MAX_DEPTH {
            self.fear(target, &Name::Any, true);
        }
        for name in listing.names {
            let (from, to) = (join(source, &name), join(target, &name));
            if self.looker.observer.look(&from) == Seen::Directory {
                if depth < MAX_DEPTH {
                    self.below(&from, &to, depth + 1);
                }
            } else {
                self.add(&to, false);
            }
        }
    }

    /// What the line itself has put into a directory, and whether that is a pattern.
    fn made_in(&self, directory: &str) -> Vec<(String, bool)> {
        let made = |(access, place): (Access, &Place)| {
            let inner = place.path.strip_prefix(directory)?.strip_prefix('/')?;
            (!access.is_read_only() && access != Access::Delete).then(|| (inner.to_owned(), place.glob))
        };
        self.before.files().filter_map(made).collect()
    }

    /// What the line itself has put into a source tree arrives too.
    fn made_below(&mut self, source: &str, target: &str) {
        for (inner, glob) in self.made_in(source) {
            match inner.rsplit_once('/') {
                Some((folder, name)) if glob => {
                    self.fear(&join(target, folder), &Name::Pattern(name.to_owned()), true);
                }
                None if glob => self.fear(target, &Name::Pattern(inner), true),
                _ => self.add(&join(target, &inner), false),
            }
        }
    }

    fn archive(&mut self, members: Option<Vec<Member>>, strip: usize, flat: bool, only: &[String]) {
        let target = self.target.path.clone();
        let Some(members) = members else { return self.fear(&target, &Name::Any, true) };
        self.created.files = true;
        let wanted = |member: &&Member| {
            only.is_empty()
                || only.iter().any(|only| fast_glob::glob_match(only.as_str(), member.name.as_str()))
        };
        // Symbolic links among the members, with where they lead: later members may go through them.
        let mut links: Vec<(String, String)> = Vec::new();
        for Member { name, link } in members.iter().filter(wanted) {
            if name.ends_with('/') {
                continue;
            }
            let kept = match flat {
                true => last(name),
                false => stripped(name, strip),
            };
            if kept.is_empty() {
                continue;
            }
            let path = through(&links, tidy(&target, kept.trim_start_matches('/')));
            self.add(&path, false);
            if link.is_some() && links.len() >= MAX_LINKS {
                // Nobody looks through so many.
                self.created.unread = true;
                return;
            }
            match link {
                Some(Link::Symbolic(leads)) => {
                    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                    let leads = through(&links, tidy(folder, leads));
                    self.another_name(&leads, true);
                    links.push((path, leads));
                }
                Some(Link::Hard(leads)) => {
                    let leads =
                        through(&links, tidy(&target, stripped(leads, strip).trim_start_matches('/')));
                    self.another_name(&leads, true);
                    links.push((path, leads));
                }
                None => {}
            }
        }
    }

    fn patch(&mut self, text: Option<&str>, strip: usize) {
        let target = self.target.path.clone();
        let read = text.and_then(|text| lictor_shell::patch::read_diff(text, strip).ok());
        let Some(files) = read else { return self.fear(&target, &Name::Any, true) };
        self.created.instead = files.len() <= MAX_CREATED;
        self.created.files = true;
        for file in files {
            let path = tidy(&target, &file.path);
            let place = self.looker.path(&path, file.access, false);
            if self.created.instead || self.is_worth(&place) {
                let text = self.looker.project.relative(&path).unwrap_or(&path).to_owned();
                self.created.places.push((file.access, Place { text, ..place }));
            }
        }
    }

    /// A file is created. Those inside a tree count only where they deserve their own judgement.
    fn add(&mut self, path: &str, named: bool) {
        if self.created.places.len() >= MAX_CREATED {
            return;
        }
        let place = self.looker.path(path, self.access, false);
        if named || self.is_worth(&place) {
            let text = self.looker.project.relative(path).unwrap_or(path).to_owned();
            self.created.places.push((self.access, Place { text, ..place }));
        }
    }

    fn is_worth(&self, place: &Place) -> bool {
        let elsewhere = |zone: Zone| !matches!(zone, Zone::Project | Zone::Temp | Zone::TempRoot);
        place.own
            || place.secret
            || place.zones().into_iter().any(elsewhere)
            || self.looker.is_watched(&place.path)
    }

    /// Something arrives in a directory of which the name is not known: it may be what governs, or what is run later.
    fn fear(&mut self, directory: &str, name: &Name, tree: bool) {
        let Looker { project, observer, .. } = self.looker;
        let real = crate::place::follow(directory, *observer);
        let mut candidates = governing_file::could_govern(directory, project, *observer);
        if real != directory {
            candidates.extend(governing_file::could_govern(&real, project, *observer));
        }
        let feared = candidates.into_iter().find(|inner| {
            let (first, deep) = inner.split_once('/').map_or((inner.as_str(), false), |(top, _)| (top, true));
            (tree || !deep) && name.fits(first)
        });
        if let Some(inner) = feared {
            self.created.instead = false;
            let path = join(directory, &inner);
            let place = self.looker.path(&path, self.access, false);
            let text = format!("{}/{inner}", self.target.text.trim_end_matches('/'));
            self.created.places.push((self.access, Place { text, ..place }));
        }
    }

    /// Sources that are not named themselves: matches of a pattern, files in a tree, and targets of relative
    /// links.
    fn other_ways_to(&mut self, source: &Source, operand: &Operand, linked: bool, directory: bool) {
        if source.elsewhere {
            return;
        }
        let Looker { project, observer, .. } = self.looker;
        let Some((text, base)) = source.arg.known().zip(self.looker.directory(&operand.cwd)) else { return };
        if text.starts_with("/proc/") && text.ends_with("/exe") {
            return self.program_by_command(text);
        }
        let path = tidy(&base, &self.looker.untilde(text));
        if source.arg.glob {
            let mut found = governing_file::programs(project, *observer);
            found.retain(|program| observer.look(program) != Seen::Missing);
            // A pattern for the whole project matches unknown files; one for specific names does not.
            let fixed = path.split(['*', '?', '[', '{']).next().unwrap_or_default().trim_end_matches('/');
            let all = path
                .strip_prefix(fixed)
                .is_some_and(|rest| rest.trim_matches(['*', '?', '{', '}', ',', '.', '/']).is_empty());
            if linked && !(all && crate::zone::is_at_or_below(&project.root, fixed)) {
                found.extend(governing_file::files(project, *observer));
            }
            found.retain(|file| fast_glob::glob_match(path.as_str(), file.as_str()));
            return found.iter().for_each(|file| self.another_name(file, linked));
        }
        if source.tree && !linked && !crate::zone::is_at_or_below(&project.root, &path) {
            let mut programs = governing_file::programs(project, *observer);
            let inside = |program: &String| {
                *program != path
                    && crate::zone::is_at_or_below(program, &path)
                    && observer.look(program) != Seen::Missing
            };
            programs.retain(inside);
            programs.iter().for_each(|program| self.another_name(program, false));
        }
        // A relative name in a symbolic link begins where the link is.
        if linked && !text.starts_with(['/', '~']) {
            let target = self.target.path.as_str();
            let from = if directory { target } else { target.rsplit_once('/').map_or("", |(from, _)| from) };
            let named = tidy(from, text);
            if named != path {
                self.another_name(&named, true);
            }
        }
    }

    /// `cp $(which lictor) x`.
    fn program_by_command(&mut self, text: &str) {
        let place = Place { own: true, ..Place::unknown(text) };
        self.created.places.push((Access::Link, place));
    }

    /// A link to something that governs would be a way to it that no longer bears its name; so would a copy of the
    /// program.
    fn another_name(&mut self, source: &str, linked: bool) {
        let Looker { project, observer, .. } = self.looker;
        let real = crate::place::follow(source, *observer);
        let governs = self.looker.is_program(source)
            || linked
                && [source, real.as_str()].into_iter().any(|path| {
                    governing_file::is_own(path, false, project, *observer)
                        || self.is_directory(path)
                            && !crate::zone::is_at_or_below(&project.root, path)
                            && !governing_file::could_govern(path, project, *observer).is_empty()
                        || self.looker.other_name(path, self.looker.existence(path), Access::Modify).is_some()
                });
        if linked && [source, real.as_str()].into_iter().any(|path| self.looker.is_watched(path)) {
            let place = self.looker.path(source, Access::Read, false);
            self.created.places.push((Access::Read, place));
        }
        if governs {
            let place = self.looker.path(source, Access::Link, false);
            let text = project.relative(source).unwrap_or(source).to_owned();
            self.created.places.push((Access::Link, Place { text, own: true, ..place }));
        }
    }
}

fn join(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Where a path leads by links that precede it in the archive.
fn through(links: &[(String, String)], path: String) -> String {
    links.iter().rev().fold(path, |path, (link, leads)| {
        let rest = path.strip_prefix(link.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        rest.map(|rest| format!("{leads}{rest}")).unwrap_or(path)
    })
}

/// A member's name without its first folders; empty when it has no more than those.
fn stripped(name: &str, strip: usize) -> &str {
    let name = name.trim_start_matches("./");
    (0..strip).fold(name, |name, _| name.split_once('/').map_or("", |(_, rest)| rest))
}

#[cfg(test)]
mod tests;
