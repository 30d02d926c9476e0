//! Entries added to a list in a policy file, and taken out again, without touching anything else in it.

/// What stands behind an entry, so that it can be found again.
fn mark(note: &str) -> String {
    format!("  # {note}")
}

/// The note at the entries of a decision.
pub(super) fn note(id: u64) -> String {
    format!("lictor allow {id}")
}

/// The text with entries, given as YAML, in the list `section: {key: […]}`. `None` where the file is written in a way that is not
/// understood; whoever asks tries something else.
pub(super) fn with(text: &str, section: &str, key: &str, entries: &[String], note: &str) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let item = |indent: usize, entry: &String| format!("{:indent$}- {entry}{}", "", mark(note));
    let Some(top) = lines.iter().position(|line| begins(line, section, 0)) else {
        if lines.is_empty() {
            lines.push("version: 1".to_owned());
        }
        lines.push(format!("{section}:"));
        lines.push(format!("  {key}:"));
        lines.extend(entries.iter().map(|entry| item(4, entry)));
        return Some(lines.join("\n") + "\n");
    };
    // Only sections that are written line by line are added to.
    if !value(lines.get(top)?, section)?.is_empty() {
        return None;
    }
    let end = (top + 1..lines.len())
        .find(|index| lines.get(*index).is_some_and(|line| indent(line) == Some(0)))
        .unwrap_or(lines.len());
    let inner = (top + 1..end).find_map(|index| lines.get(index).and_then(|line| indent(line)))?;
    let found = (top + 1..end).find(|index| lines.get(*index).is_some_and(|line| begins(line, key, inner)));
    let Some(list) = found else {
        let mut added = vec![format!("{:inner$}{key}:", "")];
        added.extend(entries.iter().map(|entry| item(inner + 2, entry)));
        lines.splice(top + 1..top + 1, added);
        return Some(lines.join("\n") + "\n");
    };
    match value(lines.get(list)?, key)? {
        "" => {
            let next = lines.get(list + 1);
            let depth = next.filter(|line| line.trim_start().starts_with("- ")).and_then(|line| indent(line));
            let depth = depth.unwrap_or(inner + 2);
            let added: Vec<String> = entries.iter().map(|entry| item(depth, entry)).collect();
            lines.splice(list + 1..list + 1, added);
        }
        // A list on one line becomes one of lines.
        flow => {
            let inside = flow.strip_prefix('[')?.strip_suffix(']')?;
            let mut added = vec![format!("{:inner$}{key}:", "")];
            added.extend(
                split(inside)?.into_iter().map(|one| format!("{:width$}- {one}", "", width = inner + 2)),
            );
            added.extend(entries.iter().map(|entry| item(inner + 2, entry)));
            lines.splice(list..=list, added);
        }
    }
    Some(lines.join("\n") + "\n")
}

/// The text without the entries that were added for a decision; `None` when there are none.
#[must_use]
pub fn without(text: &str, id: u64) -> Option<String> {
    let mark = mark(&note(id));
    without_lines(text, |line| line.ends_with(&mark))
}

/// The text without some lines, and without the lists and sections that held nothing else; `None` when there are none.
pub(crate) fn without_lines(text: &str, drops: impl Fn(&str) -> bool) -> Option<String> {
    let kept: Vec<&str> = text.lines().filter(|line| !drops(line)).collect();
    if kept.len() == text.lines().count() {
        return None;
    }
    // A list that is empty now would be refused.
    let mut out: Vec<&str> = Vec::new();
    for (index, line) in kept.iter().enumerate() {
        let next = kept.get(index + 1).and_then(|next| indent(next));
        let heads = line.trim_end().ends_with(':') && !line.trim_start().starts_with('#');
        let below = next.is_some_and(|next| Some(next) > indent(line));
        let list = kept
            .get(index + 1)
            .is_some_and(|next| next.trim_start().starts_with("- ") && indent(next) >= indent(line));
        if heads && !below && !list && !text.lines().any(|was| was == *line && stood_empty(text, was)) {
            continue;
        }
        out.push(line);
    }
    // A section that held nothing else goes too.
    let last = out.last().copied();
    if last.is_some_and(|line| indent(line) == Some(0) && line.trim_end().ends_with(':')) {
        out.pop();
    }
    Some(out.join("\n") + "\n")
}

/// Whether a heading had nothing below it before.
fn stood_empty(text: &str, heading: &str) -> bool {
    let mut lines = text.lines().skip_while(|line| *line != heading).skip(1);
    lines.next().is_none_or(|next| indent(next) <= indent(heading) && !next.trim_start().starts_with("- "))
}

/// How far a line is indented; `None` for an empty one or a comment.
fn indent(line: &str) -> Option<usize> {
    let text = line.trim_start();
    (!text.is_empty() && !text.starts_with('#')).then(|| line.len() - text.len())
}

fn begins(line: &str, key: &str, at: usize) -> bool {
    indent(line) == Some(at) && line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))
}

/// What stands behind a key on its line, without a comment.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let rest = line.trim_start().strip_prefix(key)?.strip_prefix(':')?.trim();
    if rest.starts_with('#') {
        return Some("");
    }
    Some(rest)
}

/// The items of a list on one line. Quoted ones may hold commas.
fn split(inside: &str) -> Option<Vec<String>> {
    let mut items = vec![String::new()];
    let mut quote = None;
    for c in inside.chars() {
        match (quote, c) {
            (None, ',') => {
                items.push(String::new());
                continue;
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '[' | ']' | '{' | '}' | '#') => return None,
            _ => {}
        }
        items.last_mut()?.push(c);
    }
    let items = items.iter().map(|item| item.trim().to_owned());
    (quote.is_none()).then(|| items.filter(|item| !item.is_empty()).collect())
}

/// How the entry of a remembered tool begins.
pub(crate) fn of_tool(tool: &str) -> String {
    format!("{{tool: {}", quoted(tool))
}

/// A single-quoted YAML string.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests;
