//! The command line that stands in an agent's settings.

use std::path::{Path, PathBuf};

use crate::agent::Agent;

/// A command line of Lictor's, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The binary as it is written.
    pub program: PathBuf,
    /// Which agent it says it is for.
    pub agent: Option<Agent>,
    /// Which event.
    pub event: Option<String>,
}

impl Command {
    /// `/usr/bin/lictor hook claude-code PreToolUse`, with the path quoted where a shell needs it.
    pub(super) fn line(binary: &Path, agent: Agent, event: &str) -> String {
        format!("{} hook {agent} {event}", quoted(&binary.to_string_lossy()))
    }

    /// The parts, if it is one of Lictor's.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let words = words(line);
        let mut words = words.iter().map(String::as_str);
        let program = words.next()?;
        let name = program.rsplit(['/', '\\']).next()?;
        if !matches!(name, "lictor" | "lictor.exe") || words.next() != Some("hook") {
            return None;
        }
        let agent = words.next().and_then(|word| word.parse().ok());
        Some(Self { program: program.into(), agent, event: words.next().map(str::to_owned) })
    }

    /// Whether the shell finds the same program wherever the agent is.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        let text = self.program.to_string_lossy();
        text.starts_with('/') || text.starts_with("\\\\") || text.chars().nth(1) == Some(':')
    }
}

/// A shell of either family reads it back as one word.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:\\".contains(c);
    let windows = path.contains('\\') || path.chars().nth(1) == Some(':');
    if path.chars().all(plain) && !windows {
        path.to_owned()
    } else if windows {
        format!("\"{path}\"")
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// The words of a line, as far as [`quoted`] needs it: single quotes, double quotes, escaped quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('\\', None) if characters.peek() == Some(&'\'') => {
                word.get_or_insert_default().extend(characters.next());
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
