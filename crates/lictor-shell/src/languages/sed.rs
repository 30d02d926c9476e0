//! sed scripts: what they write, read and run.

/// One thing a script does besides printing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// `w file`, `s///w file`.
    Write(String),
    /// `r file`.
    Read(String),
    /// `e command`; empty when the pattern space is run (`s///e`).
    Run(String),
    /// `d` on every line, or an equivalent.
    DeleteAll,
}

/// Whether a substitution takes all of every line and leaves nothing: `/.*//`.
fn blanks(substitution: &str) -> bool {
    let Some(mark) = substitution.chars().next() else { return false };
    let mut parts = substitution.split(mark).skip(1);
    matches!(parts.next(), Some(".*" | "^.*$" | "^.*" | ".*$" | "." | ".\\+"))
        && parts.next() == Some("")
        && (!substitution.contains(&format!("{mark}.{mark}")) || substitution.ends_with('g'))
}

/// The steps of a script.
pub(crate) fn steps(script: &str) -> Vec<Step> {
    let mut found = Vec::new();
    let mut rest = script;
    // One command a round; the round always takes at least one letter.
    while !rest.is_empty() {
        let (addressed, tail) = skip_address(rest);
        let Some(command) = tail.chars().next() else { break };
        let after = tail.get(command.len_utf8()..).unwrap_or_default();
        rest = match command {
            's' | 'y' => {
                if command == 's' && !addressed && blanks(after) {
                    found.push(Step::DeleteAll);
                }
                substitution(after, command == 's', &mut found)
            }
            'w' | 'W' => {
                let (line, tail) = to_line_end(after);
                found.push(Step::Write(line.trim().to_owned()));
                tail
            }
            'r' | 'R' => {
                let (line, tail) = to_line_end(after);
                found.push(Step::Read(line.trim().to_owned()));
                tail
            }
            'e' => {
                let (line, tail) = to_line_end(after);
                found.push(Step::Run(line.trim().to_owned()));
                tail
            }
            'a' | 'i' | 'c' => to_text_end(after),
            ':' | 'b' | 't' | 'T' => {
                let end = after.find([';', '\n', '}']).unwrap_or(after.len());
                after.get(end..).unwrap_or_default()
            }
            '#' => to_line_end(after).1,
            'd' => {
                if !addressed {
                    found.push(Step::DeleteAll);
                }
                after
            }
            _ => after,
        };
    }
    found
}

fn to_line_end(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// The text of `a`, `i`, `c`: to the end of the line, continued by a backslash.
fn to_text_end(text: &str) -> &str {
    let mut rest = text;
    loop {
        let (line, tail) = to_line_end(rest);
        if !line.ends_with('\\') || tail.is_empty() {
            return tail;
        }
        rest = tail;
    }
}

/// Skips blanks, separators and an address. Says whether there was one that leaves lines out.
fn skip_address(text: &str) -> (bool, &str) {
    let mut rest = text.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
    let mut first = true;
    let mut start = String::new();
    let mut end = String::new();
    let pattern = rest.starts_with(['/', '\\']);
    loop {
        let address = match rest.chars().next() {
            Some('/') => delimited(rest.get(1..).unwrap_or_default(), '/'),
            Some('\\') => {
                let delimiter = rest.chars().nth(1).unwrap_or('/');
                delimited(rest.get(1 + delimiter.len_utf8()..).unwrap_or_default(), delimiter)
            }
            Some(c) if c.is_ascii_digit() || c == '$' || c == '+' || c == '~' => {
                let end =
                    rest.find(|c: char| !(c.is_ascii_digit() || "$+~".contains(c))).unwrap_or(rest.len());
                Some((rest.get(..end).unwrap_or_default(), rest.get(end..).unwrap_or_default()))
            }
            _ => None,
        };
        let Some((address, tail)) = address else { break };
        if first {
            start = address.to_owned()
        } else {
            end = address.to_owned()
        }
        rest = tail.trim_start_matches([' ', 'I', 'M']);
        match rest.strip_prefix(',') {
            Some(tail) if first => {
                first = false;
                rest = tail.trim_start();
            }
            _ => break,
        }
    }
    let negated = rest.starts_with('!');
    let rest = rest.trim_start_matches(['!', ' ']);
    let everything = start.is_empty()
        || (start == "1" || start == "0") && end == "$"
        || pattern && is_any(&start) && end.is_empty();
    (!everything || negated, rest)
}

/// Whether a pattern matches every line that is not empty.
fn is_any(pattern: &str) -> bool {
    matches!(pattern, "." | ".*" | "^" | "^.*" | "^.*$" | ".*$" | "^." | "$")
}

/// Text up to an unescaped delimiter, and what follows it.
fn delimited(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let mut escaped = false;
    let mut in_class = false;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' if !in_class && delimiter != '[' => {
                in_class = text.get(at..).is_some_and(|rest| rest.contains(']'))
            }
            ']' => in_class = false,
            letter if letter == delimiter && !in_class => {
                return Some((text.get(..at)?, text.get(at + letter.len_utf8()..)?));
            }
            _ => {}
        }
    }
    None
}

fn substitution<'a>(text: &'a str, has_flags: bool, found: &mut Vec<Step>) -> &'a str {
    let Some(delimiter) = text.chars().next() else { return "" };
    let body = text.get(delimiter.len_utf8()..).unwrap_or_default();
    let Some((_, replacement)) = delimited(body, delimiter) else { return "" };
    let Some((_, tail)) = delimited(replacement, delimiter) else { return "" };
    if !has_flags {
        return tail;
    }
    let end = tail.find([';', '\n', '}']).unwrap_or(tail.len());
    for (at, flag) in tail.char_indices().take_while(|(at, _)| *at < end) {
        match flag {
            'w' => {
                let (line, rest) = to_line_end(tail.get(at + 1..).unwrap_or_default());
                found.push(Step::Write(line.trim().to_owned()));
                return rest;
            }
            'e' => found.push(Step::Run(String::new())),
            _ => {}
        }
    }
    tail.get(end..).unwrap_or_default()
}

/// Applies a single `s/plain/text/[g]` to literal input. `None` when the script is anything more.
pub(crate) fn substitute(script: &str, input: &str) -> Option<String> {
    let mut output = input.to_owned();
    for command in script.split(';').map(str::trim).filter(|command| !command.is_empty()) {
        let rest = command.strip_prefix('s')?;
        let delimiter = rest.chars().next()?;
        let (pattern, rest) = delimited(rest.get(delimiter.len_utf8()..)?, delimiter)?;
        let (replacement, flags) = delimited(rest, delimiter)?;
        if pattern.is_empty()
            || pattern.contains(['\\', '[', '.', '*', '^', '$', '(', '+', '?', '|'])
            || replacement.contains(['\\', '&'])
        {
            return None;
        }
        output = match flags {
            "g" => output.replace(pattern, replacement),
            "" => output.lines().map(|line| line.replacen(pattern, replacement, 1) + "\n").collect(),
            _ => return None,
        };
    }
    Some(output)
}
