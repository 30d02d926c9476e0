//! The same expression in the public `cel` crate.

use std::collections::HashMap;
use std::sync::Arc;

use cel::objects::Key;
use cel::{Context, Env, Value as CelValue, extensions};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

/// How a case relates to `cel`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cel {
    /// The same value, or an error in both.
    #[default]
    Same,
    /// Uses what `cel` does not have.
    Lacks,
    /// Gives a value of its own.
    Gives(Json),
    /// Has no value.
    Fails,
}

/// Runs the expression in `cel`; `None` when it has no value there.
pub(crate) fn cel_value(source: &str, roots: &Map<String, Json>) -> Result<Json, String> {
    let mut env = Env::stdlib();
    env.add_extension(extensions::strings).expect("the strings extension");
    let env = Arc::new(env);
    let program = env.compile(source).map_err(|errors| errors.to_string())?;
    let mut context = Context::with_env(env);
    for (name, value) in roots {
        context.add_variable_from_value(name.clone(), from_json(value));
    }
    let value = program.execute(&context).map_err(|error| error.to_string())?;
    to_json(&value)
}

/// How a case disagrees with `cel`, if it does.
pub(crate) fn disagreement(
    source: &str,
    roots: &Map<String, Json>,
    ours: Option<&Json>,
    relation: &Cel,
) -> Option<String> {
    let want = match relation {
        Cel::Lacks => return None,
        Cel::Same => ours,
        Cel::Gives(value) => Some(value),
        Cel::Fails => None,
    };
    let theirs = cel_value(source, roots);
    let same_as_ours = *relation != Cel::Same && theirs.as_ref().ok() == ours;
    (same_as_ours || theirs.as_ref().ok() != want).then(|| format!("cel: {theirs:?}, wanted {want:?}"))
}

fn from_json(json: &Json) -> CelValue {
    match json {
        Json::Null => CelValue::Null,
        Json::Bool(value) => CelValue::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => CelValue::Int(value),
            None => CelValue::Float(number.as_f64().expect("a number")),
        },
        Json::String(text) => CelValue::String(Arc::new(text.clone())),
        Json::Array(items) => CelValue::List(Arc::new(items.iter().map(from_json).collect())),
        Json::Object(fields) => {
            let fields: HashMap<Key, CelValue> =
                fields.iter().map(|(key, value)| (Key::from(key.as_str()), from_json(value))).collect();
            CelValue::Map(fields.into())
        }
    }
}

fn to_json(value: &CelValue) -> Result<Json, String> {
    Ok(match value {
        CelValue::Null => Json::Null,
        CelValue::Bool(value) => Json::from(*value),
        CelValue::Int(value) => Json::from(*value),
        CelValue::Float(value) => Json::from(*value),
        CelValue::String(text) => Json::from(text.as_str()),
        CelValue::List(items) => Json::Array(items.iter().map(to_json).collect::<Result<_, _>>()?),
        CelValue::Map(map) => {
            let entry = |(key, value): (&Key, &CelValue)| match key {
                Key::String(key) => Ok((key.to_string(), to_json(value)?)),
                other => Err(format!("a key {other:?}")),
            };
            Json::Object(map.map.iter().map(entry).collect::<Result<_, _>>()?)
        }
        other => return Err(format!("a value that is not JSON: {other:?}")),
    })
}
