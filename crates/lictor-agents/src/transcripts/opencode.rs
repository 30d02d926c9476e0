//! OpenCode: since 1.2 one SQLite database, before that one file for each part of a message.

use std::fs;
use std::io;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::claude_code::through;
use super::{Each, Entry, Kept, Reader, source};
use crate::agent::Agent;

pub(super) const KEPT: Kept = Kept {
    agent: Agent::OpenCode,
    place: |homes| homes.data.join("opencode"),
    is_one: |path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name == "opencode.db"
            || (through(path, "storage") && through(path, "part") && name.ends_with(".json"))
    },
    read: |path, reader, each| {
        if path.extension().is_some_and(|end| end == "db") {
            return database(path, reader, each).map_err(io::Error::other);
        }
        let Some(part) = source::document(path, reader)? else { return Ok(()) };
        if let Some(session) = part.get("sessionID").and_then(Value::as_str)
            && let Some(root) = directory(path, session)
        {
            reader.cwd = root;
        }
        reader.note(part.get("sessionID"), None, part.pointer("/state/time/start"));
        let mut found = Vec::new();
        tool(reader, &part, &mut found);
        let _ = source::deliver(&mut found, each);
        Ok(())
    },
};

fn tool(reader: &mut Reader, part: &Value, found: &mut Vec<Entry>) {
    if part.get("type").and_then(Value::as_str) != Some("tool") {
        return;
    }
    let id = part.get("callID").and_then(Value::as_str);
    let input = part.pointer("/state/input").cloned().unwrap_or(Value::Null);
    found.extend(reader.call(part.get("tool").and_then(Value::as_str).unwrap_or_default(), input, id));
    if let (Some(id), Some(status)) = (id, part.pointer("/state/status").and_then(Value::as_str)) {
        found.push(Entry::Done { id: id.to_owned(), success: status == "completed" });
    }
}

/// The directory of a session, from `storage/session/<project>/<session>.json` beside the parts.
fn directory(part: &Path, session: &str) -> Option<String> {
    let storage = part.ancestors().find(|path| path.ends_with("storage"))?;
    for project in fs::read_dir(storage.join("session")).ok()?.flatten() {
        let Ok(text) = fs::read(project.path().join(format!("{session}.json"))) else { continue };
        let about: Value = serde_json::from_slice(&text).ok()?;
        return about.get("directory").and_then(Value::as_str).map(str::to_owned);
    }
    None
}

/// Row by row, read-only: OpenCode may be running.
fn database(path: &Path, reader: &mut Reader, each: Each<'_>) -> rusqlite::Result<()> {
    let open = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    let mut statement = open.prepare(
        "SELECT part.session_id, session.directory, part.time_created, part.data FROM part \
         LEFT JOIN session ON session.id = part.session_id ORDER BY part.session_id, part.time_created",
    )?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (session, directory): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let (created, data): (Option<i64>, String) = (row.get(2)?, row.get(3)?);
        let Ok(part) = serde_json::from_str::<Value>(&data) else {
            reader.tally.damaged += 1;
            continue;
        };
        let created = created.map(Value::from);
        reader.note(
            Some(&session.into()),
            directory.map(Value::from).as_ref(),
            part.pointer("/state/time/start").or(created.as_ref()),
        );
        tool(reader, &part, &mut found);
        if source::deliver(&mut found, each).is_break() {
            break;
        }
    }
    Ok(())
}
