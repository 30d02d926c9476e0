//! URLs in texts. A URL alone is not suspicious: manuals are full of them. It is suspicious if it has a
//! placeholder for data that only the model knows, or if the text tells the model to send something there.

/// Words for private data of the model's context.
const PRIVATE: [&str; 17] = [
    "conversation",
    "history",
    "transcript",
    "context",
    "secret",
    "secrets",
    "password",
    "passwords",
    "credential",
    "credentials",
    "env",
    "environment",
    "api_key",
    "apikey",
    "private_key",
    "access_token",
    "id_rsa",
];
/// Imperatives to send something. A tool that describes itself uses `sends`.
const ORDERS: [&str; 9] =
    ["send", "post", "upload", "forward", "submit", "transmit", "report", "deliver", "copy"];

/// How far around a URL the text is checked. Bounded, so that a text with very many URLs is checked in linear
/// time.
const NEAR: usize = 1024;

/// Whether an address has a gap for data. `lower` is the text in lower case.
pub(super) fn carry(lower: &str) -> bool {
    each(lower).any(|found| {
        let (path, query) = found.address.split_once(['?', '#']).unwrap_or((found.address, ""));
        // A picture or a link is fetched when the text is displayed, with its query.
        if found.is_linked && has_gap(query) {
            return true;
        }
        query.split('&').chain(path.split('/')).any(|part| has_gap(part) && is_private(part))
    })
}

/// Whether the text tells the reader to send private data to a URL, or to run code from it.
pub(super) fn are_orders(lower: &str) -> bool {
    each(lower).any(|found| {
        let words: Vec<&str> = words(found.sentence).collect();
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
        let leads = words.iter().rev().take(3).any(|word| matches!(*word, "to" | "at" | "with"));
        let takes = has(&ORDERS) && is_private(found.sentence) && leads;
        takes || has(&["curl", "wget"]) && (found.is_run() || found.is_given_data())
    })
}

/// A URL with its context.
struct Found<'a> {
    address: &'a str,
    /// The text before it in its sentence.
    sentence: &'a str,
    /// The text after it in its line.
    behind: &'a str,
    /// Whether it is the target of a picture or a link.
    is_linked: bool,
}

impl Found<'_> {
    fn is_run(&self) -> bool {
        let mut piped = self.behind.split('|').skip(1).filter_map(|part| words(part).next());
        piped.any(|program| matches!(program, "sh" | "bash" | "zsh" | "python" | "python3" | "node" | "sudo"))
    }

    fn is_given_data(&self) -> bool {
        let mut around = self.sentence.split_whitespace().chain(self.behind.split_whitespace());
        self.address.contains("$(")
            || around.any(|word| {
                matches!(word, "-d" | "-t") || word.starts_with("--data") || word.starts_with("--post")
            })
    }
}

fn each(lower: &str) -> impl Iterator<Item = Found<'_>> {
    lower.match_indices("://").filter_map(|(at, _)| {
        let before = lower.get(..at).map(|before| last(before, NEAR))?;
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |end| end + 1);
        let (before, scheme) = before.split_at_checked(start)?;
        if !matches!(scheme, "http" | "https" | "ws" | "wss" | "ftp") {
            return None;
        }
        let rest = lower.get(at + 3..).map(|rest| first(rest, NEAR))?;
        let address = rest.get(..length(rest))?;
        let sentence = before.rsplit(['.', '!', '?', ';', '\n']).next().unwrap_or(before);
        let behind = rest.get(address.len()..)?.lines().next().unwrap_or_default();
        Some(Found { address, sentence, behind, is_linked: before.ends_with("](") })
    })
}

fn first(text: &str, most: usize) -> &str {
    let end = (most..=text.len()).find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

fn last(text: &str, most: usize) -> &str {
    let start = (text.len().saturating_sub(most)..=text.len()).find(|start| text.is_char_boundary(*start));
    start.and_then(|start| text.get(start..)).unwrap_or(text)
}

/// The end of a URL: a blank or a quote outside of a placeholder.
fn length(text: &str) -> usize {
    let mut open = 0_usize;
    let ends = |c: char| {
        match c {
            '{' | '<' | '[' => open += 1,
            '}' | '>' | ']' => open = open.saturating_sub(1),
            _ => {}
        }
        c == '\n' || open == 0 && (c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')'))
    };
    text.find(ends).unwrap_or(text.len())
}

fn has_gap(text: &str) -> bool {
    text.contains(['{', '<', '$', '['])
        || text.contains("...")
        || text.contains('\u{2026}')
        || text.contains("%s")
}

/// Whether one of its words, or two beside each other, name something private.
fn is_private(text: &str) -> bool {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let one = words.iter().any(|word| PRIVATE.contains(word));
    one || words.windows(2).any(|pair| PRIVATE.contains(&pair.join("_").as_str()))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
