//! Detects text that addresses the model and hides from people. A heuristic: it finds common attacks, not all.
//!
//! Hidden text is refused, because harmless text does not hide sentences. Everything else only asks a person to
//! review. The check is stricter for definitions, which a server writes for the model, than for results, which
//! may be any file or page: a byte order mark, a colour code or a single zero-width space is not a hidden
//! message.

mod addresses;
mod hidden;
mod names;

use serde_json::Value;

pub(crate) use names::{Others, full_name_in, looks_like};

/// A suspicion about a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suspicion {
    /// Characters that people do not see and models read.
    HiddenCharacters,
    /// Markup that is not shown.
    HiddenMarkup,
    /// It tells the model to keep something from the person, or to ignore its instructions.
    Secrecy,
    /// It tells the model how to use something else than this tool.
    OtherTools(String),
    /// It names a place where credentials lie.
    CredentialPath,
    /// A long encoded payload.
    EncodedPayload,
    /// An address that is made to carry data away.
    CarryingAddress,
    /// It tells the model to send private data to a URL, or to run code from a URL.
    OrderToAddress,
    /// A name that imitates another one.
    LooksLike(String),
    /// The name of another server's tool.
    SameName(String),
}

impl Suspicion {
    /// Whether it cannot be harmless.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        matches!(self, Self::HiddenCharacters)
    }

    /// In words.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::HiddenCharacters => "hidden characters".to_owned(),
            Self::HiddenMarkup => "markup that is not shown".to_owned(),
            Self::Secrecy => {
                "an instruction to keep something from the person or to forget others".to_owned()
            }
            Self::OtherTools(name) => format!("instructions about `{name}`, which is another server's"),
            Self::CredentialPath => "a path to credentials".to_owned(),
            Self::EncodedPayload => "a long encoded payload".to_owned(),
            Self::CarryingAddress => "an address that carries data away".to_owned(),
            Self::OrderToAddress => {
                "an instruction to send something to an address or to run what it gives".to_owned()
            }
            Self::SameName(name) => format!("the same name as `{name}`, another server's tool"),
            Self::LooksLike(name) => format!("a name that is easily taken for `{name}`"),
        }
    }
}

/// Where a text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A definition, or a server's instructions: written for the model.
    Definition,
    /// The result of a tool, a prompt or a resource: may be any file or page.
    Result,
}

/// The suspicions about all texts in a value, each kind once.
#[must_use]
pub fn suspicions(value: &Value, origin: Origin) -> Vec<Suspicion> {
    let mut found = Vec::new();
    collect(value, origin, &mut found);
    found
}

fn collect(value: &Value, origin: Origin, found: &mut Vec<Suspicion>) {
    match value {
        Value::String(text) => {
            for suspicion in in_text(text, origin) {
                if !found.contains(&suspicion) {
                    found.push(suspicion);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, origin, found)),
        Value::Object(fields) => {
            // Pictures, sounds and files are encoded by their nature.
            let binary = fields.contains_key("mimeType");
            for (key, item) in fields {
                if binary && matches!(key.as_str(), "data" | "blob") {
                    continue;
                }
                collect(&Value::String(key.clone()), origin, found);
                collect(item, origin, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

const MARKUP: [&str; 6] =
    ["<!--", "display:none", "display: none", "font-size:0", "visibility:hidden", "<important>"];
const SECRECY: [&str; 14] = [
    "not tell the user",
    "don't tell the user",
    "do not mention this",
    "don't mention this",
    "without telling the user",
    "not inform the user",
    "not notify the user",
    "without the user's knowledge",
    "hide this from",
    "keep this secret from",
    "ignore previous instructions",
    "ignore all previous",
    "disregard previous",
    "disregard all previous",
];
const CREDENTIALS: [&str; 12] = [
    ".ssh/",
    "id_rsa",
    "id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".kube/config",
    "/etc/shadow",
    ".git-credentials",
    ".docker/config.json",
    ".npmrc",
    ".pypirc",
    ".cursor/mcp.json",
];

fn in_text(text: &str, origin: Origin) -> Vec<Suspicion> {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let definition = origin == Origin::Definition;
    // A page has comments and a manual names places; a definition has no reason to.
    let checks = [
        (hidden::is_in(text, origin), Suspicion::HiddenCharacters),
        (definition && has(&MARKUP), Suspicion::HiddenMarkup),
        (has(&SECRECY), Suspicion::Secrecy),
        (definition && has(&CREDENTIALS), Suspicion::CredentialPath),
        (longest_encoded(text) >= if definition { 120 } else { 2000 }, Suspicion::EncodedPayload),
        (addresses::carry(&lower), Suspicion::CarryingAddress),
        (addresses::are_orders(&lower), Suspicion::OrderToAddress),
    ];
    checks.into_iter().filter_map(|(found, suspicion)| found.then_some(suspicion)).collect()
}

fn longest_encoded(text: &str) -> usize {
    let is_encoded = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    text.as_bytes()
        .split(|byte| !is_encoded(byte))
        // A long row of letters is a ruler or a path, not data.
        .filter(|run| run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_alphabetic))
        .map(<[u8]>::len)
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
