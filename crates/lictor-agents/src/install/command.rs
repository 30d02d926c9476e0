//! The command line that stands in an agent's settings.

use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::contract::Moment;

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

/// Looks for the program where it is usually installed, then on the search path: a line that is right for everybody who
/// works on a project.
const SEARCH: &str = r#"PATH="$HOME/.local/bin:$HOME/.cargo/bin:$PATH""#;
/// Ends in exit code 2 whatever goes wrong: most agents let a call through when its hook cannot be run.
const CLOSED: &str =
    "|| { test $? = 2 || echo 'Lictor did not judge this: is `lictor` installed here?' >&2; exit 2; }";
/// The same in words that every shell understands, for an agent that is refused by what a hook prints: exit code 2 is then
/// a failure too.
const CLOSED_IN_ANY_SHELL: &str =
    r#"|| sh -c 'echo "Lictor did not judge this: is lictor installed here?" >&2; exit 2'"#;

impl Command {
    /// `/usr/bin/lictor hook claude-code PreToolUse`, with the path quoted where a shell needs it. A program without a
    /// directory is looked for.
    pub(super) fn line(binary: &Path, agent: Agent, event: &str) -> String {
        let program = quoted(&binary.to_string_lossy());
        let search = if is_bare(binary) { format!("{SEARCH} ") } else { String::new() };
        let stops = agent.spec().row(event).is_some_and(|row| {
            matches!(row.moment, Moment::PreTool | Moment::PermissionRequest | Moment::Prompt)
        });
        let tail = match (stops, agent.spec().any_shell) {
            (false, _) => String::new(),
            (true, true) => format!(" {CLOSED_IN_ANY_SHELL}"),
            (true, false) => format!(" {CLOSED}"),
        };
        format!("{search}{program} hook {agent} {event}{tail}")
    }

    /// The parts, if it is one of Lictor's.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let words = words(line);
        let mut words = words.iter().map(String::as_str).skip_while(|word| word.starts_with("PATH="));
        let program = words.next()?;
        let name = program.rsplit(['/', '\\']).next()?;
        if !matches!(name, "lictor" | "lictor.exe") || words.next() != Some("hook") {
            return None;
        }
        let mut words = words.take_while(|word| *word != "||");
        let agent = words.next().and_then(|word| word.parse().ok());
        Some(Self { program: program.into(), agent, event: words.next().map(str::to_owned) })
    }

    /// Whether a shell that was given this line runs the hook with these arguments and nothing else: it is, to the letter,
    /// what `init` writes.
    #[must_use]
    pub fn is_installed_line(line: &str, arguments: &[String]) -> bool {
        let Some(Self { program, agent: Some(agent), event: Some(event) }) = Self::read(line) else {
            return false;
        };
        let same = arguments == ["hook", agent.name(), &event];
        let written = Self::line(&program, agent, &event);
        same && (written == line.trim() || is_expanded(line.trim(), &written))
    }

    /// Whether the program is looked for, where everybody has it.
    #[must_use]
    pub fn is_looked_for(&self) -> bool {
        is_bare(&self.program)
    }

    /// Whether the shell finds the same program wherever the agent is.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        let text = self.program.to_string_lossy();
        text.starts_with('/') || text.starts_with("\\\\") || text.chars().nth(1) == Some(':')
    }
}

/// Whether a line is the written one after the agent has put the values of variables into where programs are looked for,
/// as Gemini CLI does with everything in its settings.
fn is_expanded(line: &str, written: &str) -> bool {
    let search = |line: &str| {
        let (value, rest) = line.strip_prefix("PATH=\"")?.split_once('"')?;
        Some((value.to_owned(), rest.to_owned()))
    };
    let (Some((value, rest)), Some((_, written))) = (search(line), search(written)) else { return false };
    rest == written && !value.contains(['$', '`', '\\', '\n', '\r'])
}

fn is_bare(program: &Path) -> bool {
    program.components().count() == 1 && program.is_relative()
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
