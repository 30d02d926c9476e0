//! Tools that read and write files. Paths stay as the agent wrote them.

use lictor_core::ActionKind;
use serde_json::Value;

use super::{Payload, Translated, is_rooted, keep, one, put};
use crate::input::{Fields, Unreadable, missing};

const PATH: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "target_file",
    "TargetFile",
    "AbsolutePath",
    "absolute_path",
    "notebook_path",
    "target_notebook",
];
const PATHS: &[&str] = &["files", "paths", "include"];
const DIRECTORY: &[&str] = &[
    "path",
    "dir_path",
    "directory_path",
    "dirPath",
    "target_directory",
    "DirectoryPath",
    "SearchPath",
    "SearchDirectory",
    "folder",
];
const PATTERN: &[&str] = &["pattern", "glob_pattern", "Pattern", "query", "Query"];
const CONTENT: &[&str] = &["content", "contents", "file_text", "CodeContent", "code"];
const OLD: &[&str] = &["old_string", "oldString", "old_str", "TargetContent"];
const NEW: &[&str] = &["new_string", "newString", "new_str", "ReplacementContent"];
const PATCH: &[&str] = &["patch", "patchText", "patch_text", "input", "command"];

pub(super) fn read(input: &Fields) -> Result<Translated, Unreadable> {
    Ok((ActionKind::Read, one("path", input.need_text(PATH)?)))
}

pub(super) fn read_many(input: &Fields) -> Result<Translated, Unreadable> {
    Ok((ActionKind::Read, many(input)?))
}

pub(super) fn write_many(input: &Fields) -> Result<Translated, Unreadable> {
    if let Some((name, edits)) = input.get(&["replacements"])? {
        let wrong = || Unreadable::WrongType(name, "a list of edits");
        let edits = edits.as_array().ok_or_else(wrong)?;
        let paths = edits
            .iter()
            .map(|edit| Fields(edit.as_object().ok_or_else(wrong)?.clone()).need_text(PATH).map(Value::from));
        let mut payload = Payload::new();
        payload.insert("paths".to_owned(), paths.collect::<Result<Vec<_>, _>>()?.into());
        payload.insert("edits".to_owned(), pieces(name, edits)?);
        return Ok((ActionKind::Write, payload));
    }
    Ok((ActionKind::Write, many(input)?))
}

fn many(input: &Fields) -> Result<Payload, Unreadable> {
    let paths = input.texts(PATHS)?.ok_or_else(|| missing(PATHS))?;
    if paths.is_empty() {
        return Err(missing(PATHS));
    }
    if let [path] = paths.as_slice() {
        return Ok(one("path", path));
    }
    let mut payload = Payload::new();
    payload.insert("paths".to_owned(), paths.into());
    Ok(payload)
}

pub(super) fn search(input: &Fields) -> Result<Translated, Unreadable> {
    // One place or a list of them.
    let mut payload = match input.get(&["paths"])? {
        Some((_, Value::Array(_))) => many(input)?,
        Some(_) => one("path", input.need_text(&["paths"])?),
        None => one("path", directory(input)?),
    };
    payload.insert("search".to_owned(), true.into());
    put(&mut payload, "pattern", input.text(PATTERN)?);
    keep(&mut payload, input, &["glob", "include", "include_pattern", "includePattern"]);
    Ok((ActionKind::Read, payload))
}

/// An absolute pattern, or one with `..`, searches outside of its directory.
pub(super) fn glob(input: &Fields) -> Result<Translated, Unreadable> {
    let directory = directory(input)?;
    let pattern = input.text(PATTERN)?;
    let fixed = pattern.and_then(|pattern| pattern.split(['*', '?', '[', '{']).next()).unwrap_or_default();
    let path = if is_rooted(fixed) {
        fixed.to_owned()
    } else if fixed.contains("..") {
        format!("{directory}/{fixed}")
    } else {
        directory.to_owned()
    };
    let mut payload = one("path", &path);
    payload.insert("search".to_owned(), true.into());
    payload.insert("names".to_owned(), true.into());
    put(&mut payload, "pattern", pattern);
    Ok((ActionKind::Read, payload))
}

fn directory(input: &Fields) -> Result<&str, Unreadable> {
    Ok(input.text(DIRECTORY)?.filter(|path| !path.is_empty()).unwrap_or("."))
}

pub(super) fn write(input: &Fields) -> Result<Translated, Unreadable> {
    let mut payload = one("path", input.need_text(PATH)?);
    put(&mut payload, "content", input.text(CONTENT)?);
    Ok((ActionKind::Write, payload))
}

pub(super) fn edit(input: &Fields) -> Result<Translated, Unreadable> {
    let mut payload = one("path", input.need_text(PATH)?);
    if let Some((name, edits)) = input.get(&["edits", "ReplacementChunks"])? {
        let wrong = || Unreadable::WrongType(name, "a list of edits");
        payload.insert("edits".to_owned(), pieces(name, edits.as_array().ok_or_else(wrong)?)?);
    }
    old_and_new(&mut payload, input)?;
    put(&mut payload, "content", input.text(CONTENT)?);
    keep(&mut payload, input, &["replace_all", "replaceAll", "diff"]);
    Ok((ActionKind::Write, payload))
}

fn pieces(name: &'static str, edits: &[Value]) -> Result<Value, Unreadable> {
    let wrong = || Unreadable::WrongType(name, "a list of edits");
    let pieces = edits.iter().map(|edit| {
        let edit = Fields(edit.as_object().ok_or_else(wrong)?.clone());
        let mut piece = Payload::new();
        old_and_new(&mut piece, &edit)?;
        Ok(Value::Object(piece))
    });
    pieces.collect::<Result<Vec<_>, Unreadable>>().map(Value::from)
}

fn old_and_new(payload: &mut Payload, input: &Fields) -> Result<(), Unreadable> {
    put(payload, "old", input.text(OLD)?);
    put(payload, "new", input.text(NEW)?);
    Ok(())
}

/// The patch may come as the words of a call: `["apply_patch", "*** Begin Patch …"]`.
pub(super) fn patch(input: &Fields) -> Result<Translated, Unreadable> {
    if let Some((_, Value::Array(_))) = input.get(PATCH)? {
        let words = input.texts(PATCH)?.unwrap_or_default();
        return match words.as_slice() {
            [patch] => Ok((ActionKind::Write, one("patch", patch))),
            [_, patch] => Ok((ActionKind::Write, one("patch", patch))),
            _ => Err(Unreadable::WrongType("command", "a patch")),
        };
    }
    Ok((ActionKind::Write, one("patch", input.need_text(PATCH)?)))
}

pub(super) fn delete(input: &Fields) -> Result<Translated, Unreadable> {
    let mut payload = one("path", input.need_text(PATH)?);
    payload.insert("operation".to_owned(), "delete".into());
    Ok((ActionKind::Write, payload))
}

pub(super) fn notebook(input: &Fields) -> Result<Translated, Unreadable> {
    let mut payload = one("path", input.need_text(PATH)?);
    put(&mut payload, "content", input.text(&["new_source", "newCode", "new_string"])?);
    put(&mut payload, "cell", input.text(&["cell_id", "cellId"])?);
    keep(&mut payload, input, &["cell_type", "edit_mode", "editType"]);
    Ok((ActionKind::Write, payload))
}
