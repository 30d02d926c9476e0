//! Patches as file effects: the bodies of Codex's `apply_patch` and plain unified diffs.
//!
//! A patch is data that names files; nothing in it is shell. Text that is not a patch is an error, never an empty
//! list.

use lictor_core::facts::{Access, OpaqueWhat};
use thiserror::Error;

use crate::call::{Call, Report, Stdin};
use crate::operand::{Arg, Incoming};
use crate::programs::report::{below, written};

/// One file that a patch touches, as the patch spells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchEffect {
    /// How: `Write` for an added file, `Modify` for a changed one, `Delete`, and `MoveAway` with `Write` for a move.
    pub access: Access,
    /// The path.
    pub path: String,
}

impl PatchEffect {
    fn new(access: Access, path: &str) -> Self {
        Self { access, path: path.to_owned() }
    }
}

/// Why a text is not a patch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatchError {
    /// There is no `*** Begin Patch`, or no diff header.
    #[error("this is not a patch: start with `*** Begin Patch` or with `--- a/file`")]
    NoStart,
    /// The end marker is missing.
    #[error("the patch has no `*** End Patch`; add it as the last line")]
    NoEnd,
    /// A header without a path.
    #[error("line {line} names no file; write the path after the colon")]
    NoPath {
        /// One-based.
        line: usize,
    },
    /// A line that belongs nowhere.
    #[error("line {line} is not part of a patch: `{text}`")]
    Stray {
        /// One-based.
        line: usize,
        /// The line, shortened.
        text: String,
    },
    /// A patch that touches no file.
    #[error("the patch changes no file")]
    Empty,
}

/// Reads a Codex patch (`*** Begin Patch`) or, when there is none, a unified diff.
///
/// # Errors
/// When the text is neither, or breaks off.
pub fn read_patch(text: &str) -> Result<Vec<PatchEffect>, PatchError> {
    match text.lines().position(|line| line.trim() == "*** Begin Patch") {
        Some(start) => read_codex(text, start),
        None => read_diff(text, 1),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Add,
    Update,
    Delete,
}

fn read_codex(text: &str, start: usize) -> Result<Vec<PatchEffect>, PatchError> {
    let mut effects: Vec<PatchEffect> = Vec::new();
    let mut section = Section::None;
    for (at, line) in text.lines().enumerate().skip(start + 1) {
        let number = at + 1;
        if line.trim() == "*** End Patch" {
            return if effects.is_empty() { Err(PatchError::Empty) } else { Ok(effects) };
        }
        let header = line.strip_prefix("*** ").map(str::trim);
        let path_of = |rest: &str| {
            let path = rest.trim();
            if path.is_empty() { Err(PatchError::NoPath { line: number }) } else { Ok(path.to_owned()) }
        };
        match header {
            Some(rest) if rest.starts_with("Add File:") => {
                section = Section::Add;
                effects
                    .push(PatchEffect::new(Access::Write, &path_of(rest.trim_start_matches("Add File:"))?));
            }
            Some(rest) if rest.starts_with("Update File:") => {
                section = Section::Update;
                effects.push(PatchEffect::new(
                    Access::Modify,
                    &path_of(rest.trim_start_matches("Update File:"))?,
                ));
            }
            Some(rest) if rest.starts_with("Delete File:") => {
                section = Section::Delete;
                effects.push(PatchEffect::new(
                    Access::Delete,
                    &path_of(rest.trim_start_matches("Delete File:"))?,
                ));
            }
            Some(rest) if rest.starts_with("Move to:") && section == Section::Update => {
                let target = path_of(rest.trim_start_matches("Move to:"))?;
                if let Some(last) = effects.last_mut() {
                    last.access = Access::MoveAway;
                }
                effects.push(PatchEffect::new(Access::Write, &target));
            }
            Some("End of File") if section == Section::Update => {}
            Some(rest) if rest.starts_with("Environment ID:") && section == Section::None => {}
            _ => {
                let belongs = match section {
                    Section::Add => line.starts_with('+') || line.is_empty(),
                    Section::Update => line.is_empty() || line.starts_with([' ', '+', '-', '@', '\\']),
                    Section::Delete | Section::None => line.trim().is_empty(),
                };
                if !belongs {
                    return Err(PatchError::Stray { line: number, text: line.chars().take(60).collect() });
                }
            }
        }
    }
    Err(PatchError::NoEnd)
}

/// Reads a unified diff, taking `strip` leading folders off each path as `patch -p` does.
///
/// # Errors
/// When the text holds no file header.
pub fn read_diff(text: &str, strip: usize) -> Result<Vec<PatchEffect>, PatchError> {
    let mut effects: Vec<PatchEffect> = Vec::new();
    let mut old: Option<String> = None;
    let mut left = (0usize, 0usize);
    for (at, line) in text.lines().enumerate() {
        // Inside a hunk a removed line may look like a header (`--- x`).
        if left != (0, 0) {
            match line.chars().next() {
                Some('-') => left.0 = left.0.saturating_sub(1),
                Some('+') => left.1 = left.1.saturating_sub(1),
                Some('\\') => {}
                _ => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
            }
            continue;
        }
        if let Some(path) = line.strip_prefix("--- ") {
            old = Some(header_path(path, strip, at)?);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let new = header_path(path, strip, at)?;
            let old = old.take().unwrap_or_default();
            match (old.as_str(), new.as_str()) {
                ("/dev/null", new) => effects.push(PatchEffect::new(Access::Write, new)),
                (old, "/dev/null") => effects.push(PatchEffect::new(Access::Delete, old)),
                (_, new) => effects.push(PatchEffect::new(Access::Modify, new)),
            }
        } else if let Some(path) = line.strip_prefix("rename from ").filter(|path| !path.is_empty()) {
            effects.push(PatchEffect::new(Access::MoveAway, path));
        } else if let Some(path) = line
            .strip_prefix("rename to ")
            .or_else(|| line.strip_prefix("copy to "))
            .filter(|path| !path.is_empty())
        {
            effects.push(PatchEffect::new(Access::Write, path));
        } else if line.starts_with("@@ ") {
            left = hunk_size(line);
        }
    }
    effects.dedup();
    if effects.is_empty() { Err(PatchError::NoStart) } else { Ok(effects) }
}

fn header_path(rest: &str, strip: usize, at: usize) -> Result<String, PatchError> {
    let path = rest.split('\t').next().unwrap_or_default().trim().trim_matches('"');
    if path.is_empty() {
        return Err(PatchError::NoPath { line: at + 1 });
    }
    if path == "/dev/null" {
        return Ok(path.to_owned());
    }
    let mut kept = path;
    for _ in 0..strip {
        kept = kept.split_once('/').map_or(kept, |(_, tail)| tail);
    }
    if kept.is_empty() { Err(PatchError::NoPath { line: at + 1 }) } else { Ok(kept.to_owned()) }
}

fn hunk_size(line: &str) -> (usize, usize) {
    let mut fields = line.split_whitespace().skip(1);
    let mut size = || {
        let field = fields.next()?.trim_start_matches(['-', '+']);
        match field.split_once(',') {
            Some((_, count)) => count.parse::<usize>().ok(),
            None => Some(1),
        }
    };
    (size().unwrap_or_default(), size().unwrap_or_default())
}

fn tell(call: &Call<'_>, report: &mut Report, effects: Vec<PatchEffect>, base: Option<&Arg>) {
    for effect in effects {
        let path = match base {
            Some(base) if !effect.path.starts_with('/') => below(base, &effect.path),
            _ => Arg::literal(effect.path),
        };
        report.file(call, effect.access, &Arg { glob: false, ..path }, false);
    }
}

/// `apply_patch BODY`, or with the body on standard input.
pub(crate) fn report_patch(call: &Call<'_>, report: &mut Report) {
    let body = match (call.args.first().map(Arg::known), call.stdin) {
        (Some(Some(text)), _) => text,
        (None, Stdin::Text(text)) => text.as_str(),
        (None, Stdin::Inherited) => return,
        _ => return report.opaque(OpaqueWhat::Target, &written(call)),
    };
    match read_patch(body) {
        Ok(effects) => tell(call, report, effects, None),
        Err(error) => report.opaque(OpaqueWhat::Syntax, &error.to_string()),
    }
}

/// `patch` and `git apply` with a diff in a file.
pub(crate) fn report_diff_file(
    call: &Call<'_>,
    report: &mut Report,
    file: &Arg,
    strip: usize,
    base: Option<&Arg>,
) {
    let target = base.cloned().unwrap_or_else(|| Arg::literal("."));
    let incoming = Incoming::Patch { file: file.clone(), strip };
    report.arrives(call, Access::Modify, &target, true, incoming);
}

/// `patch` and `git apply` with a diff on standard input.
pub(crate) fn report_diff(call: &Call<'_>, report: &mut Report, strip: usize, base: Option<&Arg>) {
    match call.stdin {
        Stdin::Text(text) => {
            if let Ok(effects) = read_diff(text, strip) {
                tell(call, report, effects, base)
            }
        }
        // A file that the line wrote itself is known as text or not at all.
        _ if let Some(file) = call.source.filter(|file| !is_written(call, file)) => {
            report_diff_file(call, report, file, strip, base);
        }
        // The names are in the diff, which is not known: anything below may change.
        _ => {
            let target = base.cloned().unwrap_or_else(|| Arg::literal("."));
            report.arrives(call, Access::Modify, &target, true, Incoming::Unknown);
        }
    }
}

fn is_written(call: &Call<'_>, file: &Arg) -> bool {
    file.known().is_none_or(|path| call.env.written(path).is_some())
}

#[cfg(test)]
mod tests;
