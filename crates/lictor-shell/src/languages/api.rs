//! Functions of standard libraries with side effects, by their full names, from `programs/languages/*.yaml`.

/// The effect of a function on its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// Deletes a file or an empty directory.
    Delete,
    /// Deletes a tree.
    DeleteTree,
    /// Deletes; a tree if the option `recursive` is set.
    DeleteByOption,
    /// Writes a file from the start.
    Write,
    /// Adds to a file.
    Append,
    /// Cuts a file off.
    Truncate,
    /// Opens a file; the mode determines the access.
    Open,
    /// Opens a file; system constants determine the access.
    OpenFlags,
    /// Makes objects of bytes, which may run anything.
    Restore,
    /// Reads a file.
    Read,
    /// Copies the first to the second.
    Copy,
    /// Copies a tree.
    CopyTree,
    /// Moves the first to the second.
    Move,
    /// Unpacks the first into the second.
    Unpack,
    /// Changes the mode.
    Mode,
    /// Changes the owner.
    Owner,
    /// Makes a directory.
    MakeDirectory,
    /// Makes the second a link.
    Link,
    /// Lists a directory.
    List,
    /// Runs the first as shell text.
    Shell,
    /// Runs a list of words, or text when asked for a shell (`subprocess.run`).
    Process,
    /// Runs the first with the list that follows (`spawn`, `os.execv`).
    Spawn,
    /// Runs its arguments as words (`os.execl`).
    Words,
    /// Talks to a host.
    Fetch,
    /// Fetches from a host into a file.
    Download,
    /// Changes a file in place, if the option `inplace` is set.
    Edit,
    /// Puts a tree into an archive.
    Pack,
    /// Sends to a host.
    Send,
    /// Runs the first as code of the same language.
    Evaluate,
    /// Runs the first as code of the same language when it is text; a function argument is judged at its own
    /// place.
    EvaluateText,
    /// Kills a process.
    Kill,
    /// Goes to a directory.
    ChangeDirectory,
}

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

fn find(table: &[(&str, Api)], name: &str) -> Option<Api> {
    let at = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    table.get(at).map(|(_, api)| *api)
}

/// Python: modules, classes and built-ins.
pub(super) fn python(name: &str) -> Option<Api> {
    find(&PYTHON, name)
}

/// Whether a name is that of a Python library, or of something in it.
fn is_of(libraries: &[&str], name: &str) -> bool {
    libraries.iter().any(|library| {
        name.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Whether a name of Python belongs to a library that talks to other machines.
pub(super) fn talks(name: &str) -> bool {
    is_of(&PYTHON_NETWORK, name)
}

/// Whether a Python name belongs to a library that extracts other people's secrets.
pub(super) fn reveals(name: &str) -> bool {
    is_of(&PYTHON_SECRETS, name)
}

/// Whether Python code imports a library that manages infrastructure.
pub(super) fn manages(body: &str) -> Option<&'static str> {
    PYTHON_INFRASTRUCTURE
        .iter()
        .copied()
        .find(|library| ["import ", "from "].iter().any(|word| body.contains(&format!("{word}{library}"))))
}

/// Whether a Python function reads private data of the machine's user.
pub(super) fn takes_private(name: &str) -> bool {
    PYTHON_PRIVATE.contains(&name)
}

/// Whether a function or method only keeps or returns its arguments.
pub(super) fn keeps_to_itself(name: &str) -> bool {
    PYTHON_KEEPS.contains(&name) || JAVASCRIPT_KEEPS.contains(&name)
}

/// Whether a function or method uses a key for authentication without leaking it.
pub(super) fn proves_with(name: &str) -> bool {
    PYTHON_PROVES.contains(&name) || JAVASCRIPT_PROVES.contains(&name)
}

/// Whether the result of a function or method reveals nothing about its argument.
pub(super) fn only_asks(name: &str) -> bool {
    PYTHON_ASKS.contains(&name) || JAVASCRIPT_ASKS.contains(&name)
}

/// JavaScript: Node, Deno, Bun and a few packages.
pub(super) fn javascript(name: &str) -> Option<Api> {
    let name = name.strip_prefix("globalThis.").or_else(|| name.strip_prefix("global.")).unwrap_or(name);
    let file =
        ["fs.promises.", "fs-extra.", "graceful-fs.", "fs."].iter().find_map(|fs| name.strip_prefix(fs));
    match file {
        Some(function) => {
            find(&JAVASCRIPT, &format!("fs.{}", function.strip_suffix("Sync").unwrap_or(function)))
        }
        None => find(&JAVASCRIPT, name),
    }
}

/// Perl, Ruby, PHP, Lua and awk. Names of Ruby are whole, of the others the last part counts.
pub(super) fn scripting(language: &str, name: &str) -> Option<Api> {
    let bare = name.rsplit("::").next().unwrap_or(name);
    match language {
        "ruby" => find(&RUBY, name),
        "perl" => find(&PERL, bare),
        "php" => find(&PHP, bare),
        "lua" => find(&LUA, bare),
        "awk" => find(&AWK, bare),
        _ => None,
    }
}
