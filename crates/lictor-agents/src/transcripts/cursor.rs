//! Cursor: `projects/<directory>/agent-transcripts/…`, JSON lines, or plain text from older versions. What the editor keeps
//! in its own database is not read.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::claude_code::{parts, through};
use super::{Entry, Kept, Reader, WHOLE, source};
use crate::agent::Agent;

pub(super) const KEPT: Kept = Kept {
    agent: Agent::Cursor,
    place: |homes| homes.home.join(".cursor/projects"),
    is_one: |path| {
        let ends = path.extension().is_some_and(|end| end == "jsonl" || end == "txt");
        ends && through(path, "agent-transcripts")
    },
    read: |path, reader, each| {
        if let Some(root) = project(path) {
            reader.cwd = root;
        }
        if path.extension().is_some_and(|end| end == "jsonl") {
            return source::lines(path, &["\"tool_use\""], reader, each, |reader, line, found| {
                reader.note(line.get("session_id"), line.get("cwd"), line.get("timestamp"));
                let message = line.get("message").unwrap_or(line);
                for part in message.get("content").and_then(Value::as_array).into_iter().flatten() {
                    parts(reader, part, found);
                }
            });
        }
        if fs::metadata(path)?.len() > WHOLE {
            reader.tally.damaged += 1;
            return Ok(());
        }
        let mut found = Vec::new();
        plain(reader, &String::from_utf8_lossy(&fs::read(path)?), &mut found);
        let _ = source::deliver(&mut found, each);
        Ok(())
    },
};

/// `[Tool call] Name`, then one `  field: value` per line; a value may span several lines.
fn plain(reader: &mut Reader, text: &str, found: &mut Vec<Entry>) {
    let mut open: Option<(String, Map<String, Value>, Option<String>)> = None;
    let mut lines = text.lines().peekable();
    loop {
        let line = lines.next();
        let inside = line.is_some_and(|line| line.starts_with("  ") || line.is_empty());
        if !inside && let Some((name, input, _)) = open.take() {
            found.extend(reader.call(&name, Value::Object(input), None));
        }
        let Some(line) = line else { return };
        if let Some(name) = line.strip_prefix("[Tool call] ") {
            open = Some((name.trim().to_owned(), Map::new(), None));
            continue;
        }
        let Some((_, input, last)) = &mut open else { continue };
        let field = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '))
            .and_then(|rest| rest.split_once(':'));
        match (field, &last) {
            (Some((name, value)), _) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                input.insert(name.to_owned(), value.trim_start().into());
                *last = Some(name.to_owned());
            }
            (_, Some(name)) if !line.trim().is_empty() => {
                if let Some(Value::String(value)) = input.get_mut(name.as_str()) {
                    value.push('\n');
                    value.push_str(line.strip_prefix("  ").unwrap_or(line));
                }
            }
            _ => {}
        }
    }
}

/// The project's root: the directory's name is the path with dashes for slashes, so it has to be searched for.
fn project(path: &Path) -> Option<String> {
    let slug = path
        .ancestors()
        .find_map(|dir| dir.parent().filter(|above| above.ends_with("projects")).map(|_| dir))?;
    let words: Vec<&str> = slug.file_name()?.to_str()?.split('-').filter(|word| !word.is_empty()).collect();
    resolve(Path::new("/"), &words).map(|found| found.to_string_lossy().into_owned())
}

/// The directory below `base` whose path is these words joined by slashes or dashes.
fn resolve(base: &Path, words: &[&str]) -> Option<PathBuf> {
    if words.is_empty() {
        return Some(base.to_owned());
    }
    (1..=words.len()).find_map(|taken| {
        let (name, rest) = words.split_at_checked(taken)?;
        let next = base.join(name.join("-"));
        if next.is_dir() { resolve(&next, rest) } else { None }
    })
}
