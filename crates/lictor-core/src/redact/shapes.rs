//! Secrets by their context: secret URLs, XML elements, name-value pairs, credential files, login calls.

use std::ops::Range;

use super::options::Form;
use super::secrets::is_secret_name;

/// URLs with a secret path: knowledge of the URL is enough to post there.
pub(super) const ADDRESSES: [&str; 6] = [
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "webhook.office.com/",
    "api.telegram.org/bot",
];

/// URL parameters that authorise access.
pub(super) const PARAMETERS: [&str; 4] = ["sig", "signature", "x-amz-signature", "x-goog-signature"];

/// Calls that take a user and a password.
pub(super) const CALLS: [&str; 6] =
    ["auth=(", "auth = (", ".login(", "basic_auth(", "BasicAuth(", "basicAuth("];

/// The key of the value in a list of variables.
const VALUE: &str = "value";

/// The maximum distance between a name and its value, in lists of names and values.
const NEAR: usize = 24;

/// Adds the ranges of secrets in `text`.
pub(super) fn find(text: &str, form: Form, found: &mut Vec<Range<usize>>) {
    addresses(text, found);
    calls(text, found);
    manifests(text, form, found);
    credential_files(text, found);
    typed(text, found);
}

/// Adds the value of a secret's name that ends at `end`, in an element or a pair: `<password>x<`, `name: TOKEN`
/// with `value: x` below, `key="ApiKey" value="x"`.
pub(super) fn valued(text: &str, start: usize, end: usize, found: &mut Vec<Range<usize>>) {
    let (before, rest) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    if before.ends_with('<') && rest.starts_with('>') {
        let length = rest.find('<').unwrap_or(rest.len());
        return push(end + 1, end + length, found);
    }
    let near = rest.char_indices().take(NEAR).last().map_or(0, |(at, _)| at);
    let Some(at) = rest.get(..near).and_then(|near| near.find(VALUE)) else { return };
    let between = rest.get(..at).unwrap_or_default();
    let apart = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | ',' | 'n' | 't' | 'r');
    if !between.chars().all(apart) {
        return;
    }
    let from = end + at + VALUE.len();
    let tail = text.get(from..).unwrap_or_default();
    let skipped = tail.trim_start_matches(['"', '\'', '\\', ' ']);
    let Some(skipped) = skipped.strip_prefix([':', '=']) else { return };
    let value = skipped.trim_start_matches(['"', '\'', '\\', ' ']);
    let begin = text.len() - value.len();
    push(begin, begin + word_length(value), found);
}

/// Whether a word at `start` is a URL parameter with a signature.
pub(super) fn is_parameter(text: &str, start: usize, word: &str) -> bool {
    text.get(..start).is_some_and(|before| before.ends_with(['?', '&']))
        && PARAMETERS.iter().any(|name| word.eq_ignore_ascii_case(name))
}

fn push(from: usize, to: usize, found: &mut Vec<Range<usize>>) {
    if from < to {
        found.push(from..to);
    }
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | '<' | ',' | ';'))
        .unwrap_or(text.len())
}

fn addresses(text: &str, found: &mut Vec<Range<usize>>) {
    if !text.contains("//") {
        return;
    }
    for address in ADDRESSES {
        for (at, _) in text.match_indices(address) {
            let from = at + address.len();
            let rest = text.get(from..).unwrap_or_default();
            push(from, from + word_length(rest), found);
        }
    }
}

/// `auth=('user', 'x')`: the second text in the brackets.
fn calls(text: &str, found: &mut Vec<Range<usize>>) {
    for call in CALLS {
        for (at, _) in text.match_indices(call) {
            let from = at + call.len();
            let rest = text.get(from..).unwrap_or_default();
            let inside = rest.get(..rest.find([')', '\n']).unwrap_or(rest.len())).unwrap_or_default();
            let mut quotes = inside.match_indices(['"', '\'']).map(|(at, _)| at).skip(2);
            if let (Some(open), Some(close)) = (quotes.next(), quotes.next()) {
                push(from + open + 1, from + close, found);
            }
        }
    }
}

/// The values in a manifest of the kind `Secret`.
fn manifests(text: &str, form: Form, found: &mut Vec<Range<usize>>) {
    let Some(kind) = text.find("kind: Secret") else { return };
    if form == Form::Json {
        // Its lines are not split here. A possible secret is enough.
        return push(kind, kind + 1, found);
    }
    let (mut at, mut holds) = (0, false);
    for line in text.split_inclusive('\n') {
        let shown = line.trim_end();
        let is_nested = line.starts_with([' ', '\t']);
        if !is_nested {
            holds = matches!(shown, "data:" | "stringData:");
        } else if holds && let Some((name, value)) = shown.split_once(": ") {
            push(at + name.len() + 2, at + name.len() + 2 + value.len(), found);
        }
        at += line.len();
    }
}

/// `machine h login u password x` of `.netrc`, `host:port:database:user:x` of `.pgpass`.
fn credential_files(text: &str, found: &mut Vec<Range<usize>>) {
    if text.contains("login ") && (text.contains("machine ") || text.contains("default ")) {
        for (at, word) in text.match_indices("password ") {
            let from = at + word.len();
            push(from, from + word_length(text.get(from..).unwrap_or_default()), found);
        }
    }
    if !text.contains("pgpass") {
        return;
    }
    let apart = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\');
    let mut at = 0;
    for word in text.split_inclusive(apart) {
        let line = word.trim_end_matches(apart);
        let mut fields = line.splitn(5, ':').skip(1);
        let port = fields.next().unwrap_or_default();
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit() || byte == b'*');
        if let Some(secret) = fields.nth(2).filter(|_| is_port) {
            push(at + line.len() - secret.len(), at + line.len(), found);
        }
        at += word.len();
    }
}

/// `expect "password:"; send "x\r"`: the text that a script types into a prompt.
fn typed(text: &str, found: &mut Vec<Range<usize>>) {
    let Some(prompt) = text.find("assword") else { return };
    for (at, word) in text.match_indices("send ").filter(|(at, _)| *at > prompt) {
        let rest = text.get(at + word.len()..).unwrap_or_default();
        let value = rest.trim_start_matches(['-', ' ', '"', '\\', '{']);
        let begin = text.len() - value.len();
        push(begin, begin + word_length(value), found);
    }
}

/// `s/__TOKEN__/x/`: the range of the replacement text for a secret's name in a sed command.
pub(super) fn put_in_place(word: &str) -> Option<Range<usize>> {
    let mark =
        word.strip_prefix('s')?.chars().next().filter(|c| matches!(c, '/' | '|' | '#' | '@' | ',' | ':'))?;
    let mut parts = word.splitn(4, mark).skip(1);
    let (name, value) = (parts.next()?, parts.next()?);
    let bare = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let from = 1 + mark.len_utf8() + name.len() + mark.len_utf8();
    (is_secret_name(bare) && !value.is_empty()).then(|| from..from + value.len())
}
