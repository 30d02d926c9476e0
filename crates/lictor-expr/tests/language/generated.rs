//! Generated expressions: never a panic, never over budget, and where there is a value the same one
//! as in `cel`.

use std::cell::Cell;

use lictor_expr::limits::STEP_BUDGET;
use lictor_expr::{EvalError, Object, Program, Schema, Sequence, Type, Value};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::differential::cel_value;

fn dynamic() -> Schema {
    Schema::builder().root("a", Type::Dyn).root("m", Type::Dyn).build()
}

/// Expressions of each type, up to some depth.
#[derive(Clone)]
struct Typed {
    /// Whether values of different types may meet in `==` and `in`, where we are stricter than cel.
    mixed: bool,
    flag: BoxedStrategy<String>,
    int: BoxedStrategy<String>,
    double: BoxedStrategy<String>,
    text: BoxedStrategy<String>,
    list: BoxedStrategy<String>,
    /// Of any type, sometimes of a wrong type for its place.
    any: BoxedStrategy<String>,
}

fn one_of(sources: &[&'static str]) -> BoxedStrategy<String> {
    prop::sample::select(sources.to_vec()).prop_map(str::to_owned).boxed()
}

impl Typed {
    fn leaves(mixed: bool) -> Self {
        Self {
            mixed,
            flag: one_of(&["true", "false", "m.b", "has(m.n)", "has(m.none)", "('t' in m)", "m.none"]),
            int: one_of(&["0", "1", "-2", "7", "9223372036854775807", "m.n", "a[0]", "a[5]", "m.none"]),
            double: one_of(&["0.0", "0.5", "-1.5", "m.f", "1e300"]),
            text: one_of(&["''", "'a'", "'ab'", "m.t", "m['t']", "'é'", "'12'", "m.l[1]"]),
            list: if mixed {
                one_of(&["a", "[]", "[1, 2]", "m.l", "['a', 'b']", "[0, 1]"])
            } else {
                one_of(&["a", "[]", "[1, 2]", "[0, 1]"])
            },
            // Maps have one key: cel walks through them in any order.
            any: one_of(&["null", "{'k': 1}", "[[1], [2]]", "m.nothing"]),
        }
    }

    /// One level more.
    fn grown(&self) -> Self {
        let Self { mixed, flag, int, double, text, list, any } = self.clone();
        // Operands where any type is allowed.
        let loose = if mixed { any.clone() } else { int.clone() };
        let other = if mixed { any.clone() } else { list.clone() };
        let relation = || one_of(&["==", "!=", "<", "<=", ">", ">="]);
        let equality = || one_of(&["==", "!="]);
        let infix = |a: &BoxedStrategy<String>, op: BoxedStrategy<String>, b: &BoxedStrategy<String>| {
            (a.clone(), op, b.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})"))
        };
        let number = prop_oneof![int.clone(), double.clone()].boxed();
        let over = prop_oneof![4 => list.clone(), 1 => other].boxed();
        let (bodies, results): (&[&str], &[&str]) = if mixed {
            (
                &["x > 1", "x == 'a'", "x == 2", "x in [1]", "1 / x == 1", "x != 0", "size(x) == 1"],
                &["x + 1", "x", "[x]", "string(x)", "x + x"],
            )
        } else {
            (
                &["x > 1", "x == 2", "x in [1]", "1 / x == 1", "x != 0", "size(x) == 1"],
                &["x + 1", "x", "x * x"],
            )
        };
        let (body, result) = (one_of(bodies), one_of(results));
        let test = prop_oneof![body.clone(), infix(&body, one_of(&["&&", "||"]), &flag)].boxed();
        let each = |name: BoxedStrategy<String>, body: BoxedStrategy<String>| {
            (over.clone(), name, body).prop_map(|(over, name, body)| format!("({over}).{name}(x, {body})"))
        };
        let grown_flag = prop_oneof![
            3 => infix(&flag, one_of(&["&&", "||", "==", "!="]), &flag),
            1 => infix(&int, relation(), &int),
            1 => infix(&double, relation(), &double),
            // Large ints are left out: cel rounds them when it compares them with doubles.
            1 => infix(&double, relation(), &one_of(&["-1", "0", "1", "2", "m.n"])),
            2 => infix(&text, relation(), &text),
            1 => infix(&list, equality(), &list),
            1 => infix(&loose, equality(), &loose),
            1 => infix(&loose, Just("in".to_owned()).boxed(), &list),
            1 => flag.clone().prop_map(|a| format!("!({a})")),
            1 => (text.clone(), one_of(&["startsWith", "endsWith", "contains"]), text.clone())
                .prop_map(|(a, f, b)| format!("({a}).{f}({b})")),
            3 => each(one_of(&["all", "exists", "exists_one"]), test.clone()),
        ];
        let grown_int = prop_oneof![
            3 => infix(&int, one_of(&["+", "-", "*", "/", "%"]), &int),
            1 => int.clone().prop_map(|a| format!("-({a})")),
            1 => prop_oneof![text.clone(), list.clone(), any.clone()].prop_map(|a| format!("size({a})")),
            1 => prop_oneof![number.clone(), text.clone()].prop_map(|a| format!("int({a})")),
            1 => (flag.clone(), int.clone(), int.clone()).prop_map(|(c, a, b)| format!("({c} ? {a} : {b})")),
        ];
        let grown_double = prop_oneof![
            3 => infix(&double, one_of(&["+", "-", "*", "/"]), &double),
            1 => double.clone().prop_map(|a| format!("-({a})")),
            1 => prop_oneof![number.clone(), text.clone()].prop_map(|a| format!("double({a})")),
        ];
        let grown_text = prop_oneof![
            2 => infix(&text, Just("+".to_owned()).boxed(), &text),
            1 => prop_oneof![int.clone(), text.clone(), flag.clone()].prop_map(|a| format!("string({a})")),
            1 => (text.clone(), one_of(&["lowerAscii", "upperAscii"])).prop_map(|(a, f)| format!("({a}).{f}()")),
        ];
        let grown_list = prop_oneof![
            1 => infix(&list, Just("+".to_owned()).boxed(), &list),
            1 => prop::collection::vec(int.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
            1 => each(Just("filter".to_owned()).boxed(), test),
            1 => each(Just("map".to_owned()).boxed(), result),
        ];
        let kinds = [flag.clone(), int.clone(), double.clone(), text.clone(), list.clone(), any.clone()];
        let grown_any = prop_oneof![
            2 => prop::strategy::Union::new(kinds),
            1 => (list.clone(), int.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
            1 => infix(&any, one_of(&["+", "<", "&&"]), &any),
            1 => any.clone().prop_map(|a| format!("{{'k': {a}}}.k")),
        ];
        let either = |leaf: BoxedStrategy<String>, grown: BoxedStrategy<String>| {
            prop_oneof![1 => leaf, 3 => grown].boxed()
        };
        Self {
            mixed,
            flag: either(flag, grown_flag.boxed()),
            int: either(int, grown_int.boxed()),
            double: either(double, grown_double.boxed()),
            text: either(text, grown_text.boxed()),
            list: either(list, grown_list.boxed()),
            any: either(any, grown_any.boxed()),
        }
    }
}

/// Source of the kinds that both languages have, most of it of the right type.
fn expression(mixed: bool) -> impl Strategy<Value = String> {
    let Typed { flag, int, double, text, list, any, .. } = Typed::leaves(mixed).grown().grown().grown();
    prop_oneof![4 => flag, 2 => int, 1 => double, 1 => text, 2 => list, 1 => any]
}

/// Runs generated expressions in both languages. An expression with a value here has the same value in `cel`; one
/// without a value here has none there, unless values of different types may have been compared.
fn compare_with_cel(mixed: bool) {
    let schema = dynamic();
    let env = environment();
    let env = env.as_object().expect("an object");
    let (values, errors) = (Cell::new(0), Cell::new(0));
    let config = ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() };
    let result = TestRunner::new(config).run(&expression(mixed), |source| {
        // Refused expressions are not compared.
        let Ok(program) = Program::compile(&source, &schema, &Type::Dyn) else { return Ok(()) };
        let ours = program.evaluate(env).map(|value| super::to_json(&value));
        let theirs = cel_value(&source, env);
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => {
                prop_assert_eq!(ours, theirs, "{}", source);
                values.set(values.get() + 1);
            }
            (Err(_), Err(_)) => errors.set(errors.get() + 1),
            (Err(_), Ok(_)) => prop_assert!(mixed, "{}: {:?}, cel {:?}", source, ours, theirs),
            (Ok(_), Err(_)) => prop_assert!(false, "{}: {:?}, cel {:?}", source, ours, theirs),
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(values.get() > 800, "only {} values compared", values.get());
    assert!(errors.get() > 400, "only {} errors compared", errors.get());
}

#[test]
fn generated_expressions_agree_with_cel() {
    compare_with_cel(false);
}

#[test]
fn generated_expressions_with_mixed_types_are_at_most_stricter_than_cel() {
    compare_with_cel(true);
}

/// What the generated expressions read.
fn environment() -> serde_json::Value {
    json!({
        "a": [1, 2, 3],
        "m": {"n": 2, "f": 0.5, "t": "ab", "b": true, "l": ["a", "b"], "nothing": null},
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let source = String::from_utf8_lossy(&bytes);
        if let Ok(program) = Program::compile(&source, &dynamic(), &Type::Dyn) {
            let env = serde_json::Map::new();
            let _ = program.evaluate(&env);
        }
    }

    #[test]
    fn what_compiles_is_stored_formatted_and_explained_alike(source in expression(true)) {
        let schema = dynamic();
        let Ok(program) = Program::compile(&source, &schema, &Type::Dyn) else { return Ok(()) };
        let env = environment();
        let env = env.as_object().expect("an object");
        let value = |program: &Program| {
            program.evaluate(env).map(|value| super::to_json(&value)).map_err(|error| std::mem::discriminant(&error))
        };

        let bytes = postcard::to_stdvec(&program).expect("it can be written");
        let back: Program = postcard::from_bytes(&bytes).expect("it can be read");
        prop_assert_eq!(value(&program), value(&back));

        let formatted = lictor_expr::format(&source).expect("it parsed before");
        let again = Program::compile(&formatted, &schema, &Type::Dyn).expect("it compiled before");
        prop_assert_eq!(value(&program), value(&again), "{} formatted as {}", source, formatted);

        let steps = program.explain(env);
        let whole = match program.test(env) {
            Ok(true) => lictor_expr::StepOutcome::True,
            Ok(false) => lictor_expr::StepOutcome::False,
            Err(error) => lictor_expr::StepOutcome::Error(error),
        };
        prop_assert_eq!(&steps[0].outcome, &whole);
        if let Some(constant) = program.constant() {
            prop_assert_eq!(program.test(env), Ok(constant));
        }
    }
}

/// A list and a map that count their reads.
struct Endless {
    looks: Cell<u64>,
}

impl Sequence for Endless {
    fn len(&self) -> usize {
        usize::MAX
    }

    fn get(&self, _index: usize) -> Option<Value<'_>> {
        self.looks.set(self.looks.get() + 1);
        Some(Value::sequence(self))
    }
}

impl Object for Endless {
    fn get(&self, _field: &str) -> Option<Value<'_>> {
        self.looks.set(self.looks.get() + 1);
        Some(Value::object(self))
    }

    fn fields(&self) -> Vec<&str> {
        Vec::new()
    }
}

struct EndlessEnv(Endless);

impl lictor_expr::Env for EndlessEnv {
    fn root(&self, name: &str) -> Option<Value<'_>> {
        Some(if name == "a" { Value::sequence(&self.0) } else { Value::object(&self.0) })
    }
}

#[test]
fn work_is_bounded_whatever_the_data() {
    for source in [
        "a.all(x, true)",
        "a.exists(x, false)",
        "a.filter(x, true)",
        "a.map(x, x)",
        "a.map(x, x.map(y, y.map(z, [x, y, z])))",
        "a == a",
        "a.all(x, x == a)",
        "1 in a || true",
        "a + a",
        "a.exists_one(x, x != x)",
    ] {
        let program = Program::compile(source, &dynamic(), &Type::Dyn).expect(source);
        let env = EndlessEnv(Endless { looks: Cell::new(0) });
        let result = program.evaluate(&env).map(|value| value.kind());
        assert!(matches!(result, Err(EvalError::CostLimit { .. })), "{source}: {result:?}");
        let looks = env.0.looks.get();
        assert!(looks <= u64::from(STEP_BUDGET) * 2, "{source}: {looks} looks");
    }
}

#[test]
fn long_text_is_bounded() {
    let text = "ab".repeat(8 << 20);
    let env = json!({"a": [1, 2, 3, 4, 5, 6, 7, 8], "m": {"t": text, "u": "ab".repeat(100_000)}});
    let env = env.as_object().expect("an object");
    for (source, within) in [
        ("m.t.contains('x')", true),
        ("m.t.startsWith('ab')", true),
        ("m.t.matches('ab')", false),
        ("m.u.matches('ab')", true),
        ("m.t.matches('a[ab]{500}c')", false),
        ("glob(m.t, '**/x')", false),
        ("size(m.t) > 1", true),
        ("size(m.t + m.t + m.t + m.t) > 1", false),
        ("a.all(x, a.all(y, !m.t.contains('x')))", false),
        ("a.map(x, m.t.lowerAscii()).size() > 1", false),
    ] {
        let program = Program::compile(source, &dynamic(), &Type::Bool).expect(source);
        let result = program.test(env);
        let expected =
            if within { result.is_ok() } else { matches!(result, Err(EvalError::CostLimit { .. })) };
        assert!(expected, "{source}: {result:?}");
    }
}
