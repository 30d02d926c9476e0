//! Text that tries to speak to the model behind people's backs. Heuristic, and said to be: it finds the usual ways, not all.

use serde_json::Value;

/// What is suspicious about a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suspicion {
    /// Characters that people do not see and models read.
    HiddenCharacters,
    /// Markup that is not shown.
    HiddenMarkup,
    /// It tells the model to keep something from the person.
    Secrecy,
    /// It names a place where credentials lie.
    CredentialPath,
    /// A long encoded payload.
    EncodedPayload,
}

impl Suspicion {
    /// Whether nothing harmless looks like this.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        matches!(self, Self::HiddenCharacters)
    }

    /// In words.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::HiddenCharacters => "hidden characters",
            Self::HiddenMarkup => "markup that is not shown",
            Self::Secrecy => "an instruction to keep something from the person",
            Self::CredentialPath => "a path to credentials",
            Self::EncodedPayload => "a long encoded payload",
        }
    }
}

/// What is suspicious about all texts in a value, each kind once.
#[must_use]
pub fn suspicions(value: &Value) -> Vec<Suspicion> {
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<Suspicion>) {
    match value {
        Value::String(text) => {
            for suspicion in in_text(text) {
                if !found.contains(&suspicion) {
                    found.push(suspicion);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| collect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn in_text(text: &str) -> Vec<Suspicion> {
    let lower = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let checks = [
        (text.chars().any(is_hidden), Suspicion::HiddenCharacters),
        (has(&["<!--", "display:none", "display: none", "font-size:0"]), Suspicion::HiddenMarkup),
        (
            has(&[
                "do not tell the user",
                "don't tell the user",
                "do not mention this",
                "without telling the user",
                "do not inform the user",
                "hide this from",
                "ignore previous instructions",
                "ignore all previous",
            ]),
            Suspicion::Secrecy,
        ),
        (
            has(&[".ssh/id_", ".aws/credentials", "id_rsa", ".netrc", ".kube/config", "/etc/shadow"]),
            Suspicion::CredentialPath,
        ),
        (longest_encoded(text) >= 400, Suspicion::EncodedPayload),
    ];
    checks.into_iter().filter_map(|(found, suspicion)| found.then_some(suspicion)).collect()
}

/// Tag characters, bidirectional controls, and the zero-width ones that join nothing. The joiners of emoji and of
/// scripts that need them are left alone.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{e0000}'..='\u{e007f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2064}'
        | '\u{feff}'
        | '\u{0000}'..='\u{0008}'
        | '\u{000e}'..='\u{001f}'
        | '\u{007f}')
}

fn longest_encoded(text: &str) -> usize {
    let is_encoded = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    text.as_bytes().split(|byte| !is_encoded(byte)).map(<[u8]>::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests;
