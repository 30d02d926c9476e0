//! Names of tools and servers: those that a text mentions, and those that imitate others.

use std::collections::HashSet;

use serde_json::Value;

use super::Suspicion;
use crate::pins::without_volatile;

/// The other servers, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct Others<'a> {
    /// The name of the checked server.
    pub(crate) own: &'a str,
    /// Server, tool and its definition.
    pub(crate) tools: Vec<(&'a str, &'a str, &'a Value)>,
    /// Names of servers, including those whose tools were never seen.
    pub(crate) servers: Vec<&'a str>,
}

impl Others<'_> {
    /// Other tools and servers that the texts of a definition mention. `own` are the server's own tools.
    pub(crate) fn named_in(&self, value: &Value, own: &dyn Fn(&str) -> bool) -> Vec<Suspicion> {
        let mut texts = Vec::new();
        strings(value, &mut texts);
        let mut found: Vec<String> = texts.iter().flat_map(|text| self.in_words(text)).collect();
        let words: HashSet<&str> = texts.iter().flat_map(|text| words(text)).collect();
        for (server, tool, _) in &self.tools {
            // A plain word (`search`) is not evidence; a compound name of a tool is.
            let made_up = tool.len() >= 6 && tool.contains(['_', '-']) && !own(tool);
            if made_up && words.contains(tool) {
                found.push(format!("mcp__{server}__{tool}"));
            }
        }
        let mut once = HashSet::new();
        found.retain(|name| once.insert(name.clone()));
        found.into_iter().map(Suspicion::OtherTools).collect()
    }

    /// Names that contain another server's name.
    fn in_words(&self, text: &str) -> Vec<String> {
        let own = plain(self.own);
        let words: Vec<&str> = words(text).collect();
        let full = words.iter().filter(|word| is_full_name(word, &own) || self.is_prefixed(word, &own));
        let mut found: Vec<String> = full.map(|word| (*word).to_owned()).collect();
        let lower: Vec<String> = words.iter().map(|word| plain(word)).collect();
        for server in self.servers.iter().filter(|server| plain(server) != own) {
            let name = plain(server);
            let beside = |pair: &[String]| matches!(pair, [first, then] if *first == name && then == "mcp");
            let behind = |three: &[String]| matches!(three, [mcp, word, last] if mcp == "mcp" && word == "server" && *last == name);
            if lower.windows(2).any(beside) || lower.windows(3).any(behind) {
                found.push((*server).to_owned());
            }
        }
        found
    }

    /// A tool under the combined names that agents use: `mcp_server_tool`, `server__tool`.
    fn is_prefixed(&self, word: &str, own: &str) -> bool {
        let word = plain(word);
        let is_of = |server: &str| {
            word.starts_with(&format!("mcp_{server}_")) || word.starts_with(&format!("{server}__"))
        };
        !is_of(own) && self.servers.iter().any(|server| is_of(&plain(server)))
    }

    /// Another server's tool of exactly this name, or one that looks like it. A tool with the same definition
    /// does not count: two instances of one server have the same tools.
    pub(crate) fn taken_for(&self, name: &str, definition: &Value) -> Option<Suspicion> {
        let look = skeleton(name);
        let mut alike = self.tools.iter().filter(|(_, tool, _)| skeleton(tool) == look);
        let (server, tool, _) = alike.find(|(_, tool, other)| {
            *tool != name || without_volatile(other) != without_volatile(definition)
        })?;
        let full = format!("mcp__{server}__{tool}");
        Some(if *tool == name { Suspicion::SameName(full) } else { Suspicion::LooksLike(full) })
    }
}

/// A tool of another server by the name that policies and most agents have for it: `mcp__server__tool`.
fn is_full_name(word: &str, own: &str) -> bool {
    let rest = word.get(..5).filter(|head| head.eq_ignore_ascii_case("mcp__")).and_then(|_| word.get(5..));
    rest.and_then(|rest| rest.split_once("__")).is_some_and(|(server, _)| {
        let server = plain(server);
        !server.is_empty() && server != own
    })
}

/// The first full name of another server's tool in a result.
pub(crate) fn full_name_in(value: &Value, own: &str) -> Option<Suspicion> {
    let mut texts = Vec::new();
    strings(value, &mut texts);
    let own = plain(own);
    // Results are long, and hardly any has such a name.
    let mut likely = texts.into_iter().filter(|text| text.contains("cp__") || text.contains("CP__"));
    let name = likely.find_map(|text| words(text).find(|word| is_full_name(word, &own)))?;
    Some(Suspicion::OtherTools(name.to_owned()))
}

/// The name of another tool of the same server that this one can be confused with: different spelling, similar
/// look.
pub(crate) fn looks_like<'a>(name: &str, siblings: impl Iterator<Item = &'a str>) -> Option<Suspicion> {
    let look = skeleton(name);
    siblings
        .into_iter()
        .find(|other| *other != name && skeleton(other) == look)
        .map(|other| Suspicion::LooksLike(other.to_owned()))
}

/// Longer words are no names.
const LONGEST: usize = 256;

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty() && word.len() <= LONGEST)
}

/// A name as agents put it into names of tools, in lower case.
fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().map(plain).collect()
}

/// The visual skeleton of a name: without case and separators, with similar letters and digits unified.
fn skeleton(name: &str) -> String {
    let alike = |c: char| match c {
        '0' | 'о' | 'ο' => 'o',
        '1' | 'l' | 'і' | 'ı' | '|' => 'i',
        'а' | 'α' => 'a',
        'е' | 'ε' => 'e',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'х' | 'χ' => 'x',
        'у' => 'y',
        'ѕ' | '5' => 's',
        'ԁ' => 'd',
        'к' | 'κ' => 'k',
        'т' | 'τ' => 't',
        'ν' => 'v',
        c => c,
    };
    name.chars()
        .flat_map(char::to_lowercase)
        .filter(|c| !matches!(c, '_' | '-' | '.' | '/' | ' '))
        .map(alike)
        .collect::<String>()
        .replace("rn", "m")
        .replace("vv", "w")
}

fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.iter().for_each(|(key, item)| {
            found.push(key);
            strings(item, found);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
