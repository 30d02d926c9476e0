//! The hook's command line in an agent's settings.

use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::contract::Moment;

/// A parsed command line of Lictor's hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The binary as it is written.
    pub program: PathBuf,
    /// The agent that it names.
    pub agent: Option<Agent>,
    /// Which event.
    pub event: Option<String>,
}

/// The option of `lictor hook` in lines that can stop calls: the exit code then confirms that Lictor replied.
pub const CONFIRM: &str = "--confirm";
/// The offset of a confirmed exit code. No other program exits like that by chance.
pub const CONFIRMED: u8 = 80;

/// Searches for the program in the usual places, then on the search path: a line that works for everyone on a
/// project.
const SEARCH: &str = r#"PATH="$HOME/.local/bin:$HOME/.cargo/bin:$PATH""#;
/// The shell for agents that start hooks in the person's own shell, which may not be POSIX. By its path: one on
/// the search path may be untrusted.
const SHELL: &str = "/bin/sh";
/// What follows the call in such a line. Ends in exit code 2, and prints nothing, unless the program says that it
/// has judged: agents let a call through when its hook cannot be run or prints what they do not understand. Every
/// additional process would delay every call, so none is started here. Works also in a shell that exits at the
/// first failure.
const CLOSED: &str = concat!(
    r#"&& false || case $? in 80) printf %s "$o";; 82) printf %s "$o"; exit 2;; "#,
    r#"*) echo "Lictor did not judge this: is lictor installed here?" >&2; exit 2;; esac"#
);
/// The call, with the program and its arguments as arguments of the shell.
const CALL: &str = r#""$0" hook "$@""#;

impl Command {
    /// `/usr/bin/lictor hook claude-code PostToolUse`, with the path quoted where a shell needs it, and for an
    /// event that can stop something a line that requires a confirmed reply. A program without a directory is
    /// searched for.
    pub(super) fn line(binary: &Path, agent: Agent, event: &str) -> String {
        let text = binary.to_string_lossy();
        let program = quoted(&text);
        let search = if is_bare(binary) { format!("{SEARCH} ") } else { String::new() };
        let stops = agent.spec().row(event).is_some_and(|row| {
            matches!(row.moment, Moment::PreTool | Moment::PermissionRequest | Moment::Prompt)
        });
        match (stops, agent.spec().any_shell) {
            (false, _) => format!("{search}{program} hook {agent} {event}"),
            // Without a POSIX shell: exit code 2 on any failure, without confirmation.
            (true, _) if is_windows(&text) => format!("{program} hook {agent} {event} || exit 2"),
            (true, true) => {
                format!("{SHELL} -c 'o=$({search}{CALL} {CONFIRM}) {CLOSED}' {program} {agent} {event}")
            }
            (true, false) => format!("o=$({search}{program} hook {agent} {event} {CONFIRM}) {CLOSED}"),
        }
    }

    /// The parts, if it is one of Lictor's.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let words = words(line.trim_start().strip_prefix("o=$(").unwrap_or(line));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (program, called) = match words.as_slice() {
            [shell, "-c", script, program, called @ ..]
                if name(shell) == name(SHELL) && script.contains(CALL) =>
            {
                (*program, called)
            }
            [search, program, "hook", called @ ..] if search.starts_with("PATH=") => (*program, called),
            [program, "hook", called @ ..] => (*program, called),
            _ => return None,
        };
        if !is_lictor(program) {
            return None;
        }
        let mut called = called.iter().take_while(|word| **word != "||" && !word.starts_with("--"));
        let agent = called.next().and_then(|word| word.parse().ok());
        Some(Self { program: program.into(), agent, event: called.next().map(|word| (*word).to_owned()) })
    }

    /// Whether a shell with this line runs only the hook with these arguments: it is exactly the line that `init`
    /// writes.
    #[must_use]
    pub fn is_installed_line(line: &str, arguments: &[String]) -> bool {
        let Some(Self { program, agent: Some(agent), event: Some(event) }) = Self::read(line) else {
            return false;
        };
        let written = Self::line(&program, agent, &event);
        let confirms = written.contains(CONFIRM).then_some(CONFIRM);
        let same = ["hook", agent.name(), &event].into_iter().chain(confirms).eq(arguments);
        same && is_same(line.trim(), &written)
    }

    /// Whether a process with this command line is the shell that such a line starts, and runs the hook with these
    /// arguments.
    #[must_use]
    pub fn is_installed_shell(process: &[String], arguments: &[String]) -> bool {
        let [shell, option, script, program, called @ ..] = process else { return false };
        let expected = ["hook"].into_iter().chain(called.iter().map(String::as_str)).chain([CONFIRM]);
        let search = if is_bare(Path::new(program)) { format!("{SEARCH} ") } else { String::new() };
        shell == SHELL
            && option == "-c"
            && is_lictor(program)
            && expected.eq(arguments)
            && is_same(script, &format!("o=$({search}{CALL} {CONFIRM}) {CLOSED}"))
    }

    /// Whether the program is searched for in the usual places.
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

/// Whether a line is the written one, even after the agent has expanded variables in its search path, as Gemini
/// CLI does with everything in its settings.
fn is_same(line: &str, written: &str) -> bool {
    let search = |line: &str| {
        let (front, rest) = line.split_once("PATH=\"")?;
        let (value, back) = rest.split_once('"')?;
        Some((front.to_owned(), value.to_owned(), back.to_owned()))
    };
    if line == written {
        return true;
    }
    let (Some((front, value, back)), Some((before, _, after))) = (search(line), search(written)) else {
        return false;
    };
    front == before && back == after && !value.contains(['$', '`', '\\', '\'', '\n', '\r'])
}

fn name(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program)
}

fn is_lictor(program: &str) -> bool {
    matches!(name(program), "lictor" | "lictor.exe")
}

fn is_windows(path: &str) -> bool {
    path.contains('\\') || path.chars().nth(1) == Some(':')
}

fn is_bare(program: &Path) -> bool {
    program.components().count() == 1 && program.is_relative()
}

/// A shell of either family reads it back as one word.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:\\".contains(c);
    let windows = is_windows(path);
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
