//! The syntax tree as text: one space around operators, parentheses only where they are needed.
//! Parsing the text gives the same tree.

use core::fmt::{self, Display, Formatter, Write};

use super::{Expr, Kind, Precedence};

impl Expr {
    fn precedence(&self) -> Precedence {
        match &self.kind {
            Kind::Choose { .. } => Precedence::Choose,
            Kind::Or(_) => Precedence::Or,
            Kind::And(_) => Precedence::And,
            Kind::Binary { op, .. } => op.precedence(),
            Kind::Not(_) | Kind::Negate(_) => Precedence::Unary,
            Kind::Int(value) if *value < 0 => Precedence::Unary,
            Kind::Double(value) if value.is_sign_negative() => Precedence::Unary,
            _ => Precedence::Postfix,
        }
    }

    /// A number after a minus reads as one literal, so a number keeps its parentheses where a minus
    /// may come before it.
    fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Int(_) | Kind::Double(_))
    }

    /// Writes the target before a dot or a bracket.
    fn write_target(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_number() { write!(f, "({self})") } else { self.write(f, Precedence::Postfix) }
    }

    /// Writes the expression, in parentheses when it binds looser than `least`.
    fn write(&self, f: &mut Formatter<'_>, least: Precedence) -> fmt::Result {
        if self.precedence() < least {
            return write!(f, "({self})");
        }
        write!(f, "{self}")
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Null => f.write_str("null"),
            Kind::Bool(value) => write!(f, "{value}"),
            Kind::Int(value) => write!(f, "{value}"),
            Kind::Double(value) => write!(f, "{value:?}"),
            Kind::Text(text) => quoted(f, text),
            Kind::Name(name) => f.write_str(name),
            Kind::List(items) => {
                f.write_char('[')?;
                comma_separated(f, items)?;
                f.write_char(']')
            }
            Kind::Map(entries) => {
                f.write_char('{')?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if i == 0 { "" } else { ", " })?;
                }
                f.write_char('}')
            }
            Kind::Member { target, field } => {
                target.write_target(f)?;
                write!(f, ".{}", field.text)
            }
            Kind::Index { target, index } => {
                target.write_target(f)?;
                write!(f, "[{index}]")
            }
            Kind::Call { target, function, arguments } => {
                if let Some(target) = target {
                    target.write_target(f)?;
                    f.write_char('.')?;
                }
                write!(f, "{}(", function.text)?;
                comma_separated(f, arguments)?;
                f.write_char(')')
            }
            Kind::Not(operand) => {
                f.write_char('!')?;
                operand.write(f, Precedence::Unary)
            }
            Kind::Negate(operand) => {
                f.write_char('-')?;
                if operand.is_number() {
                    write!(f, "({operand})")
                } else {
                    operand.write(f, Precedence::Unary)
                }
            }
            Kind::Binary { op, left, right } => {
                left.write(f, op.precedence())?;
                write!(f, " {} ", op.text())?;
                right.write(f, tighter(op.precedence()))
            }
            Kind::And(operands) => chain(f, operands, " && ", Precedence::Relation),
            Kind::Or(operands) => chain(f, operands, " || ", Precedence::And),
            Kind::Choose { condition, then, otherwise } => {
                condition.write(f, Precedence::Or)?;
                f.write_str(" ? ")?;
                then.write(f, Precedence::Or)?;
                f.write_str(" : ")?;
                otherwise.write(f, Precedence::Choose)
            }
        }
    }
}

/// The right operand of a left-associative operator must bind tighter than the operator.
fn tighter(precedence: Precedence) -> Precedence {
    match precedence {
        Precedence::Choose => Precedence::Or,
        Precedence::Or => Precedence::And,
        Precedence::And => Precedence::Relation,
        Precedence::Relation => Precedence::Sum,
        Precedence::Sum => Precedence::Product,
        Precedence::Product => Precedence::Unary,
        Precedence::Unary | Precedence::Postfix => Precedence::Postfix,
    }
}

fn chain(f: &mut Formatter<'_>, operands: &[Expr], between: &str, least: Precedence) -> fmt::Result {
    for (i, operand) in operands.iter().enumerate() {
        if i > 0 {
            f.write_str(between)?;
        }
        operand.write(f, least)?;
    }
    Ok(())
}

fn comma_separated(f: &mut Formatter<'_>, items: &[Expr]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

/// Text in double quotes, with the escapes that the lexer reads.
pub(crate) fn quoted(f: &mut impl Write, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}
