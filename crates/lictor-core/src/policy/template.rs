//! Messages with a closed set of placeholders, checked when the policy is loaded.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::facts::{Cardinality, Deed};
use crate::text;

/// The longest text from an agent that a message quotes.
const QUOTED_CHARS: usize = 120;

/// A message with placeholders: `{verb}`, `{object}`, `{count}`, `{tool}`, `{target}`. `{{` and `}}` are braces.
///
/// The set is closed and the text is checked when it is parsed, so that rendering cannot fail: a typo in a
/// message must not disable a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Verb,
    Object,
    Count,
    Tool,
    Target,
}

/// Why a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Something else in braces.
    #[error(
        "`{{{name}}}` is not a placeholder; use {{verb}}, {{object}}, {{count}}, {{tool}} or {{target}}, and {{{{ for a brace"
    )]
    Unknown {
        /// The text in the braces.
        name: String,
        /// Byte offset of the brace.
        at: usize,
    },
    /// A brace without its partner.
    #[error("a brace is not closed; write {{{{ or }}}} for a brace that is meant as such")]
    Unbalanced {
        /// Byte offset of the brace.
        at: usize,
    },
    /// Nothing to say.
    #[error("the message is empty; say what a person has to confirm")]
    Empty,
}

impl TemplateError {
    /// Where in the text.
    #[must_use]
    pub fn offset(&self) -> usize {
        match self {
            Self::Unknown { at, .. } | Self::Unbalanced { at } => *at,
            Self::Empty => 0,
        }
    }
}

impl Default for Template {
    fn default() -> Self {
        let text = |text: &str| Part::Text(text.to_owned());
        Self {
            text: "{verb} {object}: {target}".to_owned(),
            parts: vec![Part::Verb, text(" "), Part::Object, text(": "), Part::Target],
        }
    }
}

impl Template {
    /// Checks a text.
    ///
    /// # Errors
    /// The first error.
    pub fn parse(source: &str) -> Result<Self, TemplateError> {
        if source.trim().is_empty() {
            return Err(TemplateError::Empty);
        }
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut chars = source.char_indices().peekable();
        while let Some((at, char)) = chars.next() {
            match char {
                '{' | '}' if chars.next_if(|(_, next)| *next == char).is_some() => plain.push(char),
                '}' => return Err(TemplateError::Unbalanced { at }),
                '{' => {
                    let mut name = String::new();
                    loop {
                        match chars.next() {
                            None | Some((_, '{')) => return Err(TemplateError::Unbalanced { at }),
                            Some((_, '}')) => break,
                            Some((_, char)) => name.push(char),
                        }
                    }
                    if !plain.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut plain)));
                    }
                    parts.push(match name.as_str() {
                        "verb" => Part::Verb,
                        "object" => Part::Object,
                        "count" => Part::Count,
                        "tool" => Part::Tool,
                        "target" => Part::Target,
                        _ => return Err(TemplateError::Unknown { name, at }),
                    });
                }
                char => plain.push(char),
            }
        }
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { text: source.to_owned(), parts })
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The message for one deed. Text that the agent controls is cleaned, truncated and quoted: the agent must
    /// not be able to rewrite the question that a person answers.
    #[must_use]
    pub fn render(&self, deed: &Deed, tool: &str) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Verb => out.push_str(&text::clean(&deed.verb, QUOTED_CHARS)),
                Part::Object => out.push_str(&text::clean(&deed.object, QUOTED_CHARS)),
                Part::Count => out.push_str(&count(deed)),
                Part::Tool => out.push_str(&text::quote(tool, QUOTED_CHARS)),
                Part::Target => out.push_str(&targets(deed)),
            }
        }
        out
    }
}

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn count(deed: &Deed) -> String {
    match (deed.count, deed.cardinality) {
        (Some(count), _) => count.to_string(),
        (None, Cardinality::Single) => "1".to_owned(),
        (None, Cardinality::Multiple) => "several".to_owned(),
        (None, Cardinality::Unknown) => "an unknown number of".to_owned(),
    }
}

fn targets(deed: &Deed) -> String {
    let Some(first) = deed.targets.first() else { return "(not named)".to_owned() };
    let more = deed.targets.len().saturating_sub(1);
    let first = text::quote(first, QUOTED_CHARS);
    if more == 0 { first } else { format!("{first} and {more} more") }
}
