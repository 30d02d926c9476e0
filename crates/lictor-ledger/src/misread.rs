//! Readable messages for invalid JSON from other programs.

use std::fmt;

use serde_json::error::Category;

#[cfg(test)]
mod tests;

/// Invalid JSON, or JSON of another shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misread {
    /// The line it was noticed in, counted from one.
    pub line: usize,
    /// The column, counted from one.
    pub column: usize,
    /// The problem.
    pub what: String,
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for Misread {}

impl From<serde_json::Error> for Misread {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let said = error.to_string();
        let said = said.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&said);
        let what = match error.classify() {
            Category::Eof => "it ends in the middle".to_owned(),
            Category::Syntax => "it is not JSON from here on".to_owned(),
            Category::Data | Category::Io => in_words(said),
        };
        Self { line, column, what }
    }
}

/// Rewrites the usual messages of the JSON parser. Any other message comes from this crate.
fn in_words(said: &str) -> String {
    if let Some(field) = said.strip_prefix("missing field ") {
        return format!("{field} is missing");
    }
    if let Some((field, known)) =
        said.strip_prefix("unknown field ").and_then(|rest| rest.split_once(", expected "))
    {
        let known = known.strip_prefix("one of ").unwrap_or(known);
        return format!("{field} is not known; known are {}", known.replace("` or `", "`, `"));
    }
    if let Some(field) = said.strip_prefix("duplicate field ") {
        return format!("{field} is there twice");
    }
    let wrong = said.strip_prefix("invalid type: ").or_else(|| said.strip_prefix("invalid value: "));
    match wrong.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, wanted)) => format!("{} stands where {} is wanted", found_so(found), wanted_so(wanted)),
        None => said.to_owned(),
    }
}

fn found_so(found: &str) -> String {
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        "null" | "unit" => "`null`".to_owned(),
        _ => match found.split_once(' ') {
            Some(("string", text)) => format!("the text {text}"),
            Some(("integer" | "floating point", number)) => format!("the number {number}"),
            Some(("boolean", word)) => word.to_owned(),
            _ => found.to_owned(),
        },
    }
}

fn wanted_so(wanted: &str) -> &str {
    match wanted {
        "a sequence" => "a list",
        "a string" => "text",
        "a map" => "an object",
        "u32" | "usize" => "a whole number from 0 on",
        _ if wanted.starts_with("struct ") => "an object",
        _ => wanted,
    }
}
