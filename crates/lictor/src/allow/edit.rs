//! Adds entries to a list in a policy file, and removes them, without changing anything else.

/// The comment after an entry, by which it is found again.
fn mark(note: &str) -> String {
    format!("  # {note}")
}

/// The note at the entries of a decision.
pub(super) fn note(id: u64) -> String {
    format!("lictor allow {id}")
}

/// The text with entries, given as YAML, in the list `section: {key: […]}`, or in the section itself when that is
/// a list and the key is empty. `None` if the file's syntax is not supported; the caller then tries another
/// change.
pub(super) fn with(text: &str, section: &str, key: &str, entries: &[String], note: &str) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let item = |indent: usize, entry: &String| format!("{:indent$}- {entry}{}", "", mark(note));
    let items = |indent: usize| entries.iter().map(move |entry| item(indent, entry));
    if lines.is_empty() {
        lines.push("version: 1".to_owned());
    }
    if !lines.iter().any(|line| begins(line, section, 0)) {
        lines.push(format!("{section}:"));
        if !key.is_empty() {
            lines.push(format!("  {key}:"));
        }
        lines.extend(items(if key.is_empty() { 2 } else { 4 }));
        return Some(lines.join("\n") + "\n");
    }
    match list(&mut lines, section, key)? {
        List::Absent { at, inner } => {
            let mut added = vec![format!("{:inner$}{key}:", "")];
            added.extend(items(inner + 2));
            lines.splice(at..at, added);
        }
        List::Written { heading, inner } => {
            let next = lines.get(heading + 1).filter(|line| line.trim_start().starts_with("- "));
            let depth = next.and_then(|line| indent(line)).unwrap_or(inner + 2);
            // A list that was on one line keeps its order.
            let at = if next.is_some() && text.lines().count() < lines.len() {
                let items = lines.iter().skip(heading + 1);
                heading + 1 + items.take_while(|line| line.trim_start().starts_with("- ")).count()
            } else {
                heading + 1
            };
            lines.splice(at..at, items(depth));
        }
    }
    Some(lines.join("\n") + "\n")
}

/// The text with an entry of a list commented out, with the note. `None` when there is no such entry.
pub(super) fn taken_out(text: &str, section: &str, key: &str, entry: &str, note: &str) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let List::Written { heading, .. } = list(&mut lines, section, key)? else { return None };
    let items = lines.iter_mut().skip(heading + 1);
    let is_item = |line: &String| line.trim_start().starts_with("- ") || indent(line).is_none();
    for line in items.take_while(|line| is_item(line)) {
        let Some(item) = line.trim_start().strip_prefix("- ") else { continue };
        if plain(item) == entry {
            let depth = indent(line)?;
            *line = format!("{:depth$}# - {item}{}", "", mark(note));
            return Some(lines.join("\n") + "\n");
        }
    }
    None
}

/// The position of a list.
enum List {
    /// Its heading has this place, and this indent.
    Written { heading: usize, inner: usize },
    /// It is not there; its heading would come here.
    Absent { at: usize, inner: usize },
}

/// Finds a list. A flow-style list or map (`{…}`, `[…]`) is first split into lines.
fn list(lines: &mut Vec<String>, section: &str, key: &str) -> Option<List> {
    let top = lines.iter().position(|line| begins(line, section, 0))?;
    let written = value(lines.get(top)?, section)?.to_owned();
    if !written.is_empty() {
        let dash = if key.is_empty() { "- " } else { "" };
        let (open, close) = if key.is_empty() { ('[', ']') } else { ('{', '}') };
        let inside = written.strip_prefix(open)?.strip_suffix(close)?;
        let mut apart = vec![format!("{section}:")];
        apart.extend(split(inside)?.into_iter().map(|one| format!("  {dash}{one}")));
        lines.splice(top..=top, apart);
    }
    if key.is_empty() {
        return Some(List::Written { heading: top, inner: 0 });
    }
    let end = (top + 1..lines.len())
        .find(|index| lines.get(*index).is_some_and(|line| indent(line) == Some(0)))
        .unwrap_or(lines.len());
    let Some(inner) = (top + 1..end).find_map(|index| lines.get(index).and_then(|line| indent(line))) else {
        return Some(List::Absent { at: top + 1, inner: 2 });
    };
    let found = (top + 1..end).find(|index| lines.get(*index).is_some_and(|line| begins(line, key, inner)));
    let Some(heading) = found else { return Some(List::Absent { at: top + 1, inner }) };
    let written = value(lines.get(heading)?, key)?.to_owned();
    if !written.is_empty() {
        let one = match written.strip_prefix('[') {
            Some(inside) => split(inside.strip_suffix(']')?)?,
            // One value alone is a list of one.
            None if !written.starts_with(['{', '|', '>', '&', '*', '!']) => vec![written],
            None => return None,
        };
        let mut apart = vec![format!("{:inner$}{key}:", "")];
        apart.extend(one.into_iter().map(|one| format!("{:width$}- {one}", "", width = inner + 2)));
        lines.splice(heading..=heading, apart);
    }
    Some(List::Written { heading, inner })
}

/// The text of an item, without quotes and trailing comment.
fn plain(item: &str) -> String {
    let item = item.trim();
    for quote in ['\'', '"'] {
        if let Some((inside, rest)) = item.strip_prefix(quote).and_then(|rest| rest.split_once(quote))
            && (rest.trim().is_empty() || rest.trim_start().starts_with('#'))
        {
            return inside.to_owned();
        }
    }
    item.split(" #").next().unwrap_or(item).trim().to_owned()
}

/// The text without the entries that were added for a decision; `None` when there are none.
pub(super) fn without(text: &str, id: u64) -> Option<String> {
    let mark = mark(&note(id));
    let mut counts_again = false;
    let lines: Vec<String> = text
        .lines()
        .map(|line| match line.strip_suffix(&mark).and_then(|line| line.split_once("# - ")) {
            Some((before, item)) if before.trim().is_empty() => {
                counts_again = true;
                format!("{before}- {item}")
            }
            _ => line.to_owned(),
        })
        .collect();
    let text = lines.join("\n") + "\n";
    without_lines(&text, |line| line.ends_with(&mark)).or_else(|| counts_again.then_some(text))
}

/// The text without some lines, and without lists and sections that become empty; `None` when there are no such
/// lines.
pub(crate) fn without_lines(text: &str, drops: impl Fn(&str) -> bool) -> Option<String> {
    let kept: Vec<&str> = text.lines().filter(|line| !drops(line)).collect();
    if kept.len() == text.lines().count() {
        return None;
    }
    // An empty list would be refused.
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
    // A section that becomes empty is removed too.
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

/// The indentation of a line; `None` for an empty one or a comment.
fn indent(line: &str) -> Option<usize> {
    let text = line.trim_start();
    (!text.is_empty() && !text.starts_with('#')).then(|| line.len() - text.len())
}

fn begins(line: &str, key: &str, at: usize) -> bool {
    indent(line) == Some(at) && line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))
}

/// The value after a key on its line, without a comment.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let rest = line.trim_start().strip_prefix(key)?.strip_prefix(':')?.trim();
    if rest.starts_with('#') {
        return Some("");
    }
    Some(rest)
}

/// The items of a flow-style list or map. Quoted or bracketed text may contain commas.
fn split(inside: &str) -> Option<Vec<String>> {
    let mut items = vec![String::new()];
    let mut quote = None;
    let mut depth = 0_u32;
    for c in inside.chars() {
        match (quote, c) {
            (None, ',') if depth == 0 => {
                items.push(String::new());
                continue;
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.checked_sub(1)?,
            (None, '#') => return None,
            _ => {}
        }
        items.last_mut()?.push(c);
    }
    let items = items.iter().map(|item| item.trim().to_owned());
    (quote.is_none() && depth == 0).then(|| items.filter(|item| !item.is_empty()).collect())
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
