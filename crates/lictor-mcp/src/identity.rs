//! The identity that a server's pins are bound to: its program with arguments and package version, or its URL.
//! Never the server's own claims.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use lictor_core::Digest;
use serde_json::{Value, json};

use crate::package::{Package, version_of_program};

/// Which server it is. The version of a package that a runner fetches is known once the server has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Without any version.
    base: String,
    /// The version on the command line, if there is one.
    written: Option<String>,
    source: Source,
    /// The server's group of processes.
    group: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// Nothing is known about a package.
    Unknown,
    /// It is installed: name and version.
    Installed(String, String),
    /// A runner fetches it.
    Fetched(Package),
}

/// The same with the version that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Running {
    base: String,
    written: Option<String>,
    /// Name and version of the package; no version where none can be found.
    package: Option<(String, Option<String>)>,
}

impl Identity {
    /// A server that is reached by that address.
    #[must_use]
    pub fn of_address(address: String) -> Self {
        Self { base: address, written: None, source: Source::Unknown, group: None }
    }

    /// A server that is started.
    pub(crate) fn of_command(argv: &[OsString]) -> Self {
        let program = argv.first().and_then(found_on_path);
        let mut words: Vec<String> = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        if let (Some(first), Some(program)) = (words.first_mut(), &program) {
            *first =
                std::fs::canonicalize(program).unwrap_or_else(|_| program.clone()).to_string_lossy().into();
        }
        let written = named(&words);
        let Some(package) = Package::fetched_by(argv) else {
            let arguments: Vec<&OsStr> = argv.iter().skip(1).map(OsString::as_os_str).collect();
            let installed = program.and_then(|program| version_of_program(&program, &arguments));
            let source =
                installed.map_or(Source::Unknown, |(name, version)| Source::Installed(name, version));
            return Self { base: written, written: None, source, group: None };
        };
        let unversioned: Vec<String> =
            words.iter().enumerate().map(|(index, word)| package.unversioned(index, word)).collect();
        let base = named(&unversioned);
        let written = (written != base).then_some(written);
        Self { base, written, source: Source::Fetched(package), group: None }
    }

    /// The same server, once it runs.
    pub(crate) fn in_group(self, group: u32) -> Self {
        Self { group: Some(group), ..self }
    }

    /// With the version that runs now. Asked for once a server has answered.
    pub(crate) fn running(&self) -> Running {
        let package = match &self.source {
            Source::Unknown => None,
            Source::Installed(name, version) => Some((name.clone(), Some(version.clone()))),
            Source::Fetched(package) => Some((package.name.clone(), package.version(self.group))),
        };
        Running { base: self.base.clone(), written: self.written.clone(), package }
    }
}

impl Running {
    /// The key of its pins.
    pub(crate) fn key(&self) -> String {
        match self.package.as_ref().and_then(|(_, version)| version.as_ref()) {
            Some(version) => format!("{}{AT}{version}", self.base),
            None => self.base.clone(),
        }
    }

    /// Keys under which it was pinned without its version.
    pub(crate) fn keys_without_version(&self) -> impl Iterator<Item = &str> {
        self.written.as_deref().into_iter().chain([self.base.as_str()])
    }

    /// The version in a key, where it is the same server; empty where that key has none.
    pub(crate) fn version_in<'a>(&self, key: &'a str) -> Option<&'a str> {
        let rest = key.strip_prefix(&self.base)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix(AT) }
    }

    /// What is pinned about the package.
    pub(crate) fn package(&self) -> Option<Value> {
        self.package.as_ref().map(|(name, version)| json!({"package": name, "version": version}))
    }

    /// The name of the package.
    pub(crate) fn package_name(&self) -> Option<&str> {
        self.package.as_ref().map(|(name, _)| name.as_str())
    }

    /// Whether the version is known.
    pub(crate) fn has_version(&self) -> bool {
        self.package.as_ref().is_some_and(|(_, version)| version.is_some())
    }
}

/// Between a server and its version, in keys.
const AT: &str = " at ";

fn named(words: &[String]) -> String {
    format!("{} {}", words.join(" "), Digest::of(words.join("\0").as_bytes()).short())
}

/// The program as it is found, which may be a link.
pub(crate) fn found_on_path(program: &OsString) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        let file = std::path::absolute(program).ok()?;
        return file.exists().then_some(file);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests;
