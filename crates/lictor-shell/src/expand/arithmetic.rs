//! Arithmetic, as far as it is constant.

use crate::ast::Part;
use crate::operand::Taint;
use crate::state::{Datum, Value};
use crate::walk::Walker;

/// Deepest nesting of parentheses and signs.
const MOST_DEEP: u32 = 16;

impl Walker<'_> {
    /// The value of `$((…))`. Substitutions in it are walked in any case.
    pub(crate) fn arithmetic(&mut self, parts: &[Part]) -> Datum {
        let text = self.quoted_value(parts);
        let taint = text.taint;
        if let Some(text) = text.text() {
            self.arithmetic_names(text);
        }
        let result = text.text().and_then(|text| {
            let mut reader = Reader { rest: text.trim(), walker: self, depth: 0 };
            let value = reader.sum()?;
            reader.rest.trim().is_empty().then_some(value)
        });
        match result {
            Some(value) => Datum { taint, ..Datum::known(value.to_string()) },
            // A number can be no option and no other word.
            None => Datum { template: None, ..Datum::unknown(Taint { decoded: false, ..taint }) },
        }
    }
}

struct Reader<'a, 'w, 's> {
    rest: &'a str,
    walker: &'w Walker<'s>,
    depth: u32,
}

impl Reader<'_, '_, '_> {
    fn operator(&mut self, choices: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next().filter(|c| choices.contains(c))?;
        let after = self.rest.get(1..)?;
        // `**`, `++`, `+=`, `<<` and the like are not modelled.
        if after.starts_with([first, '=']) {
            return None;
        }
        self.rest = after;
        Some(first)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        while let Some(operator) = self.operator(&['+', '-']) {
            let right = self.product()?;
            value = if operator == '+' { value.checked_add(right)? } else { value.checked_sub(right)? };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.single()?;
        while let Some(operator) = self.operator(&['*', '/', '%']) {
            let right = self.single()?;
            value = match operator {
                '*' => value.checked_mul(right)?,
                '/' => value.checked_div(right)?,
                _ => value.checked_rem(right)?,
            };
        }
        Some(value)
    }

    fn single(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > MOST_DEEP {
            return None;
        }
        let value = self.atom();
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Option<i64> {
        match self.operator(&['-', '+', '(']) {
            Some('-') => return self.single()?.checked_neg(),
            Some('+') => return self.single(),
            Some(_) => {
                let value = self.sum()?;
                return self.operator(&[')']).map(|_| value);
            }
            None => {}
        }
        let name = crate::parser::name_prefix(self.rest);
        if !name.is_empty() {
            self.rest = self.rest.get(name.len()..)?;
            let Some(Value::Scalar(datum)) = self.walker.state.variable(name) else { return None };
            return datum.text()?.trim().parse().ok();
        }
        let length = self.rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let digits = self.rest.get(..length)?;
        self.rest = self.rest.get(length..)?;
        if let Some(digits) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
            return i64::from_str_radix(digits, 16).ok();
        }
        if digits.len() > 1 && digits.starts_with('0') {
            return i64::from_str_radix(digits, 8).ok();
        }
        digits.parse().ok()
    }
}
