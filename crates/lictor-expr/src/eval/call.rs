//! Functions.

use super::{Evaluator, Found};
use crate::error::EvalError;
use crate::program::{Function, NodeId, TextTest};
use crate::value::{Text, Value, shortened};

impl<'a> Evaluator<'a> {
    pub(super) fn call(&mut self, id: NodeId, function: Function, argument: NodeId) -> Found<Value<'a>> {
        let value = self.value(argument)?;
        if let Value::Text(text) = &value {
            self.charge_bytes(id, text.as_str().len())?;
        }
        let computed = |text: String| Value::Text(Text::Shared(text.into()));
        Some(match (function, &value) {
            (Function::Size, Value::Text(text)) => length(text.as_str().chars().count()),
            (Function::Size, Value::List(list)) => length(list.len()),
            (Function::Size, Value::Map(map)) => {
                let fields = map.keys().len();
                self.charge(id, fields)?;
                length(fields)
            }
            (Function::LowerAscii, Value::Text(text)) => computed(text.as_str().to_ascii_lowercase()),
            (Function::UpperAscii, Value::Text(text)) => computed(text.as_str().to_ascii_uppercase()),
            (Function::ToInt, Value::Double(double)) => self.double_to_int(id, *double)?,
            (Function::ToInt, Value::Text(text)) => match text.as_str().parse() {
                Ok(int) => Value::Int(int),
                Err(_) => return self.bad_conversion(id, text.as_str(), "an int"),
            },
            #[expect(clippy::cast_precision_loss, reason = "CEL's double(int) rounds")]
            (Function::ToDouble, Value::Int(int)) => Value::Double(*int as f64),
            (Function::ToDouble, Value::Text(text)) => match text.as_str().parse() {
                Ok(double) => Value::Double(double),
                Err(_) => return self.bad_conversion(id, text.as_str(), "a double"),
            },
            (Function::ToText, Value::Bool(value)) => computed(value.to_string()),
            (Function::ToText, Value::Int(value)) => computed(value.to_string()),
            (Function::ToText, Value::Double(value)) => computed(value.to_string()),
            (Function::ToInt, Value::Int(_))
            | (Function::ToDouble, Value::Double(_))
            | (Function::ToText, Value::Text(_)) => value,
            (_, other) => {
                let wanted = match function {
                    Function::Size => "a string, a list or a map",
                    Function::LowerAscii | Function::UpperAscii => "a string",
                    Function::ToInt | Function::ToDouble => "a number or a string",
                    Function::ToText => "a string, a number or a bool",
                };
                return self.wrong_type(argument, function.shown(), wanted, other);
            }
        })
    }

    fn bad_conversion<T>(&mut self, id: NodeId, text: &str, wanted: &str) -> Found<T> {
        self.fail(EvalError::BadConversion {
            span: self.span(id),
            text: shortened(text),
            wanted: wanted.to_owned(),
        })
    }

    fn double_to_int(&mut self, id: NodeId, double: f64) -> Found<Value<'a>> {
        /// 2⁶³; like CEL, both ends are outside.
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        if double.is_nan() || double <= -LIMIT || double >= LIMIT {
            return self.fail(EvalError::Overflow { span: self.span(id) });
        }
        #[expect(clippy::cast_possible_truncation, reason = "within the range of i64; CEL truncates")]
        Some(Value::Int(double as i64))
    }

    pub(super) fn text_test(
        &mut self,
        id: NodeId,
        function: TextTest,
        text: NodeId,
        part: NodeId,
    ) -> Found<bool> {
        let text = self.text(text, function.shown())?;
        let part = self.text(part, function.shown())?;
        let (text, part) = (text.as_str(), part.as_str());
        Some(match function {
            TextTest::StartsWith => {
                self.charge_bytes(id, part.len())?;
                text.starts_with(part)
            }
            TextTest::EndsWith => {
                self.charge_bytes(id, part.len())?;
                text.ends_with(part)
            }
            TextTest::Contains => {
                self.charge_bytes(id, text.len().saturating_add(part.len()))?;
                text.contains(part)
            }
        })
    }

    pub(super) fn matches(&mut self, id: NodeId, text: NodeId, regex: usize) -> Found<bool> {
        let text = self.text(text, "`matches`")?;
        let program = self.program;
        let regex = program.regexes.get(regex).and_then(|pattern| pattern.get());
        let regex = regex.or_else(|| self.damaged(id))?;
        self.charge_bytes(id, regex.work(text.as_str().len()))?;
        Some(regex.matches(text.as_str()))
    }

    pub(super) fn glob(&mut self, id: NodeId, text: NodeId, glob: usize) -> Found<bool> {
        let text = self.text(text, "`glob`")?;
        let program = self.program;
        let glob = program.globs.get(glob).or_else(|| self.damaged(id))?;
        self.charge_bytes(id, glob.work(text.as_str().len()))?;
        Some(glob.matches(text.as_str()))
    }
}

/// The size of something in memory always fits into an int.
fn length<'a>(count: usize) -> Value<'a> {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}
