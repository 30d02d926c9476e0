//! Output for people: short, coloured on terminals, plain otherwise.

use std::borrow::Cow;
use std::env;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::LazyLock;

use anstyle::{AnsiColor, Style as Look};
use anyhow::Context as _;
use lictor_core::text::is_deceptive;
use lictor_core::{Decision, Value};

/// Whether and how output to one stream is coloured.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// For standard output: colours on a terminal, unless `NO_COLOR` is set; always with `CLICOLOR_FORCE`.
    pub fn stdout() -> Self {
        Self::on(io::stdout().is_terminal())
    }

    /// Never coloured.
    pub fn plain() -> Self {
        Self { colour: false }
    }

    /// For standard error.
    pub fn stderr() -> Self {
        Self::on(io::stderr().is_terminal())
    }

    fn on(terminal: bool) -> Self {
        let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        Self { colour: !set("NO_COLOR") && (terminal || set("CLICOLOR_FORCE")) }
    }

    fn paint(self, look: Look, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        // The line end is not coloured.
        let (line, end) = text.strip_suffix('\n').map_or((text, ""), |line| (line, "\n"));
        let marked = |codes: String| codes.replace('\u{1b}', &OWN);
        format!("{}{line}{}{end}", marked(look.to_string()), marked(format!("{look:#}")))
    }

    /// Strong.
    pub fn bold(self, text: &str) -> String {
        self.paint(Look::new().bold(), text)
    }

    /// In the background.
    pub fn dim(self, text: &str) -> String {
        self.paint(Look::new().dimmed(), text)
    }

    /// Good.
    pub fn green(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    /// Worth a look.
    pub fn yellow(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    /// Bad.
    pub fn red(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    /// The value of a node, in its colour.
    pub fn value(self, value: Value) -> String {
        match value {
            Value::Error => self.red("error"),
            other => self.decision(other.settle()),
        }
    }

    /// A decision in its colour.
    pub fn decision(self, decision: Decision) -> String {
        let word = decision.as_str();
        match decision {
            Decision::Pass => self.green(word),
            Decision::Warn => self.yellow(word),
            Decision::Ask => self.paint(AnsiColor::Yellow.on_default().bold(), word),
            Decision::Block => self.red(word),
        }
    }
}

/// Writes to standard output, without characters that move the cursor, hide or reorder text. On a terminal, long
/// lines are wrapped between words. A closed pipe (`lictor … | head`) is not an error.
///
/// # Errors
/// When standard output cannot be written for any other reason.
pub fn print(text: &str) -> anyhow::Result<()> {
    let text = &*safe(text);
    match columns() {
        Some(columns) => print_exact(&fitted(text, columns)),
        None => print_exact(text),
    }
}

/// The internal prefix of [`Style`]'s colour codes until they are written. The number is random for each process,
/// so that foreign text cannot contain it: foreign colours are not mistaken for Lictor's own.
static OWN: LazyLock<String> =
    LazyLock::new(|| format!("\u{1b}{}", RandomState::new().build_hasher().finish()));

/// The colour codes of [`Style`], after their prefix.
const PAINTS: [&str; 6] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"];

/// Text that is safe for a terminal: text from agents cannot move the cursor, hide or reorder anything. Commands
/// clean their output themselves; this is a second line of defence.
fn safe(text: &str) -> Cow<'_, str> {
    let harmless = |char: char| matches!(char, '\n' | '\t') || !is_deceptive(char);
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let own = rest.strip_prefix(OWN.as_str());
        let paint = own.and_then(|code| PAINTS.iter().find(|paint| code.starts_with(**paint)));
        let length = paint.map_or(char.len_utf8(), |paint| OWN.len() + paint.len());
        match paint {
            Some(paint) => out.extend(["\u{1b}", paint]),
            None if harmless(char) => out.push(char),
            None => out.extend(char.escape_unicode()),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    Cow::Owned(out)
}

/// As [`print`], for output that programs read: never wrapped.
///
/// # Errors
/// As [`print`].
pub fn print_exact(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// As [`print`], and returns whether the pipe is still open.
///
/// # Errors
/// As [`print`].
pub fn print_while_read(text: &str) -> anyhow::Result<bool> {
    let text = &*safe(text);
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        other => other.map(|()| true).context("cannot write to standard output"),
    }
}

/// The width of the terminal on standard output; `None` if it is not a terminal, and lines are not cut.
pub fn columns() -> Option<usize> {
    io::stdout().is_terminal().then(width)
}

fn width() -> usize {
    let set = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let told = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    set.or_else(told).unwrap_or(WIDTH)
}

/// Writes to standard error, in lines that fit a terminal. If that is closed, the error is ignored.
pub fn tell(text: &str) {
    let columns = io::stderr().is_terminal().then(width);
    let text = safe(text);
    let text = columns.map_or_else(|| text.clone().into_owned(), |columns| fitted(&text, columns));
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Overwrites the last line on standard error.
pub fn redraw(line: &str) {
    let _ = io::stderr().write_all(format!("\r{}", safe(line)).as_bytes());
}

/// Says on standard error why a command failed.
pub fn complain(why: &str) {
    tell(&format!("{}: {why}\n", Style::stderr().red("error")));
}

/// An error with its causes. Causes that the error names itself are not repeated.
pub fn chain(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// `1 action`, `2 actions`.
pub fn count(number: u64, word: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {word}{plural}")
}

/// How wide lines for people are at most.
pub const WIDTH: usize = 80;

/// Text in lines of at most [`WIDTH`] columns, broken between words; the first line begins with `indent`, the others two
/// columns further in. A word that is longer than a line stays whole: paths and commands are copied.
pub fn wrapped(indent: &str, text: &str) -> String {
    let mut out = String::new();
    for paragraph in text.lines() {
        let mut line = indent.to_owned();
        let mut empty = true;
        for word in paragraph.split(' ') {
            if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
                out.push_str(line.trim_end());
                out.push('\n');
                line = format!("{indent}  ");
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Text in lines of at most so many columns. A longer line is wrapped between words and continues at the column
/// of its text: after the first gap of two or more spaces, else two columns further in. A word that does not fit
/// is left to the terminal.
fn fitted(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if seen(line.trim_end_matches('\n')) <= columns {
            out.push_str(line);
        } else {
            out.push_str(&broken(line.trim_end_matches('\n'), columns));
            out.push_str(if line.ends_with('\n') { "\n" } else { "" });
        }
    }
    out
}

fn broken(line: &str, columns: usize) -> String {
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let inside = line.get(indent..).unwrap_or_default();
    let bare = uncoloured(inside);
    let gap = bare.split_once("  ").map(|(head, rest)| {
        indent + head.chars().count() + 2 + rest.chars().take_while(|c| *c == ' ').count()
    });
    let hang = gap.filter(|gap| *gap <= columns / 3).unwrap_or(indent + 2);
    let mut out = " ".repeat(indent);
    let (mut at, mut empty) = (indent, true);
    for word in inside.split(' ') {
        let long = seen(word);
        if !empty && at + 1 + long > columns && !word.is_empty() {
            out.truncate(out.trim_end().len());
            out.push('\n');
            out.push_str(&" ".repeat(hang));
            (at, empty) = (hang, true);
        }
        if !empty {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += long;
        empty = false;
    }
    out
}

/// The width of a text in columns, without colour codes.
fn seen(text: &str) -> usize {
    uncoloured(text).chars().count()
}

fn uncoloured(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            out.push(c);
        }
    }
    out
}

/// Text on one line of at most so many columns; the rest is shown as `…`.
pub fn clipped(text: &str, columns: usize) -> String {
    let one_line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if one_line.chars().count() <= columns {
        return one_line;
    }
    one_line.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
}

/// Writes one JSON value and a line end to standard output.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    print_json_text(&text)
}

/// Writes lines of JSON to standard output.
///
/// # Errors
/// As [`print`].
pub fn print_json_text(json: &str) -> anyhow::Result<()> {
    print_exact(&escaped(json))
}

/// One JSON value on a line of its own.
///
/// # Errors
/// When the value has no form in JSON.
pub fn json_line(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(escaped(&serde_json::to_string(value)?) + "\n")
}

/// JSON of the same value without deceptive characters. They occur only inside strings, where JSON can escape
/// them.
fn escaped(json: &str) -> String {
    let hides = |char: char| char != '\n' && is_deceptive(char);
    if !json.contains(hides) {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len() + 64);
    for char in json.chars() {
        if hides(char) {
            out.extend(char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(char);
        }
    }
    out
}

/// Whether a person can be asked here.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

#[cfg(test)]
mod tests;
