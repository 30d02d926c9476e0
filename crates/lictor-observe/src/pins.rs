//! The files that an approval covers besides the action itself: those it would run or read.

use std::collections::BTreeSet;

use lictor_core::approval::Pin;
use lictor_core::facts::{Access, Effect};
use lictor_core::{Action, Digest, Facts};
use lictor_shell::programs::recipes_of;

use crate::observer::{Observer, Seen};
use crate::place::tidy;

/// The largest file whose content is pinned; of a larger one only that it is there.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// More files than a line names; what comes after is not pinned.
const MOST_FILES: usize = 64;
/// So many more are pinned that those files mention.
const MOST_MENTIONED: usize = 192;
/// The maximum number of directory entries that are checked for files that a program finds by extension.
const MOST_ENTRIES: usize = 2_000;
/// A longer file is data rather than a script.
const LONGEST_SCRIPT: usize = 256 * 1024;
/// The maximum number of different words of a script that are checked.
const MOST_WORDS: usize = 1_000;

/// Extensions that programs add to a name: `python -m deploy`, `node deploy`, `require('./deploy')`.
const ENDINGS: [&str; 12] = [
    ".py",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".rb",
    ".sh",
    "/__main__.py",
    "/__init__.py",
    "/index.js",
    "/index.ts",
    "/main.go",
];

/// The files that an action would run or read, with what is in them now: first those that it names, then those that they
/// mention.
#[must_use]
pub fn pins(action: &Action, facts: &Facts, observer: &dyn Observer) -> Vec<Pin> {
    let mut named: BTreeSet<String> = BTreeSet::new();
    for effect in &facts.effects {
        match effect {
            Effect::Run(command) => {
                let from = command.directory.as_deref().unwrap_or(&action.cwd);
                let words = command.args.iter().flatten().chain(&command.words);
                let words = words.chain([&command.program]).map(String::as_str);
                named.extend(files_named_by(words, from, observer));
            }
            Effect::File { access: Access::Read | Access::Execute, target, .. } if !target.glob => {
                let path = target.real.as_ref().unwrap_or(&target.path);
                named.extend(Some(path).filter(|path| is_file(path, observer)).cloned());
            }
            _ => {}
        }
    }
    let named: Vec<String> = named.into_iter().take(MOST_FILES).collect();
    let mentioned = named.iter().flat_map(|file| files_mentioned_in(file, &action.cwd, observer));
    let mentioned: BTreeSet<String> = mentioned.filter(|file| !named.contains(file)).collect();
    let pin = |path: String| {
        let content = observer.content(&path, MOST_BYTES).unwrap_or(Digest::ZERO);
        Pin { path, content }
    };
    named.into_iter().chain(mentioned.into_iter().take(MOST_MENTIONED)).map(pin).collect()
}

/// The files that the words of a command line may refer to: as paths, values of options, modules, and default
/// files of programs, such as `make` and a `Makefile`.
#[must_use]
pub fn files_named_by<'a>(
    words: impl IntoIterator<Item = &'a str>,
    from: &str,
    observer: &dyn Observer,
) -> BTreeSet<String> {
    let (mut files, mut directories) = (BTreeSet::new(), BTreeSet::from([from.to_owned()]));
    let mut recipes: BTreeSet<&str> = BTreeSet::new();
    for word in words {
        recipes.extend(recipes_of(word.rsplit('/').next().unwrap_or(word)));
        let value = word.split_once('=').map(|(_, value)| value);
        let attached = word.strip_prefix('-').and_then(|option| option.get(1..));
        for name in [Some(word), value, attached].into_iter().flatten().filter(|name| could_be_a_file(name)) {
            let path = tidy(from, name);
            if observer.look(&path) == Seen::Directory {
                directories.insert(path);
            }
            files.extend(standing_for(name, from, observer));
        }
    }
    for directory in &directories {
        for recipe in &recipes {
            match recipe.split_once('*') {
                Some((start, end)) => files.extend(files_like(directory, start, end, observer)),
                None => files.extend(Some(tidy(directory, recipe)).filter(|path| is_file(path, observer))),
            }
        }
    }
    files
}

/// The files of a directory with this prefix and suffix. A directory with too many entries is not searched.
fn files_like(directory: &str, start: &str, end: &str, observer: &dyn Observer) -> Vec<String> {
    let Some(found) = observer.names(directory, MOST_ENTRIES) else { return Vec::new() };
    let fits = |name: &&String| name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end));
    let paths = found.names.iter().filter(fits).map(|name| tidy(directory, name));
    paths.filter(|path| is_file(path, observer)).collect()
}

/// The files that a script mentions: those that it runs, includes or imports.
#[must_use]
pub fn files_mentioned_in(script: &str, cwd: &str, observer: &dyn Observer) -> BTreeSet<String> {
    let Some(text) = observer.text(script, LONGEST_SCRIPT) else { return BTreeSet::new() };
    let beside = script.rsplit_once('/').map_or("/", |(directory, _)| directory);
    let words = text.split(|c: char| !c.is_alphanumeric() && !"_-./@+".contains(c));
    // A plain word names a file only where modules are called so.
    let counts =
        |word: &&str| could_be_a_file(word) && (word.contains(['.', '/']) || script.ends_with(".py"));
    let words: BTreeSet<&str> = words.filter(counts).take(MOST_WORDS).collect();
    let places = words.iter().flat_map(|word| [beside, cwd].map(|from| standing_for(word, from, observer)));
    places.flatten().collect()
}

/// The files that programs find by such a name.
fn standing_for(name: &str, from: &str, observer: &dyn Observer) -> Vec<String> {
    let path = tidy(from, name);
    match observer.look(&path) {
        Seen::File { .. } | Seen::Link => return vec![path],
        Seen::Special | Seen::Unknown => return Vec::new(),
        Seen::Directory | Seen::Missing => {}
    }
    let module = tidy(from, &name.trim_matches('.').replace('.', "/"));
    let modules = [".py", "/__main__.py", "/__init__.py"].map(|ending| format!("{module}{ending}"));
    let others = ENDINGS.iter().map(|ending| format!("{path}{ending}"));
    others.chain(modules).filter(|path| is_file(path, observer)).collect()
}

fn is_file(path: &str, observer: &dyn Observer) -> bool {
    matches!(observer.look(path), Seen::File { .. } | Seen::Link)
}

/// Options and words that cannot be file names are skipped.
fn could_be_a_file(word: &str) -> bool {
    !word.is_empty() && word.len() < 4096 && !word.starts_with('-') && !word.contains(['\0', '\n'])
}

#[cfg(test)]
mod tests;
