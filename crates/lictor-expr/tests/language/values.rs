//! Values of expressions, and errors at run time; both also against `cel`.

use lictor_expr::{Env, EvalError, HistoryValue, Program, Type, Value};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::differential::{self, Cel};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    expr: String,
    want: Json,
    /// The result in `cel`, if it differs; with the reason in a comment.
    #[serde(default)]
    cel: Cel,
    /// Answers to the history operators.
    #[serde(default)]
    history: Vec<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorCase {
    id: String,
    /// The kind of the error.
    error: String,
    /// The source, and below it the error.
    shown: String,
    /// The result in `cel`, if it is not an error.
    #[serde(default)]
    cel: Cel,
}

struct Roots {
    roots: Map<String, Json>,
    history: Vec<HistoryValue>,
}

impl Env for Roots {
    fn root(&self, name: &str) -> Option<Value<'_>> {
        self.roots.get(name).map(Value::from)
    }

    fn history(&self, index: usize) -> Option<HistoryValue> {
        self.history.get(index).copied()
    }
}

#[test]
fn values() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("../cases/values.yaml")).expect("values.yaml");
    super::assert_distinct(cases.iter().map(|case| case.id.as_str()));
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let mut wrong = Vec::new();
    let mut compared = 0;
    for case in &cases {
        let program = match super::compile_shown(&case.expr) {
            Ok(program) => program,
            Err(errors) => {
                wrong.push(format!("{}: {errors}", case.id));
                continue;
            }
        };
        let history = case.history.iter().map(|answer| match answer {
            Json::Bool(answer) => HistoryValue::Bool(*answer),
            other => HistoryValue::Int(other.as_i64().expect("a bool or an int")),
        });
        let env = Roots { roots: super::environment(), history: history.collect() };
        let found = program.evaluate(&env).map(|value| super::to_json(&value));
        if found.as_ref() != Ok(&case.want) {
            wrong.push(format!("{}: {} gives {found:?}, not {}", case.id, case.expr, case.want));
        }
        match differential::disagreement(&case.expr, &env.roots, Some(&case.want), &case.cel) {
            Some(difference) => wrong.push(format!("{}: {}: {difference}", case.id, case.expr)),
            None => compared += usize::from(case.cel == Cel::Same),
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared >= 120, "only {compared} cases are the same in cel");
}

#[test]
fn run_time_errors() {
    let cases: Vec<ErrorCase> =
        serde_saphyr::from_str(include_str!("../cases/errors.yaml")).expect("errors.yaml");
    super::assert_distinct(cases.iter().map(|case| case.id.as_str()));
    assert!(cases.len() >= 50, "{} cases", cases.len());
    let env = super::environment();
    let schema = super::schema();
    let mut wrong = Vec::new();
    for case in &cases {
        let source = case.shown.lines().next().unwrap_or_default();
        let program = match Program::compile(source, &schema, &Type::Dyn) {
            Ok(program) => program,
            Err(errors) => {
                wrong.push(format!("{}: {}", case.id, super::shown(source, errors)));
                continue;
            }
        };
        let (kind, found) = match program.evaluate(&env) {
            Ok(value) => ("none", format!("{source}\n{value}")),
            Err(error) => {
                let line = super::underlined(source, error.span(), &error.to_string());
                (kind(&error), format!("{source}\n{line}"))
            }
        };
        if found != case.shown.trim_end() || kind != case.error {
            let shown = found.replace('\n', "\n    ");
            wrong.push(format!("- id: {}\n  error: {kind}\n  shown: |\n    {shown}", case.id));
        }
        if let Some(difference) = differential::disagreement(source, &env, None, &case.cel) {
            wrong.push(format!("# {}: {source}: {difference}", case.id));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ; found:\n{}", wrong.len(), wrong.join("\n"));
}

fn kind(error: &EvalError) -> &'static str {
    match error {
        EvalError::Missing { .. } => "missing",
        EvalError::OutOfRange { .. } => "out-of-range",
        EvalError::WrongType { .. } => "wrong-type",
        EvalError::NeverEqual { .. } => "never-equal",
        EvalError::NoOrder { .. } => "no-order",
        EvalError::Overflow { .. } => "overflow",
        EvalError::DivisionByZero { .. } => "division-by-zero",
        EvalError::BadConversion { .. } => "bad-conversion",
        EvalError::DuplicateKey { .. } => "duplicate-key",
        EvalError::NoHistory { .. } => "no-history",
        EvalError::CostLimit { .. } => "cost-limit",
        EvalError::Damaged { .. } => "damaged",
    }
}
