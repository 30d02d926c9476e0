//! Words that may name files although no effect is known: operands of programs without a description, values of
//! output options, strings in code. The observer decides whether one of them is a governing or watched file; then
//! the action asks.

use super::table::{Entry, Family};
use crate::call::{Call, Stdin};
use crate::operand::{Arg, Cwd, Operand};
use crate::reading::{Done, Mention};

/// The longest word that counts as a path.
const LONGEST: usize = 300;
/// The most mentions of one command.
const MOST: usize = 64;

/// Which words of a program's call may name what it changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    /// All of them.
    All,
    /// Values of output options, and the last operand.
    Targets,
    /// Values of options, unless the option is an input.
    Options,
    /// Values of long output options: the effect of its words is known, or they belong to another machine or
    /// program.
    LongTargets,
}

fn words_of(entry: Option<&Entry>, program: &str) -> Words {
    use Family::*;
    match entry.map(|entry| entry.family) {
        None => Words::All,
        Some(
            Builtins | Readers | Text | Find | Files | Shells | Agents | Sessions | Git | Attack | Windows,
        ) => Words::LongTargets,
        Some(_) if matches!(program, "socat" | "sshfs" | "nc" | "ncat" | "netcat") => Words::All,
        Some(Clouds | Forges | Storage) => Words::Targets,
        Some(Network) if matches!(program, "ssh" | "mosh" | "autossh" | "sshpass") => Words::LongTargets,
        Some(
            Archives | Containers | Clusters | Network | Interpreters | Machines | SecretStores | Wrappers,
        ) => Words::Options,
        Some(_) => Words::All,
    }
}

/// Whether text among the words is a small language of the program's own (`sqlite3 db '.output x'`).
fn takes_text(entry: Option<&Entry>, program: &str) -> bool {
    matches!(entry.map(|entry| entry.family), Some(Family::Databases | Family::Editors))
        || matches!(program, "gnuplot" | "m4" | "expect" | "curl" | "gdb" | "lldb")
        || takes_commands(program)
}

/// Whether that text is commands which fill directories.
fn takes_commands(program: &str) -> bool {
    matches!(program, "sftp" | "lftp" | "pwsh" | "powershell")
}

/// The words of a call that may name a file.
pub(crate) fn in_words(call: &Call<'_>) -> Vec<Mention> {
    let name = super::base_name(call.program);
    let entry = super::table::find(&name);
    let words = words_of(entry, &name);
    let text = takes_text(entry, &name);
    let mut found = in_assignments(call);
    found.extend(before_host(call, &name));
    let shown = if name == "git" { super::git::shown_paths(call) } else { Vec::new() };
    found.extend(shown.iter().map(|path| Mention { done: Done::Shown, ..mention(call, path, true) }));
    if only_looks(call) {
        return found;
    }
    let mut add = |path: &str, directory: bool| {
        if is_path(path) && found.len() < MOST {
            found.push(mention(call, path, directory));
        }
    };
    let mut before = "";
    for (at, arg) in call.args.iter().enumerate() {
        let Some(word) = arg.known() else {
            before = "";
            continue;
        };
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, value),
            _ => (if before.starts_with('-') { before } else { "" }, word),
        };
        // `--color=auto x`: the value is attached.
        before = if word.contains('=') { "" } else { word };
        if let Some(file) = database_file(value) {
            add(&file, false);
        }
        if leaves_out(option) || value.contains("://") {
            continue;
        }
        // `ssh host tar -C x`: what comes then is for the other machine.
        if words == Words::LongTargets && !option.starts_with("--") && !text {
            continue;
        }
        if text && value.contains(|letter: char| letter.is_whitespace() || letter == '{') {
            tokens(value).for_each(|token| add(token, takes_commands(call.program)));
        }
        if value.contains(char::is_whitespace) {
            continue;
        }
        let target = is_target(option);
        let last = at + 1 == call.args.len() && at > 0;
        let counts = match words {
            Words::All => true,
            Words::Targets => target || last,
            Words::Options => target || option.starts_with("--") && !reads(option) || is_volume(option),
            Words::LongTargets => text || target,
        };
        if counts {
            let positional = entry.is_none() || words == Words::Targets;
            // An installation prefix receives the program itself, in its own directories.
            let below = option.ends_with("prefix") && !super::guard::is_agent_directory(value);
            let volume = words == Words::Options && is_volume(option);
            // A read-only mount is not changed.
            if volume && value.split([':', ',']).any(|part| matches!(part, "ro" | "readonly")) {
                continue;
            }
            let directory = target || positional || super::guard::is_agent_directory(value);
            add(value, directory && !below);
            // `-o.claude`, `type=local,dest=x`, `OPEN:x,trunc`.
            if let Some(attached) = value.strip_prefix('-').and_then(|rest| rest.get(1..)) {
                add(attached, entry.is_none());
            }
            let parts = value.split([',', ':', '=']).skip(usize::from(!volume));
            parts
                .filter(|part| *part != value)
                .for_each(|part| add(part, target || volume || entry.is_none()));
        }
    }
    if let (true, Stdin::Text(input)) = (text, call.stdin) {
        tokens(input).for_each(|token| add(token, takes_commands(call.program)));
    }
    found.extend(given_to_script(call, entry));
    found.extend(given_to_module(call));
    found
}

/// Arguments of a script, whose effects are in a file that is not analysed.
fn given_to_script(call: &Call<'_>, entry: Option<&Entry>) -> Vec<Mention> {
    if !entry.is_some_and(|entry| matches!(entry.family, Family::Interpreters | Family::Shells)) {
        return Vec::new();
    }
    let mut operands = call.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
    let script = operands.next().is_some_and(is_path);
    let given = operands.filter(|word| script && is_path(word)).take(MOST);
    given.map(|word| Mention { done: Done::Given, ..mention(call, word, false) }).collect()
}

/// Arguments of code whose module only moves files: `perl -MFile::Copy -e 'copy(@ARGV)' FROM TO`.
fn given_to_module(call: &Call<'_>) -> Vec<Mention> {
    let moves = |word: &str| ["-MFile::Copy", "-MFile::Path"].iter().any(|module| word.starts_with(module));
    let words = || call.args.iter().filter_map(Arg::known);
    if call.program != "perl" || !words().any(moves) {
        return Vec::new();
    }
    let given = words().filter(|word| !word.starts_with('-') && is_path(word)).take(MOST);
    given.map(|word| mention(call, word, true)).collect()
}

/// Values of variables in front of a program: where it keeps a log, an index, a history.
fn in_assignments(call: &Call<'_>) -> Vec<Mention> {
    let known = call.assignments.iter().filter_map(|(name, value)| Some((name.as_str(), value.known()?)));
    let paths = known.flat_map(|(name, value)| paths_in(name, value));
    paths.take(MOST).map(|(path, directory)| mention(call, path, directory)).collect()
}

/// The paths in a variable's value, among options and lists too, and whether a directory counts for what it holds.
fn paths_in<'a>(name: &str, value: &'a str) -> impl Iterator<Item = (&'a str, bool)> {
    // These name what is read: settings, programs, modules.
    let searched = ["CONFIG", "HOME", "PATH"].iter().any(|part| name.contains(part));
    let parts = value.split_whitespace().flat_map(|word| {
        std::iter::once(word).chain(word.split([':', ',', '=']).filter(move |part| *part != word))
    });
    parts
        .filter(|part| is_path(part))
        .map(move |part| (part, !searched && super::guard::is_agent_directory(part)))
}

/// The same for a variable that stays set, where its name marks its value as an output.
pub(crate) fn in_variable(name: &str, value: &Arg, cwd: &Cwd) -> Vec<Mention> {
    let outputs = || crate::words::OUTPUT_VARIABLES.iter().any(|part| name.contains(part));
    let Some(text) = value.known().filter(|text| text.contains(['.', '/']) && outputs()) else {
        return Vec::new();
    };
    let by = format!("{name}={text}");
    let named = |(path, directory)| Mention {
        file: Operand::new(Arg::literal(path), cwd.clone()),
        directory,
        archive: false,
        by: by.clone(),
        done: Done::Anything,
    };
    paths_in(name, text).take(MOST).map(named).collect()
}

/// Files that `ssh` itself writes, named in front of the host: `-E log`, `-o UserKnownHostsFile=x`.
fn before_host(call: &Call<'_>, program: &str) -> Vec<Mention> {
    const VALUED: &str = "BbcDEeFIiJLlmOopQRSWw";
    let mut found = Vec::new();
    let mut words = call.args.iter().filter_map(Arg::known).filter(|_| matches!(program, "ssh" | "autossh"));
    while let Some(letters) = words.next().and_then(|word| word.strip_prefix('-')) {
        let Some(at) = letters.find(|letter| VALUED.contains(letter)) else { continue };
        let (option, attached) = (letters.get(at..=at), letters.get(at + 1..).unwrap_or_default());
        let value = if attached.is_empty() { words.next().unwrap_or_default() } else { attached };
        let path = match option {
            Some("E") => value,
            Some("o") => value.split_once('=').map_or("", |(_, path)| path),
            _ => "",
        };
        if is_path(path) {
            found.push(mention(call, path, false));
        }
    }
    found
}

/// The strings in code that may name a file.
#[must_use]
pub fn in_code(language: &str, body: &str, call: &Call<'_>) -> Vec<Mention> {
    let mut found = Vec::new();
    if language == "sql" {
        return found;
    }
    if language == "other" && call.program.starts_with("tclsh") {
        found.extend(tokens(body).filter(|token| is_path(token)).map(|token| mention(call, token, true)));
    }
    found.extend(below_descriptors(language, body, call));
    let unpacks = body.contains("xtract");
    // The innermost open bracket, with the name in front of it.
    let mut open: Vec<(char, usize)> = Vec::new();
    // The parts of a path that are joined: `home / ".config" / "x"`, `join(home, ".config", "x")`.
    let mut parts = String::new();
    let mut letters = body.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '(' | '[' | '{' => open.push((letter, at)),
            ')' | ']' | '}' => drop(open.pop()),
            '\'' | '"' | '`' => {
                let Some(rest) = body.get(at + 1..) else { break };
                let Some(end) = rest.find(letter) else { break };
                let text = rest.get(..end).unwrap_or_default();
                let front = body.get(..at).unwrap_or_default().trim_end();
                let called = open.last().filter(|(bracket, _)| *bracket == '(');
                let name = called.map(|(_, at)| last_name(body.get(..*at).unwrap_or_default()));
                let asks = name.is_some_and(is_question)
                    || open.is_empty() && is_question(last_name(front))
                    // Data, no code: it is only read.
                    || name == Some("require") && text.ends_with(".json");
                let joins = name.is_some_and(|name| matches!(name, "join" | "joinpath"));
                let whole = format!("{}{text}", std::mem::take(&mut parts));
                letters.by_ref().find(|(here, _)| *here > at + end);
                if is_joined(rest.get(end + 1..).unwrap_or_default(), joins) && whole.len() < LONGEST {
                    parts = whole + "/";
                    continue;
                }
                let text = whole.as_str();
                let address = database_file(text);
                let text = address.as_deref().unwrap_or(text);
                if is_path(text) && !asks && !compares(front) && found.len() < MOST {
                    let given =
                        name.is_some_and(|name| !name.is_empty()) || open.is_empty() && !front.ends_with('=');
                    let archive = unpacks && is_archive(text);
                    found.push(Mention { archive, ..mention(call, text, given) });
                }
            }
            _ => {}
        }
    }
    found
}

/// Python opens a directory and changes files relative to its descriptor: every string may be below every other.
fn below_descriptors(language: &str, body: &str, call: &Call<'_>) -> Vec<Mention> {
    let relative = language == "python" && (body.contains("dir_fd") || body.contains("fchdir"));
    if !relative || !crate::words::CHANGES_BELOW.iter().any(|word| body.contains(word)) {
        return Vec::new();
    }
    let strings: Vec<&str> =
        body.split(['\'', '"']).skip(1).step_by(2).filter(|text| !text.is_empty()).take(8).collect();
    let pairs = strings.iter().flat_map(|folder| strings.iter().map(move |name| format!("{folder}/{name}")));
    pairs.filter(|path| is_path(path)).take(MOST).map(|path| mention(call, &path, false)).collect()
}

/// Whether what follows a string of code joins another string to it as a part of the same path.
fn is_joined(behind: &str, in_call: bool) -> bool {
    let behind = behind.trim_start();
    let next = behind.strip_prefix('/').or_else(|| behind.strip_prefix(',').filter(|_| in_call));
    next.is_some_and(|next| next.trim_start().starts_with(['\'', '"']))
}

pub(crate) fn mention(call: &Call<'_>, path: &str, directory: bool) -> Mention {
    let file = Operand::new(Arg::literal(path), call.cwd.clone());
    Mention { file, directory, archive: false, by: super::report::written(call), done: Done::Anything }
}

/// The file that the address of a database names: `sqlite:///x.db`, `file:x.db?mode=rw`, `dbi:SQLite:dbname=x.db`.
fn database_file(word: &str) -> Option<String> {
    let named = ["sqlite", "file:", "duckdb:", "jdbc:sqlite:", "jdbc:duckdb:", "dbi:sqlite:"];
    let begins =
        |start: &&str| word.get(..start.len()).is_some_and(|front| front.eq_ignore_ascii_case(start));
    if !named.iter().any(begins) {
        return None;
    }
    let address = word.split(['?', ';', '#']).next().unwrap_or_default();
    let path = match address.split_once("://") {
        Some((_, path)) => format!("/{}", path.trim_start_matches('/')),
        None => address.rsplit([':', '=']).next().unwrap_or_default().to_owned(),
    };
    is_path(&path).then_some(path)
}

/// Whether a name is that of an archive.
fn is_archive(path: &str) -> bool {
    ["tar", "tgz", "gz", "zip", "bz2", "xz", "zst", "cpio", "jar", "whl", "7z"]
        .iter()
        .any(|end| path.rsplit('.').next() == Some(end))
}

/// Whether a word can be a path to something that has a hidden part or an ending.
pub(crate) fn is_path(word: &str) -> bool {
    word.len() > 2
        && word.len() < LONGEST
        && word.contains(['.', '/'])
        && !word.starts_with('-')
        && !word
            .contains(|letter: char| letter.is_whitespace() || matches!(letter, '*' | '<' | '>' | '|' | '\\'))
        && !word.contains("://")
}

/// The parts of a text between quotes, brackets and blanks.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| letter.is_whitespace() || "'\"`()[]{},;".contains(letter))
        .filter(|token| !token.is_empty())
}

/// Options whose value is what is not touched.
fn leaves_out(option: &str) -> bool {
    // A pattern for names of files that are written.
    if option.ends_with("file-pattern") {
        return false;
    }
    const PARTS: [&str; 11] = [
        "exclude", "ignore", "skip", "omit", "filter", "without", "message", "title", "body", "grep",
        "pattern",
    ];
    matches!(option, "-E" | "-x" | "-m") || option.len() > 2 && PARTS.iter().any(|part| option.contains(part))
}

/// Options whose value is where something goes.
fn is_target(option: &str) -> bool {
    matches!(option, "-o" | "-O" | "-d" | "-D" | "-C" | "-t" | "-P")
        || option.strip_prefix("--").is_some_and(|name| {
            name.split(['-', '_']).any(|part| {
                [
                    "out", "dir", "dest", "target", "prefix", "root", "save", "into", "log", "to", "write",
                    "export", "basetemp",
                ]
                .iter()
                .any(|start| part.starts_with(start))
                    || part == "stderr"
            })
        })
}

/// Long options whose value is read.
fn reads(option: &str) -> bool {
    // A file that nothing says more about is read.
    matches!(option, "--file" | "--files")
        || option.contains("file") && crate::words::INPUT_FILES.iter().any(|part| option.contains(part))
        || option.starts_with("--no-")
        || [
            "config", "input", "from", "key", "cert", "values", "schema", "policy", "include", "import",
            "require", "source", "src", "data", "template", "context", "env", "check", "rules", "settings",
            "read", "profile",
        ]
        .iter()
        .any(|part| option.contains(part))
}

/// Options that mount a host directory into a container.
fn is_volume(option: &str) -> bool {
    matches!(option, "-v" | "-b" | "--mount" | "--volume" | "--bind")
}

/// Whether a program is read-only by its name or first words.
fn only_looks(call: &Call<'_>) -> bool {
    let name = call.program;
    let by_name = ["lint", "check", "diff", "stat"].iter().any(|end| name.ends_with(end));
    let mut words = call.args.iter().filter_map(Arg::known);
    let first = words
        .clone()
        .find(|word| !word.starts_with('-'))
        .is_some_and(|word| crate::words::LOOKS.contains(&word));
    by_name || first || words.any(|word| word.starts_with("--") && crate::words::LOOKS.contains(&word))
}

/// The name at the end of code: of a function in front of its bracket.
fn last_name(code: &str) -> &str {
    let code = code.trim_end();
    let start = code.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
    code.get(start..).unwrap_or_default()
}

/// Functions that ask about a name or print it.
fn is_question(function: &str) -> bool {
    crate::words::QUESTIONS.contains(&function)
}

/// Whether a string is only compared with something.
fn compares(front: &str) -> bool {
    ["==", "!=", " eq", " ne", " in", " not in"].iter().any(|sign| front.ends_with(sign))
}

#[cfg(test)]
mod tests;
