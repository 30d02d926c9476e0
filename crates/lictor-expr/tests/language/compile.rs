//! Errors at load, down to the underlined place.

use lictor_expr::{Program, Type};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    /// The source, and below it one line per error.
    shown: String,
}

#[test]
fn refused_expressions() {
    let cases: Vec<Case> =
        serde_saphyr::from_str(include_str!("../cases/compile.yaml")).expect("compile.yaml");
    super::assert_distinct(cases.iter().map(|case| case.id.as_str()));
    assert!(cases.len() >= 100, "{} cases", cases.len());
    let schema = super::schema();
    let mut wrong = Vec::new();
    for case in &cases {
        let source = case.shown.lines().next().unwrap_or_default();
        let found = match Program::compile(source, &schema, &Type::Bool) {
            Ok(_) => format!("{source}\naccepted"),
            Err(errors) => super::shown(source, errors),
        };
        if found != case.shown.trim_end() {
            wrong.push(format!("- id: {}\n  shown: |\n    {}", case.id, found.replace('\n', "\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ; found:\n{}", wrong.len(), wrong.join("\n"));
}
