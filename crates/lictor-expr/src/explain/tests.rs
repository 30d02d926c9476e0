use serde_json::json;

use super::{Outcome, Step};
use crate::{Program, Schema, Type};

fn explain(source: &str) -> (Program, Vec<Step>) {
    let schema = Schema::builder().root("a", Type::Dyn).build();
    let program = Program::compile(source, &schema, &Type::Bool).expect(source);
    let env = json!({"a": {"one": 1, "name": "build"}});
    let steps = program.explain(env.as_object().expect("an object"));
    (program, steps)
}

/// One line per step: whether it decided, the outcome, the source, the operands.
fn shown(source: &str) -> Vec<String> {
    let (program, steps) = explain(source);
    let line = |step: &Step| {
        let outcome = match &step.outcome {
            Outcome::True => "true",
            Outcome::False => "false",
            Outcome::Error(_) => "error",
        };
        let mark = if step.decisive { "*" } else { " " };
        let read: String = step.operands.iter().map(|(_, value)| format!(" <- {value}")).collect();
        format!("{}{mark}{outcome} {}{read}", "  ".repeat(step.depth), step.span.text(program.source()))
    };
    steps.iter().map(line).collect()
}

#[test]
fn the_first_failed_conjunct_decides() {
    assert_eq!(
        shown("a.one == 1 && a.name == 'deploy' && a.one > 5"),
        [
            "*false a.one == 1 && a.name == 'deploy' && a.one > 5",
            "   true a.one == 1 <- 1",
            "  *false a.name == 'deploy' <- \"build\"",
            "   false a.one > 5 <- 1",
        ]
    );
}

#[test]
fn a_false_operand_decides_over_a_failed_one() {
    assert_eq!(
        shown("a.none == 1 && !(a.one == 1)"),
        [
            "*false a.none == 1 && !(a.one == 1)",
            "   error a.none == 1",
            "  *false !(a.one == 1)",
            "    *true (a.one == 1) <- 1",
        ]
    );
    assert_eq!(
        shown("a.one == 1 && a.none == 1"),
        ["*error a.one == 1 && a.none == 1", "   true a.one == 1 <- 1", "  *error a.none == 1"]
    );
}

#[test]
fn alternatives() {
    assert_eq!(
        shown("a.one == 2 || a.name.startsWith('b')"),
        [
            "*true a.one == 2 || a.name.startsWith('b')",
            "   false a.one == 2 <- 1",
            "  *true a.name.startsWith('b') <- \"build\"",
        ]
    );
}
