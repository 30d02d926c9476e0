//! The layout of hooks in a settings file, as defined by each agent's file.

use super::json::Json;

/// The layout of an agent's hooks in its settings file.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Keys from the top of the file down to the object that has the events.
    pub(crate) root: &'static [&'static str],
    /// A separate file must contain its format version.
    pub(crate) versioned: bool,
    pub(crate) entries: &'static [Entry],
    /// Whether handlers tell the agent to stop the call when the hook fails.
    pub(crate) says_fail_closed: bool,
    /// One handler: from its command line and its time limit in seconds.
    pub(crate) handler: fn(&Entry, &str) -> Json,
}

/// One event that Lictor wants to hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) event: &'static str,
    pub(crate) matcher: Option<&'static str>,
    /// Handlers are in a group, under `hooks`.
    grouped: bool,
    /// Seconds that Lictor may take. Its own deadline is shorter.
    pub(crate) timeout: u32,
    /// The timeout in the agent's settings, in seconds.
    pub(crate) patience: u32,
    /// Fails closed, if the agent supports it.
    pub(crate) closed: bool,
}

/// Long enough for a callback, short enough not to hang an agent.
pub(crate) const SOON: u32 = 60;
/// Completion checks run tests.
pub(crate) const LATE: u32 = 600;
/// The timeout for an agent that would let the call proceed afterwards. Lictor replies long before; this matters
/// only if another program in its place never replies.
const DAY: u32 = 86_400;

pub(crate) const fn tool(event: &'static str) -> Entry {
    Entry { event, matcher: Some("*"), grouped: true, timeout: SOON, patience: SOON, closed: true }
}

pub(crate) const fn every(event: &'static str) -> Entry {
    Entry { event, matcher: None, grouped: true, timeout: SOON, patience: SOON, closed: false }
}

impl Entry {
    pub(crate) const fn flat(self) -> Self {
        Self { grouped: false, matcher: None, ..self }
    }

    pub(crate) const fn is_grouped(&self) -> bool {
        self.grouped
    }

    pub(crate) const fn any_tool(self) -> Self {
        Self { matcher: None, ..self }
    }

    pub(crate) const fn matching(self, matcher: &'static str) -> Self {
        Self { matcher: Some(matcher), ..self }
    }

    pub(crate) const fn closed(self) -> Self {
        Self { closed: true, ..self }
    }

    pub(crate) const fn open(self) -> Self {
        Self { closed: false, ..self }
    }

    pub(crate) const fn waits(self, timeout: u32) -> Self {
        Self { timeout, patience: timeout, ..self }
    }

    /// For agents that let a call through once they have given up waiting.
    pub(crate) const fn patient(self) -> Self {
        Self { patience: DAY, ..self }
    }
}

impl Layout {
    /// The item in the event's list.
    pub(crate) fn item(&self, entry: &Entry, command: &str) -> Json {
        let handler = (self.handler)(entry, command);
        if !entry.grouped {
            return handler;
        }
        let hooks = Json::Array(vec![handler]);
        match entry.matcher {
            Some(matcher) => Json::object([("matcher", Json::text(matcher)), ("hooks", hooks)]),
            None => Json::object([("hooks", hooks)]),
        }
    }
}

/// The kind of file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Json(&'static Layout),
    Toml(&'static Layout),
    /// A plugin in its own file, generated from this text, and Lictor's timeout in seconds.
    Plugin(&'static str, u32),
}

/// For agents that count the time in milliseconds, and call hooks by their names.
pub(crate) fn milliseconds(entry: &Entry, command: &str) -> Json {
    Json::object([
        ("type", Json::text("command")),
        ("name", Json::text("lictor")),
        ("command", Json::text(command)),
        ("timeout", Json::number(entry.patience * 1000)),
    ])
}

pub(crate) fn command_handler(entry: &Entry, command: &str) -> Json {
    Json::object([
        ("type", Json::text("command")),
        ("command", Json::text(command)),
        ("timeout", Json::number(entry.patience)),
    ])
}
