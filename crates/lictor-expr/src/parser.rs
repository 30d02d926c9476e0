//! Tokens → syntax tree. Stops at the first error: later errors would be guesses.
//!
//! The parser recurses once per level of parentheses, brackets and arguments, and that level is
//! bounded; chains (`a.b.c`, `!!a`, `a + b + c`) are loops whose result is bounded in depth.

use crate::error::CompileError;
use crate::lexer::{self, Symbol, Token};
use crate::limits::{MAX_DEPTH, MAX_NODES, MAX_SOURCE};
use crate::span::Span;
use crate::syntax::{BinaryOp, Expr, Kind, Name, Precedence};

/// Words that CEL keeps for itself.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Parses a whole source text.
pub(crate) fn parse(source: &str) -> Result<Expr, CompileError> {
    if source.len() > MAX_SOURCE {
        let message = format!("the expression is longer than {MAX_SOURCE} bytes");
        return Err(CompileError::new(Span::new(0, 0), message).help("split it into several guards"));
    }
    let tokens = lexer::tokens(source)?;
    let mut parser = Parser { tokens: &tokens, next: 0, nodes: 0, nesting: 0 };
    let expr = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'t> {
    tokens: &'t [(Token, Span)],
    next: usize,
    nodes: usize,
    nesting: usize,
}

const END: (Token, Span) = (Token::End, Span { start: 0, end: 0 });

impl<'t> Parser<'t> {
    fn current(&self) -> &'t (Token, Span) {
        self.tokens.get(self.next).or(self.tokens.last()).unwrap_or(&END)
    }

    fn peek(&self) -> &'t Token {
        &self.current().0
    }

    fn span(&self) -> Span {
        self.current().1
    }

    fn eat(&mut self, symbol: Symbol) -> Option<Span> {
        if *self.peek() != Token::Symbol(symbol) {
            return None;
        }
        let span = self.span();
        self.next += 1;
        Some(span)
    }

    fn expect(&mut self, symbol: Symbol, opened: Span) -> Result<Span, CompileError> {
        if let Some(span) = self.eat(symbol) {
            return Ok(span);
        }
        if *self.peek() == Token::End {
            let message = format!("this has no closing `{}`", symbol.text());
            return Err(CompileError::new(opened, message));
        }
        Err(self.unexpected(&format!("`{}`", symbol.text())))
    }

    fn unexpected(&self, wanted: &str) -> CompileError {
        let (token, span) = self.current();
        let found = match token {
            Token::End => "the end".to_owned(),
            Token::Word(word) => format!("`{word}`"),
            Token::Int(_) | Token::Double(_) => "a number".to_owned(),
            Token::Text(_) => "text".to_owned(),
            Token::Symbol(symbol) => format!("`{}`", symbol.text()),
        };
        let error = CompileError::new(*span, format!("{wanted} is expected here, not {found}"));
        let before = self.next.checked_sub(1).and_then(|before| self.tokens.get(before));
        if let Some((Token::Word(word), span)) = before
            && word == "not"
        {
            return CompileError::new(*span, "`not` is not an operator").help("write `!`");
        }
        match token {
            Token::Word(word) => match word.as_str() {
                "and" | "AND" => error.help("write `&&`"),
                "or" | "OR" => error.help("write `||`"),
                "is" => error.help("write `==`"),
                _ => error,
            },
            _ => error,
        }
    }

    /// Makes a node one level above its children, within the limits.
    fn node(&mut self, span: Span, below: usize, kind: Kind) -> Result<Expr, CompileError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("the expression has more than {MAX_NODES} parts");
            return Err(CompileError::new(span, message).help("split it into several guards"));
        }
        if below >= MAX_DEPTH {
            return Err(too_deep(span));
        }
        Ok(Expr { span, depth: below + 1, kind })
    }

    fn expression(&mut self) -> Result<Expr, CompileError> {
        self.nesting += 1;
        if self.nesting > MAX_DEPTH {
            return Err(too_deep(self.span()));
        }
        let condition = self.chain(Symbol::Or)?;
        let expr = if self.eat(Symbol::Question).is_some() {
            let then = self.chain(Symbol::Or)?;
            if self.eat(Symbol::Colon).is_none() {
                return Err(self.unexpected("`:`"));
            }
            let otherwise = self.expression()?;
            let below = condition.depth.max(then.depth).max(otherwise.depth);
            let span = condition.span.to(otherwise.span);
            let kind = Kind::Choose {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            };
            self.node(span, below, kind)?
        } else {
            condition
        };
        self.nesting -= 1;
        Ok(expr)
    }

    /// `a || b || …` or, one level below, `a && b && …`, as one node.
    fn chain(&mut self, symbol: Symbol) -> Result<Expr, CompileError> {
        let first = self.chain_operand(symbol)?;
        if *self.peek() != Token::Symbol(symbol) {
            return Ok(first);
        }
        let mut below = first.depth;
        let mut span = first.span;
        let mut operands = vec![first];
        while self.eat(symbol).is_some() {
            let operand = self.chain_operand(symbol)?;
            below = below.max(operand.depth);
            span = span.to(operand.span);
            operands.push(operand);
        }
        let kind = if symbol == Symbol::Or { Kind::Or(operands) } else { Kind::And(operands) };
        self.node(span, below, kind)
    }

    fn chain_operand(&mut self, symbol: Symbol) -> Result<Expr, CompileError> {
        if symbol == Symbol::Or { self.chain(Symbol::And) } else { self.binary(Precedence::Relation) }
    }

    /// Left-associative operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: Precedence) -> Result<Expr, CompileError> {
        let mut left = self.unary()?;
        while let Some(op) = self.binary_operator()
            && op.precedence() >= least
        {
            self.next += 1;
            let above = match op.precedence() {
                Precedence::Relation => Precedence::Sum,
                Precedence::Sum => Precedence::Product,
                _ => Precedence::Unary,
            };
            let right = self.binary(above)?;
            let (span, below) = (left.span.to(right.span), left.depth.max(right.depth));
            let kind = Kind::Binary { op, left: Box::new(left), right: Box::new(right) };
            left = self.node(span, below, kind)?;
        }
        Ok(left)
    }

    fn binary_operator(&self) -> Option<BinaryOp> {
        Some(match self.peek() {
            Token::Symbol(symbol) => match symbol {
                Symbol::Equal => BinaryOp::Equal,
                Symbol::NotEqual => BinaryOp::NotEqual,
                Symbol::Less => BinaryOp::Less,
                Symbol::LessEqual => BinaryOp::LessEqual,
                Symbol::Greater => BinaryOp::Greater,
                Symbol::GreaterEqual => BinaryOp::GreaterEqual,
                Symbol::Plus => BinaryOp::Add,
                Symbol::Minus => BinaryOp::Subtract,
                Symbol::Star => BinaryOp::Multiply,
                Symbol::Slash => BinaryOp::Divide,
                Symbol::Percent => BinaryOp::Remainder,
                _ => return None,
            },
            Token::Word(word) if word == "in" => BinaryOp::In,
            _ => return None,
        })
    }

    fn unary(&mut self) -> Result<Expr, CompileError> {
        let mut prefixes = Vec::new();
        while let Token::Symbol(symbol @ (Symbol::Not | Symbol::Minus)) = self.peek() {
            prefixes.push((*symbol, self.span()));
            self.next += 1;
            if prefixes.len() > MAX_DEPTH {
                return Err(too_deep(self.span()));
            }
        }
        let negative = match (self.peek(), prefixes.last()) {
            (Token::Int(_) | Token::Double(_), Some((Symbol::Minus, span))) => Some(*span),
            _ => None,
        };
        if negative.is_some() {
            prefixes.pop();
        }
        let mut expr = self.postfix(negative)?;
        for (symbol, span) in prefixes.into_iter().rev() {
            let (span, below) = (span.to(expr.span), expr.depth);
            let operand = Box::new(expr);
            let kind = if symbol == Symbol::Not { Kind::Not(operand) } else { Kind::Negate(operand) };
            expr = self.node(span, below, kind)?;
        }
        Ok(expr)
    }

    fn postfix(&mut self, negative: Option<Span>) -> Result<Expr, CompileError> {
        let mut expr = self.primary(negative)?;
        loop {
            if self.eat(Symbol::Dot).is_some() {
                let field = self.name_after_dot()?;
                if let Some(opened) = self.eat(Symbol::OpenParen) {
                    expr = self.call(Some(expr), field, opened)?;
                } else {
                    let (span, below) = (expr.span.to(field.span), expr.depth);
                    expr = self.node(span, below, Kind::Member { target: Box::new(expr), field })?;
                }
            } else if let Some(opened) = self.eat(Symbol::OpenBracket) {
                let index = self.expression()?;
                let closed = self.expect(Symbol::CloseBracket, opened)?;
                let (span, below) = (expr.span.to(closed), expr.depth.max(index.depth));
                let kind = Kind::Index { target: Box::new(expr), index: Box::new(index) };
                expr = self.node(span, below, kind)?;
            } else {
                return Ok(expr);
            }
        }
    }

    fn name_after_dot(&mut self) -> Result<Name, CompileError> {
        let (token, span) = self.current();
        let Token::Word(word) = token else {
            return Err(self.unexpected("a name"));
        };
        if matches!(word.as_str(), "in" | "true" | "false" | "null") {
            return Err(CompileError::new(*span, format!("`{word}` is a word of the language"))
                .help(format!("write `[\"{word}\"]` instead of `.{word}`")));
        }
        self.next += 1;
        Ok(Name { span: *span, text: word.clone() })
    }

    fn call(&mut self, target: Option<Expr>, function: Name, opened: Span) -> Result<Expr, CompileError> {
        let (arguments, closed) = self.list(Symbol::CloseParen, opened)?;
        let start = target.as_ref().map_or(function.span, |target| target.span);
        let below = arguments.iter().chain(target.as_ref()).map(|expr| expr.depth).max().unwrap_or(0);
        let kind = Kind::Call { target: target.map(Box::new), function, arguments };
        self.node(start.to(closed), below, kind)
    }

    /// Expressions separated by commas, up to and with the closing symbol.
    fn list(&mut self, close: Symbol, opened: Span) -> Result<(Vec<Expr>, Span), CompileError> {
        let mut items = Vec::new();
        loop {
            // Like CEL: a comma may end a list literal, but not the arguments of a call.
            if (items.is_empty() || close == Symbol::CloseBracket)
                && let Some(closed) = self.eat(close)
            {
                return Ok((items, closed));
            }
            items.push(self.expression()?);
            if self.eat(Symbol::Comma).is_none() {
                return Ok((items, self.expect(close, opened)?));
            }
        }
    }

    fn primary(&mut self, negative: Option<Span>) -> Result<Expr, CompileError> {
        let (token, span) = self.current();
        let span = *span;
        match token {
            Token::Int(digits) => {
                self.next += 1;
                let value = match negative {
                    Some(_) => 0i64.checked_sub_unsigned(*digits),
                    None => i64::try_from(*digits).ok(),
                };
                let Some(value) = value else {
                    return Err(CompileError::new(span, "this number does not fit into 64 bits"));
                };
                self.node(negative.map_or(span, |minus| minus.to(span)), 0, Kind::Int(value))
            }
            Token::Double(value) => {
                self.next += 1;
                let (span, value) = negative.map_or((span, *value), |minus| (minus.to(span), -*value));
                self.node(span, 0, Kind::Double(value))
            }
            Token::Text(text) => {
                self.next += 1;
                self.node(span, 0, Kind::Text(text.clone()))
            }
            Token::Word(word) => self.word(word, span),
            Token::Symbol(Symbol::OpenParen) => {
                self.next += 1;
                let inner = self.expression()?;
                let closed = self.expect(Symbol::CloseParen, span)?;
                Ok(Expr { span: span.to(closed), ..inner })
            }
            Token::Symbol(Symbol::OpenBracket) => {
                self.next += 1;
                let (items, closed) = self.list(Symbol::CloseBracket, span)?;
                let below = items.iter().map(|item| item.depth).max().unwrap_or(0);
                self.node(span.to(closed), below, Kind::List(items))
            }
            Token::Symbol(Symbol::OpenBrace) => {
                self.next += 1;
                self.map(span)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    fn word(&mut self, word: &str, span: Span) -> Result<Expr, CompileError> {
        let literal = match word {
            "true" => Some(Kind::Bool(true)),
            "false" => Some(Kind::Bool(false)),
            "null" => Some(Kind::Null),
            "in" | "and" | "or" => return Err(self.unexpected("a value")),
            _ if RESERVED.contains(&word) => {
                return Err(CompileError::new(span, format!("`{word}` is a word that CEL reserves")));
            }
            _ => None,
        };
        self.next += 1;
        if let Some(kind) = literal {
            return self.node(span, 0, kind);
        }
        match self.eat(Symbol::OpenParen) {
            Some(opened) => self.call(None, Name { span, text: word.to_owned() }, opened),
            None => self.node(span, 0, Kind::Name(word.to_owned())),
        }
    }

    fn map(&mut self, opened: Span) -> Result<Expr, CompileError> {
        let mut entries = Vec::new();
        let mut below = 0;
        let closed = loop {
            if let Some(closed) = self.eat(Symbol::CloseBrace) {
                break closed;
            }
            let key = self.expression()?;
            if self.eat(Symbol::Colon).is_none() {
                return Err(self.unexpected("`:`"));
            }
            let value = self.expression()?;
            below = below.max(key.depth).max(value.depth);
            entries.push((key, value));
            if self.eat(Symbol::Comma).is_none() {
                break self.expect(Symbol::CloseBrace, opened)?;
            }
        };
        self.node(opened.to(closed), below, Kind::Map(entries))
    }
}

fn too_deep(span: Span) -> CompileError {
    CompileError::new(span, format!("the expression is nested more than {MAX_DEPTH} deep"))
        .help("split it into several guards")
}

#[cfg(test)]
mod tests;
