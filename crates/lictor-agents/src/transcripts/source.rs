//! Files as sources of entries: lines of JSON, or one document.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::ops::ControlFlow;
use std::path::Path;

use memchr::memmem;
use serde_json::Value;

use super::{Each, Entry, KEPT, Reader, WHOLE};
use crate::agent::Agent;

/// The longest line that is read. Agents keep pictures in lines; a longer one counts as damaged.
const LINE: u64 = 32 * 1024 * 1024;

/// Reads a file of JSON lines. Only lines that contain one of the `marks` are parsed: most of a transcript is
/// conversation.
pub(super) fn lines(
    path: &Path,
    marks: &[&str],
    reader: &mut Reader,
    each: Each<'_>,
    mut entry: impl FnMut(&mut Reader, &Value, &mut Vec<Entry>),
) -> io::Result<()> {
    let mut input = BufReader::with_capacity(256 * 1024, File::open(path)?);
    let mut line = Vec::new();
    let mut found = Vec::new();
    loop {
        line.clear();
        let read = (&mut input).take(LINE + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if line.len() as u64 > LINE {
            reader.tally.damaged += 1;
            skip_line(&mut input)?;
            continue;
        }
        let text = line.trim_ascii();
        if text.is_empty() || !marks.iter().any(|mark| memmem::find(text, mark.as_bytes()).is_some()) {
            // A truncated line is damage, whatever its content.
            if text.first() == Some(&b'{') && text.last() != Some(&b'}') {
                reader.tally.damaged += 1;
            }
            continue;
        }
        let Ok(value) = serde_json::from_slice::<Value>(text) else {
            reader.tally.damaged += 1;
            continue;
        };
        entry(reader, &value, &mut found);
        if deliver(&mut found, each).is_break() {
            return Ok(());
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = memchr::memchr(b'\n', buffer);
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

/// Hands over what was found so far.
pub(super) fn deliver(found: &mut Vec<Entry>, each: Each<'_>) -> ControlFlow<()> {
    for entry in found.drain(..) {
        each(entry)?;
    }
    ControlFlow::Continue(())
}

/// One JSON document, when it is one and not too large.
pub(super) fn document(path: &Path, reader: &mut Reader) -> io::Result<Option<Value>> {
    if fs::metadata(path)?.len() > WHOLE {
        reader.tally.damaged += 1;
        return Ok(None);
    }
    let value = serde_json::from_slice(&fs::read(path)?).ok();
    if value.is_none() {
        reader.tally.damaged += 1;
    }
    Ok(value)
}

/// How many bytes of a file are searched for its session.
const BEGINNING: u64 = 16 * 1024;

/// The first session that the beginning of a file names.
pub(super) fn first_session(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    File::open(path).ok()?.take(BEGINNING).read_to_end(&mut start).ok()?;
    let (at, mark) = [&b"\"sessionId\""[..], b"\"sessionID\""]
        .into_iter()
        .filter_map(|mark| memmem::find(&start, mark).map(|at| (at, mark.len())))
        .min()?;
    let rest = start.get(at + mark..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"")?;
    let end = memchr::memchr(b'"', rest)?;
    rest.get(..end).map(|id| String::from_utf8_lossy(id).into_owned())
}

/// The agent of a transcript: by its path, or else by its first lines.
pub(super) fn whose(path: &Path) -> Option<Agent> {
    let by_name: Vec<&Agent> =
        KEPT.iter().filter(|kept| (kept.is_one)(path)).map(|kept| &kept.agent).collect();
    if let [only] = by_name.as_slice() {
        return Some(**only);
    }
    let mut head = String::new();
    let file = File::open(path).ok()?;
    let mut start = Vec::new();
    file.take(1024 * 1024).read_to_end(&mut start).ok()?;
    head.push_str(&String::from_utf8_lossy(&start));
    let holds = |marks: &[&str]| marks.iter().all(|mark| head.contains(mark));
    let signs: [(Agent, &[&[&str]]); 5] = [
        (
            Agent::ClaudeCode,
            &[&["\"sessionId\"", "\"message\"", "\"uuid\""], &["\"tool_use\"", "\"sessionId\""]],
        ),
        (
            Agent::Codex,
            &[
                &["\"session_meta\""],
                &["\"response_item\""],
                &["\"record_type\""],
                &["\"function_call\"", "\"call_id\""],
            ],
        ),
        (Agent::CopilotCli, &[&["\"session.start\""], &["\"tool.execution_start\""], &["\"chatMessages\""]]),
        (Agent::GeminiCli, &[&["\"projectHash\""], &["\"functionCall\""]]),
        (Agent::Cursor, &[&["\"role\"", "\"tool_use\""], &["[Tool call]"]]),
    ];
    signs.into_iter().find(|(_, ways)| ways.iter().any(|marks| holds(marks))).map(|(agent, _)| agent)
}
