//! Proofs about conditions, as cases, and that a proof is never wrong.

use lictor_expr::{Env, HistoryOp, HistoryValue, Outlook, Part, Program, Schema, Type, Value};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    expr: String,
    says: String,
    parts: Option<Vec<String>>,
}

fn schema() -> Schema {
    let file = Type::record([("secret", Type::Bool)]);
    Schema::builder()
        .record("action", [("kind", Type::String), ("tool", Type::String), ("cwd", Type::String)])
        .record("facts", [("opaque", Type::Bool), ("files", Type::list(file))])
        .record("session", [("n", Type::Int)])
        .root("risk", Type::Double)
        .root("payload", Type::map(Type::Dyn))
        .build()
}

fn compiled(source: &str) -> Program {
    Program::compile(source, &schema(), &Type::Bool).unwrap_or_else(|errors| panic!("{source}: {errors:?}"))
}

#[test]
fn cases() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("../cases/outlook.yaml")).unwrap();
    let mut wrong = String::new();
    for Case { id, expr, says, parts } in &cases {
        let outlook = compiled(expr).outlook(&schema());
        let (said, core) = match &outlook {
            Outlook::Never(core) => ("never", core.as_slice()),
            Outlook::Always(core) => ("always", core.as_slice()),
            Outlook::Open => ("open", [].as_slice()),
        };
        let shown =
            |part: &Part| format!("{}{}", if part.as_written { "" } else { "not " }, part.span.text(expr));
        let core: Vec<String> = core.iter().map(shown).collect();
        if said != says || parts.as_ref().is_some_and(|parts| *parts != core) {
            wrong += &format!("{id}: {expr}\n  says {said} {core:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(cases.len() > 60);
}

/// Values that conditions below are about, and some that they are not.
fn texts() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "a", "ab", "abc", "b", "ba", "aa", "é", "a\n", "A", "0", "b.a"])
}

fn numbers() -> impl Strategy<Value = i64> {
    -2..4_i64
}

/// A test of one value, as written.
fn test() -> impl Strategy<Value = String> {
    let text = prop::sample::select(vec!["payload.t", "action.kind", "payload.x", "payload[\"t\"]"]);
    let number = prop::sample::select(vec!["payload.n", "session.n", "payload.x", "size(payload.t)"]);
    let pattern = prop::sample::select(vec![
        "^a",
        "b$",
        "^a*$",
        "^[ab]+$",
        "a.b",
        "^$",
        "(?i)^A",
        "[^a]",
        "^(a|b){1,2}$",
        "a?",
        "\\\\.",
        "^.$",
        "a^",
        "\\\\w",
    ]);
    let quoted = |text: &str| serde_json::to_string(text).expect("text is JSON");
    prop_oneof![
        (text.clone(), prop::sample::select(vec!["==", "!=", "<", ">="]), texts())
            .prop_map(move |(term, op, value)| format!("{term} {op} {}", quoted(value))),
        (text.clone(), prop::sample::select(vec!["startsWith", "endsWith", "contains"]), texts())
            .prop_map(move |(term, test, value)| format!("{term}.{test}({})", quoted(value))),
        (text.clone(), pattern).prop_map(|(term, pattern)| format!("{term}.matches(\"{pattern}\")")),
        (text, texts(), texts()).prop_map(move |(term, a, b)| format!(
            "{term} in [{}, {}]",
            quoted(a),
            quoted(b)
        )),
        (number.clone(), prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]), numbers())
            .prop_map(|(term, op, value)| format!("{term} {op} {value}")),
        (numbers(), prop::sample::select(vec!["<", ">="]), number)
            .prop_map(|(value, op, term)| format!("{value} {op} {term}")),
        prop::sample::select(vec![
            "has(payload.t)",
            "has(payload.n)",
            "has(payload.x)",
            "payload.x",
            "payload.x == null",
            "payload.x == 0.5",
            "payload.x > 0.5",
            "payload.x in [1, \"a\", null]",
            "risk < 0.5",
            "risk >= 0.5",
            "facts.opaque",
            "formerly(\"write\")",
            "count(\"read\") > 1",
            "count(\"read\") < 2",
            "payload.x.y == 1",
            "has(payload.x.y)",
            "payload.l.all(i, i > 0)",
            "!payload.l.all(i, i > 0)",
            "payload.t < payload.x",
            "true",
            "1 > 2",
        ])
        .prop_map(str::to_owned),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    test().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 2..5).prop_map(|parts| format!("({})", parts.join(" && "))),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("({})", parts.join(" || "))),
            1 => inner.clone().prop_map(|part| format!("!({part})")),
            1 => (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("(({a}) ? ({b}) : ({c}))")),
        ]
    })
}

#[derive(Debug)]
struct World {
    values: serde_json::Map<String, serde_json::Value>,
    wrote: bool,
    reads: i64,
}

/// A world as one condition sees it: the same read has the same value.
struct Seen<'a>(&'a World, &'a Program);

impl Env for Seen<'_> {
    fn root(&self, name: &str) -> Option<Value<'_>> {
        self.0.values.get(name).map(Value::from)
    }

    fn history(&self, index: usize) -> Option<HistoryValue> {
        Some(match self.1.history().get(index)? {
            HistoryOp::Count { .. } => HistoryValue::Int(self.0.reads),
            _ => HistoryValue::Bool(self.0.wrote),
        })
    }
}

fn anything() -> impl Strategy<Value = Option<serde_json::Value>> {
    prop_oneof![
        Just(None),
        Just(Some(json!(null))),
        Just(Some(json!(true))),
        Just(Some(json!({"y": 1}))),
        texts().prop_map(|text| Some(json!(text))),
        numbers().prop_map(|number| Some(json!(number))),
        numbers().prop_map(|number| Some(json!(number as f64 + 0.5))),
    ]
}

fn world() -> impl Strategy<Value = World> {
    let maybe_text = prop::option::of(texts());
    let maybe_number = prop::option::of(numbers());
    (maybe_text, maybe_number, anything(), texts(), numbers(), 0..11_u8, any::<bool>(), numbers()).prop_map(
        |(t, n, x, kind, count, risk, flag, item)| {
            let mut payload = serde_json::Map::new();
            payload.extend(t.map(|t| ("t".to_owned(), json!(t))));
            payload.extend(n.map(|n| ("n".to_owned(), json!(n))));
            payload.extend(x.map(|x| ("x".to_owned(), x)));
            payload.insert("l".to_owned(), json!([item]));
            let values = json!({"payload": payload, "action": {"kind": kind, "tool": "", "cwd": ""}, "risk": f64::from(risk) / 10.0,
                                "facts": {"opaque": flag, "files": []}, "session": {"n": count}});
            World { values: values.as_object().expect("an object").clone(), wrote: flag, reads: count }
        },
    )
}

/// A condition that is true in some world was not reported as impossible; one that is false in some world was not
/// reported as certain.
#[test]
fn a_proof_is_never_wrong() {
    let mut runner = TestRunner::new(ProptestConfig { cases: 700, ..ProptestConfig::default() });
    let schema = schema();
    let proven = std::cell::Cell::new((0, 0, 0));
    runner
        .run(&(condition(), prop::collection::vec(world(), 30)), |(source, worlds)| {
            let Ok(program) = Program::compile(&source, &schema, &Type::Bool) else { return Ok(()) };
            let outlook = program.outlook(&schema);
            let (never, always, open) = proven.get();
            proven.set(match &outlook {
                Outlook::Never(_) => (never + 1, always, open),
                Outlook::Always(_) => (never, always + 1, open),
                Outlook::Open => (never, always, open + 1),
            });
            for world in worlds {
                match (program.test(&Seen(&world, &program)), &outlook) {
                    (Ok(true), Outlook::Never(_)) | (Ok(false), Outlook::Always(_)) => {
                        prop_assert!(false, "{source} with {:?}", world.values);
                    }
                    _ => {}
                }
            }
            Ok(())
        })
        .unwrap();
    let (never, always, open) = proven.get();
    assert!(never > 50 && always > 5 && open > 150, "never {never}, always {always}, open {open}");
}

/// The analysis of hostile conditions is aborted.
#[test]
fn size_is_bounded() {
    let many: Vec<String> = (0..40).map(|n| format!("(payload.a == {n} || payload.b == {n})")).collect();
    assert_eq!(compiled(&many.join(" && ")).outlook(&schema()), Outlook::Open);
    // The automaton of all places at once has more than 2^14 states.
    let wide = r#"payload.t.matches("^(a|b)*a(a|b){14}$") && payload.t.matches("^(a|b)*b(a|b){14}$")"#;
    assert_eq!(compiled(wide).outlook(&schema()), Outlook::Open);
}

#[test]
fn patterns_cover_each_other() {
    let covers = lictor_expr::pattern_covers;
    assert!(covers("rm", r"rm\s+-rf"));
    assert!(covers(r"rm\s+-", r"rm\s+-rf\s+/"));
    assert!(covers("(?i)drop table", "DROP TABLE users"));
    assert!(!covers(r"rm\s+-rf", "rm"));
    assert!(!covers("^rm", "rm"));
    assert!(covers("rm", "^rm"));
    assert!(!covers(r"\brm\b", "rm"), "word ends are not followed");
}
