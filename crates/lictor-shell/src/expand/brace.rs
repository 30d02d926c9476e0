//! Brace expansion: `{a,b}` and `{1..3}`.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::ast::Part;

/// Most words that one word may turn into.
const MOST_WORDS: usize = 128;
/// How deep braces may nest.
const MOST_DEEP: u32 = 12;

/// A piece of a word after brace expansion.
#[derive(Debug, Clone)]
pub(crate) enum Piece<'a> {
    /// Unquoted text.
    Text(Cow<'a, str>),
    Part(&'a Part),
}

#[derive(Debug, Clone)]
enum Token<'a> {
    /// With the index of the matching close, when there is one.
    Open(Option<usize>),
    Close,
    Comma,
    Text(&'a str),
    Part(&'a Part),
}

/// Expands the braces of a word. `None` when there are too many words to list.
pub(crate) fn expand(parts: &[Part]) -> Option<Vec<Vec<Piece<'_>>>> {
    let tokens = tokens(parts);
    let mut words = vec![Vec::new()];
    product(&tokens, 0, tokens.len(), 0, &mut words)?;
    Some(words)
}

fn tokens(parts: &[Part]) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut open = Vec::new();
    for part in parts {
        let Part::Literal(text) = part else {
            tokens.push(Token::Part(part));
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}', ',']) {
            let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
            if !before.is_empty() {
                tokens.push(Token::Text(before));
            }
            match after.bytes().next() {
                Some(b'{') => {
                    open.push(tokens.len());
                    tokens.push(Token::Open(None));
                }
                Some(b'}') => {
                    let close = tokens.len();
                    if let Some(start) = open.pop()
                        && let Some(Token::Open(end)) = tokens.get_mut(start)
                    {
                        *end = Some(close);
                    }
                    tokens.push(Token::Close);
                }
                _ => tokens.push(Token::Comma),
            }
            rest = after.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            tokens.push(Token::Text(rest));
        }
    }
    tokens
}

/// Appends every expansion of the tokens `from..to` to every word.
fn product<'a>(
    tokens: &[Token<'a>],
    from: usize,
    to: usize,
    depth: u32,
    words: &mut Vec<Vec<Piece<'a>>>,
) -> Option<()> {
    if depth > MOST_DEEP {
        return None;
    }
    let mut at = from;
    while at < to {
        let token = tokens.get(at)?;
        if let Token::Open(Some(close)) = token
            && *close < to
            && let Some(choices) = choices(tokens, at + 1, *close, depth)?
        {
            if choices.len().saturating_mul(words.len()) > MOST_WORDS {
                return None;
            }
            *words = words
                .iter()
                .flat_map(|word| {
                    choices.iter().map(move |choice| word.iter().chain(choice).cloned().collect())
                })
                .collect();
            at = close + 1;
            continue;
        }
        let piece = match token {
            Token::Open(_) => Piece::Text("{".into()),
            Token::Close => Piece::Text("}".into()),
            Token::Comma => Piece::Text(",".into()),
            Token::Text(text) => Piece::Text((*text).into()),
            Token::Part(part) => Piece::Part(part),
        };
        for word in words.iter_mut() {
            word.push(piece.clone());
        }
        at += 1;
    }
    Some(())
}

/// The alternatives of the braces around `from..to`; `Some(None)` when they are ordinary text.
fn choices<'a>(
    tokens: &[Token<'a>],
    from: usize,
    to: usize,
    depth: u32,
) -> Option<Option<Vec<Vec<Piece<'a>>>>> {
    let mut commas = Vec::new();
    let mut at = from;
    while at < to {
        match tokens.get(at)? {
            Token::Open(Some(close)) => at = *close,
            Token::Comma => commas.push(at),
            _ => {}
        }
        at += 1;
    }
    if commas.is_empty() {
        let [Token::Text(text)] = tokens.get(from..to)? else { return Some(None) };
        return match range(text) {
            Some(values) => {
                Some(Some(values?.into_iter().map(|text| vec![Piece::Text(text.into())]).collect()))
            }
            None => Some(None),
        };
    }
    let mut choices = Vec::new();
    let mut start = from;
    for end in commas.into_iter().chain([to]) {
        let mut words = vec![Vec::new()];
        product(tokens, start, end, depth + 1, &mut words)?;
        choices.append(&mut words);
        if choices.len() > MOST_WORDS {
            return None;
        }
        start = end + 1;
    }
    Some(Some(choices))
}

/// `1..5`, `a..e`, `1..9..2`. `None` when it is no range, `Some(None)` when it is too long.
fn range(text: &str) -> Option<Option<Vec<String>>> {
    let mut ends = text.split("..");
    let (first, last) = (ends.next()?, ends.next()?);
    let step = ends.next().map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1);
    if ends.next().is_some() {
        return None;
    }
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars
            .next()
            .filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
            .map(|c| i64::from(u32::from(c)))
    };
    let (from, to, letters) = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(from), Ok(to)) => (from, to, false),
        _ => (letter(first)?, letter(last)?, true),
    };
    let count = (from.abs_diff(to) / step).saturating_add(1);
    if count > MOST_WORDS as u64 {
        return Some(None);
    }
    let padded =
        !letters && (first.starts_with('0') && first.len() > 1 || last.starts_with('0') && last.len() > 1);
    let width = if padded { first.len().max(last.len()) } else { 0 };
    let values = (0..count).filter_map(|index| {
        let offset = i64::try_from(index * step).ok()?;
        let value = if from <= to { from + offset } else { from - offset };
        if letters {
            u32::try_from(value).ok().and_then(char::from_u32).map(String::from)
        } else {
            Some(format!("{value:0width$}"))
        }
    });
    Some(Some(values.collect()))
}
