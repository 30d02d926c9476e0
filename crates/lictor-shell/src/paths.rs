//! Paths as text: joining and normalising without file system access.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::operand::Cwd;

/// Directories in which everybody may create files, and which are emptied now and then.
pub const TEMPORARY: [&str; 5] = ["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm"];

/// Whether a path is below a temporary directory, by its text. A project or a home may be there too.
pub(crate) fn is_temporary(path: &str) -> bool {
    TEMPORARY.iter().any(|top| path.strip_prefix(top).is_some_and(|rest| rest.starts_with('/')))
}

/// Whether a path is a directory or something in it.
pub(crate) fn is_at_or_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// `path` seen from `base`, without `.` and, as far as the text allows, without `..`.
pub(crate) fn join(base: &str, path: &str) -> String {
    if path.starts_with(['/', '~']) || base.is_empty() {
        return clean(path);
    }
    let mut joined = String::with_capacity(base.len() + 1 + path.len());
    joined.push_str(base);
    joined.push('/');
    joined.push_str(path);
    if is_clean(&joined) { joined } else { clean(&joined) }
}

/// Whether nothing is there to remove: no part is empty or begins with a dot.
fn is_clean(path: &str) -> bool {
    let bytes = path.as_bytes();
    let dotted = bytes.windows(2).any(|pair| matches!(pair, b"//" | b"/."));
    !dotted && !matches!(bytes.first(), None | Some(b'.')) && bytes.last() != Some(&b'/')
}

/// Removes `.`, doubled slashes and `name/..`.
pub(crate) fn clean(path: &str) -> String {
    if is_clean(path) {
        return path.to_owned();
    }
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match kept.last() {
                Some(last) if *last != ".." && !last.starts_with('~') => {
                    kept.pop();
                }
                None if absolute => {}
                _ => kept.push(part),
            },
            part => kept.push(part),
        }
    }
    let joined = kept.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// A path in a directory as it is found from where the line began, when that can be told.
pub(crate) fn from_start<'a>(directory: &Cwd, path: &'a str) -> Option<Cow<'a, str>> {
    match directory {
        Cwd::Known(base) => Some(join(base, path).into()),
        Cwd::Glob(_) | Cwd::Unknown if !path.starts_with(['/', '~']) => None,
        Cwd::Start | Cwd::Glob(_) | Cwd::Unknown => Some(path.into()),
    }
}

/// The directory after `cd path` in `from`.
pub(crate) fn enter(from: &Cwd, path: &str) -> Cwd {
    let target = match from {
        _ if path.starts_with(['/', '~']) => clean(path),
        Cwd::Start => clean(path),
        Cwd::Known(base) => join(base, path),
        Cwd::Glob(base) => return within(join(base, path)),
        Cwd::Unknown => return Cwd::Unknown,
    };
    if target == "." { Cwd::Start } else { Cwd::Known(target) }
}

/// The directory after `cd pattern` in `from`.
pub(crate) fn enter_any(from: &Cwd, pattern: &str) -> Cwd {
    match enter(from, pattern) {
        Cwd::Known(target) => within(target),
        other => other,
    }
}

/// A directory with a pattern in its name, unless `..` has led out of it again.
fn within(target: String) -> Cwd {
    match target {
        target if target.contains(['*', '?', '[', '(']) => Cwd::Glob(target),
        target if target == "." => Cwd::Start,
        target => Cwd::Known(target),
    }
}

/// The key of a file that the line wrote.
pub(crate) fn key(cwd: &Cwd, path: &str) -> String {
    match cwd {
        Cwd::Known(base) | Cwd::Glob(base) => join(base, path),
        Cwd::Start => clean(path),
        Cwd::Unknown if path.starts_with(['/', '~']) => clean(path),
        Cwd::Unknown => format!("?/{}", clean(path)),
    }
}

/// Whether a path is a descriptor, other than those of the output: the file it is bound to is changed, not the path.
pub(crate) fn is_open_stream(path: &str) -> bool {
    let is_output = |path: &str| {
        matches!(path, "/dev/null" | "/dev/tty" | "/dev/stdout" | "/dev/stderr")
            || matches!(path.rsplit('/').next(), Some("1" | "2"))
    };
    is_stream(path) && !is_output(&clean(path))
}

/// Whether a path is a stream of the command itself and not a file. The normalised path counts: a device's name
/// before `..` exempts nothing.
pub(crate) fn is_stream(path: &str) -> bool {
    if !path.starts_with('/') {
        return false;
    }
    let path = clean(path);
    matches!(path.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty")
        || is_descriptor(&path)
        || path.strip_prefix("/proc/self/fd/").is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())
}

/// `/dev/fd/3`, and nothing below it.
pub(crate) fn is_descriptor(path: &str) -> bool {
    path.strip_prefix("/dev/fd/").is_some_and(is_number)
}
