//! Numbers and text.

use super::{Lexer, Token};
use crate::error::CompileError;
use crate::span::Span;

/// `-9223372036854775808` is an int, so its digits must be allowed without the sign.
const LARGEST: u64 = i64::MIN.unsigned_abs();

impl Lexer<'_> {
    fn digits(&mut self) {
        while self.chars.next_if(|(_, c)| c.is_ascii_digit()).is_some() {}
    }

    fn since(&mut self, start: usize) -> &str {
        let at = self.at();
        self.source.get(start..at).unwrap_or_default()
    }

    pub(super) fn number(&mut self, start: usize) -> Result<Token, CompileError> {
        let too_large = |span| CompileError::new(span, "this number does not fit into 64 bits");
        if self.rest().starts_with("0x") || self.rest().starts_with("0X") {
            self.chars.next();
            self.chars.next();
            while self.chars.next_if(|(_, c)| c.is_ascii_hexdigit()).is_some() {}
            self.end_of_number(start)?;
            let span = Span::new(start, self.at());
            let digits = self.since(start).get(2..).unwrap_or_default();
            if digits.is_empty() {
                return Err(CompileError::new(span, "`0x` needs hexadecimal digits after it"));
            }
            return match u64::from_str_radix(digits, 16) {
                Ok(value) if value <= LARGEST => Ok(Token::Int(value)),
                _ => Err(too_large(span)),
            };
        }
        self.digits();
        let mut double = false;
        if self.rest().starts_with('.') && self.rest().chars().nth(1).is_some_and(|c| c.is_ascii_digit()) {
            double = true;
            self.chars.next();
            self.digits();
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            let mut after = self.rest().chars().skip(1);
            let digit = match after.next() {
                Some('+' | '-') => after.next(),
                other => other,
            };
            if digit.is_some_and(|c| c.is_ascii_digit()) {
                double = true;
                self.chars.next();
                self.chars.next();
                self.digits();
            }
        }
        self.end_of_number(start)?;
        let span = Span::new(start, self.at());
        let text = self.since(start);
        if double {
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Token::Double(value)),
                _ => Err(too_large(span)),
            }
        } else {
            match text.parse::<u64>() {
                Ok(value) if value <= LARGEST => Ok(Token::Int(value)),
                _ => Err(too_large(span)),
            }
        }
    }

    fn end_of_number(&mut self, start: usize) -> Result<(), CompileError> {
        if !self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return Ok(());
        }
        let unsigned = matches!(self.rest(), "u" | "U")
            || self.rest().starts_with(['u', 'U'])
                && !self.rest().chars().nth(1).is_some_and(|c| c.is_alphanumeric() || c == '_');
        while self.chars.next_if(|(_, c)| c.is_alphanumeric() || *c == '_').is_some() {}
        let span = Span::new(start, self.at());
        Err(if unsigned {
            CompileError::new(span, "unsigned ints are not part of this language").help("leave the `u` out")
        } else {
            CompileError::new(span, format!("`{}` is not a number", self.since(start)))
        })
    }

    /// Reads quoted text; the next character is the opening quote.
    pub(super) fn text(&mut self, start: usize, raw: bool) -> Result<Token, CompileError> {
        let Some((_, quote)) = self.chars.next() else {
            return Err(CompileError::new(Span::new(start, start), "text is expected here"));
        };
        let open = self.at();
        let mut quotes = 0;
        while quotes < 2 && self.eat(quote) {
            quotes += 1;
        }
        let long = match quotes {
            0 => false,
            1 => return Ok(Token::Text(String::new())),
            _ => true,
        };
        let mut text = String::new();
        loop {
            let Some((at, c)) = self.chars.next() else {
                return Err(unclosed(start, open));
            };
            if c == quote {
                if !long {
                    return Ok(Token::Text(text));
                }
                if self.rest().starts_with([quote]) && self.rest().chars().nth(1) == Some(quote) {
                    self.chars.next();
                    self.chars.next();
                    return Ok(Token::Text(text));
                }
                text.push(c);
            } else if (c == '\n' || c == '\r') && !long {
                return Err(unclosed(start, open));
            } else if c == '\\' && !raw {
                text.push(self.escape(at)?);
            } else {
                text.push(c);
            }
        }
    }

    fn escape(&mut self, start: usize) -> Result<char, CompileError> {
        let Some((_, kind)) = self.chars.next() else {
            return Err(unclosed(start, start + 1));
        };
        let plain = match kind {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '?' | '"' | '\'' | '`' => kind,
            'x' | 'X' => return self.code(start, 2, 16),
            'u' => return self.code(start, 4, 16),
            'U' => return self.code(start, 8, 16),
            '0'..='3' => return self.code(start, 3, 8),
            other => {
                let span = Span::new(start, self.at());
                return Err(CompileError::new(
                    span,
                    format!("`\\{}` is not an escape", other.escape_debug()),
                )
                .help("write `\\\\` for a backslash, or put `r` before the opening quote"));
            }
        };
        Ok(plain)
    }

    /// A character given by its number; for octal the first digit has been read already.
    fn code(&mut self, start: usize, digits: usize, radix: u32) -> Result<char, CompileError> {
        let mut read = usize::from(radix == 8);
        while read < digits && self.chars.next_if(|(_, c)| c.is_digit(radix)).is_some() {
            read += 1;
        }
        let span = Span::new(start, self.at());
        let text = self.since(start).trim_start_matches(['\\', 'x', 'X', 'u', 'U']);
        let value = if read == digits { u32::from_str_radix(text, radix).ok() } else { None };
        value.and_then(char::from_u32).ok_or_else(|| {
            CompileError::new(span, format!("`{}` is not a character", span.text(self.source)))
        })
    }
}

fn unclosed(start: usize, end: usize) -> CompileError {
    CompileError::new(Span::new(start, end), "this text has no closing quote")
        .help("close it on the same line, or use triple quotes")
}
