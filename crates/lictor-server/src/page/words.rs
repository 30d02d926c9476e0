//! Formatting for people: times, durations, effects of actions.

use std::fmt;

use jiff::Zoned;
use jiff::tz::TimeZone;
use lictor::drawing::escaped;
use lictor_core::facts::Deed;
use lictor_core::{Action, ActionKind, Decision, Facts, Timestamp};

/// A time as a page shows it: where the reader is, the exact one on hover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct When(pub(crate) Timestamp);

/// Only digits and signs, so it needs no escaping.
impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(at) = jiff::Timestamp::from_millisecond(self.0.0) else { return f.write_str("some time") };
        let here: Zoned = at.to_zoned(TimeZone::system());
        let today = jiff::Timestamp::now().to_zoned(TimeZone::system()).date() == here.date();
        let short = here.strftime(if today { "%H:%M:%S" } else { "%-d %b %H:%M" });
        let exact = here.strftime("%Y-%m-%d %H:%M:%S%.3f %:z");
        let iso = at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        write!(f, "<time datetime=\"{iso}\" title=\"{exact}\">{short}</time>")
    }
}

/// The day, where the reader is: `2026-11-16`.
pub(crate) fn day(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string()
}

/// A length of time in its largest unit: `40 s`, `12 min`, `3 h`, `2 days`.
pub(crate) fn length(millis: i64) -> String {
    match millis.max(0) / 1000 {
        0 => format!("{} ms", millis.max(0)),
        seconds @ 1..=99 => format!("{seconds} s"),
        seconds @ 100..=5_999 => format!("{} min", seconds / 60),
        seconds @ 6_000..=172_799 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// A word for an address: everything else than letters and digits is written with percent signs.
pub(crate) fn in_address(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    text.bytes().fold(String::new(), |mut out, byte| {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        out
    })
}

/// The beginning of a long text.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// A sentence as a page shows it: text in backticks is code. Everything is escaped.
pub(crate) fn prose(text: &str) -> String {
    let text = &*super::readable(text.to_owned());
    let parts: Vec<&str> = text.split('`').collect();
    // An unmatched backtick is literal.
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let part = |(place, part): (usize, &&str)| match place % 2 {
        1 if !part.is_empty() => format!("<code>{}</code>", escaped(part)),
        1 => "``".to_owned(),
        _ => escaped(part),
    };
    parts.iter().enumerate().map(part).collect()
}

/// The same, beginning with a capital letter.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    prose(&format!("{first}{}", letters.as_str()))
}

/// The kind of action, as a sentence without its object.
pub(crate) fn wish(action: &Action) -> String {
    match &action.kind {
        ActionKind::Read => "Read a file".to_owned(),
        ActionKind::Write => "Write a file".to_owned(),
        ActionKind::Bash => "Run a shell command".to_owned(),
        ActionKind::ExecuteCode => "Run code".to_owned(),
        ActionKind::SubmitTask => "Submit a task".to_owned(),
        ActionKind::Fetch => "Fetch from the network".to_owned(),
        ActionKind::Delegate => "Start another agent".to_owned(),
        ActionKind::Tool | ActionKind::Other(_) if action.tool.is_empty() => "Use a tool".to_owned(),
        ActionKind::Tool | ActionKind::Other(_) => format!("Use the tool {}", clipped(&action.tool, 80)),
    }
}

/// So many targets of one deed are named.
const NAMED: usize = 5;

/// The effects of an action, one line per deed.
pub(crate) fn deeds(facts: &Facts) -> Vec<String> {
    facts.deeds().iter().filter(|deed| deed.object != "opaque").map(deed).collect()
}

/// Deeds in plain words; the object follows. Others are shown as policies name them.
const PLAIN: &[(&str, &str, &str)] = &[
    ("run", "program", "run"),
    ("run", "code", "run code in"),
    ("use", "tool", "use the tool"),
    ("start", "agent", "start the agent"),
    ("read", "file", "read"),
    ("read", "secret", "read the secret in"),
    ("list", "file", "list"),
    ("list", "secret", "list secrets in"),
    ("write", "file", "write"),
    ("write", "secret", "write the secret in"),
    ("empty", "file", "empty"),
    ("empty", "secret", "empty the secret in"),
    ("delete", "file", "delete"),
    ("delete", "secret", "delete the secret in"),
    ("destroy", "file", "destroy"),
    ("move", "file", "move away"),
    ("chmod", "file", "change who may use"),
    ("fetch", "host", "fetch from"),
    ("send", "host", "send to"),
    ("move", "data", "hand data on to"),
    ("discard", "work", "throw away changes that are not committed:"),
    ("stash", "work", "put changes aside"),
    ("drop", "stash", "throw away changes that were put aside"),
    ("discard", "commits", "throw away commits"),
    ("rewrite", "history", "rewrite history"),
    ("expire", "history", "remove what git keeps of the past"),
    ("force-push", "branch", "overwrite the remote branch"),
    ("delete", "branch", "delete the remote branch"),
    ("push", "branch", "push"),
    ("commit", "work", "commit"),
    ("skip", "hooks", "skip the hooks of git"),
    ("configure", "git", "configure git"),
    ("kill", "process", "end a process"),
    ("stop", "machine", "shut the machine down"),
    ("exhaust", "machine", "use the machine up"),
    ("drop", "database", "drop everything in a database:"),
    ("drop", "table", "drop a part of a database:"),
    ("change", "infrastructure", "change infrastructure:"),
    ("publish", "package", "publish a package with"),
    ("disable", "guard", "switch off what protects:"),
];

fn deed(deed: &Deed) -> String {
    let known = PLAIN.iter().find(|(verb, object, _)| *verb == deed.verb && *object == deed.object);
    let what =
        known.map_or_else(|| format!("{} {}", deed.verb, deed.object), |(.., plain)| (*plain).to_owned());
    let named: Vec<String> = deed.targets.iter().take(NAMED).map(|target| clipped(target, 160)).collect();
    let more = deed.targets.len().saturating_sub(NAMED);
    let targets = match named.split_last() {
        _ if more > 0 => format!("{} and {more} more", named.join(", ")),
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    };
    if targets.is_empty() {
        return what.trim_end_matches(':').to_owned();
    }
    format!("{what} {targets}")
}

/// What could not be determined.
pub(crate) fn unknown(facts: &Facts) -> Vec<String> {
    facts.opaque.iter().take(NAMED).map(|opaque| clipped(&opaque.text, 160)).collect()
}

/// The name of a decision, also used as a CSS class.
pub(crate) fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "pass",
        Decision::Warn => "warn",
        Decision::Ask => "ask",
        Decision::Block => "block",
    }
}

/// The decision of that name.
pub(crate) fn decision(text: &str) -> Option<Decision> {
    [Decision::Pass, Decision::Warn, Decision::Ask, Decision::Block]
        .into_iter()
        .find(|decision| word(*decision) == text)
}

/// A number with thin gaps between its thousands.
pub(crate) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeds_are_told_in_plain_words() {
        let said = |verb: &str, object: &str, targets: &[&str]| {
            deed(&Deed {
                verb: verb.to_owned(),
                object: object.to_owned(),
                cardinality: lictor_core::facts::Cardinality::Single,
                count: None,
                targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            })
        };
        assert_eq!(said("run", "program", &["curl", "sh"]), "run curl and sh");
        assert_eq!(said("fetch", "host", &["https://a.example"]), "fetch from https://a.example");
        assert_eq!(said("move", "data", &["sh"]), "hand data on to sh");
        assert_eq!(
            said("delete", "file", &["a", "b", "c", "d", "e", "f"]),
            "delete a, b, c, d, e and 1 more"
        );
        assert_eq!(said("disable", "guard", &[]), "switch off what protects");
        assert_eq!(said("paint", "wall", &["red"]), "paint wall red");
    }

    #[test]
    fn lengths_and_addresses_read_well() {
        let said: Vec<String> = [5, 40_000, 720_000, 10_800_000, 172_800_000].map(length).to_vec();
        assert_eq!(said, ["5 ms", "40 s", "12 min", "3 h", "2 days"]);
        assert_eq!((number(7).as_str(), number(1_234_567).as_str()), ("7", "1\u{202f}234\u{202f}567"));
        assert_eq!(in_address("a b&c=d/é"), "a%20b%26c%3Dd/%C3%A9");
        assert_eq!(clipped("häuser", 2), "hä…");
        assert_eq!(prose("`<a>` is & `b`"), "<code>&lt;a&gt;</code> is &amp; <code>b</code>");
        assert_eq!(prose("a ` stays"), "a ` stays");
        assert_eq!(
            prose("`\u{202e}\u{1b}`"),
            "<code>\\u{202e}\\x1b</code>",
            "hidden characters are written out"
        );
        assert_eq!(sentence("there is no `x`"), "There is no <code>x</code>");
    }
}
