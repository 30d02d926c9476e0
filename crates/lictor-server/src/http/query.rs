//! The query of an address.

use std::collections::HashMap;

use lictor::config::diagnostic::closest;

use super::Problem;
use super::table::Param;

/// The parameters of a query. Unknown ones are refused: a misspelt filter would otherwise return all records.
pub(super) fn asked(query: &str, known: &[&[Param]]) -> Result<HashMap<String, String>, Problem> {
    let mut asked = HashMap::new();
    for (name, value) in pairs(query) {
        let (Ok(name), Ok(value)) = (name, value) else {
            return Err(Problem::bad("the parameters cannot be read")
                .fix("write a percent sign as `%25`, and other bytes as UTF-8"));
        };
        let names = || known.iter().copied().flatten().map(|param| param.name);
        if !names().any(|known| known == name) {
            return Err(unknown(&name, &names().collect::<Vec<_>>()));
        }
        if asked.insert(name.clone(), value).is_some() {
            return Err(Problem::bad(format!("the parameter `{name}` stands twice")).fix("name it once"));
        }
    }
    Ok(asked)
}

fn unknown(name: &str, known: &[&str]) -> Problem {
    let fix = match (closest(name, known.iter().copied()), known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "leave it out: this address takes no parameters".to_owned(),
        (None, known) => format!("the parameters are: {}", known.join(", ")),
    };
    let shown: String = name.chars().take(100).collect();
    Problem::bad(format!("unknown parameter `{}`", lictor_core::text::visible_line(&shown))).fix(fix)
}

/// `a=b&c=d` with percent signs. Escapes that cannot be read are left out.
pub(crate) fn parse_query(query: &str) -> HashMap<String, String> {
    let text = |text: Decoded| text.unwrap_or_else(|readable| readable);
    pairs(query).map(|(name, value)| (text(name), text(value))).collect()
}

/// A text, or as much of it as can be read.
type Decoded = Result<String, String>;

fn pairs(query: &str) -> impl Iterator<Item = (Decoded, Decoded)> + '_ {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (decoded(key), decoded(value)))
}

fn decoded(text: &str) -> Decoded {
    let mut bytes = Vec::with_capacity(text.len());
    let mut whole = true;
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits: Vec<u8> = rest.by_ref().take(2).collect();
                let digits = std::str::from_utf8(&digits).ok();
                // A sign is no digit, though numbers may have one.
                let digits = digits.filter(|text| text.len() == 2 && !text.starts_with('+'));
                let number = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                whole &= number.is_some();
                bytes.extend(number);
            }
            byte => bytes.push(byte),
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) if whole => Ok(text),
        Ok(text) => Err(text),
        Err(other) => Err(String::from_utf8_lossy(other.as_bytes()).into_owned()),
    }
}
