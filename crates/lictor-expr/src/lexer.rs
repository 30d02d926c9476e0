//! Source text → tokens. Works on a text of at most [`crate::limits::MAX_SOURCE`] bytes.

use core::iter::Peekable;
use core::str::CharIndices;

use crate::error::CompileError;
use crate::span::Span;

mod literal;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A name, including the words `true`, `false`, `null` and `in`.
    Word(String),
    /// An int without sign; up to 2⁶³, which only fits with a minus before it.
    Int(u64),
    Double(f64),
    Text(String),
    Symbol(Symbol),
    End,
}

/// Operators and punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Comma,
    Colon,
    Dot,
    Question,
    Not,
    Minus,
    Plus,
    Star,
    Slash,
    Percent,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

impl Symbol {
    /// The symbol as written.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::OpenParen => "(",
            Self::CloseParen => ")",
            Self::OpenBracket => "[",
            Self::CloseBracket => "]",
            Self::OpenBrace => "{",
            Self::CloseBrace => "}",
            Self::Comma => ",",
            Self::Colon => ":",
            Self::Dot => ".",
            Self::Question => "?",
            Self::Not => "!",
            Self::Minus => "-",
            Self::Plus => "+",
            Self::Star => "*",
            Self::Slash => "/",
            Self::Percent => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::And => "&&",
            Self::Or => "||",
        }
    }
}

/// Splits the source into tokens; the last one is always [`Token::End`].
pub(crate) fn tokens(source: &str) -> Result<Vec<(Token, Span)>, CompileError> {
    let mut lexer = Lexer { source, chars: source.char_indices().peekable() };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let (token, span) = lexer.next()?;
        let end = token == Token::End;
        tokens.push((token, span));
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'s> {
    source: &'s str,
    chars: Peekable<CharIndices<'s>>,
}

impl Lexer<'_> {
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    fn at(&mut self) -> usize {
        self.chars.peek().map_or(self.source.len(), |(at, _)| *at)
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.chars.next_if(|(_, c)| *c == wanted).is_some()
    }

    fn rest(&mut self) -> &str {
        let at = self.at();
        self.source.get(at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        loop {
            while self.chars.next_if(|(_, c)| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')).is_some() {}
            if !self.rest().starts_with("//") {
                return;
            }
            while self.chars.next_if(|(_, c)| *c != '\n').is_some() {}
        }
    }

    fn next(&mut self) -> Result<(Token, Span), CompileError> {
        let start = self.at();
        let Some(first) = self.peek() else {
            return Ok((Token::End, Span::new(start, start)));
        };
        let token = match first {
            'a'..='z' | 'A'..='Z' | '_' => self.word_or_text(start)?,
            '0'..='9' => self.number(start)?,
            '.' if self.rest().chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => self.number(start)?,
            '"' | '\'' => self.text(start, false)?,
            _ => Token::Symbol(self.symbol(start)?),
        };
        let end = self.at();
        Ok((token, Span::new(start, end)))
    }

    fn word_or_text(&mut self, start: usize) -> Result<Token, CompileError> {
        while self.chars.next_if(|(_, c)| c.is_ascii_alphanumeric() || *c == '_').is_some() {}
        let word = self.source.get(start..self.at()).unwrap_or_default();
        let quoted = matches!(self.peek(), Some('"' | '\''));
        match (word, quoted) {
            ("r" | "R", true) => self.text(start, true),
            ("b" | "B" | "br" | "bR" | "Br" | "BR" | "rb" | "rB" | "Rb" | "RB", true) => {
                let span = Span::new(start, self.at() + 1);
                Err(CompileError::new(span, "byte strings are not part of this language")
                    .help("leave the `b` out"))
            }
            _ => Ok(Token::Word(word.to_owned())),
        }
    }

    fn symbol(&mut self, start: usize) -> Result<Symbol, CompileError> {
        let Some((_, first)) = self.chars.next() else {
            return Err(CompileError::new(Span::new(start, start), "the expression ends too early"));
        };
        let symbol = match first {
            '(' => Symbol::OpenParen,
            ')' => Symbol::CloseParen,
            '[' => Symbol::OpenBracket,
            ']' => Symbol::CloseBracket,
            '{' => Symbol::OpenBrace,
            '}' => Symbol::CloseBrace,
            ',' => Symbol::Comma,
            ':' => Symbol::Colon,
            '.' => Symbol::Dot,
            '?' => Symbol::Question,
            '-' => Symbol::Minus,
            '+' => Symbol::Plus,
            '*' => Symbol::Star,
            '/' => Symbol::Slash,
            '%' => Symbol::Percent,
            '!' if self.eat('=') => Symbol::NotEqual,
            '!' => Symbol::Not,
            '<' if self.eat('=') => Symbol::LessEqual,
            '<' => Symbol::Less,
            '>' if self.eat('=') => Symbol::GreaterEqual,
            '>' => Symbol::Greater,
            '=' if self.eat('=') => Symbol::Equal,
            '&' if self.eat('&') => Symbol::And,
            '|' if self.eat('|') => Symbol::Or,
            other => {
                let end = self.at();
                return Err(unknown_character(other, Span::new(start, end)));
            }
        };
        Ok(symbol)
    }
}

fn unknown_character(found: char, span: Span) -> CompileError {
    let error = CompileError::new(span, format!("`{}` is not an operator here", found.escape_debug()));
    match found {
        '=' => error.help("to compare, write `==`"),
        '&' => error.help("for `and`, write `&&`"),
        '|' => error.help("for `or`, write `||`"),
        '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' | '`' => error.help("quote text with `\"` or `'`"),
        '~' => error.help("to match a regular expression, write `text.matches(\"…\")`"),
        _ => error,
    }
}

#[cfg(test)]
mod tests;
