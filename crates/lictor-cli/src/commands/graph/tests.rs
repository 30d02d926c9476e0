use std::collections::HashMap;

use lictor::drawing::Visit;
use lictor_core::graph::Outline;
use lictor_core::{All, Any, Graph, Not, Value, Verdict, When, guard_fn};

use super::*;

fn outline() -> Outline {
    let pass = |name: &str| guard_fn(name, |_, _| Verdict::pass());
    let never = When::new(|_, _| false).then(pass("a")).otherwise(pass("b"));
    let root = All::new((
        pass("first"),
        Any::new([pass("x"), pass("y<z>")]),
        Not::new(pass("odd"), "why", "how"),
        never,
    ));
    Graph::new(root.short_circuit()).unwrap().outline()
}

#[test]
fn the_tree_shows_every_node_under_its_parent() {
    let drawn = text::draw(&outline(), None, Style::plain());
    let expected = "\
all  stops at the first block
├─ first  INTENT
├─ any
│  ├─ x  INTENT
│  └─ y<z>  INTENT
├─ not
│  └─ odd  INTENT
└─ when
   ├─ then: a  INTENT
   └─ otherwise: b  INTENT
";
    assert_eq!(drawn, expected);
}

#[test]
fn the_path_of_a_decision_is_marked() {
    let outline = outline();
    let mut visited = HashMap::new();
    visited.insert(outline.path.to_string(), Visit::Counts(Value::Block));
    let first = outline.children.first().unwrap();
    visited.insert(first.path.to_string(), Visit::Superseded(Value::Ask));
    let path: Path = visited.into_iter().collect();
    let drawn = text::draw(&outline, Some(&path), Style::plain());
    assert!(
        drawn.starts_with("all  stops at the first block  block\n├─ first  ask (does not count)\n"),
        "{drawn}"
    );
    assert!(drawn.contains("│  ├─ x  not asked"), "{drawn}");
    let drawn = mermaid::draw(&outline, Some(&path));
    assert!(
        drawn.contains("n0(\"all\"):::block\n") && drawn.contains("n1[\"first\"]:::skipped\n"),
        "{drawn}"
    );
}

#[test]
fn names_cannot_break_out_of_a_drawing() {
    assert!(mermaid::draw(&outline(), None).contains("[\"y#lt;z#gt;\"]"));
}
