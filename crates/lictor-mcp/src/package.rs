//! Which package a server's program comes from, and at which version. Only files and the process list are read;
//! no program is run.

mod find;

use std::ffi::OsString;
use std::path::Path;

pub(crate) use find::version_of_program;

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registry {
    Npm,
    PyPi,
}

/// A package that a command line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) registry: Registry,
    pub(crate) name: String,
    /// The version, where the command line leaves no choice of it.
    pub(crate) exact: Option<String>,
    /// Which word of the command line names it.
    word: usize,
}

/// A program that fetches a package and runs it.
struct Runner {
    program: &'static str,
    /// The words between the program and its options.
    verb: &'static [&'static str],
    registry: Registry,
    /// Options whose value is the package.
    names: &'static [&'static str],
    /// Options whose value is something else.
    values: &'static [&'static str],
}

const NPM_VALUES: &[&str] =
    &["-c", "--call", "-w", "--workspace", "--registry", "--cache", "--userconfig", "--prefix", "--loglevel"];
const UV_VALUES: &[&str] = &[
    "--with",
    "-w",
    "--with-editable",
    "--with-requirements",
    "--python",
    "-p",
    "--index",
    "--default-index",
    "--index-url",
    "-i",
    "--extra-index-url",
    "--find-links",
    "-f",
    "--constraints",
    "-c",
    "--overrides",
    "--cache-dir",
    "--config-file",
    "--directory",
    "--project",
    "--env-file",
    "--python-preference",
    "--prerelease",
    "--resolution",
];

/// One row for each way to call such a program.
const RUNNERS: &[Runner] = &[
    npm("npx", &[], &["-p", "--package"]),
    npm("npm", &["exec"], &["--package"]),
    npm("npm", &["x"], &["--package"]),
    npm("pnpx", &[], &["--package"]),
    npm("pnpm", &["dlx"], &["--package"]),
    npm("yarn", &["dlx"], &["-p", "--package"]),
    npm("bunx", &[], &["-p", "--package"]),
    npm("bun", &["x"], &["-p", "--package"]),
    pypi("uvx", &[], &["--from"], UV_VALUES),
    pypi("uv", &["tool", "run"], &["--from"], UV_VALUES),
    pypi("pipx", &["run"], &["--spec"], &["--python", "--index-url", "-i", "--pip-args"]),
];

const fn npm(program: &'static str, verb: &'static [&'static str], names: &'static [&'static str]) -> Runner {
    Runner { program, verb, registry: Registry::Npm, names, values: NPM_VALUES }
}

const fn pypi(
    program: &'static str,
    verb: &'static [&'static str],
    names: &'static [&'static str],
    values: &'static [&'static str],
) -> Runner {
    Runner { program, verb, registry: Registry::PyPi, names, values }
}

impl Package {
    /// The package that the command line fetches, where it is one of a registry.
    pub(crate) fn fetched_by(argv: &[OsString]) -> Option<Self> {
        let words: Vec<&str> = argv.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
        let (program, rest) = words.split_first()?;
        let program = Path::new(program).file_stem()?.to_str()?;
        let runner =
            RUNNERS.iter().find(|runner| runner.program == program && rest.starts_with(runner.verb))?;
        let (word, spec) = runner.package_word(rest)?;
        let (name, exact) = match runner.registry {
            Registry::Npm => npm_spec(spec)?,
            Registry::PyPi => pypi_spec(spec)?,
        };
        Some(Self { registry: runner.registry, name, exact, word: word + 1 })
    }

    /// The word of the command line that names it, without any version; others as they are.
    pub(crate) fn unversioned(&self, index: usize, word: &str) -> String {
        match word.split_once('=').filter(|(option, _)| option.starts_with('-')) {
            _ if index != self.word => word.to_owned(),
            Some((option, _)) => format!("{option}={}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Runner {
    /// The word among the arguments that names the package, and the package in it.
    fn package_word<'a>(&self, words: &[&'a str]) -> Option<(usize, &'a str)> {
        let mut words = words.iter().copied().enumerate().skip(self.verb.len());
        let mut only_words = false;
        while let Some((index, word)) = words.next() {
            if only_words || !word.starts_with('-') {
                return Some((index, word));
            }
            let (option, value) =
                word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            match value {
                Some(value) if self.names.contains(&option) => return Some((index, value)),
                None if self.names.contains(&option) => return words.next(),
                None if self.values.contains(&option) => drop(words.next()),
                _ => only_words = word == "--",
            }
        }
        None
    }
}

/// Name and exact version of `name`, `@scope/name`, `name@1.2.3`, `name@latest`; nothing for directories and addresses.
fn npm_spec(spec: &str) -> Option<(String, Option<String>)> {
    let at = spec.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let (name, wanted) = match at {
        Some(at) => (spec.get(..at)?, spec.get(at + 1..)),
        None => (spec, None),
    };
    let plain = |part: &str| {
        let usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
        !part.is_empty() && !part.starts_with('.') && part.chars().all(usable)
    };
    let named = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| plain(scope) && plain(name)),
        None => plain(name),
    };
    // `name@npm:other` and `name@https://…` are other packages.
    let elsewhere = wanted.is_some_and(|wanted| wanted.contains([':', '/']));
    let exact = wanted.filter(|wanted| is_exact(wanted, 3)).map(str::to_owned);
    (named && !elsewhere).then(|| (name.to_owned(), exact))
}

/// The same of `name`, `name[extra]`, `name==1.2.3`, `name@1.2.3`, `name>=1`.
fn pypi_spec(spec: &str) -> Option<(String, Option<String>)> {
    let usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = spec.find(|c| !usable(c)).unwrap_or(spec.len());
    let (name, rest) = spec.split_at_checked(end)?;
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1,
        None => rest,
    };
    let rest = rest.trim();
    let known = rest.is_empty() || rest.starts_with(['=', '@', '<', '>', '~', '!']);
    let wanted = rest.strip_prefix("==").or_else(|| rest.strip_prefix('@')).map(str::trim);
    let elsewhere = wanted.is_some_and(|wanted| wanted.contains([':', '/']));
    let exact = wanted.filter(|wanted| is_exact(wanted, 1)).map(str::to_owned);
    let named = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    (named && known && !elsewhere).then(|| (name.to_owned(), exact))
}

/// Whether it is an exact version, with at least this many numbers, and not a range or tag.
fn is_exact(wanted: &str, numbers: usize) -> bool {
    let usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '!' | '_');
    let is_number = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let core = wanted.split(['-', '+']).next().unwrap_or(wanted);
    wanted.chars().all(usable)
        && wanted.starts_with(|c: char| c.is_ascii_digit())
        && core.split('.').take_while(is_number).count() >= numbers
}

#[cfg(test)]
mod tests;
