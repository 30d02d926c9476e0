//! Tests on a name narrow the values that a variable can have: in `if f.endswith('.tmp')` the name `*` of a listing
//! becomes `*.tmp`.

use super::value::Value;
use crate::operand::{Arg, Known};

/// A test on the text of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Test {
    Starts,
    Ends,
    Contains,
}

impl Test {
    /// The test that a method of strings makes, in Python and in JavaScript.
    pub(super) fn of_method(name: &str) -> Option<Self> {
        match name {
            "startswith" | "startsWith" => Some(Self::Starts),
            "endswith" | "endsWith" => Some(Self::Ends),
            "includes" => Some(Self::Contains),
            _ => None,
        }
    }

    /// The names of a listing that pass the test. `None` when the value is no listing or the test has no known text.
    pub(super) fn narrow(self, value: &Value, wanted: &Value) -> Option<Value> {
        let alternatives = match wanted {
            Value::List(texts) | Value::Any(texts) => texts.as_slice(),
            text => std::slice::from_ref(text),
        };
        let values: Option<Vec<Value>> =
            alternatives.iter().map(|text| self.narrow_to(value, text.known()?)).collect();
        values.filter(|values| !values.is_empty()).map(Value::one_of)
    }

    fn narrow_to(self, value: &Value, text: &str) -> Option<Value> {
        let arg = match value {
            Value::Text(arg) if arg.glob => arg,
            Value::List(values) | Value::Any(values) => {
                let values: Option<Vec<Value>> =
                    values.iter().map(|value| self.narrow_to(value, text)).collect();
                return values.map(Value::Any);
            }
            _ => return None,
        };
        let known = arg.known()?;
        let (folder, name) = known.rsplit_once('/').map_or(("", known), |(folder, name)| (folder, name));
        // Listings of code have hidden names too, other than a pattern of the shell.
        if !matches!(name, "*" | "{*,.*}")
            || text.is_empty()
            || text.contains(['*', '?', '[', '{', '/', '\\'])
        {
            return None;
        }
        let name = match self {
            Self::Starts => format!("{text}*"),
            Self::Ends => format!("{{*,.*}}{text}"),
            Self::Contains => format!("{{*,.*}}{text}*"),
        };
        let known = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        Some(Value::Text(Arg {
            value: Known::Text(known.as_str().into()),
            text: known.into(),
            ..arg.clone()
        }))
    }
}
