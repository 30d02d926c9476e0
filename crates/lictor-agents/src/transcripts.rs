//! Agents' transcripts on this machine: tool calls from before they were governed.
//!
//! One file per agent defines where that agent stores its transcripts and how to parse them, in old and new
//! formats. Memory is bounded by one entry, whatever the size of a transcript; unreadable entries are counted and
//! skipped. Only this module reads files.

mod claude_code;
mod codex;
mod copilot_cli;
mod cursor;
mod gemini_cli;
mod opencode;
mod source;

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lictor_core::action::MAX_SESSION_ID;
use lictor_core::{Action, ActionKind, Actor, SessionKey, Timestamp};
use serde_json::Value;

use crate::agent::Agent;
use crate::input::Fields;
use crate::tools::{self, Tool};

/// The maximum depth of transcripts below an agent's directory.
const DEPTH: usize = 6;
/// The largest file that is read as one piece; larger ones in that form count as damaged.
const WHOLE: u64 = 64 * 1024 * 1024;

/// One thing that a transcript tells.
#[derive(Debug, Clone)]
pub enum Entry {
    /// The agent used a tool.
    Call(Box<Action>),
    /// How a call ended.
    Done {
        /// The call's id.
        id: String,
        /// Whether the tool did what it was asked for.
        success: bool,
    },
}

/// A transcript on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Whose.
    pub agent: Agent,
    /// The file.
    pub path: PathBuf,
    /// How large it is.
    pub bytes: u64,
    /// When it was last written.
    pub changed: Option<SystemTime>,
}

/// The counts of a transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tool calls.
    pub calls: u64,
    /// Lines, parts or calls that could not be read.
    pub damaged: u64,
}

/// Where people keep things.
#[derive(Debug, Clone)]
pub struct Homes {
    /// The home directory.
    pub home: PathBuf,
    /// `$XDG_DATA_HOME`, or its default.
    pub data: PathBuf,
    /// `$CODEX_HOME`, when it is set.
    pub codex: Option<PathBuf>,
    /// `$CLAUDE_CONFIG_DIR`, when it is set.
    pub claude: Option<PathBuf>,
    /// `$COPILOT_HOME`, when it is set.
    pub copilot: Option<PathBuf>,
}

/// How one agent's transcripts are found and parsed.
struct Kept {
    agent: Agent,
    /// Where they are.
    place: fn(&Homes) -> PathBuf,
    /// Whether a file is one.
    is_one: fn(&Path) -> bool,
    read: fn(&Path, &mut Reader, Each<'_>) -> io::Result<()>,
}

/// The callback for entries, which may stop the iteration.
type Each<'a> = &'a mut dyn FnMut(Entry) -> ControlFlow<()>;

const KEPT: [&Kept; 6] =
    [&claude_code::KEPT, &codex::KEPT, &gemini_cli::KEPT, &copilot_cli::KEPT, &opencode::KEPT, &cursor::KEPT];

/// Every transcript in the places where agents keep them.
#[must_use]
pub fn find(homes: &Homes) -> Vec<Transcript> {
    let mut found = Vec::new();
    for kept in KEPT {
        walk(&(kept.place)(homes), DEPTH, &mut |path| {
            if (kept.is_one)(path) {
                found.extend(transcript(kept.agent, path));
            }
        });
    }
    found
}

/// Every transcript in and below a directory, or that one file. The agent is detected by its format.
#[must_use]
pub fn find_in(path: &Path) -> Vec<Transcript> {
    let mut found = Vec::new();
    // The path may be a whole home directory.
    walk(path, 2 * DEPTH, &mut |path| {
        if let Some(agent) = source::whose(path) {
            found.extend(transcript(agent, path));
        }
    });
    found
}

fn transcript(agent: Agent, path: &Path) -> Option<Transcript> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(Transcript { agent, path: path.to_owned(), bytes: about.len(), changed: about.modified().ok() })
}

/// Links are not followed, so that every file is seen once.
fn walk(path: &Path, depth: usize, each: &mut dyn FnMut(&Path)) {
    let Ok(about) = fs::symlink_metadata(path) else { return };
    if about.is_file() {
        each(path);
    } else if about.is_dir() && depth > 0 {
        let Ok(listed) = fs::read_dir(path) else { return };
        let mut inside: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
        inside.sort();
        for path in inside {
            walk(&path, depth - 1, each);
        }
    }
}

impl Transcript {
    /// The group of transcripts of one session: some agents store a file for each subagent or each part of a
    /// message. Derived from the beginning of the file; a file without a session is its own group.
    #[must_use]
    pub fn session_group(&self) -> String {
        let named = source::first_session(&self.path);
        named.unwrap_or_else(|| self.path.to_string_lossy().into_owned())
    }

    /// Calls `each` with the entries of the transcript, in order, until it stops.
    ///
    /// # Errors
    /// When the file cannot be read at all.
    pub fn read(&self, mut each: impl FnMut(Entry) -> ControlFlow<()>) -> io::Result<Tally> {
        let Some(kept) = KEPT.iter().find(|kept| kept.agent == self.agent) else {
            return Ok(Tally::default());
        };
        let mut reader = Reader::new(self.agent, &self.path);
        (kept.read)(&self.path, &mut reader, &mut each)?;
        Ok(reader.tally)
    }
}

/// The context of a transcript for the following calls.
struct Reader {
    agent: Agent,
    session: String,
    cwd: String,
    at: Timestamp,
    tally: Tally,
}

impl Reader {
    fn new(agent: Agent, path: &Path) -> Self {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { agent, session: name, cwd: "/".to_owned(), at: Timestamp(0), tally: Tally::default() }
    }

    /// Updates session, directory and time from an entry; absent fields keep their values.
    fn note(&mut self, session: Option<&Value>, cwd: Option<&Value>, at: Option<&Value>) {
        let text = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        if let Some(session) = text(session) {
            self.session = session;
        }
        if let Some(cwd) = text(cwd) {
            self.cwd = cwd;
        }
        if let Some(at) = at.and_then(moment) {
            self.at = at;
        }
    }

    /// A call in Lictor's words; one that cannot be understood is counted as damaged.
    fn call(&mut self, name: &str, input: Value, id: Option<&str>) -> Option<Entry> {
        let Some(action) = self.action(name, input, id) else {
            self.tally.damaged += 1;
            return None;
        };
        self.tally.calls += 1;
        Some(Entry::Call(Box::new(action)))
    }

    fn action(&self, name: &str, input: Value, id: Option<&str>) -> Option<Action> {
        let Value::Object(input) = input else { return None };
        if name.is_empty() {
            return None;
        }
        let tool = Tool::named(name);
        let (kind, payload) = tools::translate(self.agent.spec().tools, tool, Fields(input)).ok()?;
        let mut action = Action::new(kind, payload);
        action.tool = tool.full_name();
        let id_of_session: String = self.session.chars().take(MAX_SESSION_ID / 4).collect();
        action.session = Some(SessionKey { agent: self.agent.name().to_owned(), id: id_of_session });
        action.actor = Actor { agent: self.agent.name().to_owned(), ..Actor::default() };
        action.tool_use_id = id.map(str::to_owned);
        action.at = self.at;
        let elsewhere = match action.kind {
            ActionKind::Bash => action.payload.remove("cwd"),
            _ => None,
        };
        action.cwd = match elsewhere.as_ref().and_then(Value::as_str) {
            None | Some("") => self.cwd.clone(),
            Some(directory) if tools::is_rooted(directory) => directory.to_owned(),
            Some(directory) => format!("{}/{directory}", self.cwd),
        };
        Some(action)
    }
}

/// A time as transcripts write it: ISO 8601, or milliseconds or seconds since 1970.
fn moment(value: &Value) -> Option<Timestamp> {
    if let Some(text) = value.as_str() {
        return text.parse::<jiff::Timestamp>().ok().map(|at| Timestamp(at.as_millisecond()));
    }
    let number = value.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "times fit into 53 bits")]
    let whole = number as i64;
    // Seconds of this century have ten digits, milliseconds thirteen.
    Some(Timestamp(if whole < 100_000_000_000 { whole.saturating_mul(1000) } else { whole }))
}

/// Arguments that some agents keep as an object and some as the text of one.
fn arguments(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
        Some(value) => value.clone(),
        None => Value::Null,
    }
}

#[cfg(test)]
mod tests;
