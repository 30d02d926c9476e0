//! Finds the version of a package in its own files, beside the running program.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Package, Registry};

/// How many words of a process are checked: an interpreter, its options, and the program.
const WORDS: usize = 6;
/// Programs that run their file argument.
const INTERPRETERS: [&str; 6] = ["node", "nodejs", "bun", "deno", "python", "python3"];

impl Package {
    /// The version that runs in that group of processes: what a runner has chosen is known once the server has answered.
    pub(crate) fn version(&self, group: Option<u32>) -> Option<String> {
        if self.exact.is_some() {
            return self.exact.clone();
        }
        processes_of(group?).iter().flat_map(|words| words.iter().take(WORDS)).find_map(|word| {
            let file = Path::new(word);
            if !file.is_absolute() {
                return None;
            }
            match self.registry {
                Registry::Npm => npm_package(file).filter(|(name, _)| *name == self.name),
                Registry::PyPi => {
                    let is_it = |stem: &str, _: &Path| normal(stem) == normal(&self.name);
                    python_package(file, is_it)
                }
            }
            .map(|(_, version)| version)
        })
    }
}

/// Name and version of the package that a program is installed from, where it is started without a runner.
pub(crate) fn version_of_program(program: &Path, arguments: &[&OsStr]) -> Option<(String, String)> {
    let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if INTERPRETERS.contains(&stem) || INTERPRETERS.contains(&name) {
        return match arguments {
            [dash, module, ..] if *dash == "-m" => {
                let module = module.to_str()?;
                python_package(program, |stem, _| normal(stem) == normal(module))
            }
            _ => arguments.iter().map(Path::new).find(|word| word.is_file()).and_then(of_file),
        };
    }
    of_file(program)
}

fn of_file(file: &Path) -> Option<(String, String)> {
    npm_package(file).or_else(|| {
        let script = file.file_name()?.to_str()?;
        python_package(file, |_, info| has_script(info, script))
    })
}

/// The package in `node_modules` that contains the file.
fn npm_package(file: &Path) -> Option<(String, String)> {
    let file = fs::canonicalize(file).ok()?;
    let is_modules =
        |directory: Option<&Path>| directory.and_then(Path::file_name) == Some("node_modules".as_ref());
    let directory = file.ancestors().skip(1).find(|directory| {
        let above = directory.parent();
        let scope = directory.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with('@'));
        is_modules(above) && !scope || is_modules(above.and_then(Path::parent))
    })?;
    let about: Value = serde_json::from_slice(&fs::read(directory.join("package.json")).ok()?).ok()?;
    let text = |field: &str| about.get(field).and_then(Value::as_str).map(str::to_owned);
    Some((text("name")?, text("version")?))
}

/// The package with that name or script in the environment whose `bin` has the file.
fn python_package(file: &Path, is_it: impl Fn(&str, &Path) -> bool) -> Option<(String, String)> {
    let environment = file.parent().filter(|bin| bin.ends_with("bin"))?.parent()?;
    let libraries = fs::read_dir(environment.join("lib")).ok()?;
    libraries
        .flatten()
        .flat_map(|python| fs::read_dir(python.path().join("site-packages")).into_iter().flatten().flatten())
        .find_map(|entry| {
            let info = entry.path();
            let (name, version) = info.file_name()?.to_str()?.strip_suffix(".dist-info")?.split_once('-')?;
            is_it(name, &info).then(|| (name.to_owned(), version.to_owned()))
        })
}

fn has_script(info: &Path, script: &str) -> bool {
    let Ok(points) = fs::read_to_string(info.join("entry_points.txt")) else { return false };
    points.lines().filter_map(|line| line.split_once('=')).any(|(name, _)| name.trim() == script)
}

/// Names of Python packages are compared without case, and with every separator for every other.
fn normal(name: &str) -> String {
    let parts: Vec<&str> = name.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
    parts.join("-").to_ascii_lowercase()
}

/// The words of every process in the group, where the system shows them.
fn processes_of(group: u32) -> Vec<Vec<String>> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let mut found: Vec<(u32, PathBuf)> = processes
        .flatten()
        .filter_map(|process| Some((process.file_name().to_str()?.parse().ok()?, process.path())))
        .filter(|(_, process)| group_of(process) == Some(group))
        .collect();
    // Those that were started last are nearest to the server.
    found.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    found
        .iter()
        .filter_map(|(_, process)| fs::read(process.join("cmdline")).ok())
        .map(|line| {
            line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
        })
        .collect()
}

fn group_of(process: &Path) -> Option<u32> {
    let status = fs::read_to_string(process.join("stat")).ok()?;
    // The name of the program, in parentheses, may have anything in it.
    let (_, after) = status.rsplit_once(')')?;
    after.split_whitespace().nth(2)?.parse().ok()
}
