use proptest::prelude::*;

use super::parse;
use crate::limits::{MAX_DEPTH, MAX_NODES, MAX_SOURCE};
use crate::syntax::{Expr, Kind};

/// The tree without its places, as text.
fn shape(expr: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(shape).collect::<Vec<_>>().join(" ");
    match &expr.kind {
        Kind::List(items) => format!("[{}]", list(items)),
        Kind::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}:{}", shape(key), shape(value))).collect();
            format!("{{{}}}", entries.join(" "))
        }
        Kind::Member { target, field } => format!("({} .{})", shape(target), field.text),
        Kind::Index { target, index } => format!("({} [{}])", shape(target), shape(index)),
        Kind::Call { target, function, arguments } => {
            let target = target.as_deref().map(shape).unwrap_or_default();
            format!("(call {} {target} {})", function.text, list(arguments))
        }
        Kind::Not(operand) => format!("(! {})", shape(operand)),
        Kind::Negate(operand) => format!("(- {})", shape(operand)),
        Kind::Binary { op, left, right } => format!("({} {} {})", op.text(), shape(left), shape(right)),
        Kind::And(operands) => format!("(&& {})", list(operands)),
        Kind::Or(operands) => format!("(|| {})", list(operands)),
        Kind::Choose { condition, then, otherwise } => {
            format!("(? {} {} {})", shape(condition), shape(then), shape(otherwise))
        }
        leaf => format!("{leaf:?}"),
    }
}

fn shape_of(source: &str) -> String {
    shape(&parse(source).unwrap_or_else(|error| panic!("{source}: {error}")))
}

#[test]
fn precedence_and_associativity() {
    for (source, with_parentheses) in [
        ("a || b && c", "a || (b && c)"),
        ("a && b == c", "a && (b == c)"),
        ("a == b + c", "a == (b + c)"),
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a / b * c % d", "((a / b) * c) % d"),
        ("a < b == c", "(a < b) == c"),
        ("a in b == c", "(a in b) == c"),
        ("!a.b", "!(a.b)"),
        ("-a.b * c", "(-(a.b)) * c"),
        ("!a == b", "(!a) == b"),
        ("a ? b : c ? d : e", "a ? b : (c ? d : e)"),
        ("a || b ? c : d", "(a || b) ? c : d"),
        ("a.b[c].d(e)", "((a.b)[c]).d(e)"),
    ] {
        assert_eq!(shape_of(source), shape_of(with_parentheses), "{source}");
    }
    assert_ne!(shape_of("a - (b - c)"), shape_of("a - b - c"));
    assert_ne!(shape_of("(a && b) && c"), shape_of("a && b && c"));
    assert_ne!(shape_of("-(5)"), shape_of("-5"));
}

#[test]
fn hostile_nesting_is_refused() {
    let deep = [
        "(".repeat(MAX_SOURCE),
        "!".repeat(MAX_SOURCE),
        "-".repeat(MAX_SOURCE),
        "[".repeat(MAX_SOURCE),
        "{".repeat(MAX_SOURCE),
        "f(".repeat(MAX_SOURCE / 2),
        "a[".repeat(MAX_SOURCE / 2),
        "a.".repeat(MAX_SOURCE / 2 - 1) + "a",
        "a?a:".repeat(MAX_SOURCE / 4 - 1) + "a",
        "a+".repeat(MAX_SOURCE / 2 - 1) + "a",
        "a<".repeat(MAX_SOURCE / 2 - 1) + "a",
        "(a)".to_owned() + &"[0]".repeat(2000),
    ];
    for source in deep {
        let start: String = source.chars().take(4).collect();
        let error = parse(&source).expect_err(&start);
        assert!(error.message.contains("nested"), "{start}: {error}");
    }
    for wide in ["a&&".repeat(1000) + "a", "[".to_owned() + &"1,".repeat(1000) + "1]"] {
        let error = parse(&wide).expect_err("too wide");
        assert!(error.message.contains(&MAX_NODES.to_string()), "{error}");
    }
    for unit in ["(", "!", "a.", "\"", "\\", "é"] {
        let error = parse(&unit.repeat((1 << 20) / unit.len())).expect_err(unit);
        assert!(error.message.contains(&MAX_SOURCE.to_string()), "{error}");
    }
}

#[test]
fn the_limits_themselves_are_allowed() {
    let nested = "(".repeat(MAX_DEPTH - 1) + "a" + &")".repeat(MAX_DEPTH - 1);
    assert!(parse(&nested).is_ok());
    assert!(parse(&("!".repeat(MAX_DEPTH - 1) + "a")).is_ok());
    assert!(parse(&("!".repeat(MAX_DEPTH) + "a")).is_err());
    assert!(parse(&("a && ".repeat(MAX_NODES - 2) + "a")).is_ok());
    assert!(parse(&("a && ".repeat(MAX_NODES - 1) + "a")).is_err());
    assert!(parse(&("a".to_owned() + &" ".repeat(MAX_SOURCE - 1))).is_ok());
}

/// Source text that is an expression, whatever its types.
fn source() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|value| value.to_string()),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| format!("{value:?}")),
        "[a-z]{1,3}x",
        any::<String>().prop_map(|text| {
            let mut quoted = String::new();
            crate::syntax::quoted(&mut quoted, &text).expect("a string takes everything");
            quoted
        }),
        "r'[^'\r\n]{0,4}'",
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let op = prop::sample::select(vec![
            "==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%", "&&", "||",
        ]);
        prop_oneof![
            (inner.clone(), op.clone(), inner.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            (inner.clone(), op.clone(), inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            inner.clone().prop_map(|a| format!("!{a}")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("-({a})")),
            inner.clone().prop_map(|a| format!("({a}).if")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}).f({b})")),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("g({})", items.join(","))),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{({a}): {b}}}")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("({a}) ? ({b}) : ({c})")),
        ]
    })
}

#[test]
fn numbers_keep_the_parentheses_they_need() {
    for source in ["-(5)", "-(0).f", "(1).f(2)", "-(-5)", "(-5).f", "a - -5", "-(1.5)[0]", "-a.f"] {
        assert_eq!(parse(source).expect(source).to_string(), source);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_and_parsing_give_the_same_tree(source in source()) {
        let first = match parse(&source) {
            Ok(expr) => expr,
            Err(error) => {
                let limit = error.message.contains("nested") || error.message.contains("more than");
                prop_assert!(limit, "{}: {}", source, error);
                return Ok(());
            }
        };
        let printed = first.to_string();
        let second = parse(&printed).map_err(|error| TestCaseError::fail(format!("{printed}: {error}")))?;
        prop_assert_eq!(shape(&first), shape(&second), "{} printed as {}", source, printed);
        prop_assert_eq!(printed, second.to_string());
    }

    #[test]
    fn any_text_gives_an_answer(source in any::<String>()) {
        check_span(&source);
    }

    #[test]
    fn any_sequence_of_tokens_gives_an_answer(
        parts in prop::collection::vec(prop::sample::select(vec![
            "(", ")", "[", "]", "{", "}", ",", ":", ".", "?", "!", "-", "+", "==", "&&", "||", "<", "in",
            "a", "has", "all", "1", "1.5", "\"x\"", "'", "\\", "é", "null", "//", "\n", "0x", "1u", "r'",
        ]), 0..40)
    ) {
        check_span(&parts.join(" "));
        check_span(&parts.concat());
    }
}

/// An error must point at whole characters of the source.
fn check_span(source: &str) {
    if let Err(error) = parse(source) {
        let (start, end) = (error.span.start as usize, error.span.end as usize);
        assert!(source.get(start..end).is_some(), "{source:?}: {start}..{end} {error}");
    }
}
